"""The terms of sums of kernels, in one form for any expression, for factors and models."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.forest import Forest
from filbert.kernels.algebra import (
    Constant,
    Kernel,
    Normalized,
    Power,
    Product,
    Scaled,
    Sum,
    n_examples,
)
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.matrices import stacked
from filbert.kernels.pairs import AllPairs, EachPart
from filbert.kernels.plain import PlainKernel
from filbert.kernels.tree import TreeKernel
from filbert.kernels.vector import Linear, Polynomial

_MOST_DEGREES = 100  # the maximum degree of a Polynomial

Kind = Literal["trees", "patterns", "vectors", "constant", "matrix"]


@dataclass(frozen=True)
class Term:
    """A kernel of a sum, and the factor of each example in it.

    Attributes
    ----------
    kernel : a kernel with factors; any other kernel or function is the only term
    scale : ndarray of shape (n,), or (n_parts, n)
        One factor per example, or per part and example.
    parts : tuple of str
        Empty if the kernel itself names what it applies to. Otherwise an example's features are
        the sum of the features of these parts, each with its scale.
    """

    kernel: Any
    scale: FloatArray
    parts: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """The kind of data of the term, or "matrix" if only its kernel matrix is known."""
        known = capabilities_of(self.kernel)
        if known.explicit:
            return "patterns"
        usable = known.tree_in_core or known.factors != "none"
        return known.of if usable and known.of is not None else "matrix"

    def times(self, factor: Any) -> "Term":
        """Return the term with all scales multiplied by one number, or by one per example."""
        return replace(self, scale=self.scale * factor)

    def rows_of(self, X: Any) -> Any:
        """Return the trees or vectors that the kernel applies to, part by part, one per scale."""
        if self.kind in ("matrix", "constant"):
            return X
        if not self.parts:
            return self.kernel.rows_of(X)
        rows = [self.kernel.rows_of(X[part]) for part in self.parts]
        return stacked(rows) if self.kind == "vectors" else Forest.concat(rows)


def terms_of(kernel: Kernel, X: Any, *, n_jobs: int | None = None) -> list[Term]:
    """Write a kernel as ``K(i, j) = sum_k scale_k[i] scale_k[j] K_k(i, j)``.

    If a term has parts, ``sum_pq scale_k[p, i] scale_k[q, j] K_k(i_p, j_q)`` replaces its product.
    The scales include the square roots of the factors, and the norms that divide an expression.
    Kernels that normalise themselves still do so, without overflow.

    Parameters
    ----------
    kernel : Kernel
    X : the examples
    n_jobs : int, optional
        Threads for computing norms.

    Raises
    ------
    InvalidParameterError
        If the kernel is not such a sum. The message names the part that is not.
    """
    check_expression(kernel)
    check_is_sum(kernel)
    return _terms(kernel, X, n_jobs)


def terms_to_score(kernel: Any, X: Any, *, n_jobs: int | None = None) -> list[Term]:
    """Return the terms of a sum. Any other kernel or function is a single term."""
    if isinstance(kernel, PlainKernel) or not is_sum(kernel):
        return [Term(kernel, np.ones(n_examples(X)))]
    return terms_of(kernel, X, n_jobs=n_jobs)


def is_sum(kernel: Any) -> bool:
    """Return whether :func:`terms_of` accepts the kernel."""
    return isinstance(kernel, Kernel) and next(_culprits(kernel), None) is None


def check_is_sum(kernel: Kernel, instead: str = "") -> None:
    """Raise InvalidParameterError if a kernel is not a sum. `instead` says what works instead."""
    culprit = next(_culprits(kernel), None)
    if culprit is not None:
        raise InvalidParameterError(
            f"{culprit!r} has no factors, which sums of SubsetTree, Subtree, PartialTree, "
            f"LocalPatterns, Linear and Polynomial have, also scaled and normalised. "
            f"{instead}".rstrip()
        )


def simplified(kernel: Kernel) -> Kernel:
    """Return an equal kernel that is a sum or a single term, if there is one."""
    same = _simpler(kernel)
    return kernel if same is None else same


def plain_kernels(kernel: Kernel) -> Iterator[PlainKernel]:
    """Yield the kernels of trees and vectors in an expression, each on its part."""
    if isinstance(kernel, PlainKernel):
        yield kernel
        return
    for value in kernel.get_params(deep=False).values():
        if isinstance(value, Kernel):
            for plain in plain_kernels(value):
                yield from _on_parts(kernel, plain)


def tree_kernels(kernel: Kernel) -> list[TreeKernel]:
    """Return the tree kernels in an expression, each on its part."""
    return [plain for plain in plain_kernels(kernel) if isinstance(plain, TreeKernel)]


def _on_parts(kernel: Kernel, plain: PlainKernel) -> list[PlainKernel]:
    if isinstance(kernel, EachPart | AllPairs):
        return [plain.on(part) for part in kernel.parts]
    return [plain]


def check_expression(kernel: Kernel) -> None:
    """Raise InvalidParameterError if any parameter in an expression is wrong."""
    kernel._check()
    for value in kernel.get_params(deep=False).values():
        if isinstance(value, Kernel):
            check_expression(value)


def _culprits(kernel: Kernel) -> Iterator[Kernel]:
    """Yield the kernels in an expression that have no factors."""
    if kernel.capabilities.factors != "none":
        return
    if isinstance(kernel, Sum):
        yield from _culprits(kernel.left)
        yield from _culprits(kernel.right)
    elif isinstance(kernel, Scaled | Normalized | EachPart | AllPairs):
        yield from _culprits(kernel.kernel)
    else:
        same = _simpler(kernel)
        yield from [kernel] if same is None else _culprits(same)


def _terms(kernel: Any, X: Any, n_jobs: int | None) -> list[Term]:
    if isinstance(kernel, Sum):
        terms = _terms(kernel.left, X, n_jobs) + _terms(kernel.right, X, n_jobs)
    elif isinstance(kernel, Scaled):
        root = np.sqrt(float(kernel.factor))
        terms = [term.times(root) for term in _terms(kernel.kernel, X, n_jobs)]
    elif isinstance(kernel, Normalized):
        terms = _normalized_terms(kernel, X, n_jobs)
    elif isinstance(kernel, AllPairs):
        terms = _terms_of_parts(kernel, X, n_jobs)
    elif isinstance(kernel, Constant):
        terms = [Term(Constant(1.0), np.full(n_examples(X), np.sqrt(float(kernel.value))))]
    elif kernel.capabilities.factors != "none":
        terms = [Term(kernel, np.ones(n_examples(X)))]
    else:
        terms = _terms(_simpler(kernel), X, n_jobs)
    return terms


def _normalized_terms(kernel: Normalized, X: Any, n_jobs: int | None) -> list[Term]:
    if isinstance(kernel.kernel, PlainKernel):
        return _terms(kernel.kernel.with_params(normalize=True), X, n_jobs)
    norms = kernel._inverse_norms(X, n_jobs)
    return [term.times(norms) for term in _terms(kernel.kernel, X, n_jobs)]


def _terms_of_parts(kernel: AllPairs, X: Any, n_jobs: int | None) -> list[Term]:
    of_parts = [_terms(kernel.kernel, part, n_jobs) for part in kernel._parts_of(X)]
    weights = np.array(kernel._weights(), dtype=np.float64)[:, None]
    terms = []
    for same in zip(*of_parts, strict=True):
        scale = weights * np.array([term.scale for term in same])
        if isinstance(same[0].kernel, Constant):
            terms.append(Term(same[0].kernel, scale.sum(axis=0)))
        else:
            terms.append(Term(same[0].kernel, scale, tuple(kernel.parts)))
    return terms


def _simpler(kernel: Kernel) -> Kernel | None:
    """Return the same kernel as a sum or a single term, or None if it is neither."""
    if isinstance(kernel, EachPart):
        return kernel.expanded()
    if isinstance(kernel, Power):
        return _raised(kernel)
    return _scaled(kernel) if isinstance(kernel, Product) else None


def _scaled(kernel: Product) -> Kernel | None:
    """Return a product with a constant as Scaled, or None if it has no constant."""
    for constant, other in ((kernel.left, kernel.right), (kernel.right, kernel.left)):
        if isinstance(constant, Constant):
            return Scaled(constant.value, other)
    return None


def _raised(kernel: Power) -> Kernel | None:
    """Return a power of a linear or polynomial kernel as a Polynomial, or None."""
    base, exponent = kernel.kernel, int(kernel.exponent)
    if exponent == 1:
        return base
    if type(base) is Linear:
        return Polynomial(exponent, coef0=0.0, normalize=base.normalize, part=base.part)
    if type(base) is Polynomial and base.degree * exponent <= _MOST_DEGREES:
        return base.with_params(degree=base.degree * exponent)
    return None
