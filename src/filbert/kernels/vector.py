"""Kernels of dense or sparse vectors, without dense copies."""

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
import scipy

from filbert.arrays import FloatArray, is_sparse
from filbert.errors import InvalidParameterError
from filbert.examples import check_feature_names, feature_names_of
from filbert.kernels.algebra import checked_values, is_number
from filbert.kernels.capabilities import Capabilities
from filbert.kernels.matrices import aligned, checked_matrix, in_blocks, products, squares
from filbert.kernels.plain import PlainKernel

# A kernel of vectors for the core: its name, degree, gamma and coef0.
VectorSpec = tuple[str, int, float, float]


class VectorKernel(PlainKernel):
    """The base class of all kernels of vectors.

    Examples
    --------
    >>> from filbert.kernels import Linear
    >>> isinstance(Linear(), VectorKernel), Linear(normalize=False).diag([[3.0, 4.0]])
    (True, array([25.]))
    """

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
        check_feature_names(feature_names_of(X), Y)
        a = self.vectors_of(X)
        b = a if Y is None or Y is X else self.vectors_of(Y)
        a, b = aligned(a, b)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(a, b)
        return checked_values(self, values)

    def diag(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Compute the kernel of each row with itself.

        Parameters
        ----------
        X : Examples, array or sparse matrix
            The examples.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of shape (len(X),)
            The kernel of each example.
        """
        self._check()
        vectors = self.vectors_of(X)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._selves(squares(vectors))
        return checked_values(self, values)

    def vectors_of(self, X: Any) -> Any:
        """Return the vectors that the kernel applies to, checked.

        Parameters
        ----------
        X : Examples, array or sparse matrix
            The examples.

        Returns
        -------
        ndarray or csr_array
            The vectors.
        """
        return checked_matrix(self.part_of(X), repr(self), self.part)

    def rows_of(self, X: Any) -> Any:
        """Return the vectors that the kernel applies to, checked.

        Parameters
        ----------
        X : Examples, array or sparse matrix
            The examples.

        Returns
        -------
        ndarray or csr_array
            The vectors.
        """
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
    r"""The linear kernel: the product of two vectors, by default divided by their lengths.

    .. math:: K(x, y) = x \cdot y

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
    r"""The polynomial kernel: conjunctions of up to `degree` features.

    .. math:: K(x, y) = (\gamma \, x \cdot y + c)^d

    Parameters
    ----------
    degree : int
        The largest number of features in a conjunction, `d` in the formula.
    coef0 : float
        The weight `c` of shorter conjunctions. With 0, only those of exactly `degree` features
        count.
    gamma : float
        The factor of the product.
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
    r"""The Gaussian kernel: near vectors are similar.

    .. math:: K(x, y) = \exp(-\gamma \, |x - y|^2)

    Distances of sparse vectors are computed from products. For long vectors that are nearly equal
    their error is about 1e-15 of the squared lengths. Distances of dense vectors are computed from
    differences.

    Parameters
    ----------
    gamma : float
        The larger, the faster the kernel falls with the distance.
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
        """Return the kernel itself: it is 1 on the diagonal.

        Returns
        -------
        RBF
            Itself.
        """
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
        return in_blocks(lambda x, y: scipy.spatial.distance.cdist(x, y, "sqeuclidean"), a, b)
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
