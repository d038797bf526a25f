"""What a section of the benchmark gives, and how much of it is asked for."""

from dataclasses import dataclass

from benchmarks.sections import Row, Section

__all__ = ["MODULE", "Options", "Row", "Section"]

MODULE = "benchmarks.paper_severyn2012"  # what processes of their own run


@dataclass(frozen=True)
class Options:
    """How much to measure."""

    quick: bool  # a small part of it, to see whether it works
    budget: float  # CPU seconds after which a run stops, at the end of an iteration
