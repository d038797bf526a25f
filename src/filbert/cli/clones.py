"""``filbert clones``: find groups of equal and similar trees."""

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from filbert.cli import console
from filbert.cli.kernels import Decay, KernelDetails, KernelName, tree_kernel
from filbert.cli.options import OUTPUT, AsJson, DataFiles, General, OnError, Reading

if TYPE_CHECKING:
    from filbert.clones import CloneClass, RepeatedSubtree
    from filbert.forest import Forest


def clones(
    data: DataFiles,
    *,
    min_similarity: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, metavar="X",
            help="The lowest similarity; 1 finds equal trees only, which is fast.",
        ),
    ] = 0.8,
    min_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Leave out trees with fewer nodes.")
    ] = 30,
    linkage: Annotated[
        Literal["single", "complete"],
        typer.Option(help="single: chains of similar trees; complete: all pairs are similar."),
    ] = "single",
    inner: Annotated[
        bool,
        typer.Option("--inner", help="Find equal subtrees inside trees, not similar trees."),
    ] = False,
    shared: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", rich_help_panel=OUTPUT,
            help="Draw what the trees of the first N classes have in common.",
        ),
    ] = 0,
    differences: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", rich_help_panel=OUTPUT,
            help="Draw two trees of the first N classes of similar trees beside each other: what "
            "they share, and what differs.",
        ),
    ] = 0,
    width: Annotated[
        int,
        typer.Option(
            min=40, metavar="N", rich_help_panel=OUTPUT, help="Characters of a line of a drawing."
        ),
    ] = 100,
    as_json: AsJson = False,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", rich_help_panel=OUTPUT,
            help="File to write; - for standard output. A file .html is a page with the "
            "differences drawn.",
        ),
    ] = "-",
    kernel: KernelName = "stk",
    decay: Decay = None,
    details: KernelDetails,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:  # fmt: skip
    """Find clone classes: groups of equal or similar trees.

    Of source code, the trees are functions, unless --set unit says otherwise.

    [bold]Examples[/bold]

      filbert clones src --format python --min-similarity 1

      filbert clones src --format python --set labels=abstract --min-similarity 0.9 --shared 3

      filbert clones src --format python --inner --min-size 60 --json

      filbert clones src --differences 3

      filbert clones src -o clones.html
    """
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.data import columns_of, only_forest
    from filbert.cli.output import check_output, open_output
    from filbert.cli.units import with_functions
    from filbert.clones import clone_classes, repeated_subtrees
    from filbert.progress import progress_bar

    as_page = PurePath(output).suffix.lower() in (".html", ".htm")
    _check_choices(as_page, as_json, inner, output)
    files = Files(data, with_functions(data, reading), on_error, general.jobs)
    check_output(output, files.paths)
    X = files.trees()
    trees, columns = only_forest(X, files.name), columns_of(X)
    _warn_of_small_trees(trees, min_size)
    if inner:
        rows = [_repeated(one, columns) for one in repeated_subtrees(trees, min_size=min_size)]
        with open_output(output) as put:
            put(_json(rows) if as_json else "".join(map(_repeated_text, rows)))
        return
    with progress_bar("comparing", show=console.shows_progress(False)) as progress:
        found = clone_classes(
            trees,
            kernel=tree_kernel(kernel, decay, details),
            min_similarity=min_similarity,
            linkage=linkage,
            min_size=min_size,
            n_jobs=general.jobs,
            progress=progress,
        )
    if as_page:
        from filbert.clones import clones_to_html

        names = [_named(_place(i, columns)) for i in range(len(trees))]
        with open_output(output) as put:
            put(clones_to_html(found, trees, names=names))
        return
    rows = [_row(one, columns) for one in found]
    with open_output(output) as put:
        if as_json:
            put(_json(rows))
            return
        for number, (one, row) in enumerate(zip(found, rows, strict=True)):
            put("\n".join(_lines(row)) + "\n")
            if number < shared:
                put(_drawn(trees, one) + "\n")
            if not one.is_exact and differences > 0:
                differences -= 1
                put(_beside(trees, one, columns, width) + "\n")


