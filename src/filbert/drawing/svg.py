"""Draw trees as SVG."""

from collections.abc import Sequence
from html import escape
from unicodedata import combining, east_asian_width

from filbert._core import Dag
from filbert.drawing.labels import number, printable, shortened, title_of
from filbert.drawing.layout import Layout, layout
from filbert.drawing.outline import Outline, outline_of_arrays, outline_of_dag
from filbert.errors import InvalidParameterError

_FONT = 13  # pixels
_LONGEST = 28  # characters of a label
_HEIGHT = 20  # of a node's box
_MARGIN = 4
_NARROW = frozenset("ijl.,:;'|!()[]{}`ftrI-/\\ ")
_WIDE = frozenset("mwMW@%")

# For white and for black pages: boxes have their own background, and lines are grey.
_INK, _PAPER, _PLAIN, _LINE = "#14181f", "#e3e8ee", "#f5f7f9", "#8a94a3"
_FOR, _AGAINST = (74, 152, 226), (242, 143, 66)  # blue and orange, safe for colour-blind readers
_NEUTRAL = (238, 241, 244)


def tree_svg(
    labels: Sequence[str],
    parents: Sequence[int],
    *,
    open: Sequence[bool] | None = None,
    values: Sequence[float] | None = None,
    standalone: bool = True,
    max_nodes: int = 400,
    max_width: float = 960,
) -> str:
    """Draw a tree whose nodes are given in preorder.

    Parameters
    ----------
    labels : sequence of str
        Any text: it is escaped. Long labels are cut off; the node's `<title>` has the whole label.
    parents : sequence of int
        -1 for the root.
    open : sequence of bool, optional
        The nodes whose children are not part of the fragment; they have a dashed frame.
    values : sequence of float, optional
        The contribution of each node. It sets the node's colour and is in its `<title>`.
    standalone : bool
        Include colours in the drawing; they suit light and dark pages. Otherwise the drawing has
        classes for a style sheet: `tree` for the whole, `edge` for lines, and for the groups of
        nodes `node`, `leaf`, `open`, `ellipsis`, `for` and `against`. In both cases the group of
        a node has its preorder number as `data-node`.
    max_nodes : int
        In larger trees only the nodes with the largest values and those near the root are drawn.
        Ellipses stand for the others.
    max_width : float
        The largest width in pixels, unless labels are wider.
    """
    check_arrays(labels, parents, open, values)
    check_limits(max_nodes, max_width)
    outline = outline_of_arrays(labels, parents, values, max_nodes)
    return _Drawing(outline, open, values, standalone).svg(max_width)


def dag_svg(dag: Dag, root: int, *, max_nodes: int, max_width: float) -> str:
    """Draw a tree of any size, as :func:`tree_svg` does."""
    check_limits(max_nodes, max_width)
    return _Drawing(outline_of_dag(dag, root, max_nodes), None, None, True).svg(max_width)


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


def check_limits(max_nodes: int, max_width: float) -> None:
    """Raise InvalidParameterError if nothing could be drawn."""
    if not max_nodes >= 1:
        raise InvalidParameterError(f"max_nodes must be at least 1, got {max_nodes!r}")
    if not max_width > 0:
        raise InvalidParameterError(f"max_width must be positive, got {max_width!r}")


