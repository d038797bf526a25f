"""Kernel expressions on dense arrays: each plain kernel pair by pair, then one operator at a time.

Examples are dictionaries from a part's name to a list of trees or of vectors (lists of numbers).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from filbert import kernels as filbert
from tests.reference import sequences
from tests.reference.kernels import normalized
from tests.reference.matrix import reference_matrix

Array = npt.NDArray[np.float64]
Parts = Mapping[str, Sequence[Any]]


@singledispatch
def evaluate(kernel: Any, X: Parts, Y: Parts) -> Array:
    """The matrix of a kernel between all examples of X and all of Y."""
    raise NotImplementedError(type(kernel).__name__)


def n_examples(X: Parts) -> int:
    return len(next(iter(X.values())))


# The operators


@evaluate.register
def _(kernel: filbert.Sum, X: Parts, Y: Parts) -> Array:
    return evaluate(kernel.left, X, Y) + evaluate(kernel.right, X, Y)


@evaluate.register
def _(kernel: filbert.Product, X: Parts, Y: Parts) -> Array:
    return evaluate(kernel.left, X, Y) * evaluate(kernel.right, X, Y)


@evaluate.register
def _(kernel: filbert.Scaled, X: Parts, Y: Parts) -> Array:
    return kernel.factor * evaluate(kernel.kernel, X, Y)


@evaluate.register
def _(kernel: filbert.Power, X: Parts, Y: Parts) -> Array:
    values = matrix = evaluate(kernel.kernel, X, Y)
    for _ in range(kernel.exponent - 1):
        values = values * matrix
    return values


@evaluate.register
def _(kernel: filbert.Constant, X: Parts, Y: Parts) -> Array:
    return np.array([[kernel.value] * n_examples(Y)] * n_examples(X), dtype=float)


@evaluate.register
def _(kernel: filbert.Normalized, X: Parts, Y: Parts) -> Array:
    values = evaluate(kernel.kernel, X, Y)
    norms_x = np.sqrt(np.diagonal(evaluate(kernel.kernel, X, X)))
    norms_y = np.sqrt(np.diagonal(evaluate(kernel.kernel, Y, Y)))
    norms = np.outer(norms_x, norms_y)
    return np.where(norms > 0, values / np.where(norms > 0, norms, 1), 0.0)


# Several parts


@evaluate.register
def _(kernel: filbert.EachPart, X: Parts, Y: Parts) -> Array:
    return sum(evaluate(kernel.kernel, {"": X[p]}, {"": Y[p]}) for p in kernel.parts)


@evaluate.register
def _(kernel: filbert.AllPairs, X: Parts, Y: Parts) -> Array:
    weights = kernel.weights or [1] * len(kernel.parts)
    return sum(
        c * d * evaluate(kernel.kernel, {"": X[p]}, {"": Y[q]})
        for c, p in zip(weights, kernel.parts, strict=True)
        for d, q in zip(weights, kernel.parts, strict=True)
    )


@evaluate.register
def _(kernel: filbert.Preference, X: Parts, Y: Parts) -> Array:
    first, second = kernel.parts

    def k(p: str, q: str) -> Array:
        return evaluate(kernel.kernel, {"": X[p]}, {"": Y[q]})

    return k(first, first) + k(second, second) - k(first, second) - k(second, first)


# One part


@evaluate.register
def _(kernel: filbert.TreeKernel, X: Parts, Y: Parts) -> Array:
    return reference_matrix(kernel, [*X[kernel.part or ""]], [*Y[kernel.part or ""]])


@evaluate.register
def _(kernel: filbert.Sequence, X: Parts, Y: Parts) -> Array:
    taken = {"leaves": sequences.leaves, "preorder": sequences.preorder}[kernel.of]
    value = partial(sequences.sequence, decay=kernel.decay, length=kernel.length)
    a, b = ([taken(tree) for tree in parts[kernel.part or ""]] for parts in (X, Y))
    return pairs(value, a, b, kernel.normalize)


@evaluate.register
def _(kernel: filbert.Linear, X: Parts, Y: Parts) -> Array:
    return pairs(dot, X[kernel.part or ""], Y[kernel.part or ""], kernel.normalize)


@evaluate.register
def _(kernel: filbert.Polynomial, X: Parts, Y: Parts) -> Array:
    def value(x: Any, y: Any) -> float:
        return float((kernel.gamma * dot(x, y) + kernel.coef0) ** kernel.degree)

    return pairs(value, X[kernel.part or ""], Y[kernel.part or ""], kernel.normalize)


@evaluate.register
def _(kernel: filbert.RBF, X: Parts, Y: Parts) -> Array:
    def value(x: Any, y: Any) -> float:
        distance = sum((v - w) ** 2 for v, w in zip(x, y, strict=True))
        return float(np.exp(-kernel.gamma * distance))

    return pairs(value, X[kernel.part or ""], Y[kernel.part or ""], False)


def pairs(
    value: Callable[[Any, Any], float], a: Sequence[Any], b: Sequence[Any], normalize: bool
) -> Array:
    """The kernel of all pairs of an item of `a` and one of `b`."""
    value = partial(normalized, value) if normalize else value
    return np.array([[value(x, y) for y in b] for x in a], dtype=float)


def dot(x: Any, y: Any) -> float:
    """The product of two vectors."""
    return float(sum(v * w for v, w in zip(x, y, strict=True)))
