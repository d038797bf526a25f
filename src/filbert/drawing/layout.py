"""Place the nodes of a tree so that the drawing is easy to read and not too wide.

Children are placed side by side below their parent, with subtrees as close to each other as their
outlines allow (Reingold & Tilford 1981, with labels of any width). If the result would be wider
than `max_width`, there are two other arrangements. A child with a deep subtree is placed right
below its parent, and lower than its siblings to the left and right, so that depth does not add to
the width. Otherwise children hang from a stem below the left end of their parent's label, one
below the other, in several columns if they are many.

The arrangement is chosen bottom-up, one node at a time. The outline of each subtree is kept in
strips of `STRIP` pixels: how far it reaches to the left and to the right of its root.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from filbert.read.preorder import children_of

STRIP = 6.0  # pixels
_NODE = 4  # strips that a node takes
_DROP = 7  # strips from a node to children side by side,
_SHORT = 5  # and to an only child
_GAP = 8.0  # pixels between neighbours
_INDENT = 12.0  # from a stem to the labels that hang from it
_STEM = 9.0  # from the left end of a label to its stem
_LONG_LIST = 14 * _NODE  # strips: more are put into columns
_LONG_WAY = 8  # levels
_MANY = 6  # children
_LEAST_WIDTH = 160.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """The positions of all nodes and lines, in pixels.

    Attributes
    ----------
    centres : list of (x, y)
        By node.
    lines : list of lists of (x, y)
        By node: the line from its parent; empty for the root.
    width, height : float
    """

    centres: list[Point]
    lines: list[list[Point]]
    width: float
    height: float


@dataclass
class _Shape:
    """A subtree's outline: how far each strip reaches from the root's centre."""

    left: list[float]
    right: list[float]
    levels: int = 1

    @property
    def leftmost(self) -> float:
        return min(self.left)

    @property
    def width(self) -> float:
        return max(self.right) - min(self.left)

    def cover(self, strips: range, left: float, right: float) -> None:
        """Make the outline reach from `left` to `right` in some strips."""
        while len(self.left) < strips.stop:
            self.left.append(left)
            self.right.append(right)
        for strip in strips:
            self.left[strip] = min(self.left[strip], left)
            self.right[strip] = max(self.right[strip], right)

    def put(self, other: "_Shape", x: float, strip: int) -> None:
        """Add another shape, whose root is `x` to the right and `strip` strips down."""
        n = len(self.left)  # strips up to `strip` are all there
        for i, (left, right) in enumerate(zip(other.left, other.right, strict=True), strip):
            if i < n:
                self.left[i] = min(self.left[i], x + left)
                self.right[i] = max(self.right[i], x + right)
            else:
                self.left.append(x + left)
                self.right.append(x + right)


@dataclass(frozen=True)
class _Place:
    """The position of a node relative to its parent, and the corners of the line to it."""

    x: float
    strips: int
    corners: tuple[Point, ...]  # relative to the parent's centre; the last is the edge of the node


def layout(parents: Sequence[int], widths: Sequence[float], *, max_width: float = 960) -> Layout:
    """Lay out a tree.

    Parameters
    ----------
    parents : sequence of int
        By node in preorder; -1 for the root.
    widths : sequence of float
        Of the labels, in pixels.
    max_width : float
        Wider trees hang from stems. A single label may still be wider.
    """
    children = children_of(parents)
    shapes: list[_Shape] = [_Shape([], [])] * len(parents)
    places: list[_Place] = [_Place(0, 0, ())] * len(parents)
    for node in reversed(range(len(parents))):  # children first
        below = [(shapes[child], widths[child]) for child in children[node]]
        shape, chosen = _arranged(widths[node], below, max_width)
        shapes[node] = shape
        for child, place in zip(children[node], chosen, strict=True):
            places[child] = place
            shapes[child] = _Shape([], [])  # no longer needed
    return _absolute(parents, places, shapes[0])


def _arranged(
    width: float, below: list[tuple[_Shape, float]], max_width: float
) -> tuple[_Shape, list[_Place]]:
    """Place the children of a node, and return the outline of the whole subtree."""
    own = _Shape([-width / 2] * _NODE, [width / 2] * _NODE)
    if not below:
        return own, []
    shape, places = _side_by_side(own, [child for child, _ in below])
    if len(below) > 1 and shape.width > max(_LEAST_WIDTH, max_width):
        deep = [i for i, (child, _) in enumerate(below) if child.levels >= _LONG_WAY]
        spine = None
        if len(deep) == 1:
            spine = _around_spine(own, [child for child, _ in below], deep[0])
        if spine is not None and spine[0].width <= max(max_width, below[deep[0]][0].width):
            shape, places = spine
        else:
            shape, places = _hanging(own, below, max_width)
    shape.levels = 1 + max(child.levels for child, _ in below)
    return shape, places


# ---------------------------------------------------------------- side by side


def _side_by_side(own: _Shape, below: list[_Shape]) -> tuple[_Shape, list[_Place]]:
    xs = _packed(below)
    drop = _SHORT if len(below) == 1 else _DROP
    shape = _Shape([*own.left], [*own.right])
    for strip in range(_NODE, drop):  # the lines to the children
        share = (strip - _NODE + 1) / (drop - _NODE + 1)
        shape.cover(range(strip, strip + 1), share * xs[0], share * xs[-1])
    half = _NODE / 2 * STRIP
    places = []
    for x, child in zip(xs, below, strict=True):
        shape.put(child, x, drop)
        places.append(_Place(x, drop, ((0.0, half - 2), (x, drop * STRIP - half + 2))))
    return shape, places


def _packed(below: list[_Shape]) -> list[float]:
    """Return the centres of the children, with 0 halfway between the first and the last.

    Packing from the left puts small subtrees close to the left one of two large subtrees. Packing
    from the right puts them close to the right one. The mean of both spreads them evenly and keeps
    all minimum distances.
    """
    from_left = _pushed([(shape.left, shape.right) for shape in below])
    mirrored = [([-x for x in s.right], [-x for x in s.left]) for s in reversed(below)]
    from_right = _pushed(mirrored)[::-1]
    xs = [(a + from_left[-1] - b) / 2 for a, b in zip(from_left, from_right, strict=True)]
    middle = (xs[0] + xs[-1]) / 2
    return [x - middle for x in xs]


def _pushed(outlines: list[tuple[list[float], list[float]]]) -> list[float]:
    """Place outlines from left to right, each as far to the left as possible."""
    xs: list[float] = []
    taken: list[float] = []  # by strip: the right end so far
    for left, right in outlines:
        x = max((t + _GAP - mine for t, mine in zip(taken, left, strict=False)), default=0.0)
        xs.append(x)
        taken[: len(right)] = [x + mine for mine in right]
    return xs


# ---------------------------------------------------------------- around a deep subtree


def _around_spine(own: _Shape, below: list[_Shape], deep: int) -> tuple[_Shape, list[_Place]]:
    """Place one child right below, and lower than the others to its left and right."""
    before, after = below[:deep], below[deep + 1 :]
    shape = _Shape([*own.left], [*own.right])
    half = _NODE / 2 * STRIP
    xs = [0.0] * len(below)
    if before:
        packed = _packed(before)
        reach = max(x + max(s.right) for x, s in zip(packed, before, strict=True))
        xs[:deep] = [x - reach - _GAP for x in packed]
    if after:
        packed = _packed(after)
        reach = min(x + s.leftmost for x, s in zip(packed, after, strict=True))
        xs[deep + 1 :] = [x - reach + _GAP for x in packed]
    lower = _SHORT + max(len(child.left) for child in before + after)
    shape.cover(range(_NODE, lower), 0.0, 0.0)
    places = []
    for i, (x, child) in enumerate(zip(xs, below, strict=True)):
        drop = lower if i == deep else _SHORT
        shape.put(child, x, drop)
        places.append(_Place(x, drop, ((0.0, half - 2), (x, drop * STRIP - half + 2))))
    return shape, places


# ---------------------------------------------------------------- hanging


def _hanging(
    own: _Shape, below: list[tuple[_Shape, float]], max_width: float
) -> tuple[_Shape, list[_Place]]:
    columns = _columns([shape for shape, _ in below], max_width)
    shape = _Shape([*own.left], [*own.right])
    first_stem = own.left[0] + _STEM
    half = _NODE / 2 * STRIP
    bar = half + STRIP  # the y of the line that connects several stems
    top = _NODE if len(columns) == 1 else _NODE + 1
    stem = first_stem
    places = []
    for column in columns:
        strip, rightmost = top, stem
        for i in column:
            child, width = below[i]
            x = stem + _INDENT - child.leftmost
            corners = [(first_stem, half - 2)]
            if stem != first_stem:
                corners += [(first_stem, bar), (stem, bar)]
            corners += [(stem, strip * STRIP), (x - width / 2, strip * STRIP)]
            shape.cover(range(_NODE, strip + 1), min(stem, first_stem), stem)
            shape.put(child, x, strip)
            rightmost = max(rightmost, x + max(child.right))
            places.append(_Place(x, strip, tuple(corners)))
            strip += len(child.left)
        stem = rightmost + 2 * _GAP
    return shape, places


def _columns(below: list[_Shape], max_width: float) -> list[range]:
    """Divide children into columns: enough to make the list short, or as many as fit."""
    columns = [range(len(below))]
    if len(below) < _MANY:
        return columns
    total = sum(len(shape.left) for shape in below)
    n = 1
    while total > n * _LONG_LIST:
        n += 1
        tried = _filled(below, total / n)
        width = sum(max(below[i].width for i in column) + _INDENT + 2 * _GAP for column in tried)
        if width > max_width:
            break
        columns = tried
    return columns


def _filled(below: list[_Shape], height: float) -> list[range]:
    """Start a new column when the current one is full."""
    starts, filled = [0], 0
    for i, shape in enumerate(below):
        if filled >= height - 1e-9:
            starts.append(i)
            filled = 0
        filled += len(shape.left)
    return [range(a, b) for a, b in pairwise([*starts, len(below)])]


# ---------------------------------------------------------------- from relative to absolute


def _absolute(parents: Sequence[int], places: list[_Place], whole: _Shape) -> Layout:
    half = _NODE / 2 * STRIP
    centres: list[Point] = [(-whole.leftmost, half)]
    lines: list[list[Point]] = [[]]
    for parent, place in zip(parents[1:], places[1:], strict=True):
        x, y = centres[parent]
        centres.append((x + place.x, y + place.strips * STRIP))
        lines.append([(x + dx, y + dy) for dx, dy in place.corners])
    return Layout(centres, lines, whole.width, len(whole.left) * STRIP)
