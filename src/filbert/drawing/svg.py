"""Draw trees as SVG."""

from collections.abc import Sequence
from html import escape

from filbert._core import Dag
from filbert.drawing.labels import number, title_of
from filbert.drawing.outline import outline_of_dag
from filbert.drawing.picture import (
    FONT,
    HEIGHT,
    Picture,
    check_arrays,
    picture,
    picture_of_arrays,
)
from filbert.errors import InvalidParameterError

# For white and for black pages: boxes have their own background, and lines are grey.
_INK, _PAPER, _PLAIN, _LINE = "#14181f", "#e3e8ee", "#f5f7f9", "#8a94a3"
_FOR, _AGAINST = (74, 152, 226), (242, 143, 66)  # blue and orange, safe for colour-blind readers
_NEUTRAL = (238, 241, 244)
_GROUPS = ("#c3dcf7", "#c5e8cc", "#dccdf3", "#f3e09a")
_ALONE = "#f6c9a3"  # in no group
N_GROUPS = len(_GROUPS)
"""The number of colours of groups."""


def tree_svg(
    labels: Sequence[str],
    parents: Sequence[int],
    *,
    open: Sequence[bool] | None = None,
    values: Sequence[float] | None = None,
    groups: Sequence[int] | None = None,
    max_nodes: int = 400,
    max_width: float = 960,
) -> str:
    """Draw a tree whose nodes are given in preorder, in colours for light and dark pages.

    Parameters
    ----------
    labels : sequence of str
        Any text: it is escaped. Long labels are cut off; the node's `<title>` has the whole label.
    parents : sequence of int
        -1 for the root.
    open : sequence of bool, optional
        The nodes whose children are not part of the fragment; they have a dashed frame.
    values : sequence of float, optional
        The contribution of each node. It sets the node's colour and is in its `<title>`. The group
        of a node has its preorder number as `data-node`.
    groups : sequence of int, optional
        The number of the group of each node, or -1. Groups have colours, which are used again after
        `N_GROUPS` groups. What is in no group is orange.
    max_nodes : int
        In larger trees only the nodes with the largest values and those near the root are drawn.
        Ellipses stand for the others.
    max_width : float
        The largest width in pixels, unless labels are wider.
    """
    check_arrays(labels, parents, open, values if groups is None else groups)
    check_limits(max_nodes, max_width)
    drawn = picture_of_arrays(labels, parents, values, max_nodes, max_width)
    return _Drawing(drawn, open, values, groups).svg()


def dag_svg(dag: Dag, root: int, *, max_nodes: int, max_width: float) -> str:
    """Draw a tree of any size, as :func:`tree_svg` does."""
    check_limits(max_nodes, max_width)
    return _Drawing(picture(outline_of_dag(dag, root, max_nodes), max_width), None, None).svg()


def check_limits(max_nodes: int, max_width: float) -> None:
    """Raise InvalidParameterError if nothing could be drawn."""
    if not max_nodes >= 1:
        raise InvalidParameterError(f"max_nodes must be at least 1, got {max_nodes!r}")
    if not max_width > 0:
        raise InvalidParameterError(f"max_width must be positive, got {max_width!r}")


class _Drawing:
    def __init__(
        self,
        picture: Picture,
        open: Sequence[bool] | None,
        values: Sequence[float] | None,
        groups: Sequence[int] | None = None,
    ) -> None:
        self.picture = picture
        self.outline = picture.outline
        self.open = open
        self.values = values
        self.groups = groups
        self.largest = max((abs(value) for value in values or []), default=0.0)
        self.inner = set(picture.outline.parents)

    def svg(self) -> str:
        width, height = self.picture.width, self.picture.height
        label = escape(f"tree with the root {self.picture.texts[0]}")
        head = (
            f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" '
            f'font-size="{FONT}" text-anchor="middle" role="img" aria-label="{label}"'
        )
        nodes = (self._node(node, *at) for node, at in enumerate(self.picture.centres))
        return "".join([f"<svg {head}>", self._edges(), *nodes, "</svg>"])

    def _edges(self) -> str:
        centres, parents = self.picture.centres, self.outline.parents
        lines = "".join(
            f"M{centres[parent][0]} {centres[parent][1]}{edge}"
            for parent, edge in zip(parents, self.picture.edges, strict=True)
            if edge
        )
        return f'<path fill="none" stroke="{_LINE}" d="{lines}"/>' if lines else ""

    def _node(self, node: int, x: int, y: int) -> str:
        own = self.outline.numbers[node]
        if own < 0:
            return self._ellipsis(node, x, y)
        value = None if self.values is None else self.values[own]
        title = title_of(self.outline.labels[node])
        title += "" if value is None else f": {number(value)}"
        width = self.picture.widths[node]
        box = (
            f'x="{x - width / 2:g}" y="{y - HEIGHT / 2:g}" width="{width}" height="{HEIGHT}" rx="5"'
        )
        return (
            f'<g data-node="{own}"><title>{escape(title)}</title>'
            f"<rect {box}{self._paint(node, own, value)}/>{self._text(node, x, y, _INK)}</g>"
        )

    def _ellipsis(self, node: int, x: int, y: int) -> str:
        hidden = self.outline.hidden[node]
        title = f"{hidden:,} {'node is' if hidden == 1 else 'nodes are'} not shown"
        return f"<g><title>{title}</title>{self._text(node, x, y, _LINE)}</g>"

    def _text(self, node: int, x: int, y: int, colour: str) -> str:
        place = f'x="{x}" y="{y + FONT * 0.35:.1f}"'
        return f'<text {place} fill="{colour}">{escape(self.picture.texts[node])}</text>'

    def _paint(self, node: int, own: int, value: float | None) -> str:
        is_open = self.open is not None and bool(self.open[own])
        fill = _PAPER if node in self.inner or is_open else _PLAIN
        if value is not None:
            fill = _colour(value / self.largest if self.largest > 0 else 0.0)
        if self.groups is not None:
            group = self.groups[own]
            fill = _GROUPS[group % N_GROUPS] if group >= 0 else _ALONE
        dashes = f' stroke="{_INK}" stroke-dasharray="3 2" stroke-opacity="0.6"' if is_open else ""
        return f' fill="{fill}"{dashes}'


def _colour(strength: float) -> str:
    """Mix a colour for a strength from -1 to 1."""
    end = _FOR if strength > 0 else _AGAINST
    mixed = (round(a + (b - a) * abs(strength) ** 0.7) for a, b in zip(_NEUTRAL, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
