"""Which cell of which result a figure in the documentation is.

A paragraph, list or table with a measured figure links to its results, as in
``[figures](../benchmarks/RESULTS.md#exact_svm)``; the link may also stand in the block before or
after. For each figure, doc_figures.tsv names the cell: the result, the column and the row. The cell
must have this value, rounded as the page shows it. So an altered figure is found, and one whose
result was measured again. Differences and ratios that no table has are in `derived.py`. A block
whose figures are limits, settings, examples or other people's reports says so in a comment:
``<!-- not measured: limits -->``.

``python -m benchmarks.sources`` writes the present values into the pages, after results were
measured again. Read the sentences around them. It looks for the cells of figures that have none,
and prints what it chose: see whether these are the right ones.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.columns import row_name, shown_values
from benchmarks.derived import DERIVED
from benchmarks.stamp import RESULTS, ROOT

CELLS = ROOT / "benchmarks" / "doc_figures.tsv"
FOLDERS = ("docs", "docs/kernels", "docs/learners")
PAGES = [
    ROOT / "README.md",
    *(path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))),
]

Result = dict[str, Any]

# What a figure with this unit is a multiple of: seconds, bytes and others.
UNITS = {
    "time": {
        **{"s": 1, "second": 1, "seconds": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6},
        **{"min": 60, "minute": 60, "minutes": 60, "hour": 3600, "hours": 3600},
    },
    "memory": {"kB": 1e3, "KiB": 2**10, "MB": 1e6, "MiB": 2**20, "GB": 1e9, "GiB": 2**30},
    "difference": {"point": 1, "points": 1},
    "ratio": {"times": 1},
    "score": {"%": 1, "": 1},  # accuracies, correlations and others, in per cent or as they are
}
_KINDS = {unit: kind for kind, units in UNITS.items() for unit in units}
_WITH_UNIT = "|".join(unit for unit in _KINDS if unit)
_FIGURE = re.compile(rf"(?<![\w.^-])(\d[\d,]*(?:\.\d+)?) ?(?:CPU )?({_WITH_UNIT})(?![\w/])")
# A number with decimals is a score in a block that speaks of scores, unless it is a parameter.
_SCORE = re.compile(r"(?<![\w.^-])(\d+\.\d+)(?![\w.])")
_MEASURE = re.compile(r"accurac|F1|AUC|log loss|Brier|correlation", re.IGNORECASE)
_PARAMETERS = re.compile(
    r"(?:=|\b(?:lambda|decay|nu|alpha|sections?|Algorithm|over|at))\s+[\d.]+"
    r"(?:(?:, | and | or )[\d.]+)*"
    r"|\| [\d.]+(?: to [\d.]+)?[:,]"  # a section of a paper
)
_LINK = re.compile(r"RESULTS\.md#(\w+)")
_EXEMPT = re.compile(r"<!-- (not measured: [^>]+|[\w: ]*made by benchmarks[^>]*)-->")
_NO_TEXT = re.compile(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)", re.DOTALL)
_FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Figure:
    """A number with a unit, as a page shows it."""

    number: str
    unit: str

    @property
    def kind(self) -> str:
        """What it measures."""
        return _KINDS[self.unit]

    def shows(self, value: float) -> bool:
        """Whether this is a value in basic units, rounded."""
        unit = UNITS[self.kind][self.unit]
        _, _, decimals = self.number.partition(".")
        shown = float(self.number.replace(",", ""))
        return abs(shown * unit - value) <= 0.501 * 10 ** -len(decimals) * unit

    def of(self, value: float) -> "Figure":
        """Return a value in basic units with as many decimals, or more if it would be zero."""
        value /= UNITS[self.kind][self.unit]
        decimals = len(self.number.partition(".")[2])
        while decimals < 4 and value and float(f"{value:.{decimals}f}") == 0:
            decimals += 1
        return replace(self, number=f"{value:,.{decimals}f}")

    def __str__(self) -> str:
        return f"{self.number} {self.unit}".rstrip()


@dataclass(frozen=True)
class Shown:
    """A figure on a page, and the results that the page links to beside it."""

    line: int
    figure: Figure
    nth: int  # of those on the page that look the same
    results: frozenset[str]
    block: str
    span: tuple[int, int]  # of the number in the block


@dataclass(frozen=True, order=True)
class Cell:
    """A line of doc_figures.tsv: where the value of a figure on a page is."""

    page: str
    figure: str
    nth: int
    result: str  # or "derived"
    column: str
    row: str

    def shown_by(self, figure: Figure, results: dict[str, Result]) -> bool:
        """Whether the cell has the value of the figure."""
        return any(figure.shows(value) for value in self.values(figure.kind, results))

    def values(self, kind: str, results: dict[str, Result]) -> list[float]:
        """Return the values of the cell, in basic units."""
        if self.result == "derived":
            return [DERIVED[self.column](results)] if self.column in DERIVED else []
        rows = results[self.result]["figures"] if self.result in results else []
        found = [row for row in rows if self.column in row and row_name(row, rows) == self.row]
        return [v for row in found for v in shown_values(row[self.column], kind, self.column)]


def load_cells() -> list[Cell]:
    """Read doc_figures.tsv."""
    lines = (line.split("\t") for line in CELLS.read_text().splitlines())
    return [Cell(page, figure, int(nth), *rest) for page, figure, nth, *rest in lines]


def problems(path: Path, results: dict[str, Result], cells: Iterable[Cell]) -> list[str]:
    """Say which figures of a page have no source, or are not what the source says."""
    page = _name(path)
    own = {(cell.figure, cell.nth): cell for cell in cells if cell.page == page}
    found = []
    for shown in figures(path.read_text()):
        cell = own.pop((str(shown.figure), shown.nth), None)
        if told := _problem(shown, cell, results):
            found.append(f"{page}:{shown.line}: {shown.figure} {told}")
    return found + [f"{page}: {figure} is not on the page" for figure, _ in own]


def _problem(shown: Shown, cell: Cell | None, results: dict[str, Result]) -> str | None:
    if not shown.results:
        return "has no link to its result"
    if cell is None:
        return "has no cell: run python -m benchmarks.sources"
    if cell.result != "derived" and cell.result not in shown.results:
        return f"is of {cell.result}, to which there is no link"
    if not cell.shown_by(shown.figure, results):
        return f"is not in {cell.result}, {cell.column}, {cell.row or 'its row'}"
    return None


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


# ------------------------------------------------------------------ the figures of a page


def figures(text: str) -> list[Shown]:
    """List the measured figures of a page."""
    blocks = _blocks(text)
    links = [_LINK.findall(block) for _, block in blocks]
    seen: Counter[Figure] = Counter()
    found = []
    for i, (line, block) in enumerate(blocks):
        near = frozenset(name for names in links[max(i - 1, 0) : i + 2] for name in names)
        for figure, span in _spans(block, linked=bool(near)):
            seen[figure] += 1
            found.append(Shown(line, figure, seen[figure], near, block, span))
    return found


def _spans(block: str, *, linked: bool) -> list[tuple[Figure, tuple[int, int]]]:
    """List the figures of a block, and where their numbers are in it.

    Per cent and scores are figures only beside a link.
    """
    if _EXEMPT.search(block):
        return []
    text = _NO_TEXT.sub(_blank, block)
    found = [
        (Figure(match[1].rstrip(","), match[2]), match.span(1)) for match in _FIGURE.finditer(text)
    ]
    if not linked:
        return [(figure, span) for figure, span in found if figure.unit != "%"]
    if _MEASURE.search(text):
        rest = _PARAMETERS.sub(_blank, _FIGURE.sub(_blank, text))
        found += [(Figure(match[1], ""), match.span(1)) for match in _SCORE.finditer(rest)]
    return found


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _blocks(text: str) -> list[tuple[int, str]]:
    """Split a page at its empty lines, without its code; each block with its first line."""
    text = _FENCE.sub(lambda code: "\n" * code.group().count("\n"), text)
    found: list[tuple[int, str]] = []
    start, lines = 1, text.split("\n")
    for number, line in enumerate([*lines, ""], start=1):
        if not line.strip():
            if number > start:
                found.append((start, "\n".join(lines[start - 1 : number - 1])))
            start = number + 1
    return found


# ------------------------------------------------------------------ new values


def renewed(page: str, text: str, cells: list[Cell], results: dict[str, Result]) -> str:
    """Return the text of a page with the present values of the cells of its figures.

    A cell with several values is left alone. `cells` gets the new figures.
    """
    places = {(cell.page, cell.figure, cell.nth): i for i, cell in enumerate(cells)}
    found = figures(text)
    kept = [(places.get((page, str(shown.figure), shown.nth)), shown) for shown in found]
    lines = text.split("\n")
    for place, shown in sorted(kept, key=lambda one: (one[1].line, one[1].span), reverse=True):
        if place is None or cells[place].shown_by(shown.figure, results):
            continue
        values = cells[place].values(shown.figure.kind, results)
        if len(set(values)) == 1:
            begin, end = shown.span
            line = shown.line - 1 + shown.block.count("\n", 0, begin)
            column = begin - (shown.block.rfind("\n", 0, begin) + 1)
            number = shown.figure.of(values[0]).number
            rest = lines[line][column + end - begin :]
            lines[line] = f"{lines[line][:column]}{number}{rest}"
    text = "\n".join(lines)
    for (place, _), shown in zip(kept, figures(text), strict=True):
        if place is not None:
            cells[place] = replace(cells[place], figure=str(shown.figure), nth=shown.nth)
    return text


# ------------------------------------------------------------------ finding cells


def candidates(page: str, shown: Shown, results: dict[str, Result]) -> Iterator[Cell]:
    """Yield all cells that could be a figure's."""
    start = (page, str(shown.figure), shown.nth)
    for name in sorted(shown.results & results.keys()):
        rows = results[name]["figures"]
        for row in rows:
            for column, value in row.items():
                own = shown_values(value, shown.figure.kind, column)
                if any(shown.figure.shows(each) for each in own):
                    yield Cell(*start, name, column, row_name(row, rows))
    if shown.figure.kind in ("difference", "ratio"):
        for name in DERIVED:
            if shown.figure.shows(DERIVED[name](results)):
                yield Cell(*start, "derived", name, "")