class _Drawing:
    def __init__(
        self,
        outline: Outline,
        open: Sequence[bool] | None,
        values: Sequence[float] | None,
        standalone: bool,
    ) -> None:
        self.outline = outline
        self.open = open
        self.values = values
        self.standalone = standalone
        self.largest = max((abs(value) for value in values or []), default=0.0)
        self.texts = [shortened(printable(label), _LONGEST) for label in outline.labels]
        self.widths = [_text_width(text) + 12 for text in self.texts]
        inner = set(outline.parents)
        self.is_leaf = [node not in inner for node in range(len(self.texts))]

    def svg(self, max_width: float) -> str:
        placed = layout(self.outline.parents, self.widths, max_width=max_width)
        width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN
        head = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        if self.standalone:
            style = (
                f' xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" '
                f'font-size="{_FONT}" text-anchor="middle"'
            )
        else:
            style = ' class="tree"'
        label = escape(f"tree with the root {self.texts[0]}")
        return "".join(
            [
                f'<svg {head}{style} role="img" aria-label="{label}">',
                self._edges(placed),
                *(self._node(node, *placed.centres[node]) for node in range(len(self.texts))),
                "</svg>",
            ]
        )

    def _edges(self, placed: Layout) -> str:
        lines = [
            "M" + "L".join(f"{x + _MARGIN:.1f} {y + _MARGIN:.1f}" for x, y in line)
            for line in placed.lines
            if line
        ]
        if not lines:
            return ""
        style = f'fill="none" stroke="{_LINE}"' if self.standalone else 'class="edge"'
        return f'<path {style} d="{"".join(lines)}"/>'

    def _node(self, node: int, x: float, y: float) -> str:
        own = self.outline.numbers[node]
        if own < 0:
            return self._ellipsis(node, x, y)
        value = None if self.values is None else self.values[own]
        is_open = self.open is not None and bool(self.open[own])
        title = title_of(self.outline.labels[node])
        title += "" if value is None else f": {number(value)}"
        width = self.widths[node]
        box = (
            f'x="{x + _MARGIN - width / 2:.1f}" y="{y + _MARGIN - _HEIGHT / 2:.1f}" '
            f'width="{width:.1f}" height="{_HEIGHT}" rx="5"'
        )
        return (
            f'<g data-node="{own}"{self._group(node, is_open, value)}><title>{escape(title)}'
            f"</title><rect {box}{self._paint(node, is_open, value)}/>{self._text(node, x, y)}</g>"
        )

    def _ellipsis(self, node: int, x: float, y: float) -> str:
        style = "" if self.standalone else ' class="node ellipsis"'
        paint = f' fill="{_LINE}"' if self.standalone else ""
        hidden = self.outline.hidden[node]
        title = f"{hidden:,} {'node is' if hidden == 1 else 'nodes are'} not shown"
        return f"<g{style}><title>{title}</title>{self._text(node, x, y, paint)}</g>"

    def _text(self, node: int, x: float, y: float, paint: str | None = None) -> str:
        if paint is None:
            paint = f' fill="{_INK}"' if self.standalone else ""
        place = f'x="{x + _MARGIN:.1f}" y="{y + _MARGIN + _FONT * 0.35:.1f}"'
        return f"<text {place}{paint}>{escape(self.texts[node])}</text>"

    def _group(self, node: int, is_open: bool, value: float | None) -> str:
        if self.standalone:
            return ""
        classes = ["node"]
        if is_open:
            classes.append("open")
        elif self.is_leaf[node]:
            classes.append("leaf")
        if value is not None and value != 0:
            classes.append("for" if value > 0 else "against")
        return f' class="{" ".join(classes)}"'

    def _paint(self, node: int, is_open: bool, value: float | None) -> str:
        if not self.standalone:
            return ""
        fill = _PLAIN if self.is_leaf[node] and not is_open else _PAPER
        if value is not None:
            fill = _colour(value / self.largest if self.largest > 0 else 0.0)
        dashes = f' stroke="{_INK}" stroke-dasharray="3 2" stroke-opacity="0.6"' if is_open else ""
        return f' fill="{fill}"{dashes}'


def _colour(strength: float) -> str:
    """Mix a colour for a strength from -1 to 1."""
    end = _FOR if strength > 0 else _AGAINST
    mixed = (round(a + (b - a) * abs(strength) ** 0.7) for a, b in zip(_NEUTRAL, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _text_width(text: str) -> float:
    """Estimate the width of a text in pixels, for any usual sans-serif font."""
    return _FONT * sum(map(_character_width, text))


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
