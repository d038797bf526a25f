"""``filbert similar``: find the trees of a file that are most similar to a query."""

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from filbert.cli import console
from filbert.cli.kernels import Decay, KernelDetails, KernelName, tree_kernel
from filbert.cli.options import OUTPUT, AsJson, General, OnError, Reading
from filbert.errors import InvalidParameterError
from filbert.read.files import STANDARD_INPUT

if TYPE_CHECKING:
    from filbert.cli.data import DataFiles as Files
    from filbert.forest import Forest
    from filbert.kernels import TreeKernel


def similar(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="A tree such as '(S (NP a) (VP b))'; a piece of code, if the data are code; a "
            "file with one tree, in the format of the data; or the number of a tree of the data, "
            "from 1. Without DATA, the data: each of its trees is then a query.",
        ),
    ],
    data: Annotated[
        list[str] | None, typer.Argument(metavar="DATA", help="Files of trees to search.")
    ] = None,
    *,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Number of trees to show.")] = 10,
    width: Annotated[
        int,
        typer.Option(
            min=10, metavar="N", rich_help_panel=OUTPUT, help="Characters of a tree to show."
        ),
    ] = 100,
    as_json: AsJson = False,
    kernel: KernelName = "stk",
    decay: Decay = None,
    details: KernelDetails,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:  # fmt: skip
    """Find the trees that are most similar to a query, by the exact kernel with all of them.

    Without a query, find the most similar other tree of each tree, and show the most similar pairs.

    [bold]Examples[/bold]

      filbert similar '(S (NP (D the) (N dog)) (VP ran))' parses.mrg

      filbert similar 17 parses.mrg --kernel ptk --top 3

      filbert similar query.py src --format python --set unit=function --set labels=abstract

      filbert similar src --top 20
    """
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.data import columns_of, only_forest

    chosen = tree_kernel(kernel, decay, details)
    if not data:
        from filbert.cli.units import with_functions

        files = Files([query], with_functions([query], reading), on_error, general.jobs)
        pairs = _pairs(files, chosen, top, general.jobs)
        if as_json:
            typer.echo(json.dumps(pairs, indent=1, ensure_ascii=False))
            return
        for pair in pairs:
            places = "\t".join(map(_named, pair["trees"]))
            line = f"{pair['similarity']:.4f}\t{places}"
            typer.echo(line.encode(errors="backslashreplace"))
        return
    files = Files(data, reading, on_error, general.jobs)
    if query == STANDARD_INPUT and query in data:
        raise InvalidParameterError(
            "standard input is the query or the data, not both: name - once"
        )
    X = files.trees()
    trees, columns = only_forest(X, files.name), columns_of(X)
    if query == STANDARD_INPUT or os.path.isfile(query):
        asked = _only_tree(Files([query], reading, on_error, general.jobs))
    else:
        asked = _query(query, trees, files)
    show = console.shows_progress(False)
    values = chosen(asked, trees, n_jobs=general.jobs, verbose=int(show))[0]
    order = (-values).argsort(kind="stable")[:top].tolist()
    found = [_row(i, float(values[i]), trees, columns) for i in order]
    if as_json:
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for row in found:
        place = " ".join(row["columns"].values())
        tree = row["tree"] if len(row["tree"]) <= width else row["tree"][: width - 1] + "…"
        line = f"{row['similarity']:.4f}\t{row['number']}\t{place + chr(9) if place else ''}{tree}"
        typer.echo(line.encode(errors="backslashreplace"))


def _pairs(
    files: "Files", kernel: "TreeKernel", top: int, jobs: int | None
) -> list[dict[str, Any]]:
    """Return each tree with the most similar other tree, the most similar pairs first."""
    from filbert.cli.data import columns_of, only_forest
    from filbert.progress import progress_bar
    from filbert.search.segments import Segments

    X = files.trees()
    trees, columns = only_forest(X, files.name), columns_of(X)
    segments = Segments(kernel)
    show = console.shows_progress(False)
    with progress_bar("indexing", show=show) as progress:
        segments.add(trees, jobs, progress)
    ids = segments.ids()
    with progress_bar("comparing", show=show) as progress:
        found = segments.search(
            trees, n_neighbors=1, least=-1.0, excluded=ids, n_jobs=jobs, progress=progress
        )
    nearest = zip(ids[: len(found.ids)].tolist(), found.ids.tolist(), strict=True)
    best: dict[tuple[int, int], float] = {}
    for pair, value in zip(nearest, found.values.tolist(), strict=True):
        best.setdefault((min(pair), max(pair)), value)
    order = sorted(best, key=lambda pair: (-best[pair], pair))[:top]
    return [
        {"similarity": best[pair], "trees": [_place(i, trees, columns) for i in pair]}
        for pair in order
    ]


def _named(row: dict[str, Any]) -> str:
    return " ".join([str(row["number"]), *row["columns"].values()])


def _only_tree(file: "Files") -> "Forest":
    """Read a file with one tree."""
    from filbert.cli.data import only_forest

    trees = only_forest(file.trees(), file.name)
    if len(trees) != 1:
        raise InvalidParameterError(
            f"QUERY must be one tree, but {file.name} has {len(trees):,}: leave one in the file"
        )
    return trees


def _query(text: str, trees: "Forest", files: "Files") -> "Forest":
    from filbert.cli.queries import typed_trees
    from filbert.cli.units import format_of

    if not text.isascii() or not text.isdecimal():
        return typed_trees(text, format_of(files.given, files.reading), files.reading)
    if not 1 <= int(text) <= len(trees):
        raise InvalidParameterError(f"QUERY must be from 1 to {len(trees):,}, got {text}")
    return trees[int(text) - 1 : int(text)]


def _row(i: int, value: float, trees: "Forest", columns: dict[str, Any]) -> dict[str, Any]:
    return {"similarity": value, **_place(i, trees, columns)}


def _place(i: int, trees: "Forest", columns: dict[str, Any]) -> dict[str, Any]:
    return {
        "number": i + 1,
        "columns": {name: str(column[i]) for name, column in columns.items()},
        "tree": str(trees[i]),
    }
