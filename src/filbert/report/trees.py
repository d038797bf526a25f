"""Trees in the page: drawn as SVG as long as the file stays small, then as text."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from filbert.drawing.labels import printable, shortened
from filbert.drawing.svg import tree_svg
from filbert.drawing.text import children_of, draw_arrays

LEVELS = 5  # of colour, on each side of zero
_FAINT = 0.02  # of the largest value: smaller values have no colour

# A node takes about 180 bytes as SVG and 20 as text.
MOST_DRAWN = 16_000  # nodes of examples
MOST_DRAWN_SUPPORT = 4_000
_MOST_NODES = 400  # of one tree
_MOST_LINES = 50

# Inside a drawing all text is escaped: quotes delimit attributes, and "<g " begins a node.
_NODE = re.compile(r'<g data-node="(\d+)"')
_SAME_TITLE = re.compile(r"<title>([^<]*?)(?:: 0)?</title>(<rect[^>]*>)(?=<text[^>]*>\1</text>)")
_ZERO = re.compile(r'(?<=\d)\.0(?=["LM ])')
_TAG = re.compile(r"<[^>]*>")


class Drawings:
    """Draw trees as SVG until the page has enough of them, and the rest as text.

    Colours are levels, ``data-level="-3"``. The style sheet of the page turns them into colours
    for light and dark pages.
    """

    def __init__(self, most_drawn: int) -> None:
        self.left = most_drawn

    @staticmethod
    def fragment(fragment: dict[str, Any]) -> Markup:
        """Draw a fragment; large ones are cut off."""
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
        """Draw a tree with nodes coloured by `values`; `largest` has the deepest colour."""
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
    """Remove titles that repeat the label, and zeros after decimal points."""
    drawn = _TAG.sub(lambda tag: _ZERO.sub("", tag[0]), drawn)
    return _SAME_TITLE.sub(r"\2", drawn)


def level(value: float, largest: float) -> int:
    """Return the level of a value, from -5 to 5 in equal steps; 0 for very small values."""
    share = abs(value) / largest if largest > 0 else 0.0
    if share < _FAINT:
        return 0
    steps = min(LEVELS, 1 + int(share * LEVELS))
    return steps if value > 0 else -steps


def drawn_nodes(drawing: str) -> list[int]:
    """Return the preorder numbers of the nodes in a drawing, in the order of the drawing."""
    return [int(match[1]) for match in _NODE.finditer(drawing)]


def leaves(labels: Sequence[str], parents: Sequence[int], most: int = 400) -> str:
    """Return the labels of a tree's leaves; for a parse tree this is the sentence."""
    words = [labels[i] for i, below in enumerate(children_of(parents)) if not below]
    return shortened(" ".join(map(printable, words[:most])), most)
