"""A tree with a position for each node: what an SVG file or a page draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import combining, east_asian_width

from filbert.drawing.labels import printable, shortened
from filbert.drawing.layout import layout
from filbert.drawing.outline import Outline, outline_of_arrays
from filbert.errors import InvalidParameterError

FONT = 13  # pixels
HEIGHT = 20  # of a node's box
_LONGEST = 28  # characters of a label
_MARGIN = 4
_NARROW = frozenset("ijl.,:;'|!()[]{}`ftrI-/\\ ")
_WIDE = frozenset("mwMW@%")

Point = tuple[int, int]


@dataclass(frozen=True)
class Picture:
    """The drawn nodes of a tree, in preorder.

    Attributes
    ----------
    outline : Outline
        The nodes with their whole labels, and ellipses for hidden nodes.
    texts : list of str
        The labels as they are drawn: printable, and cut off if they are long.
    widths : list of int
        The widths of the boxes around the labels.
    centres : list of (x, y)
    edges : list of str
        The line from the parent of each node as the data of an SVG path, relative to the centre of
        the parent; empty for the root.
    width, height : int
        Like all lengths, in pixels.
    """

    outline: Outline
    texts: list[str]
    widths: list[int]
    centres: list[Point]
    edges: list[str]
    width: int
    height: int


def picture(outline: Outline, max_width: float) -> Picture:
    """Place the nodes of an outline, on whole pixels."""
    texts = [shortened(printable(label), _LONGEST) for label in outline.labels]
    widths = [round(_text_width(text)) + 12 for text in texts]
    placed = layout(outline.parents, widths, max_width=max_width)
    centres = [(round(x + _MARGIN), round(y + _MARGIN)) for x, y in placed.centres]
    lines = [[(round(x + _MARGIN), round(y + _MARGIN)) for x, y in line] for line in placed.lines]
    return Picture(
        outline,
        texts,
        widths,
        centres,
        [
            "",
            *(
                _path(centres[p], line)
                for p, line in zip(outline.parents[1:], lines[1:], strict=True)
            ),
        ],
        round(placed.width + 2 * _MARGIN),
        round(placed.height + 2 * _MARGIN),
    )


def _path(start: Point, line: list[Point]) -> str:
    """Return a line as steps from one point to the next, the first of them not drawn."""
    steps = [f"{x - a} {y - b}" for (a, b), (x, y) in pairwise([start, *line])]
    return "m" + "l".join(steps)


def picture_of_arrays(
    labels: Sequence[str],
    parents: Sequence[int],
    values: Sequence[float] | None,
    max_nodes: int,
    max_width: float,
) -> Picture:
    """Place the nodes of a tree that is given in preorder; large trees are folded."""
    return picture(outline_of_arrays(labels, parents, values, max_nodes), max_width)


def check_arrays(
    labels: Sequence[str],
    parents: Sequence[int],
    open: Sequence[bool] | None,
    values: Sequence[float] | None,
) -> None:
    """Raise InvalidParameterError if arrays do not describe a tree in preorder."""
    n = len(labels)
    for name, array in (("parents", parents), ("open", open), ("values", values)):
        if array is not None and len(array) != n:
            raise InvalidParameterError(f"{name} must have one entry for each of the {n:,} nodes")
    if n == 0 or parents[0] != -1:
        raise InvalidParameterError("a tree has a root: parents[0] must be -1")
    path = [0]  # where the next node may be added in preorder
    for node in range(1, n):
        while path and path[-1] != parents[node]:
            path.pop()
        if not path:
            raise InvalidParameterError(
                f"nodes must be in preorder: node {node} cannot follow with parent {parents[node]}"
            )
        path.append(node)


def _text_width(text: str) -> float:
    """Estimate the width of a text in pixels, for any usual sans-serif font."""
    return FONT * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if combining(character):
        return 0.0
    if east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.37
    if character in _WIDE:
        return 0.95
    return 0.7 if character.isupper() else 0.59
