"""What learning produces: support vectors with weights, and how they score trees."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import InvalidParameterError
from filbert.forest import Forest, as_forest
from filbert.kernels import TreeKernel
from filbert.threads import n_threads

FloatArray = NDArray[np.float64]

_FEW = 32  # so many trees are scored faster one by one


@dataclass(frozen=True)
class SupportVectorModel:
    """A decision function ``sum_i coef_i K(support_i, tree) + intercept``, one for each problem.

    Attributes
    ----------
    kernel : TreeKernel
    support : Forest of n support vectors
    coef : ndarray of shape (n_problems, n)
    intercept : ndarray of shape (n_problems,)
    """

    kernel: TreeKernel
    support: Forest
    coef: FloatArray
    intercept: FloatArray

    def __post_init__(self) -> None:
        # Only the nodes that support vectors have: the training set need not be kept in memory, and
        # a model that was stored scores the same to the last bit, for its nodes are numbered alike.
        dag, roots = self.support._dag.extract(self.support._roots)
        object.__setattr__(self, "support", Forest._of(dag, roots))

    def decision_function(
        self, X: Any, *, method: str = "auto", n_jobs: int | None = None
    ) -> FloatArray:
        """Score trees, exactly: shape (len(X), n_problems).

        Many trees are factorised together with the support vectors ("factors"), few are compared
        with them one by one ("rows"); both give the same values.
        """
        trees = as_forest(X)
        if len(self.support) == 0 or len(trees) == 0:
            return np.tile(self.intercept, (len(trees), 1))
        if method not in ("auto", "rows", "factors"):
            raise InvalidParameterError(
                f"method must be 'auto', 'rows' or 'factors', got {method!r}"
            )
        if method == "auto":
            method = "rows" if len(trees) <= _FEW else "factors"
        if method == "rows":
            values = self.kernel(trees, self.support, n_jobs=n_jobs) @ self.coef.T
        else:
            values = self._by_factors(trees, n_jobs)
        return np.asarray(values + self.intercept)

    def _by_factors(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        # A fragment that only one training tree has may well be in a new tree: the factors of the
        # training set do not tell, those of both together do.
        together = Forest.concat([self.support, trees])
        n_support = len(self.support)
        weights = np.zeros((len(together), len(self.coef)))
        weights[:n_support] = self.coef.T
        factors = factorize(self.kernel, together, n_jobs=n_jobs)
        return factors.scores(weights, n_threads(n_jobs))[n_support:]


def factorize(
    kernel: TreeKernel,
    forest: Forest,
    *,
    max_memory: int | None = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> _core.FactorizedForest:
    """Factorise the kernel matrix of a forest's trees."""
    dag, roots = forest._dag, forest._roots
    if forest.n_subtrees < 0.7 * dag.size:  # a part of a larger forest: leave the rest out
        dag, roots = dag.extract(roots)
    return _core.factorize(
        kernel._spec(),
        dag,
        roots,
        bool(kernel.normalize),
        4.0,
        2**63 if max_memory is None else max_memory,
        n_threads(n_jobs),
        progress,
    )
