"""Models of sums of kernels: each term scores in the way that is best for it."""

from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from filbert import _core
from filbert.errors import OutOfMemoryError
from filbert.examples import Examples
from filbert.forest import Forest, as_forest
from filbert.kernels import Constant, Kernel, TreeKernel, VectorKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.matrices import is_sparse, stacked
from filbert.kernels.terms import Term, is_sum, plain_kernels, terms_of, with_named_parts
from filbert.model import CallableKernelModel, Contributions, SupportVectorModel
from filbert.sum_factors import vector_factors
from filbert.threads import n_threads

FloatArray = NDArray[np.float64]

_PAIRS_BYTES = 64 << 20  # of a kernel matrix at a time


@dataclass(frozen=True)
class TermScores:
    """What one term of a sum adds to the scores of some examples, by one of their parts.

    Attributes
    ----------
    part : str or None
        The part's name, where it has one.
    values : ndarray of shape (n, n_problems)
    nodes : Contributions or None
        Of a term of trees: how `values` are made up by the nodes of the part's trees.
    """

    part: str | None
    values: FloatArray
    nodes: Contributions | None = None


@dataclass(frozen=True)
class SumModel:
    """A decision function ``sum_i coef_i K(support_i, x) + intercept``, K being a sum of kernels.

    Attributes
    ----------
    kernel : Kernel
        What :func:`filbert.kernels.terms.terms_of` takes.
    support : Examples, Forest, array or sparse matrix
        The support vectors; of Examples those parts that the kernel needs.
    coef : ndarray of shape (n_problems, n)
    intercept : ndarray of shape (n_problems,)
    """

    kernel: Kernel
    support: Any
    coef: FloatArray
    intercept: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "support", without_others(self.kernel, self.support))
        terms = terms_of(self.kernel, self.support) if self.coef.shape[1] > 0 else []
        object.__setattr__(self, "_scorers", [self._scorer(term) for term in terms])

    def decision_function(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Score examples, exactly: shape (len(X), n_problems).

        Parameters
        ----------
        X : what the model was trained on
        n_jobs : int, optional
            Threads; the values do not depend on it.
        """
        X = rows_for(self.kernel, X)
        terms = terms_of(self.kernel, X, n_jobs=n_jobs)
        values = np.tile(self.intercept, (n_examples(X), 1))
        if self.coef.shape[1] == 0 or len(values) == 0:
            return values
        for term, scorer in zip(terms, self.__dict__["_scorers"], strict=True):
            if isinstance(term.kernel, Constant):
                values += term.scale[:, None] * scorer
            else:
                scores = scorer.decision_function(term.rows_of(X), n_jobs=n_jobs)
                scores *= term.scale.reshape(-1, 1)
                values += scores.reshape(-1, *values.shape).sum(axis=0)
        return values

    def term_scores(self, X: Any, *, n_jobs: int | None = None) -> list[TermScores]:
        """Split scores up by term and part, and those of trees by node.

        ``decision_function(X)`` is the sum of their values and the intercept, up to rounding.
        """
        X = rows_for(self.kernel, X)
        if self.coef.shape[1] == 0 or n_examples(X) == 0:
            return []
        scores = []
        terms = terms_of(self.kernel, X, n_jobs=n_jobs)
        for term, scorer in zip(terms, self.__dict__["_scorers"], strict=True):
            if isinstance(term.kernel, Constant):
                scores.append(TermScores(None, term.scale[:, None] * scorer))
                continue
            scales = term.scale.reshape(-1, n_examples(X))
            if not term.parts:
                rows = term.rows_of(X)
                scores.append(_part_scores(term.kernel.part, scorer, rows, scales[0], n_jobs))
            for part, scale in zip(term.parts, scales, strict=bool(term.parts)):
                rows = replace(term, parts=(part,)).rows_of(X)
                scores.append(_part_scores(part, scorer, rows, scale, n_jobs))
        return scores

    def tree_models(self) -> list[tuple[tuple[str | None, ...], SupportVectorModel]]:
        """Return the models of the terms of trees, each with the parts that it is of.

        The support vectors of a model of several parts come part by part.
        """
        if self.coef.shape[1] == 0:
            return []
        terms = terms_of(self.kernel, self.support)
        return [
            (term.parts or (term.kernel.part,), scorer)
            for term, scorer in zip(terms, self.__dict__["_scorers"], strict=True)
            if isinstance(term.kernel, TreeKernel)
        ]

    def _scorer(self, term: Term) -> Any:
        """Return what scores single trees or vectors, or what a constant adds."""
        scale = term.scale.reshape(-1, self.coef.shape[1])
        coef = (self.coef[:, None, :] * scale).reshape(len(self.coef), -1)
        if isinstance(term.kernel, Constant):
            return coef.sum(axis=1)
        kernel, rows = _whole(term.kernel), term.rows_of(self.support)
        if isinstance(kernel, VectorKernel):
            return _VectorScorer(kernel, rows, coef)
        return SupportVectorModel(kernel, rows, coef, np.zeros(len(coef)))


def _part_scores(
    part: str | None, scorer: Any, rows: Any, scale: FloatArray, n_jobs: int | None
) -> TermScores:
    if not isinstance(scorer, SupportVectorModel):
        values = scorer.decision_function(rows, n_jobs=n_jobs)
        return TermScores(part, values * scale[:, None])
    nodes = scorer.contributions(rows, n_jobs=n_jobs)
    nodes = replace(nodes, value=nodes.value * scale[nodes.tree][:, None])
    return TermScores(part, nodes.sums(), nodes)


def _whole(kernel: Any) -> Any:
    return clone(kernel).set_params(part=None)


def model_of(kernel: Any, support: Any, coef: FloatArray, intercept: FloatArray) -> Any:
    """Make what scores best by a kernel, be it one of Filbert's or not."""
    if isinstance(kernel, TreeKernel):
        return SupportVectorModel(kernel, support, coef, intercept)
    if is_sum(kernel):
        return SumModel(kernel, support, coef, intercept)
    if isinstance(kernel, Kernel):
        support = without_others(kernel, support)
    return CallableKernelModel(kernel, support, coef, intercept)


@dataclass(frozen=True)
class _VectorScorer:
    """Few vectors are compared with the support vectors, many are factorised with them."""

    kernel: VectorKernel
    support: Any
    coef: FloatArray

    def decision_function(self, vectors: Any, *, n_jobs: int | None) -> FloatArray:
        if self._are_many(vectors):
            try:
                return self._by_factors(vectors, n_jobs)
            except OutOfMemoryError:
                pass
        step = max(1, _PAIRS_BYTES // (8 * self.support.shape[0]))
        parts = (vectors[i : i + step] for i in range(0, vectors.shape[0], step))
        return np.vstack([self.kernel(part, self.support) @ self.coef.T for part in parts])

    def _are_many(self, vectors: Any) -> bool:
        """Whether factors take less time: a product of features about as much as a pair of vectors.

        With 7 features a vector a pair took 30 to 50 ns, and a vector of either side, with its up
        to 120 products of three features, 2 to 4 us by factors.
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
        both = _core.SumOperator(len(weights), [(factors, np.ones(len(weights)))])
        return both.scores(weights, n_threads(n_jobs))[n:]


def rows_for(kernel: Kernel, X: Any) -> Any:
    """Return examples that have a `shape` and can be indexed, checked for a kernel of Filbert's."""
    X = with_named_parts(kernel, X)
    if not isinstance(X, Examples):
        vectors = any(isinstance(plain, VectorKernel) for plain in plain_kernels(kernel))
        if is_sparse(X):
            X = sp.csr_array(X)
        elif vectors and not isinstance(X, Forest):
            X = np.asarray(X)
        else:
            X = as_forest(X)
    for plain in plain_kernels(kernel):
        if isinstance(plain, VectorKernel):
            plain.vectors_of(X)
        elif isinstance(plain, TreeKernel):
            plain.trees_of(X)
    return X


def without_others(kernel: Kernel, X: Any) -> Any:
    """Return the examples with what the kernel needs and nothing else, to be kept.

    Forests get nodes of their own: a model need not keep the training set.
    """
    if isinstance(X, Examples):
        names = {plain.part for plain in plain_kernels(kernel)} or set(X.parts)
        return Examples._of({name: _own(part) for name, part in X.parts.items() if name in names})
    return _own(X)


def _own(part: Any) -> Any:
    if not isinstance(part, Forest):
        return part
    return Forest._of(*part._dag.extract(part._roots))
