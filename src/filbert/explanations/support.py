"""The support vectors that an explanation refers to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.drawing.labels import number
from filbert.drawing.outline import outline_of_dag
from filbert.examples import Examples
from filbert.explanations.data import Neighbour, SupportTree
from filbert.explanations.occurrences import SearchedTree
from filbert.explanations.view import ModelView
from filbert.forest import Forest
from filbert.kernels.algebra import n_examples

_MOST_NODES = 2000  # per support vector; only the top of larger ones is listed
_BYTES = 64 << 20  # of kernel values at a time
_EXAMPLES = 3  # support vectors that are shown for a fragment


class Support:
    """Support vectors as trees to show. Each is listed once, at the first reference to it."""

    def __init__(self, view: ModelView) -> None:
        self.view = view
        self.trees: list[SupportTree] = []
        self._numbers: dict[tuple[int, str | None], int] = {}
        self._searched: dict[int, SearchedTree] = {}
        self._labels = support_labels(view)

    def number(self, i: int, part: str | None = None) -> int:
        """Return the number of the i-th support vector in the list, for one part or for all."""
        key = (i, part)
        if key not in self._numbers:
            self._numbers[key] = len(self.trees)
            self.trees.append(self._tree(i, part))
        return self._numbers[key]

    def searched(self, number: int) -> SearchedTree:
        """Return a tree of the list for a search for fragments."""
        if number not in self._searched:
            self._searched[number] = SearchedTree(self.trees[number])
        return self._searched[number]

    def label(self, i: int) -> str | None:
        """Return the class of the i-th support vector, or None if it is unknown."""
        return self._labels[i]

    def _tree(self, i: int, part: str | None) -> SupportTree:
        support = self.view.model.support
        if isinstance(support, Forest):
            forests = {"": support}
        else:
            parts = support.parts if isinstance(support, Examples) else {}
            forests = {name: own for name, own in parts.items() if isinstance(own, Forest)}
        if part in forests:
            forests = {part: forests[part]}
        labels, parents = ["example"], [-1]
        for name, forest in forests.items():
            outline = outline_of_dag(forest._dag, int(forest._roots[i]), _MOST_NODES)
            if len(forests) == 1:
                labels, parents = outline.labels, outline.parents
                break
            labels.append(name)
            parents += [
                0,
                *(len(labels) - 1 if p < 0 else p + len(labels) for p in outline.parents),
            ]
            labels += outline.labels
        return SupportTree(tuple(labels), tuple(parents), self._note(i))

    def _note(self, i: int) -> str:
        known = "" if self._labels[i] is None else f" of {self._labels[i]}"
        weights = self.view.model.coef[:, i]
        heaviest = int(np.abs(weights).argmax())
        of = "" if len(weights) == 1 else f" for {self.view.names[heaviest]}"
        return f"support vector {i}{known}, coefficient {number(float(weights[heaviest]))}{of}"


def prefix_of(parts: tuple[str | None, ...]) -> str:
    """Return what stands before the text of a fragment of these parts."""
    named = [part for part in parts if part is not None]
    return f"{' and '.join(named)}: " if named else ""


def chosen_examples(
    support: Support, parts: tuple[str | None, ...], rows: NDArray[Any], coef: FloatArray
) -> tuple[int, ...]:
    """Choose the support vectors of a fragment with the largest coefficients, and list them.

    `rows` are the trees with the fragment. If there are several parts, trees are ordered by part.
    """
    n = len(coef) // len(parts)
    best = rows[np.argsort(-coef[rows], kind="stable")][:_EXAMPLES]
    return tuple(support.number(int(row) % n, parts[int(row) // n]) for row in best)


def support_labels(view: ModelView) -> list[str | None]:
    """Return the class of each support vector, or None if the model does not determine it.

    Coefficients have the sign of the label. With more than two classes, the class is known only if
    exactly one problem gives the support vector a positive coefficient.
    """
    coef, names = view.model.coef, view.names
    if len(coef) == 1:
        return [names[int(c > 0)] for c in coef[0]]
    positive = coef > 0
    return [names[int(column.argmax())] if column.sum() == 1 else None for column in positive.T]


def neighbours(
    support: Support, X: Any, n_nearest: int, n_jobs: int | None
) -> list[tuple[Neighbour, ...]]:
    """Return the most similar support vectors of each row, the nearest first."""
    view = support.view
    n, n_support = n_examples(X), view.n_support
    if n_support == 0 or n_nearest == 0:
        return [()] * n
    found: list[tuple[Neighbour, ...]] = []
    support_norms = view.support_norms(n_jobs)
    at_a_time = max(1, _BYTES // (8 * n_support))
    for first in range(0, n, at_a_time):
        rows = X[first : first + at_a_time]
        values = view.kernels(rows, n_jobs)
        norms = view.norms(rows, n_jobs)[:, None] * support_norms
        similarity = np.divide(values, norms, out=np.zeros_like(values), where=norms > 0)
        for own, mine in zip(values, similarity, strict=True):
            nearest = np.argsort(-mine, kind="stable")[:n_nearest].tolist()
            found.append(tuple(_neighbour(support, i, own[i], mine[i]) for i in nearest))
    return found


def _neighbour(support: Support, i: int, value: float, similarity: float) -> Neighbour:
    contributions = support.view.model.coef[:, i] * value
    return Neighbour(
        support.number(i), float(similarity), tuple(contributions.tolist()), support.label(i)
    )
