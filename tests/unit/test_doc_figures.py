"""Measured figures in the documentation are those of results."""

from pathlib import Path

import pytest

from benchmarks import page, sources, stamp

RESULTS = page.load_results()
FOLDERS = ("docs", "docs/kernels", "docs/learners")
PAGES = [
    stamp.ROOT / "README.md",
    *(path for folder in FOLDERS for path in sorted((stamp.ROOT / folder).glob("*.md"))),
]
RESULT = {"figures": [{"cpu_seconds": 20.5018, "peak_mib": 1412, "AUC": 88.98, "exact": 93.4}]}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_figure_is_in_the_result_that_it_links_to(path: Path) -> None:
    assert sources.problems(path, RESULTS) == []


def problems(text: str, folder: Path) -> list[str]:
    path = folder / "page.md"
    path.write_text(text)
    return sources.problems(path, {"speed": RESULT})


@pytest.mark.parametrize(
    "figure",
    ["21 s", "20.5 s", "20,502 ms", "1,412 MiB", "1.5 GB", "4.4 points", "1.05 times"],
)
def test_figures_are_rounded_and_in_any_unit(figure: str, tmp_path: Path) -> None:
    assert problems(f"It takes {figure} ([figures](RESULTS.md#speed)).", tmp_path) == []


@pytest.mark.parametrize("figure", ["20 s", "20.6 s", "1.4 GB", "4.5 points", "3 times"])
def test_another_figure_than_that_of_the_result_is_found(figure: str, tmp_path: Path) -> None:
    [problem] = problems(f"A line.\n\nIt takes {figure} (RESULTS.md#speed).", tmp_path)
    assert problem == f"page.md:3: {figure} is not in speed"


def test_a_figure_without_a_source_is_found(tmp_path: Path) -> None:
    [problem] = problems("It takes 21 s.", tmp_path)
    assert problem == "page.md:1: 21 s has no link to its result"


def test_the_link_may_be_in_the_next_block_but_not_farther(tmp_path: Path) -> None:
    assert problems("It takes 21 s.\n\nSee RESULTS.md#speed.", tmp_path) == []
    assert problems("It takes 21 s.\n\nYes.\n\nSee RESULTS.md#speed.", tmp_path) != []


def test_limits_and_code_are_no_figures(tmp_path: Path) -> None:
    text = "<!-- not measured: a limit -->\nAt most 30 s.\n\n```\n30 s\n```\n\nUse `30 s`."
    assert problems(text, tmp_path) == []
