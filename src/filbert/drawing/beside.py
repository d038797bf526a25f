"""Draw two aligned trees beside each other as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from filbert.drawing.labels import printable, shortened
from filbert.errors import InvalidParameterError

_LEAST_WIDTH = 20
_DEEPEST = 400  # characters before a label


class AlignedTree(Protocol):
    """A tree in preorder that is aligned with another tree."""

    @property
    def labels(self) -> Sequence[str]:
        """The label of each node."""

    @property
    def parents(self) -> Sequence[int]:
        """The parent of each node; -1 for the root."""

    @property
    def partner(self) -> Sequence[int]:
        """The node beside each node, or -1."""

    @property
    def children(self) -> Sequence[Sequence[int]]:
        """The children of each node."""


@dataclass(frozen=True)
class Cell:
    """A node of one tree on its line, and its only child if that is a leaf on the same line.

    Attributes
    ----------
    node : int
        -1 on a line of the other tree.
    lines : str
        The lines of the drawing to the left of the label.
    leaf : int
        The leaf beside the node, or -1.
    """

    node: int
    lines: str
    leaf: int = -1


Row = tuple[str, Cell, Cell]  # the mark: blank if both are the same, |, < or >


def rows_beside(first: AlignedTree, second: AlignedTree) -> list[Row]:
    """Return the lines of both trees; nodes that stand beside each other share a line."""
    sides = (_Column(first, second), _Column(second, first))
    rows: list[Row] = []
    i = j = 0
    while i < len(sides[0].cells) or j < len(sides[1].cells):
        a = sides[0].at(i)
        b = sides[1].at(j)
        if a is not None and b is not None and _replaced(first, second, a, b):
            rows.append(("|", a, b))
            i, j = i + 1, j + 1
        elif a is not None and first.partner[a.node] < 0:
            rows.append(("<", a, sides[1].gap(j)))
            i += 1
        elif b is not None and second.partner[b.node] < 0:
            rows.append((">", sides[0].gap(i), b))
            j += 1
        else:
            assert a is not None
            assert b is not None
            same = (a.leaf < 0) == (b.leaf < 0) and (a.leaf < 0 or first.partner[a.leaf] == b.leaf)
            rows.append((" " if same else "|", a, b))
            i, j = i + 1, j + 1
    return rows


def _replaced(first: AlignedTree, second: AlignedTree, a: Cell, b: Cell) -> bool:
    """Return whether two nodes without a partner are on one line each, at the same place."""
    if first.partner[a.node] >= 0 or second.partner[b.node] >= 0:
        return False
    if any(tree.children[c.node] and c.leaf < 0 for tree, c in ((first, a), (second, b))):
        return False
    above = first.parents[a.node]
    return above < 0 or first.partner[above] == second.parents[b.node] >= 0


def folded(rows: Sequence[Row], context: int | None) -> list[Row | int]:
    """Replace equal lines that are far from a difference by their number."""
    if context is None:
        return list(rows)
    if context < 0:
        raise InvalidParameterError(f"context must not be negative, got {context}")
    near = [False] * len(rows)
    for place, (mark, _, _) in enumerate(rows):
        if mark != " ":
            for other in range(max(0, place - context), min(len(rows), place + context + 1)):
                near[other] = True
    shown: list[Row | int] = []
    for row, is_near in zip(rows, near, strict=True):
        if is_near:
            shown.append(row)
        elif shown and isinstance(shown[-1], int):
            shown[-1] += 1
        else:
            shown.append(1)
    return shown


def draw_beside(first: AlignedTree, second: AlignedTree, *, width: int, context: int | None) -> str:
    """Draw two aligned trees with a mark between the lines that differ."""
    if width < _LEAST_WIDTH:
        raise InvalidParameterError(f"width must be at least {_LEAST_WIDTH}, got {width}")
    shown = folded(rows_beside(first, second), context)
    texts = [
        (row[0], text_of(first, row[1]), text_of(second, row[2]))
        for row in shown
        if not isinstance(row, int)
    ]
    most = (width - 3) // 2
    wide = min(most, max((len(a) for _, a, _ in texts), default=0))
    drawn = iter(texts)
    lines = []
    for row in shown:
        if isinstance(row, int):
            lines.append(f"… {row:,} equal {'line' if row == 1 else 'lines'}")
            continue
        mark, a, b = next(drawn)
        lines.append(f"{_cut(a, wide):<{wide}} {mark} {_cut(b, most)}".rstrip())
    return "\n".join(lines)


def _cut(text: str, most: int) -> str:
    """Cut the lines to the left of a label off before the label itself."""
    if len(text) <= most:
        return text
    label = text.lstrip("│├└ ")
    room = most - len(label) - 1
    return "…" + text[-(most - 1) :] if room >= 0 else "…" + shortened(label, most - 1)


def text_of(tree: AlignedTree, cell: Cell) -> str:
    """Return the text of a cell."""
    if cell.node < 0:
        return cell.lines
    text = cell.lines + printable(tree.labels[cell.node])
    return text + (f" ─ {printable(tree.labels[cell.leaf])}" if cell.leaf >= 0 else "")


class _Column:
    """The cells of one tree. A leaf is beside its parent if it has no line of its own."""

    def __init__(self, tree: AlignedTree, other: AlignedTree) -> None:
        self.cells: list[Cell] = []
        stack = [(0, "", "")]
        while stack:
            node, lines, inner = stack.pop()
            below = tree.children[node]
            if _has_leaf_beside(tree, other, node):
                self.cells.append(Cell(node, lines, below[0]))
                continue
            self.cells.append(Cell(node, lines))
            for child in reversed(below):
                last = child == below[-1]
                branch, space = ("└ ", "  ") if last else ("├ ", "│ ")
                inner = inner[-_DEEPEST:]  # a deep tree has few new characters in each line
                stack.append((child, inner + branch, inner + space))

    def at(self, place: int) -> Cell | None:
        return self.cells[place] if place < len(self.cells) else None

    def gap(self, place: int) -> Cell:
        """Return the lines that go on where only the other tree has a node."""
        cell = self.at(place)
        if cell is None or not cell.lines:
            return Cell(-1, "")
        return Cell(-1, cell.lines[:-2] + "│")


def _has_leaf_beside(tree: AlignedTree, other: AlignedTree, node: int) -> bool:
    """Return whether a node has one child, a leaf, and so has the node beside it, if any."""
    below = tree.children[node]
    if len(below) != 1 or tree.children[below[0]]:
        return False
    beside = tree.partner[node]
    if beside < 0:
        return tree.partner[below[0]] < 0
    theirs = other.children[beside]
    if len(theirs) != 1 or other.children[theirs[0]]:
        return False
    return tree.partner[below[0]] in (-1, theirs[0]) and other.partner[theirs[0]] in (-1, below[0])