def likeliest(found: list[Cell], block: str, others: list[Cell]) -> Cell:
    """Return the cell with most words of the block in its column and row; of equals a new one."""
    words = set(re.findall(r"[\w.]+", block.lower().replace(",", "")))
    taken = {(cell.result, cell.column, cell.row) for cell in others}

    def likeness(cell: Cell) -> tuple[int, bool]:
        own = set(re.findall(r"[\w.]+", f"{cell.column} {cell.row}".lower()))
        return len(words & own), (cell.result, cell.column, cell.row) not in taken

    return max(found, key=likeness)


def main() -> None:
    results = {path.stem: json.loads(path.read_text()) for path in RESULTS.glob("*.json")}
    stored = load_cells()
    for path in PAGES:
        text = path.read_text()
        if (new := renewed(_name(path), text, stored, results)) != text:
            print(f"{_name(path)}: new values")
            path.write_text(new)
    known = {(cell.page, cell.figure, cell.nth): cell for cell in stored}
    cells: list[Cell] = []
    for path in PAGES:
        for shown in figures(path.read_text()):
            page = _name(path)
            cell = known.get((page, str(shown.figure), shown.nth))
            if cell is None or not cell.shown_by(shown.figure, results):
                found = list(candidates(page, shown, results))
                if not found:
                    print(f"{page}:{shown.line}: no cell has {shown.figure}")
                    continue
                cell = likeliest(
                    found, shown.block, [other for other in cells if other.page == page]
                )
                print(f"{page}:{shown.line}: chosen of {len(found)}:", *astuple(cell)[1:])
            cells.append(cell)
    CELLS.write_text("".join("\t".join(map(str, astuple(cell))) + "\n" for cell in cells))


if __name__ == "__main__":
    main()
