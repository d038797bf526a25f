"""Factors and scores of local patterns, whose features are explicit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray
from filbert.engine.contributions import Contributions
from filbert.engine.in_parts import scored_in_parts
from filbert.engine.tree_scorer import Method
from filbert.forest import Forest
from filbert.kernels import LocalPatterns
from filbert.threads import n_threads


def pattern_factors(
    kernel: LocalPatterns,
    forest: Forest,
    *,
    max_memory: int | None = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> _core.VectorOperator:
    """Factorise the kernel matrix of trees: a column is a pattern that several trees have.

    Parameters
    ----------
    kernel : LocalPatterns
    forest : Forest
    max_memory : int, optional
        The maximum number of bytes for the patterns of the trees.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Raises
    ------
    OutOfMemoryError
        If `max_memory` does not suffice.
    """
    return _core.VectorOperator.of_patterns(
        kernel._spec(),
        forest._dag,
        forest._roots,
        bool(kernel.normalize),
        2**63 if max_memory is None else max_memory,
        n_threads(n_jobs),
        progress,
    )


@dataclass(frozen=True)
class PatternScorer:
    """Scores ``sum_i coef_i K(support_i, tree)`` by one weight for each pattern.

    Attributes
    ----------
    kernel : LocalPatterns
    support : Forest of n support vectors
    coef : ndarray of shape (n_problems, n)
    """

    kernel: LocalPatterns
    support: Forest
    coef: FloatArray

    def scores(self, trees: Forest, method: Method, n_jobs: int | None) -> FloatArray:
        """Score trees: shape (len(trees), n_problems). Only "pairs" does not use the weights."""
        if method == "pairs":
            return scored_in_parts(
                trees, lambda part: self.kernel(part, self.support, n_jobs=n_jobs), self.coef
            )
        threads = n_threads(n_jobs)
        return self.weighted(threads).scores(trees._dag, trees._roots, threads, None)

    def contributions(self, trees: Forest, n_jobs: int | None) -> Contributions:
        """Split the scores of trees exactly into contributions of nodes.

        A pattern's contribution is shared out evenly to its occurrences in the tree. Each share
        belongs to the node at the top of the occurrence.
        """
        threads = n_threads(n_jobs)
        tree, node, count, value = self.weighted(threads).contributions(
            trees._dag, trees._roots, threads, None
        )
        return Contributions(trees, tree, count, value, node)

    def weighted(self, threads: int) -> _core.PatternScorer:
        """Return the weights of the patterns. They are computed when first needed, then kept."""
        scorer: _core.PatternScorer | None = self.__dict__.get("_made_scorer")
        if scorer is None:
            support, coef = self.support, np.ascontiguousarray(self.coef)
            normalize = bool(self.kernel.normalize)
            scorer = _core.PatternScorer(
                self.kernel._spec(), support._dag, support._roots, coef, normalize, threads, None
            )
            object.__setattr__(self, "_made_scorer", scorer)
        return scorer

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if "_made_" not in name}
