"""What a section of the benchmark gives, and how much of it is asked for."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.sections import Row, Section

__all__ = ["MODULE", "Options", "Row", "Section"]

MODULE = "benchmarks.paper_pighin2010"  # what processes of their own run


@dataclass(frozen=True)
class Options:
    """How much to measure."""

    quick: bool  # a small part of it, to see whether it works
    plots: Path  # the folder that they go to
