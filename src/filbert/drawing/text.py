"""Draw trees as text."""

from collections.abc import Callable, Sequence

from filbert.drawing.labels import number, printable
from filbert.read.preorder import children_of

_BAR = 5  # characters of the longest bar


def draw(
    root: int,
    label: Callable[[int], str],
    children: Callable[[int], Sequence[int]],
    *,
    max_lines: int,
    max_depth: int,
    values: Sequence[float] | None = None,
) -> str:
    """Draw the subtree of `root`, one node per line; a single leaf is beside its parent.

    The drawing is bounded in both directions: a chain of a million nodes would otherwise need a
    million columns. With `values`, by node, each line begins with the node's value and a bar. A
    leaf whose value is not 0 then has its own line.
    """
    lines: list[str] = []
    margin = _Margin(values)
    # Still to draw: a node, the prefix of its label, the prefix of its children, its depth.
    stack = [(root, "", "", 1)]
    while stack:
        if len(lines) >= max_lines:
            lines.append(margin.blank + "…")
            break
        node, prefix, inner, depth = stack.pop()
        below = children(node)
        text = margin.of(node) + prefix + printable(label(node))
        if len(below) == 1 and len(children(below[0])) == 0 and margin.is_zero(below[0]):
            text += " ─ " + printable(label(below[0]))
            below = []
        elif len(below) > 0 and depth >= max_depth:
            text += " ─ …"
            below = []
        lines.append(text)
        for i in reversed(range(min(len(below), max_lines + 1))):
            last = i == len(below) - 1
            branch, space = ("└─ ", "   ") if last else ("├─ ", "│  ")
            stack.append((below[i], inner + branch, inner + space, depth + 1))
    return "\n".join(lines)


def draw_arrays(
    labels: Sequence[str],
    parents: Sequence[int],
    *,
    open: Sequence[bool] | None = None,
    values: Sequence[float] | None = None,
    max_lines: int = 100,
    max_depth: int = 30,
) -> str:
    """Draw a tree given by the labels and parents of its nodes, in preorder.

    An ellipsis follows a node that is `open`, whose children are not part of the fragment.
    """
    children = children_of(parents)

    def label(node: int) -> str:
        return labels[node] + (" …" if open is not None and open[node] else "")

    return draw(
        0, label, children.__getitem__, max_lines=max_lines, max_depth=max_depth, values=values
    )


class _Margin:
    """The margin to the left of the tree: values and bars, or nothing."""

    def __init__(self, values: Sequence[float] | None) -> None:
        self.values = values
        self.largest = max((abs(value) for value in values or []), default=0.0)
        self.width = max((len(number(value)) for value in values or []), default=0)
        self.blank = "" if values is None else " " * (self.width + _BAR + 3)

    def is_zero(self, node: int) -> bool:
        return self.values is None or self.values[node] == 0

    def of(self, node: int) -> str:
        if self.values is None:
            return ""
        if self.values[node] == 0:
            return self.blank
        value = self.values[node]
        bar = ("█" if value > 0 else "░") * max(1, round(_BAR * abs(value) / self.largest))
        return f"{number(value):>{self.width}} {bar:<{_BAR}}  "
