"""Measured figures in the documentation are those of results."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import columns, page, sources

RESULTS = page.load_results()
CELLS = sources.load_cells()
ROW = {"data": "a", "cpu_seconds": 20.5018, "peak_mib": 1412, "AUC": 0.8898, "less exact": -4.36}
OTHER = {"data": "b", "cpu_seconds": 3.1, "peak_mib": 200, "AUC": 0.7, "less exact": -1.0}
SPEED = {"speed": {"figures": [ROW, OTHER]}}
COLUMNS = {"s": "cpu_seconds", "ms": "cpu_seconds", "MiB": "peak_mib", "GB": "peak_mib",
           "points": "less exact", "%": "AUC", "": "AUC"}  # fmt: skip


@pytest.mark.parametrize("path", sources.PAGES, ids=lambda path: path.stem)
def test_every_figure_is_in_the_cell_that_is_named_for_it(path: Path) -> None:
    assert sources.problems(path, RESULTS, CELLS) == []


def test_all_pages_with_cells_exist() -> None:
    names = {str(path.relative_to(sources.ROOT)) for path in sources.PAGES}
    assert {cell.page for cell in CELLS} <= names
    assert len(CELLS) >= 140


@pytest.mark.parametrize("change", [0.5, 0.8, 1.2, 2.0])
def test_no_altered_figure_is_accepted(change: float) -> None:
    """A figure that is a fifth off what was measured is found, unless it is rounded to the same."""
    for cell in CELLS:
        number, _, unit = cell.figure.partition(" ")
        altered = f"{change * float(number.replace(',', '')):.{len(number.partition('.')[2])}f}"
        if altered != number.replace(",", ""):
            assert not cell.shown_by(sources.Figure(altered, unit), RESULTS), cell


def problems(text: str, figure: str, folder: Path, row: str = "data=a") -> list[str]:
    """The problems of a page with one figure, whose cell is in the first row."""
    path = folder / "page.md"
    path.write_text(text)
    _, _, unit = figure.partition(" ")
    cell = sources.Cell("page.md", figure, 1, "speed", COLUMNS[unit], row)
    return sources.problems(path, SPEED, [cell])


@pytest.mark.parametrize(
    "figure",
    ["21 s", "20.5 s", "20,502 ms", "1,412 MiB", "1.5 GB", "4.4 points", "89 %", "89.0", "0.890"],
)
def test_figures_are_rounded_and_in_any_unit(figure: str, tmp_path: Path) -> None:
    text = f"The AUC, or what it takes: {figure} ([figures](RESULTS.md#speed))."
    assert problems(text, figure, tmp_path) == []


@pytest.mark.parametrize("figure", ["20 s", "20.6 s", "3.1 s", "1.4 GB", "1.0 points", "70 %"])
def test_another_figure_than_that_of_the_cell_is_found(figure: str, tmp_path: Path) -> None:
    """Also where another row of the result has it."""
    [problem] = problems(f"A line.\n\nIt takes {figure} (RESULTS.md#speed).", figure, tmp_path)
    assert problem.startswith(f"page.md:3: {figure} is not in speed, ")


def test_a_cell_that_is_gone_is_found(tmp_path: Path) -> None:
    [problem] = problems("It takes 21 s (RESULTS.md#speed).", "21 s", tmp_path, row="data=c")
    assert problem == "page.md:1: 21 s is not in speed, cpu_seconds, data=c"


def test_a_figure_without_a_cell_is_found(tmp_path: Path) -> None:
    told = problems("It takes 20 s, not 21 s (RESULTS.md#speed).", "21 s", tmp_path)
    assert told == ["page.md:1: 20 s has no cell: run python -m benchmarks.sources"]


def test_a_cell_without_a_figure_is_found(tmp_path: Path) -> None:
    assert problems("Nothing.", "21 s", tmp_path) == ["page.md: 21 s is not on the page"]


def test_a_figure_without_a_link_is_found(tmp_path: Path) -> None:
    [problem] = problems("It takes 21 s.", "21 s", tmp_path)
    assert problem == "page.md:1: 21 s has no link to its result"


def test_the_link_may_be_in_the_next_block_but_not_farther(tmp_path: Path) -> None:
    assert problems("It takes 21 s.\n\nSee RESULTS.md#speed.", "21 s", tmp_path) == []
    assert problems("It takes 21 s.\n\nYes.\n\nSee RESULTS.md#speed.", "21 s", tmp_path) != []


def test_limits_and_code_and_settings_are_no_figures() -> None:
    link = "See RESULTS.md#speed."
    text = "<!-- not measured: a limit -->\nAt most 30 s.\n\n```\n30 s\n```\n\nUse `30 s`."
    assert sources.figures(f"{text} {link}") == []
    assert sources.figures(f"The AUC with lambda 0.2 and 0.4, C = 0.1. {link}") == []


def test_equal_figures_of_a_page_have_cells_of_their_own() -> None:
    shown = sources.figures("It takes 2 s and 2 s (RESULTS.md#speed).")
    assert [each.nth for each in shown] == [1, 2]


def test_a_new_figure_gets_the_likeliest_cell() -> None:
    [shown] = sources.figures("On b it takes 3 s (RESULTS.md#speed).")
    rows = [ROW, OTHER, OTHER | {"data": "c"}]
    found = list(sources.candidates("page.md", shown, {"speed": {"figures": rows}}))
    assert [cell.row for cell in found] == ["data=b", "data=c"]
    chosen = sources.likeliest(found, shown.block, [])
    assert chosen.row == "data=b"
    same = replace(shown, block="Both take 3 s.")
    assert sources.likeliest(found, same.block, [chosen]).row == "data=c"


def test_rows_are_named_by_what_tells_them_apart() -> None:
    rows = [{"data": "a", "n": 1, "cpu_seconds": 1}, {"data": "a", "n": 2, "cpu_seconds": 1}]
    assert [columns.row_name(row, rows) for row in rows] == ["n=1", "n=2"]
    twice = [{"data": "a"}, {"data": "a"}]
    assert columns.row_name(twice[1], twice) == "row 1"


def test_a_page_gets_the_values_of_results_that_were_measured_again() -> None:
    page = "One takes 5 s and 1 GB,\nthe other 3.1 s ([figures](RESULTS.md#speed)).\n"
    cells = [
        sources.Cell("x.md", "5 s", 1, "speed", "cpu_seconds", "data=a"),
        sources.Cell("x.md", "3.1 s", 1, "speed", "cpu_seconds", "data=b"),
    ]
    text = sources.renewed("x.md", page, cells, SPEED)
    assert text == page.replace("5 s", "21 s")
    assert [cell.figure for cell in cells] == ["21 s", "3.1 s"]


def test_the_differences_judged_by_hand_are_those_of_the_result() -> None:
    text = (sources.ROOT / "docs/clones.md").read_text()
    judged = [line for line in text.splitlines() if line[:2] == "| " and line[2].isdigit()]
    drawn = RESULTS["clone_tools_differences"]["figures"]
    assert len(judged) == len(drawn) == 20
    for line, row in zip(judged, drawn, strict=True):
        names = [row[which].rpartition(".")[2].rpartition(" ")[2] for which in ("first", "second")]
        assert all(name in line for name in names), line
        tools = [cell.strip().lower() for cell in line.split("|")[3:5]]
        assert tools == [row["found_by"], row["not_by"]], line
