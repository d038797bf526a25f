"""Kernels of dense or sparse vectors, without dense copies."""

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.kernels.algebra import checked_values, is_number
from filbert.kernels.capabilities import Capabilities
from filbert.kernels.matrices import aligned, checked_matrix, is_sparse, products, squares
from filbert.kernels.plain import PlainKernel

# A kernel of vectors for the core: its name, degree, gamma and coef0.
VectorSpec = tuple[str, int, float, float]


class VectorKernel(PlainKernel):
    """The base class of all kernels of vectors."""

    capabilities = Capabilities("vectors")

    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> FloatArray:
        """Compute the matrix of kernels between the rows of `X` and those of `Y`.

        Parameters
        ----------
        X, Y : array or sparse matrix of shape (n, n_features), or Examples
            `Y` defaults to `X`. If both are sparse, one may have fewer columns: the missing ones
            are zeros.
        n_jobs, verbose
            Accepted as in other kernels, without effect.
        """
        self._check()
        a = self.vectors_of(X)
        b = a if Y is None or Y is X else self.vectors_of(Y)
        a, b = aligned(a, b)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(a, b)
        return checked_values(self, values)

    def diag(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Compute the kernel of each row with itself."""
        self._check()
        vectors = self.vectors_of(X)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._selves(squares(vectors))
        return checked_values(self, values)

    def vectors_of(self, X: Any) -> Any:
        """Return the vectors that the kernel applies to, checked: an array or a CSR array."""
        return checked_matrix(self.part_of(X), repr(self), self.part)

    def rows_of(self, X: Any) -> Any:
        """Return the vectors that the kernel applies to, checked."""
        return self.vectors_of(X)

    @abstractmethod
    def _values(self, a: Any, b: Any) -> FloatArray:
        """Return the matrix of kernels of two matrices with the same number of columns."""

    @abstractmethod
    def _selves(self, squares: FloatArray) -> FloatArray:
        """Return the kernels of vectors with themselves, from x . x."""

    def _spec(self) -> VectorSpec:
        """Describe the kernel to the core, if the core has it."""
        raise NotImplementedError


class _PowerOfProducts(VectorKernel):
    """A power of a linear function of x . y, divided by its norms before it is raised."""

    normalize: bool

    capabilities = Capabilities("vectors", in_core=True, factors="direct")

    def _values(self, a: Any, b: Any) -> FloatArray:
        values = self._linear(products(a, b))
        if self.normalize:
            of_rows = _inverse_roots(self._linear(squares(a)))
            values *= of_rows[:, None]
            values *= of_rows if b is a else _inverse_roots(self._linear(squares(b)))
            np.clip(values, -1.0, 1.0, out=values)  # rounding
            if b is a:
                np.fill_diagonal(values, of_rows > 0)
        return self._raised(values)

    def _selves(self, squares: FloatArray) -> FloatArray:
        values = self._linear(squares)
        if self.normalize:
            values = np.where(np.isfinite(values), values > 0, values)
        return self._raised(values)

    def _linear(self, products: FloatArray) -> FloatArray:
        """Change products of vectors in place."""
        return products

    def _raised(self, values: FloatArray) -> FloatArray:
        return values

    def _check(self) -> None:
        self._check_switch("normalize")


class Linear(_PowerOfProducts):
    """``x . y``, by default divided by the lengths of both vectors.

    Parameters
    ----------
    normalize : bool
        Divide by the geometric mean of the self-kernels.
    part : str, optional
        See `on`.

    Examples
    --------
    >>> Linear(normalize=False)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __init__(self, *, normalize: bool = True, part: str | None = None) -> None:
        self.normalize = normalize
        self.part = part

    def _spec(self) -> VectorSpec:
        return "linear", 1, 1.0, 0.0


class Polynomial(_PowerOfProducts):
    """``(gamma x . y + coef0) ** degree``: conjunctions of up to `degree` features.

    Parameters
    ----------
    degree : int
    coef0 : float
        The weight of shorter conjunctions. With 0, only those of exactly `degree` features count.
    gamma : float
    normalize : bool
        Divide by the geometric mean of the self-kernels.
    part : str, optional
        See `on`.

    Examples
    --------
    >>> Polynomial(degree=2, normalize=False)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
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

    def _spec(self) -> VectorSpec:
        return "polynomial", int(self.degree), float(self.gamma), float(self.coef0)

    def _linear(self, products: FloatArray) -> FloatArray:
        products *= self.gamma
        products += self.coef0
        return products

    def _raised(self, values: FloatArray) -> FloatArray:
        values **= int(self.degree)
        return values

    def _check(self) -> None:
        super()._check()
        if not is_number(self.degree, Integral) or not 1 <= self.degree <= 100:
            raise InvalidParameterError(
                f"Polynomial: degree must be an integer from 1 to 100, got {self.degree!r}"
            )
        _check_range(self, "coef0", or_zero=True)
        _check_range(self, "gamma")


class RBF(VectorKernel):
    """``exp(-gamma |x - y|^2)``.

    Distances of sparse vectors are computed from products. For long vectors that are nearly equal
    their error is about 1e-15 of the squared lengths. Distances of dense vectors are computed from
    differences.

    Parameters
    ----------
    gamma : float
    part : str, optional
        See `on`.

    Examples
    --------
    >>> RBF(gamma=1.0)([[1.0, 2.0]], [[1.0, 2.0], [100.0, 200.0]])
    array([[1., 0.]])
    """

    capabilities = Capabilities("vectors", in_core=True)

    def __init__(self, gamma: float = 1.0, *, part: str | None = None) -> None:
        self.gamma = gamma
        self.part = part

    def _spec(self) -> VectorSpec:
        return "rbf", 1, float(self.gamma), 0.0

    def normalized(self) -> "RBF":
        """Return the kernel itself: it is 1 on the diagonal."""
        return self

    def _values(self, a: Any, b: Any) -> FloatArray:
        values = _distances(a, b)
        if b is a:
            np.fill_diagonal(values, 0.0)
        values *= -self.gamma
        return np.exp(values, out=values)

    def _selves(self, squares: FloatArray) -> FloatArray:
        return np.ones_like(squares)

    def _check(self) -> None:
        _check_range(self, "gamma")


def _distances(a: Any, b: Any) -> FloatArray:
    """Return the squares of the distances between all rows of both."""
    if not is_sparse(a) and not is_sparse(b):
        return np.asarray(cdist(a, b, "sqeuclidean"))
    values = products(a, b)
    values *= -2
    values += squares(a)[:, None]
    values += squares(b)
    return np.maximum(values, 0.0, out=values)


def _check_range(kernel: VectorKernel, name: str, *, or_zero: bool = False) -> None:
    value = getattr(kernel, name)
    if not is_number(value) or not (0 < value < np.inf or (or_zero and value == 0)):
        wanted = "not negative" if or_zero else "positive"
        raise InvalidParameterError(
            f"{type(kernel).__name__}: {name} must be {wanted} and finite, got {value!r}"
        )


def _inverse_roots(values: FloatArray) -> FloatArray:
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
