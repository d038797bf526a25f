"""The algebra of kernels: sums, products, powers and multiples of kernels are kernels."""

from abc import abstractmethod
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError, KernelOverflowError, MatrixTooLargeError
from filbert.kernels.capabilities import Capabilities
from filbert.kernels.parameters import Parametrized

# Operator precedence: an operand that binds less strongly needs brackets when it is printed.
_SUM, _PRODUCT, _POWER, _ATOM = range(4)


class Kernel(Parametrized):
    """A function of two examples that is the inner product of their feature vectors.

    ``kernel(X, Y)`` is the matrix of its values, and ``kernel.diag(X)`` has the values of examples
    with themselves. ``a + b``, ``a * b``, ``2 * a`` and ``a ** 2`` are kernels too.

    Examples
    --------
    >>> from filbert.kernels import Linear, SubsetTree
    >>> kernel = SubsetTree().on("tree") + 0.5 * Linear().on("features")
    >>> isinstance(kernel, Kernel), kernel.get_params()["right__factor"]
    (True, 0.5)
    """

    capabilities = Capabilities()  # learners can only compute the matrix

    @abstractmethod
    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> FloatArray:
        """Compute the matrix of kernels between the examples of `X` and those of `Y`."""

    @abstractmethod
    def diag(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Compute the kernel of each example with itself: the diagonal of ``self(X)``.

        Parameters
        ----------
        X : Examples, Forest, or what the kernel takes
            The examples.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of shape (len(X),)
            The kernel of each example.
        """

    @abstractmethod
    def on(self, part: str) -> Self:
        """Return the same kernel on a named part of :class:`~filbert.Examples`.

        Parameters
        ----------
        part : str
            The name of a part of Examples.

        Returns
        -------
        Kernel
            A new kernel with the same parameters.
        """

    def normalized(self) -> "Kernel":
        """Return ``K(a, b) / sqrt(K(a, a) K(b, b))``.

        Returns
        -------
        Kernel
            A kernel whose values are at most 1.
        """
        return Normalized(self)

    def _check(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""

    def __add__(self, other: Any) -> "Kernel":
        return _sum_of(self, other)

    def __radd__(self, other: Any) -> "Kernel":
        return _sum_of(other, self)

    def __mul__(self, other: Any) -> "Kernel":
        return _product_of(self, other)

    __rmul__ = __mul__

    def __pow__(self, exponent: Any) -> "Kernel":
        return _checked(Power(self, exponent))

    def __sub__(self, other: Any) -> "Kernel":
        raise InvalidParameterError(
            "a difference of kernels need not be a kernel; to compare the first of two parts with "
            "the second, use Preference"
        )

    __rsub__ = __sub__

    __array_ufunc__ = None  # makes NumPy numbers leave their product with a kernel to it

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return bool(self.get_params(deep=False) == other.get_params(deep=False))

    def __hash__(self) -> int:
        values = sorted(self.get_params(deep=False).items())
        return hash((type(self), *(tuple(v) if isinstance(v, list) else v for _, v in values)))


class Expression(Kernel):
    """A kernel made from other kernels. Values beyond float64 raise an error."""

    _binding = _ATOM

    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> FloatArray:
        """Compute the matrix of kernels between the examples of `X` and those of `Y`."""
        self._check()
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(X, Y, {"n_jobs": n_jobs, "verbose": verbose})
        return checked_values(self, values)

    def diag(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Compute the kernel of each example with itself: the diagonal of ``self(X)``."""
        self._check()
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._selves(X, n_jobs)
        return checked_values(self, values)

    def on(self, part: str) -> Self:
        """Return the same expression with all its kernels on a named part."""
        kernels = {
            name: value.on(part)
            for name, value in self.get_params(deep=False).items()
            if isinstance(value, Kernel)
        }
        return self.with_params(**kernels)

    @abstractmethod
    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        """Return the matrix of `X` and `Y`, or of `X` with itself if `Y` is None."""

    @abstractmethod
    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        """Return the diagonal."""

    def _check(self) -> None:
        """Check this expression's own parameters. The kernels in it check theirs."""
        for name, value in self.get_params(deep=False).items():
            if name in ("left", "right", "kernel") and not isinstance(value, Kernel):
                raise InvalidParameterError(
                    f"{type(self).__name__}: {name} must be a kernel, got {value!r}"
                )

    def _within(self, kernel: Any, binding: int) -> str:
        own = kernel._binding if isinstance(kernel, Expression) else _ATOM
        return repr(kernel) if own >= binding else f"({kernel!r})"


class Sum(Expression):
    """``left + right``: the features of both kernels.

    Parameters
    ----------
    left, right : Kernel
        The terms.

    Examples
    --------
    >>> from filbert.kernels import Linear
    >>> (Linear(normalize=False) + 1)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[12.]])
    """

    _binding = _SUM

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        values = self.left(X, Y, **options)
        values += self.right(X, Y, **options)
        return values

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        return self.left.diag(X, n_jobs=n_jobs) + self.right.diag(X, n_jobs=n_jobs)

    def __repr__(self) -> str:
        left = self._term(self.left, self.right) or self._within(self.left, _SUM)
        right = self._term(self.right, self.left) or self._within(self.right, _PRODUCT)
        return f"{left} + {right}"

    def _term(self, kernel: Any, other: Any) -> str:
        """Return a constant as a number if adding the number gives the same kernel, else ''."""
        plain = isinstance(kernel, Constant) and not isinstance(other, Constant)
        return shown(kernel.value) if plain and kernel.value != 0 else ""


class Product(Expression):
    """``left * right``: all products of a feature of one kernel and a feature of the other.

    Parameters
    ----------
    left, right : Kernel
        The factors.

    Examples
    --------
    >>> from filbert.kernels import Linear
    >>> (Linear(normalize=False) * Linear(normalize=False))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    _binding = _PRODUCT

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        values = self.left(X, Y, **options)
        values *= self.right(X, Y, **options)
        return values

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        return self.left.diag(X, n_jobs=n_jobs) * self.right.diag(X, n_jobs=n_jobs)

    def __repr__(self) -> str:
        return f"{self._within(self.left, _PRODUCT)} * {self._within(self.right, _POWER)}"


class Scaled(Expression):
    """``factor * kernel``, where the factor is not negative.

    Parameters
    ----------
    factor : float
        The factor, not negative.
    kernel : Kernel
        The kernel to multiply.

    Examples
    --------
    >>> from filbert.kernels import Linear
    >>> (0.5 * Linear(normalize=False))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[5.5]])
    """

    _binding = _PRODUCT

    def __init__(self, factor: float, kernel: Kernel) -> None:
        self.factor = factor
        self.kernel = kernel

    def _check(self) -> None:
        super()._check()
        _check_weight(self, "factor", self.factor)

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        values = self.kernel(X, Y, **options)
        values *= self.factor
        return values

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        return self.factor * self.kernel.diag(X, n_jobs=n_jobs)

    def __repr__(self) -> str:
        return f"{shown(self.factor)} * {self._within(self.kernel, _POWER)}"


class Power(Expression):
    """``kernel ** exponent``, where the exponent is a positive integer.

    Parameters
    ----------
    kernel : Kernel
        The base.
    exponent : int
        From 1 to 100.

    Examples
    --------
    >>> from filbert.kernels import Linear
    >>> (Linear(normalize=False) ** 2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    _binding = _POWER

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel = kernel
        self.exponent = exponent

    def _check(self) -> None:
        super()._check()
        if not is_number(self.exponent, Integral) or not 1 <= self.exponent <= 100:
            raise InvalidParameterError(
                f"Power: exponent must be an integer from 1 to 100, got {self.exponent!r}"
            )

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        values = self.kernel(X, Y, **options)
        values **= int(self.exponent)
        return values

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        return self.kernel.diag(X, n_jobs=n_jobs) ** int(self.exponent)

    def __repr__(self) -> str:
        return f"{self._within(self.kernel, _ATOM)} ** {shown(self.exponent)}"


class Normalized(Expression):
    """``K(a, b) / sqrt(K(a, a) K(b, b))``, or 0 if an example has no features at all.

    Parameters
    ----------
    kernel : Kernel
        The kernel to normalise.

    Examples
    --------
    >>> from filbert.kernels import Linear
    >>> Linear(normalize=False).normalized()([[3.0, 4.0]], [[4.0, 3.0]])
    array([[0.96]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        values = self.kernel(X, Y, **options)
        inverse = partial(self._inverse_norms, n_jobs=options["n_jobs"])
        of_rows = inverse(X)
        values *= of_rows[:, None]
        values *= of_rows if Y is None else inverse(Y)
        np.clip(values, -1.0, 1.0, out=values)  # rounding
        if Y is None:
            np.fill_diagonal(values, of_rows > 0)
        return values

    def _inverse_norms(self, X: Any, n_jobs: int | None) -> FloatArray:
        selves = self.kernel.diag(X, n_jobs=n_jobs)
        if (selves < 0).any():
            raise InvalidParameterError(
                f"{self.kernel!r} of example {int(np.argmin(selves))} with itself is negative: "
                "it is not a kernel and cannot be normalised"
            )
        return np.divide(1.0, np.sqrt(selves), out=np.zeros_like(selves), where=selves > 0)

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        return (self.kernel.diag(X, n_jobs=n_jobs) > 0).astype(np.float64)

    def __repr__(self) -> str:
        return f"Normalized({self.kernel!r})"


class Constant(Expression):
    """The same value for all pairs of examples.

    Parameters
    ----------
    value : float
        The value, not negative.

    Examples
    --------
    >>> Constant(2.0)([[1.0], [5.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    capabilities = Capabilities("constant", in_core=True, factors="direct")

    def __init__(self, value: float) -> None:
        self.value = value

    def _spec(self) -> tuple[str, int, float, float]:
        """Describe the kernel to the core as linear in one feature that is always 1."""
        return "linear", 1, 1.0, 0.0

    def _check(self) -> None:
        _check_weight(self, "value", self.value)

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        values = empty_matrix(n_examples(X), n_examples(X if Y is None else Y))
        values.fill(float(self.value))
        return values

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        return np.full(n_examples(X), float(self.value))

    def __repr__(self) -> str:
        return f"Constant({shown(self.value)})"


def _check_weight(kernel: Kernel, name: str, value: Any) -> None:
    if not is_number(value) or not 0 <= value < np.inf:
        raise InvalidParameterError(
            f"{type(kernel).__name__}: {name} must be a number that is not negative, got {value!r}"
        )


def is_number(value: Any, kind: type = Real) -> bool:
    """Return whether a value is a number and not a Boolean."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def shown(value: Any) -> str:
    """Return a parameter as Python prints it, except 1e+09 instead of 1000000000.0."""
    value = _plain(value)
    return f"{value:.0e}" if isinstance(value, float) and value == 1e9 else repr(value)


def n_examples(X: Any) -> int:
    """Return the number of examples. A sparse matrix has no length, so its shape is used."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def empty_matrix(n: int, m: int) -> FloatArray:
    """Allocate a kernel matrix, or raise MatrixTooLargeError if there is not enough memory."""
    try:
        return _core.empty_matrix(n, m)
    except MemoryError:
        raise MatrixTooLargeError(
            f"a kernel matrix of {n:,} x {m:,} needs {n * m * 8 / 2**30:,.1f} GiB: "
            "compute it in parts, kernel(X[:1000], Y)"
        ) from None


def checked_values(kernel: Kernel, values: FloatArray) -> FloatArray:
    """Return the values, or raise KernelOverflowError if float64 cannot hold one of them."""
    if not np.isfinite(values).all():
        raise KernelOverflowError(
            f"a value of {kernel!r} is beyond the range of float64",
            "normalise its terms, or scale features down",
        )
    return values


def _sum_of(left: Any, right: Any) -> Kernel:
    """Add kernels. A number is a constant kernel; 0 adds nothing, so ``sum(kernels)`` works."""
    if is_number(left) and left == 0:
        return _as_kernel(right)
    if is_number(right) and right == 0:
        return _as_kernel(left)
    left, right = _as_kernel(left), _as_kernel(right)
    return NotImplemented if NotImplemented in (left, right) else Sum(left, right)


def _product_of(kernel: Kernel, other: Any) -> Kernel:
    if isinstance(other, Kernel):
        return Product(kernel, other)
    return _checked(Scaled(_plain(other), kernel)) if is_number(other) else NotImplemented


def _as_kernel(value: Any) -> Kernel:
    if isinstance(value, Kernel):
        return value
    return _checked(Constant(_plain(value))) if is_number(value) else NotImplemented


def _checked(kernel: Expression) -> Kernel:
    """Check a kernel made by an operator at once. Parameters set later are checked when used."""
    kernel._check()
    return kernel


def _plain(value: Any) -> Any:
    """Return a Python number for a NumPy number."""
    return value.item() if isinstance(value, np.generic) else value
