"""A page of clone classes: their members, and what two of them share, aligned and in colours.

Like the report, it is one file without a script. Its policy forbids everything but its own style.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from markupsafe import Markup

from filbert.clones.alignment import Alignment, Side, align
from filbert.clones.classes import CloneClass
from filbert.drawing.beside import Cell, folded, rows_beside
from filbert.drawing.labels import printable
from filbert.drawing.svg import N_GROUPS, tree_svg
from filbert.errors import MatrixTooLargeError
from filbert.forest import Forest
from filbert.report.html import content_hash, environment, source_of

_MOST_CLASSES = 50  # with differences; all are listed
_MOST_COMPARED = 3  # distinct members beside the first
_MOST_LINES = 400
_CONTEXT = 3
_MOST_NODES = 150  # of a drawing
_WIDTH = 520.0


def render(classes: Sequence[CloneClass], forest: Forest, names: Sequence[str], title: str) -> str:
    """Return the page of clone classes; each tree has a name."""
    shown = [_class(number, one, forest, names) for number, one in enumerate(classes)]
    page = environment().get_template("clones.html")
    return page.render(
        title=title,
        classes=shown,
        n_trees=len(forest),
        n_members=sum(len(one.members) for one in classes),
        n_compared=min(len(shown), _MOST_CLASSES),
        **_assets(),
    )


def _class(number: int, one: CloneClass, forest: Forest, names: Sequence[str]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "number": number + 1,
        "n": len(one.members),
        "size": one.size,
        "is_exact": one.is_exact,
        "similarity": one.similarity,
        "members": [str(names[i]) for i in one.members],
        "pairs": [],
        "n_left_out": 0,
        "tree": None,
    }
    if number >= _MOST_CLASSES:
        return shown
    first = one.members[0]
    if one.is_exact:
        labels, parents = forest[first].to_parents()
        shown["tree"] = Markup(
            tree_svg(labels, parents, max_nodes=_MOST_NODES, max_width=2 * _WIDTH)
        )
        return shown
    roots = forest._roots
    others = list({int(roots[i]): i for i in reversed(one.members)}.values())[::-1]
    others = [i for i in others if roots[i] != roots[first]]
    shown["pairs"] = [_pair(forest, names, first, i) for i in others[:_MOST_COMPARED]]
    shown["n_left_out"] = len(others) - len(shown["pairs"])
    return shown


def _pair(forest: Forest, names: Sequence[str], first: int, second: int) -> dict[str, Any]:
    pair: dict[str, Any] = {"names": [str(names[first]), str(names[second])], "problem": ""}
    try:
        found = align(forest[first], forest[second])
    except MatrixTooLargeError as error:
        return {**pair, "problem": str(error)}
    rows = folded(rows_beside(found.first, found.second), _CONTEXT)
    return {
        **pair,
        "n_shared": found.n_shared,
        "sizes": [len(found.first.labels), len(found.second.labels)],
        "n_fragments": len(found.sizes),
        "rows": [_row(found, row) for row in rows[:_MOST_LINES]],
        "n_hidden": max(0, len(rows) - _MOST_LINES),
        "drawings": [_drawing(side) for side in (found.first, found.second)],
    }


def _row(found: Alignment, row: Any) -> dict[str, Any]:
    if isinstance(row, int):
        return {"n_equal": row}
    mark, *cells = row
    sides = zip((found.first, found.second), cells, strict=True)
    return {"n_equal": 0, "mark": mark, "cells": [_cell(*one) for one in sides]}


def _cell(side: Side, cell: Cell) -> dict[str, Any]:
    nodes = [node for node in (cell.node, cell.leaf) if node >= 0]
    return {
        "lines": cell.lines,
        "labels": [(printable(side.labels[i]), _colour(side.fragment[i])) for i in nodes],
    }


def _colour(fragment: int) -> str:
    """Return the class of a node: that of its fragment, or of a difference."""
    return "differs" if fragment < 0 else f"shared{fragment % N_GROUPS}"


def _drawing(side: Side) -> Markup:
    return Markup(
        tree_svg(
            side.labels,
            side.parents,
            groups=side.fragment,
            max_nodes=_MOST_NODES,
            max_width=_WIDTH,
        )
    )


@cache
def _assets() -> dict[str, Markup]:
    css = source_of("report.css") + source_of("clones.css")
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {content_hash(css)}"
    )
    return {"css": css, "policy": Markup(policy)}
