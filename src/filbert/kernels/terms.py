"""Sums of kernels in one form, whatever the expression: what factors and models are made from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from filbert.errors import InvalidParameterError
from filbert.kernels.algebra import (
    Constant,
    FloatArray,
    Kernel,
    Normalized,
    Power,
    Product,
    Scaled,
    Sum,
    n_examples,
)
from filbert.kernels.plain import PlainKernel
from filbert.kernels.tree import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.kernels.vector import Linear, Polynomial, VectorKernel

_TERMS = (SubsetTree, Subtree, PartialTree, Linear, Polynomial)


@dataclass(frozen=True)
class Term:
    """A kernel of a sum, and what each example is multiplied with in it.

    Attributes
    ----------
    kernel : TreeKernel, Linear, Polynomial or Constant
    scale : ndarray
        By example.
    """

    kernel: TreeKernel | VectorKernel | Constant
    scale: FloatArray


def terms_of(kernel: Kernel, X: Any, *, n_jobs: int | None = None) -> list[Term]:
    """Write a kernel as ``K(i, j) = sum_k scale_k[i] scale_k[j] K_k(i, j)``.

    Scalings are in the scales, by their roots, and so are the norms that an expression is divided
    by. Kernels that normalise themselves keep doing so, without overflow.

    Parameters
    ----------
    kernel : Kernel
    X : the examples
    n_jobs : int, optional
        Threads, for norms.

    Raises
    ------
    InvalidParameterError
        Where the kernel is no such sum; it names what in it is not.
    """
    check_expression(kernel)
    check_is_sum(kernel)
    return _terms(kernel, X, n_jobs)


def is_sum(kernel: Any) -> bool:
    """Whether :func:`terms_of` takes the kernel."""
    return isinstance(kernel, Kernel) and next(_culprits(kernel), None) is None


def check_is_sum(kernel: Kernel, instead: str = "") -> None:
    """Raise InvalidParameterError where a kernel is no sum; `instead` says what would work."""
    culprit = next(_culprits(kernel), None)
    if culprit is not None:
        raise InvalidParameterError(
            f"{culprit!r} has no factors, which sums of SubsetTree, Subtree, PartialTree, Linear "
            f"and Polynomial have, also scaled and normalised. {instead}".rstrip()
        )


def plain_kernels(kernel: Kernel) -> Iterator[Kernel]:
    """Give the kernels of trees and vectors that an expression is made from."""
    if isinstance(kernel, PlainKernel):
        yield kernel
    for value in kernel.get_params(deep=False).values():
        if isinstance(value, Kernel):
            yield from plain_kernels(value)


def check_expression(kernel: Kernel) -> None:
    """Raise InvalidParameterError where a parameter anywhere in an expression is wrong."""
    if isinstance(kernel, TreeKernel):
        kernel._spec()
    elif hasattr(kernel, "_check"):
        kernel._check()
    for value in kernel.get_params(deep=False).values():
        if isinstance(value, Kernel):
            check_expression(value)


def _culprits(kernel: Kernel) -> Iterator[Kernel]:
    """Give the parts of an expression that have no factors."""
    if type(kernel) in _TERMS or isinstance(kernel, Constant):
        return
    if isinstance(kernel, Sum):
        yield from _culprits(kernel.left)
        yield from _culprits(kernel.right)
    elif isinstance(kernel, Scaled | Normalized):
        yield from _culprits(kernel.kernel)
    elif isinstance(kernel, Power | Product):
        same = _raised(kernel) if isinstance(kernel, Power) else _scaled(kernel)
        yield from [kernel] if same is None else _culprits(same)
    else:
        yield kernel


def _terms(kernel: Any, X: Any, n_jobs: int | None) -> list[Term]:
    if isinstance(kernel, Sum):
        return _terms(kernel.left, X, n_jobs) + _terms(kernel.right, X, n_jobs)
    if isinstance(kernel, Scaled):
        return _times(_terms(kernel.kernel, X, n_jobs), np.sqrt(float(kernel.factor)))
    if isinstance(kernel, Product):
        return _terms(_scaled(kernel), X, n_jobs)
    if isinstance(kernel, Power):
        return _terms(_raised(kernel), X, n_jobs)
    if isinstance(kernel, Normalized):
        if isinstance(kernel.kernel, PlainKernel):
            return _terms(_normalizing(kernel.kernel), X, n_jobs)
        return _times(_terms(kernel.kernel, X, n_jobs), kernel._inverse_norms(X, n_jobs))
    if isinstance(kernel, Constant):
        return _times([Term(Constant(1.0), np.ones(n_examples(X)))], np.sqrt(float(kernel.value)))
    return [Term(kernel, np.ones(n_examples(X)))]


def _times(terms: list[Term], factor: Any) -> list[Term]:
    return [Term(term.kernel, term.scale * factor) for term in terms]


def _normalizing(kernel: PlainKernel) -> PlainKernel:
    """Return the kernel divided by its norms, which it does itself."""
    normalized: PlainKernel = clone(kernel).set_params(normalize=True)
    return normalized


def _scaled(kernel: Product) -> Any:
    """A product with a constant as the scaling that it is, or None."""
    for constant, other in ((kernel.left, kernel.right), (kernel.right, kernel.left)):
        if isinstance(constant, Constant):
            return Scaled(constant.value, other)
    return None


def _raised(kernel: Power) -> Kernel | None:
    """A power of a linear or polynomial kernel as the polynomial that it is, or None."""
    base, exponent = kernel.kernel, int(kernel.exponent)
    if exponent == 1:
        return base
    if type(base) is Linear:
        return Polynomial(exponent, coef0=0.0, normalize=base.normalize, part=base.part)
    if type(base) is Polynomial:
        raised: Kernel = clone(base).set_params(degree=base.degree * exponent)
        return raised
    return None
