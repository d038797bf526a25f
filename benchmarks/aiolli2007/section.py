"""What a section of the benchmark gives, and how much of it is asked for."""

from benchmarks.sections import Options, Row, Section

__all__ = ["MODULE", "Options", "Row", "Section"]

MODULE = "benchmarks.paper_aiolli2007"  # what processes of their own run
