"""The terms of a sum of kernels, for online learning with the perceptron.

A sum of scaled and normalised kernels is ``K(a, b) = sum_t s_t(a) s_t(b) K_t(a, b)``, where K_t are
plain kernels of trees and of vectors, and s_t is a scale for each term and example.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from filbert import _core
from filbert.arrays import FloatArray, is_sparse
from filbert.errors import InvalidParameterError, KernelOverflowError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.kernels import Constant, Kernel, Normalized, Scaled, Sum
from filbert.kernels.algebra import n_examples
from filbert.kernels.terms import plain_kernels, simplified

_MOST_FEATURES = 2**32 - 1


@dataclass(frozen=True)
class Batch:
    """Examples in the form that the core needs."""

    parts: list[_core.ExamplePart]  # by term
    scales: FloatArray  # by term and example
    norms: FloatArray  # by example: sqrt(K(x, x))
    widths: dict[str, int]  # number of features of dense vectors, by part

    def __len__(self) -> int:
        return len(self.norms)


class Terms:
    """The terms of a kernel, and a constant feature if there is an intercept."""

    def __init__(self, kernel: Kernel, *, intercept: bool) -> None:
        self.kernel = kernel + 1 if intercept else kernel

    @cached_property
    def terms(self) -> list[Any]:
        """The plain kernels. Raises InvalidParameterError if the kernel is not a sum of these."""
        return list(_terms(self.kernel))

    def new_model(self, n_problems: int) -> _core.OnlinePerceptron:
        """Return a model without support vectors."""
        return _core.OnlinePerceptron(n_problems, [term._spec() for term in self.terms])

    def batch(self, X: Any, model: _core.OnlinePerceptron, threads: int) -> Batch:
        """Prepare examples. Raise here any error that learning or scoring would meet."""
        data = self.data(X)
        parts = [_part(one) for one in data]
        try:
            selves = [model.selves(t, part, threads) for t, part in enumerate(parts)]
        except KernelOverflowError as error:
            raise KernelOverflowError(
                error.what, "use a smaller decay, or `fit` with engine='factors'"
            ) from None
        scales, own = _scales(self.kernel, iter(selves))
        if not np.isfinite(own).all():
            raise KernelOverflowError(f"{self.kernel!r} of an example with itself")
        return Batch(parts, np.array(scales), np.sqrt(own), dense_widths(self.kernel, X))

    def together(self, data: list[Any]) -> Any:
        """Join the data of the terms again, in the form that X has."""
        of_terms = zip(self.terms, data, strict=True)
        parts = {t.part: one for t, one in of_terms if t.capabilities.of != "constant"}
        if None in parts:
            return parts[None]
        return Examples._of({str(name): one for name, one in parts.items()})

    def data(self, X: Any) -> list[Any]:
        """Return the data of each term: a Forest, or sparse rows of vectors."""
        ones = scipy.sparse.csr_array(np.ones((n_examples(X), 1)))
        return [ones if t.capabilities.of == "constant" else _data(t, X) for t in self.terms]


def dense_widths(kernel: Kernel, X: Any) -> dict[str, int]:
    """Return the number of features of dense vectors, by part. For sparse ones it may vary."""
    plain = [one for one in plain_kernels(kernel) if one.capabilities.of == "vectors"]
    rows = {one.part or "": one.part_of(X) for one in plain}
    return {part: int(np.shape(m)[1]) for part, m in rows.items() if not is_sparse(m)}


def check_is_online(kernel: Kernel) -> None:
    """Raise InvalidParameterError if the kernel does not allow online learning."""
    list(_terms(kernel))


def _terms(kernel: Any) -> Iterator[Any]:
    kernel = simplified(kernel)
    if isinstance(kernel, Sum):
        yield from _terms(kernel.left)
        yield from _terms(kernel.right)
    elif isinstance(kernel, Scaled | Normalized):
        yield from _terms(kernel.kernel)
    elif kernel.capabilities.in_core:
        yield kernel
    else:
        raise InvalidParameterError(
            "learning online needs a sum of SubsetTree, Subtree, PartialTree, LocalPatterns, "
            f"Linear, Polynomial and RBF, also scaled and normalised; {kernel!r} is not one. Use "
            "TreeSVC(strategy='usvm'), which accepts any kernel."
        )


def _scales(kernel: Any, selves: Iterator[FloatArray]) -> tuple[list[FloatArray], FloatArray]:
    """Return the scales of a kernel's terms, and the kernel of each example with itself."""
    kernel = simplified(kernel)
    if isinstance(kernel, Sum):
        left, of_left = _scales(kernel.left, selves)
        right, of_right = _scales(kernel.right, selves)
        return left + right, of_left + of_right
    if isinstance(kernel, Scaled | Normalized):
        scales, own = _scales(kernel.kernel, selves)
        if isinstance(kernel, Scaled):
            return [np.sqrt(kernel.factor) * s for s in scales], kernel.factor * own
        return [_inverse_roots(own) * s for s in scales], (own > 0).astype(np.float64)
    own = next(selves)
    if isinstance(kernel, Constant):
        return [np.full(len(own), np.sqrt(kernel.value))], kernel.value * own
    if getattr(kernel, "normalize", False):
        return [_inverse_roots(own)], (own > 0).astype(np.float64)
    return [np.ones(len(own))], own


def _inverse_roots(values: FloatArray) -> FloatArray:
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def _data(term: Any, X: Any) -> Any:
    if term.capabilities.of == "trees":
        return term.trees_of(X)
    rows = scipy.sparse.csr_array(term.vectors_of(X))
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _part(data: Any) -> _core.ExamplePart:
    if isinstance(data, Forest):
        return _core.ExamplePart(data._dag, data._roots)
    if data.shape[1] > _MOST_FEATURES:
        raise InvalidParameterError(f"{data.shape[1]:,} features do not fit 32-bit numbers")
    return _core.ExamplePart(
        data.indptr.astype(np.uint64), data.indices.astype(np.uint32), data.data.astype(np.float64)
    )


def with_sparse_rows(X: Any) -> Any:
    """Return examples with all vectors as sparse rows, whose numbers of features may differ."""
    if isinstance(X, Examples):
        return Examples._of({name: with_sparse_rows(part) for name, part in X.parts.items()})
    return X if isinstance(X, Forest) else scipy.sparse.csr_array(X)
