"""Trees in the page: drawn as SVG while the file stays small, as text after that."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from filbert.drawing.labels import printable, shortened
from filbert.drawing.svg import tree_svg
from filbert.drawing.text import children_of, draw_arrays

LEVELS = 5  # of colour, on each side of nothing
_FAINT = 0.02  # of the largest value: what is below has no colour

# A node takes about 180 bytes as SVG and 20 as text.
MOST_DRAWN = 16_000  # nodes of examples
MOST_DRAWN_SUPPORT = 4_000
_MOST_NODES = 400  # of one tree
_MOST_LINES = 50

# Inside a drawing all text is escaped: quotes are attributes', and "<g " begins a node.
_NODE = re.compile(r'<g data-node="(\d+)"')
_SAME_TITLE = re.compile(r"<title>([^<]*?)(?:: 0)?</title>(<rect[^>]*>)(?=<text[^>]*>\1</text>)")
_ZERO = re.compile(r'(?<=\d)\.0(?=["LM ])')
_TAG = re.compile(r"<[^>]*>")


class Drawings:
    """Draws trees until the page has enough of them; the rest is text.

    Colours are levels, ``data-level="-3"``, of which the page's style sheet makes colours for light
    and dark pages.
    """

    def __init__(self, most_drawn: int) -> None:
        self.left = most_drawn

    @staticmethod
    def fragment(fragment: dict[str, Any]) -> Markup:
        """Draw a fragment; it is small, or else cut off."""
        drawn = tree_svg(
            fragment["labels"],
            fragment["parents"],
            open=fragment["open"],
            standalone=False,
            max_nodes=60,
            max_width=340,
        )
        return Markup(_bare(drawn))

    def tree(
        self,
        labels: Sequence[str],
        parents: Sequence[int],
        values: Sequence[float] | None = None,
        largest: float = 0.0,
    ) -> Markup:
        """Draw a tree, its nodes coloured by `values`, the deepest colour being for `largest`."""
        n = min(len(labels), _MOST_NODES)
        if n > self.left:
            return self._text(labels, parents, values)
        self.left -= n
        drawn = tree_svg(labels, parents, values=values, standalone=False, max_nodes=_MOST_NODES)
        drawn = _bare(drawn)
        if values is not None:
            levels = [level(value, largest) for value in values]
            drawn = _NODE.sub(lambda m: f'{m[0]} data-level="{levels[int(m[1])]}"', drawn)
        return Markup(drawn)

    def _text(
        self, labels: Sequence[str], parents: Sequence[int], values: Sequence[float] | None
    ) -> Markup:
        drawn = draw_arrays(labels, parents, values=values, max_lines=_MOST_LINES)
        return Markup('<pre class="outline" dir="ltr">{}</pre>').format(drawn)


def _bare(drawn: str) -> str:
    """Take out titles that say what is written there anyway, and zeros after points."""
    drawn = _TAG.sub(lambda tag: _ZERO.sub("", tag[0]), drawn)
    return _SAME_TITLE.sub(r"\2", drawn)


def level(value: float, largest: float) -> int:
    """Return which of the levels from -5 to 5 a value is in, in equal steps; 0: next to nothing."""
    share = abs(value) / largest if largest > 0 else 0.0
    if share < _FAINT:
        return 0
    steps = min(LEVELS, 1 + int(share * LEVELS))
    return steps if value > 0 else -steps


def drawn_nodes(drawing: str) -> list[int]:
    """Return the preorder numbers of the nodes that a drawing shows, in their order there."""
    return [int(match[1]) for match in _NODE.finditer(drawing)]


def leaves(labels: Sequence[str], parents: Sequence[int], most: int = 400) -> str:
    """Return the labels of a tree's leaves, which for parse trees is a sentence."""
    words = [labels[i] for i, below in enumerate(children_of(parents)) if not below]
    return shortened(" ".join(map(printable, words[:most])), most)
