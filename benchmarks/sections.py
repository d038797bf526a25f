"""Benchmarks of papers: sections, each with its own results."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS, ROOT, write

Row = dict[str, Any]


@dataclass
class Section:
    """Rows, remarks and plots: one table of the results."""

    claim: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plots: list[str] = field(default_factory=list)


def results_folder(*, quick: bool) -> Path:
    """Where results go; those of a part that was only tried go elsewhere."""
    folder = ROOT / "build" / "quick" if quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_sections(
    paper: str, sections: Mapping[str, Callable[[], Section]], names: Iterable[str], folder: Path
) -> None:
    """Measure some sections of a paper, and write the results of each."""
    for name in names:
        section = sections[name]()
        write(
            f"{paper}_{name}",
            section.claim,
            section.rows,
            notes=section.notes,
            plots=section.plots,
            command=f"{paper} --only {name}",
            folder=folder,
        )
