"""Trees of the page as numbers, from which its script draws them."""

from collections.abc import Sequence
from typing import Any

from filbert.drawing.labels import printable, shortened, title_of
from filbert.drawing.picture import picture_of_arrays
from filbert.read.preorder import children_of

_MOST_FRAGMENT_NODES = 60
_FRAGMENT_WIDTH = 340  # pixels


class Drawings:
    """Drawings of trees, with one list of labels for all of them.

    Attributes
    ----------
    labels : list of str
        The distinct labels, cut off if they are long.
    widths : list of int
        Of their boxes, in pixels.
    whole : dict
        By number, the whole of each label that was cut off.
    """

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.widths: list[int] = []
        self.whole: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    def fragment(self, fragment: dict[str, Any]) -> dict[str, Any]:
        """Draw a fragment; large ones are folded."""
        labels, parents, is_open = (fragment[name] for name in ("labels", "parents", "open"))
        drawn, nodes = self._drawn(labels, parents, None, _MOST_FRAGMENT_NODES, _FRAGMENT_WIDTH)
        open_places = [place for place, node in enumerate(nodes) if node >= 0 and is_open[node]]
        return {**drawn, "open": open_places} if open_places else drawn

    def tree(
        self, tree: dict[str, Any], values: Sequence[float], max_nodes: int, max_width: float
    ) -> tuple[dict[str, Any], list[int]]:
        """Draw a tree; of a large one, the nodes with the largest values and those near the root.

        Also return the preorder number of each drawn node, or -1 for an ellipsis.
        """
        return self._drawn(tree["labels"], tree["parents"], values, max_nodes, max_width)

    def _drawn(
        self,
        labels: Sequence[str],
        parents: Sequence[int],
        values: Sequence[float] | None,
        max_nodes: int,
        max_width: float,
    ) -> tuple[dict[str, Any], list[int]]:
        placed = picture_of_arrays(labels, parents, values, max_nodes, max_width)
        outline = placed.outline
        numbers = [
            self._number(*label)
            for label in zip(outline.labels, placed.texts, placed.widths, strict=True)
        ]
        drawn: dict[str, Any] = {
            "size": [placed.width, placed.height],
            "labels": numbers,
            "parents": outline.parents,
            "x": [x for x, _ in placed.centres],
            "y": [y for _, y in placed.centres],
            "edges": placed.edges,
        }
        hidden = {place: n for place, n in enumerate(outline.hidden) if n}
        return ({**drawn, "hidden": hidden} if hidden else drawn), outline.numbers

    def _number(self, label: str, text: str, width: int) -> int:
        if label not in self._numbers:
            number = self._numbers[label] = len(self.labels)
            self.labels.append(text)
            self.widths.append(width)
            whole = title_of(label)
            if whole != text:
                self.whole[number] = whole
        return self._numbers[label]


def leaves(tree: dict[str, Any], most: int = 400) -> str:
    """Return the labels of a tree's leaves; for a parse tree this is the sentence."""
    words = [tree["labels"][i] for i, below in enumerate(children_of(tree["parents"])) if not below]
    return shortened(" ".join(map(printable, words[:most])), most)
