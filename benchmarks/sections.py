"""Benchmarks of papers: sections, each with its own results."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS, ROOT, WRITTEN, write

Row = dict[str, Any]
# Plots by result and title: each draws a figure of matplotlib from rows.
Plots = dict[str, dict[str, Callable[[list[Row]], Any]]]


@dataclass
class Section:
    """Rows and remarks: one table of the results."""

    claim: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Options:
    """How much to measure."""

    quick: bool  # a small part of it, to see whether it works


def run_paper(
    paper: str,
    title: str,
    sections: Mapping[str, Callable[[Options], Section]],
    one: Mapping[str, Callable[..., Any]],
) -> None:
    """Be the program of a paper's benchmark.

    Parameters
    ----------
    paper : str
        The name of its module.
    title : str
    sections : mapping
        What is measured, by name.
    one : mapping
        What sections measure in processes of their own: this program again, with ``--one``.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--only", nargs="+", choices=sections, default=list(sections))
    parser.add_argument("--quick", action="store_true", help="a small part of each section")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one[arguments.one[0]](*arguments.one[1:])))
        return
    folder = results_folder(quick=arguments.quick)
    options = Options(arguments.quick)
    measured = {name: partial(section, options) for name, section in sections.items()}
    write_sections(paper, measured, arguments.only, folder)


def results_folder(*, quick: bool) -> Path:
    """Where results go; those of a part that was only tried go elsewhere."""
    folder = ROOT / "build" / "quick" if quick and WRITTEN == RESULTS else WRITTEN
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
            command=f"{paper} --only {name}",
            folder=folder,
        )
