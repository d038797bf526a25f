"""Kernels of vectors, dense or sparse, without dense copies."""

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from filbert.errors import InvalidParameterError
from filbert.kernels.algebra import FloatArray, is_number
from filbert.kernels.plain import PlainKernel


class VectorKernel(PlainKernel):
    """A function of the products x . y, x . x and y . y of vectors."""

    normalize: bool

    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> FloatArray:
        """Compute the matrix of kernels between the rows of `X` and those of `Y`.

        Parameters
        ----------
        X, Y : array or sparse matrix of shape (n, n_features), or Examples
            `Y` defaults to `X`. Where one has fewer columns, the others are zeros.
        n_jobs, verbose
            As of other kernels; they have no effect.
        """
        self._check()
        a = _checked(self.part_of(X), self)
        b = a if Y is None or Y is X else _checked(self.part_of(Y), self)
        a, b = _aligned(a, b)
        rows = _squares(a)
        columns = rows if b is a else _squares(b)
        values = self._values(_products(a, b), rows[:, None], columns[None, :])
        if self.normalize:
            values *= _inverse_roots(self._values(rows, rows, rows))[:, None]
            values *= _inverse_roots(self._values(columns, columns, columns))
        return values

    def diag(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Compute the kernel of each row with itself."""
        self._check()
        squares = _squares(_checked(self.part_of(X), self))
        values = self._values(squares, squares, squares)
        return (values > 0).astype(np.float64) if self.normalize else values

    @abstractmethod
    def _values(self, products: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
        """Return kernels from products of vectors, and from their squares."""

    def _check(self) -> None:
        self._check_switch("normalize")


class Linear(VectorKernel):
    """``x . y``, by default divided by the lengths of both vectors.

    Examples
    --------
    >>> Linear(normalize=False)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __init__(self, *, normalize: bool = True, part: str | None = None) -> None:
        self.normalize = normalize
        self.part = part

    def _values(self, products: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
        return np.array(products)


class Polynomial(VectorKernel):
    """``(gamma x . y + coef0) ** degree``: conjunctions of up to `degree` features.

    Parameters
    ----------
    degree : int
    coef0 : float
        What shorter conjunctions weigh; 0: only those of exactly `degree` features count.
    gamma : float
    normalize : bool
        Divide by the geometric mean of the self-kernels.
    part : str, optional
        See `on`.
    """

    def __init__(
        self,
        degree: int = 2,
        *,
        coef0: float = 1.0,
        gamma: float = 1.0,
        normalize: bool = True,
        part: str | None = None,
    ) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.normalize = normalize
        self.part = part

    def _values(self, products: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
        return (self.gamma * products + self.coef0) ** self.degree

    def _check(self) -> None:
        super()._check()
        if not is_number(self.degree, Integral) or not 1 <= self.degree <= 100:
            raise InvalidParameterError(
                f"Polynomial: degree must be an integer from 1 to 100, got {self.degree!r}"
            )
        _check_range(self, "coef0", least=0.0)
        _check_range(self, "gamma", above=0.0)


class RBF(VectorKernel):
    """``exp(-gamma |x - y|^2)``."""

    normalize = False  # it is 1 on the diagonal

    def __init__(self, gamma: float = 1.0, *, part: str | None = None) -> None:
        self.gamma = gamma
        self.part = part

    def _values(self, products: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
        distances = np.maximum(rows + columns - 2 * products, 0.0)
        return np.exp(-self.gamma * distances)

    def _check(self) -> None:
        _check_range(self, "gamma", above=0.0)


def _check_range(
    kernel: VectorKernel, name: str, least: float = 0.0, above: float | None = None
) -> None:
    value = getattr(kernel, name)
    low = is_number(value) and (value >= least if above is None else value > above)
    if not low or not value < np.inf:
        wanted = "not negative" if above is None else "positive"
        raise InvalidParameterError(
            f"{type(kernel).__name__}: {name} must be {wanted} and finite, got {value!r}"
        )


def _is_sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


def _checked(X: Any, kernel: VectorKernel) -> Any:
    """Take X as a matrix of finite numbers, in rows if it is sparse."""
    matrix: Any
    if _is_sparse(X):
        matrix = sp.csr_array(X, dtype=np.float64)
        values = matrix.data
    else:
        try:
            matrix = values = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = values = np.empty(0)
        if matrix.ndim != 2:
            raise InvalidParameterError(
                f"{kernel!r} needs vectors, an array or a sparse matrix of two dimensions, "
                f"got {type(X).__name__}"
            )
    bad = np.flatnonzero(~np.isfinite(values).reshape(-1))
    if len(bad):
        if _is_sparse(X):
            row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
            column = int(matrix.indices[bad[0]])
        else:
            row, column = divmod(int(bad[0]), matrix.shape[1])
        raise InvalidParameterError(
            f"feature {column} of sample {row} is {values.reshape(-1)[bad[0]]}: fill it in first"
        )
    return matrix


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Both with as many columns; sparse where one is."""
    if b is a:
        return a, a
    n = max(a.shape[1], b.shape[1])
    if a.shape[1] != b.shape[1] and not (_is_sparse(a) and _is_sparse(b)):
        raise InvalidParameterError(
            f"vectors of {a.shape[1]} and of {b.shape[1]} features cannot be compared"
        )
    widened = [
        sp.csr_array((m.data, m.indices, m.indptr), shape=(m.shape[0], n)) if _is_sparse(m) else m
        for m in (a, b)
    ]
    return widened[0], widened[1]


def _products(a: Any, b: Any) -> FloatArray:
    values = a @ b.T
    return values.toarray() if _is_sparse(values) else np.asarray(values)


def _squares(a: Any) -> FloatArray:
    return np.asarray(a.multiply(a).sum(axis=1) if _is_sparse(a) else (a * a).sum(axis=1)).ravel()


def _inverse_roots(values: FloatArray) -> FloatArray:
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
