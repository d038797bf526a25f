"""What a section of the benchmark gives, and how much of it is asked for."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]

MODULE = "benchmarks.paper_severyn2012"  # what processes of their own run


@dataclass(frozen=True)
class Options:
    """How much to measure."""

    quick: bool  # a small part of it, to see whether it works
    budget: float  # CPU seconds after which a run stops, at the end of an iteration
    plots: Path  # the folder that they go to


@dataclass
class Section:
    """Rows, remarks and plots: one table of the results."""

    claim: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plots: list[str] = field(default_factory=list)
