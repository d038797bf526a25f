"""Scorers for the terms of a kernel, one for each kind of term."""

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray, is_sparse
from filbert.engine.in_parts import scored_in_parts
from filbert.engine.patterns import PatternScorer
from filbert.engine.rows import KernelFunction, checked_kernel_values
from filbert.engine.tree_scorer import Method, TreeScorer
from filbert.engine.vector_factors import vector_factors
from filbert.errors import OutOfMemoryError
from filbert.kernels import VectorKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.matrices import stacked
from filbert.kernels.terms import Kind, Term
from filbert.threads import n_threads


@dataclass(frozen=True)
class VectorScorer:
    """Compares few vectors with the support vectors, and factorises many together with them."""

    kernel: VectorKernel
    support: Any
    coef: FloatArray

    def scores(self, vectors: Any, method: Method, n_jobs: int | None) -> FloatArray:
        """Score vectors: shape (len(vectors), n_problems)."""
        if method == "factors" or (method == "auto" and self._are_many(vectors)):
            try:
                return self._by_factors(vectors, n_jobs)
            except OutOfMemoryError:
                if method == "factors":
                    raise

        def kernels(part: Any) -> FloatArray:
            return self.kernel(part, self.support)

        return scored_in_parts(vectors, kernels, self.coef)

    def _are_many(self, vectors: Any) -> bool:
        """Return whether scoring by factors takes less time than by pairs.

        A product of features takes about as long as a pair of vectors. With 7 features per vector,
        a pair took 30 to 50 ns. By factors, a vector of either side took 2 to 4 us, with up to 120
        products of three features.
        """
        n, m = vectors.shape[0], self.support.shape[0]
        n_entries = vectors.nnz if is_sparse(vectors) else vectors.size
        degree = getattr(self.kernel, "degree", 1)
        return bool(n * m > (n + m) * comb(n_entries // max(1, n) + degree, degree))

    def _by_factors(self, vectors: Any, n_jobs: int | None) -> FloatArray:
        together = stacked([self.support, vectors])
        n = self.support.shape[0]
        weights = np.zeros((together.shape[0], len(self.coef)))
        weights[:n] = self.coef.T
        factors = vector_factors(self.kernel, together, n_jobs=n_jobs)
        both = _core.SumFactors(len(weights), [(factors, np.ones(len(weights)))])
        return both.scores(weights, n_threads(n_jobs))[n:]


@dataclass(frozen=True)
class ConstantScorer:
    """Adds the same constant to all scores."""

    kernel: Any
    support: Any
    coef: FloatArray

    def scores(self, X: Any, method: Method, n_jobs: int | None) -> FloatArray:
        """Score examples: shape (len(X), n_problems)."""
        return np.tile(self.coef.sum(axis=1), (n_examples(X), 1))


@dataclass(frozen=True)
class MatrixScorer:
    """Scores ``sum_i coef_i kernel(support_i, x)`` for any kernel or function."""

    kernel: KernelFunction
    support: Any
    coef: FloatArray

    def scores(self, X: Any, method: str, n_jobs: int | None) -> FloatArray:
        """Score examples: shape (len(X), n_problems). The method has no effect."""

        def kernels(part: Any) -> FloatArray:
            return checked_kernel_values(self.kernel, part, self.support)

        return scored_in_parts(X, kernels, self.coef)


NodeScorer = TreeScorer | PatternScorer  # these split scores by node
Scorer = NodeScorer | VectorScorer | ConstantScorer | MatrixScorer

_SCORERS: dict[Kind, Any] = {
    "trees": TreeScorer,
    "patterns": PatternScorer,
    "vectors": VectorScorer,
    "constant": ConstantScorer,
    "matrix": MatrixScorer,
}


def scorer_of(term: Term, support: Any, coef: FloatArray) -> Scorer:
    """Return the scorer for one term of a kernel.

    Parameters
    ----------
    term : Term
        The term, with the scales of the support vectors.
    support : the support vectors
    coef : ndarray of shape (n_problems, n)
    """
    scale = term.scale.reshape(max(1, len(term.parts)), -1)
    own = (coef[:, None, :] * scale).reshape(len(coef), scale.size)
    kernel = term.kernel
    if term.kind in ("trees", "patterns", "vectors") and kernel.part is not None:
        kernel = kernel.with_params(part=None)
    scorer: Scorer = _SCORERS[term.kind](kernel, term.rows_of(support), own)
    return scorer
