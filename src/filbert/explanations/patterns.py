"""The local patterns that count for and against each class.

Their weights are explicit, so nothing is mined: all of them are known exactly.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert.engine.patterns import PatternScorer
from filbert.explanations.data import ExplainedFragment, PlainTree
from filbert.explanations.occurrences import Rule, SearchedTree, match_all, match_run
from filbert.explanations.support import Support, chosen_examples, prefix_of
from filbert.threads import n_threads

_LONGEST = 2000  # characters of a text, and nodes of a drawing


class WeightedPatterns:
    """The patterns of the support vectors, with their weights in one decision function.

    Attributes
    ----------
    norm, norm_in : float
        The norm of the weight vector, and its part in the patterns that are frequent enough.
    n : int
        The number of these patterns.
    """

    def __init__(
        self, scorer: PatternScorer, problem: int, min_frequency: int, n_jobs: int | None
    ) -> None:
        self.scorer = scorer
        self.problem = problem
        self.threads = n_threads(n_jobs)
        weighted = scorer.weighted(self.threads)
        self.table = weighted.table
        self.weight = weighted.weight_vector(problem)
        trees = scorer.support
        self.frequency = self.table.counts(trees._dag, trees._roots, self.threads, None)
        self.norm = float(np.linalg.norm(self.weight))
        rare = self.frequency < min_frequency
        self.weight[rare] = 0.0
        self.norm_in = float(np.linalg.norm(self.weight))
        self.n = int((~rare).sum())

    def heaviest(
        self, top: int, support: Support, parts: tuple[str | None, ...], *, negative: bool
    ) -> list[ExplainedFragment]:
        """Return the heaviest patterns of one sign."""
        weight, coef = self.weight, self.scorer.coef[self.problem]
        if negative:
            weight, coef = -weight, -coef
        chosen = np.flatnonzero(weight > 0)
        chosen = chosen[np.argsort(-weight[chosen], kind="stable")][:top]
        texts = self.table.texts(chosen.astype(np.uint32), _LONGEST)
        shown = []
        for pattern, text in zip(chosen.tolist(), texts, strict=True):
            trees = chosen_examples(support, parts, self._rows_with(pattern), coef)
            drawn = _Drawn(*self.table.tree(pattern, _LONGEST))
            found = [drawn.first(support.searched(tree)) for tree in trees]
            shown.append(
                ExplainedFragment(
                    drawn.tree.labels,
                    drawn.tree.parents,
                    prefix_of(parts) + text,
                    drawn.open_in(support.searched(trees[0]), found[0]) if trees else drawn.open,
                    float(self.weight[pattern]),
                    int(self.frequency[pattern]),
                    trees,
                    tuple(found),
                )
            )
        return shown

    def listed(self, top: int) -> tuple[list[tuple[float, int, str]], float]:
        """Return weight, frequency and text of the heaviest patterns, and their share of the norm.

        Both signs are in one list, the heaviest pattern first.
        """
        chosen = np.argsort(-np.abs(self.weight), kind="stable")[:top]
        chosen = chosen[self.weight[chosen] != 0]
        weight, frequency = self.weight[chosen], self.frequency[chosen]
        texts = self.table.texts(chosen.astype(np.uint32), _LONGEST)
        share = float(np.linalg.norm(weight)) / self.norm if self.norm > 0 else 1.0
        rows = list(zip(weight.tolist(), map(int, frequency), texts, strict=True))
        return rows, min(1.0, share)

    def _rows_with(self, pattern: int) -> NDArray[Any]:
        """Return the numbers of the support vectors that have a pattern."""
        rows: NDArray[Any] = self._features.indices[
            self._features.indptr[pattern] : self._features.indptr[pattern + 1]
        ]
        return rows

    @cached_property
    def _features(self) -> sp.csc_array:
        trees = self.scorer.support
        indptr, indices, data = self.table.known_rows(
            trees._dag, trees._roots, True, self.threads, None
        )
        return sp.csr_array((data, indices, indptr), shape=(len(trees), self.table.size)).tocsc()


class _Drawn:
    """A pattern as the fragment it is."""

    def __init__(self, labels: Any, parents: Any, open: Any, at_start: bool, at_end: bool) -> None:
        self.tree = PlainTree(tuple(labels), tuple(parents))
        self.open = tuple(map(bool, open))
        self._run = match_run(at_start=at_start, at_end=at_end)
        self._one = match_run(at_start=False, at_end=False)

    def _rules(self) -> list[Rule]:
        """A closed node has exactly the children of the pattern; the top may have a run of some."""
        closed = [match_all if not open else self._one for open in self.open]
        return [self._run if self.open[0] else closed[0], *closed[1:]]

    def first(self, tree: SearchedTree) -> tuple[int, ...]:
        """Return the nodes of the first occurrence in a tree."""
        return tree.first_by(self._rules(), self.tree)

    def open_in(self, tree: SearchedTree, nodes: tuple[int, ...]) -> tuple[bool, ...]:
        """Return which nodes of the pattern have other children in an occurrence.

        The nodes of both are in preorder.
        """
        if len(nodes) != len(self.open):
            return self.open
        arity = np.bincount([p for p in self.tree.parents if p >= 0], minlength=len(nodes))
        return tuple(len(tree.children[node]) > int(arity[i]) for i, node in enumerate(nodes))
