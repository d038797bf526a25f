"""``filbert search``: find the trees of an index that are most similar to a query."""

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from filbert.cli import console
from filbert.cli.options import OUTPUT, AsJson, General
from filbert.errors import InvalidParameterError, ModelFileError
from filbert.read.files import STANDARD_INPUT

if TYPE_CHECKING:
    from filbert.forest import Forest
    from filbert.search.segments import Found, Segments

_ALL = 1 << 31
_DAMAGED = "the columns of the index are damaged"


def search(
    index: Annotated[
        str, typer.Argument(metavar="INDEX", help="An index, from filbert index or TreeIndex.save.")
    ],
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="A tree such as '(S (NP a) (VP b))'; a piece of code, if the index has code; a "
            "file of trees, in the format of the data; or the number of a tree, from 1.",
        ),
    ],
    *,
    top: Annotated[
        int | None,
        typer.Option(
            "-k", "--top", min=1, metavar="N",
            help="Number of trees to show for each query.  [10, or all with --min-similarity]",
        ),
    ] = None,
    min_similarity: Annotated[
        float | None,
        typer.Option(metavar="X", help="Show only trees with at least this similarity."),
    ] = None,
    width: Annotated[
        int,
        typer.Option(
            min=10, metavar="N", rich_help_panel=OUTPUT, help="Characters of a tree to show."
        ),
    ] = 100,
    as_json: AsJson = False,
    general: General,
) -> None:  # fmt: skip
    """Find the trees of an index that are most similar to a query, exactly.

    [bold]Examples[/bold]

      filbert search parses.index '(S (NP (D the) (N dog)) (VP ran))'

      filbert search src.index 'def add(a, b): return a + b' -k 3

      filbert search src.index query.py --min-similarity 0.8 --json
    """
    from filbert.progress import progress_bar
    from filbert.search.files import open_segments
    from filbert.search.segments import checked_similarity

    segments = open_segments(index)
    asked = _queries(query, segments, general.jobs)
    most = top if top is not None else 10 if min_similarity is None else _ALL
    least = float("-inf")
    if min_similarity is not None:
        least = checked_similarity(min_similarity, segments.kernel)
    with progress_bar("searching", show=console.shows_progress(False)) as progress:
        found = segments.search(
            asked, n_neighbors=most, least=least, n_jobs=general.jobs, progress=progress
        )
    shown = _Rows(segments, found)
    if as_json:
        results = [shown.of_query(i) for i in range(len(asked))]
        rows = [{"query": str(t), "results": r} for t, r in zip(asked, results, strict=True)]
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for i in range(len(asked)):
        if len(asked) > 1:
            typer.echo(f"query {i + 1}:")
        for row in shown.of_query(i):
            typer.echo(_line(row, width).encode(errors="backslashreplace"))


def _line(row: dict[str, Any], width: int) -> str:
    from filbert.drawing.labels import printable

    place = " ".join(map(printable, row["columns"].values()))
    tree = printable(row["tree"])
    tree = tree if len(tree) <= width else tree[: width - 1] + "…"
    return f"{row['similarity']:.4f}\t{row['number']}\t{place + chr(9) if place else ''}{tree}"


class _Rows:
    """The results with their trees and columns."""

    def __init__(self, segments: "Segments", found: "Found") -> None:
        import numpy as np

        self.found = found
        self.columns = _columns(segments.notes.values, segments.notes.columns)
        self.ids, self.place = np.unique(found.ids, return_inverse=True)
        self.trees = segments.trees(self.ids)

    def of_query(self, query: int) -> list[dict[str, Any]]:
        first = int(self.found.ends[query - 1]) if query else 0
        return [self._row(i) for i in range(first, int(self.found.ends[query]))]

    def _row(self, i: int) -> dict[str, Any]:
        tree = int(self.found.ids[i])
        return {
            "similarity": float(self.found.values[i]),
            "number": tree + 1,
            "columns": {
                name: _text(*column, tree)
                for name, column in self.columns.items()
                if tree < len(column[1])
            },
            "tree": str(self.trees[int(self.place[i])]),
        }


def _columns(notes: dict[str, Any], arrays: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the bytes and the ends of each column. Most texts are never read."""
    names = notes.get("columns", [])
    try:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise KeyError
        found = {
            name: (arrays[f"{number}.bytes"], arrays[f"{number}.ends"])
            for number, name in enumerate(names)
        }
    except KeyError:
        raise ModelFileError(_DAMAGED) from None
    for content, ends in found.values():
        if (content.dtype.str, content.ndim, ends.dtype.str[1:], ends.ndim) != ("|u1", 1, "i8", 1):
            raise ModelFileError(_DAMAGED)
    return found


def _text(content: Any, ends: Any, i: int) -> str:
    begin = int(ends[i - 1]) if i else 0
    if not 0 <= begin <= int(ends[i]) <= len(content):
        raise ModelFileError(_DAMAGED)
    return bytes(content[begin : int(ends[i])]).decode(errors="replace")


def _queries(query: str, segments: "Segments", jobs: int | None) -> "Forest":
    import numpy as np

    from filbert.cli.data import DataFiles, only_forest
    from filbert.cli.options import Reading
    from filbert.cli.queries import typed_trees

    if query.isascii() and query.isdecimal():
        if int(query) < 1 or int(query) > segments.next_id:
            raise InvalidParameterError(
                f"QUERY must be from 1 to {segments.next_id:,}, got {query}"
            )
        return segments.trees(np.array([int(query) - 1]))
    notes = segments.notes.values
    saved = notes.get("reading", {})
    known = {"format", "label", "tree", "tree_format", "header", "bare_words", "settings"}
    format = notes.get("format")
    whole = isinstance(saved, dict) and saved.keys() <= known and _are_options(saved)
    if not whole or not isinstance(format, str | None):
        raise ModelFileError("the index does not say how its data were read")
    reading = Reading(**saved)
    if query == STANDARD_INPUT or os.path.exists(query):
        files = DataFiles([query], reading, "raise", jobs)
        return only_forest(files.trees(), files.name)
    return typed_trees(query, format, reading)


def _are_options(saved: dict[str, Any]) -> bool:
    settings = saved.get("settings") or []
    others = [value for name, value in saved.items() if name != "settings"]
    return (
        isinstance(settings, list)
        and all(isinstance(setting, str) for setting in settings)
        and all(value is None or isinstance(value, str | bool) for value in others)
    )
