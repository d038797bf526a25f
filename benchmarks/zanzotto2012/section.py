"""What a section of the benchmark gives, and how much of it is asked for."""

from benchmarks.sections import Options, Row, Section

__all__ = ["COMPOSITIONS", "DECAYS", "MODULE", "D", "Options", "Row", "Section"]

MODULE = "benchmarks.paper_zanzotto2012"  # what processes of their own run

D = 8192
DECAYS = (0.2, 0.4, 0.6, 0.8, 1.0)
COMPOSITIONS = ("product", "convolution")