def _check_choices(as_page: bool, as_json: bool, inner: bool, output: str) -> None:
    """Check what the page cannot show, before the long work starts."""
    from filbert.errors import InvalidParameterError

    if as_page and (as_json or inner):
        name = "--json" if as_json else "--inner"
        raise InvalidParameterError(
            f"{name} has no page: leave it out, or choose another name than {output}"
        )


def _warn_of_small_trees(trees: "Forest", min_size: int) -> None:
    """Say so if nothing can be found, since all trees are below the smallest size."""
    from filbert.cli.console import warn

    largest = max((tree.n_nodes for tree in trees), default=0)
    if 0 < largest < min_size:
        warn(
            f"all {len(trees):,} trees have fewer than {min_size} nodes, and are left out "
            f"(the largest has {largest}: lower --min-size)"
        )


def _place(i: int, columns: dict[str, Any]) -> dict[str, Any]:
    return {"number": i + 1, **{name: str(column[i]) for name, column in columns.items()}}


def _row(one: "CloneClass", columns: dict[str, Any]) -> dict[str, Any]:
    return {
        "similarity": one.similarity,
        "exact": one.is_exact,
        "size": one.size,
        "members": [_place(i, columns) for i in one.members],
    }


def _repeated(one: "RepeatedSubtree", columns: dict[str, Any]) -> dict[str, Any]:
    return {
        "size": one.tree.n_nodes,
        "tree": str(one.tree),
        "places": [_place(tree, columns) | {"node": node} for tree, node in one.places],
    }


def _named(place: dict[str, Any]) -> str:
    """Return file:line and name, or the number of a tree without them."""
    where = ":".join(place[key] for key in ("file", "line") if key in place)
    return " ".join(filter(None, [where, place.get("name")])) or f"tree {place['number']}"


def _lines(row: dict[str, Any]) -> Iterator[str]:
    kind = "equal" if row["exact"] else f"similarity {row['similarity']:.3f} or more"
    yield f"{len(row['members'])} trees, {row['size']:,} nodes, {kind}"
    yield from (f"  {_named(place)}" for place in row["members"])


def _repeated_text(row: dict[str, Any]) -> str:
    tree = row["tree"] if len(row["tree"]) <= 90 else row["tree"][:89] + "…"
    places = "".join(f"  {_named(place)} node {place['node']}\n" for place in row["places"])
    return f"{len(row['places'])} places, {row['size']:,} nodes: {tree}\n{places}"


def _drawn(trees: "Forest", one: "CloneClass") -> str:
    from filbert.clones import shared_fragment
    from filbert.drawing.text import draw_arrays

    fragment = shared_fragment(trees[list(one.members)])
    if fragment is None:
        return "  (no fragment in common that could be drawn)"
    text = draw_arrays(fragment.labels, fragment.parents, open=fragment.open)
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _beside(trees: "Forest", one: "CloneClass", columns: dict[str, Any], width: int) -> str:
    """Draw the first tree beside the first member that is not equal to it."""
    from filbert.clones import align
    from filbert.errors import MatrixTooLargeError

    first = one.members[0]
    second = next(i for i in one.members if trees._roots[i] != trees._roots[first])
    names = " and ".join(_named(_place(i, columns)) for i in (first, second))
    try:
        found = align(trees[first], trees[second])
    except MatrixTooLargeError as error:
        return f"    {names}: not drawn ({error})"
    sizes = " and ".join(f"{len(side.labels):,}" for side in (found.first, found.second))
    head = f"    {names} share {found.n_shared:,} of {sizes} nodes"
    text = found.draw(width=width - 4, context=3)
    return "\n".join([head, *(f"    {line}" for line in text.split("\n"))])


def _json(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
