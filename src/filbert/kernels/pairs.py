r"""Kernels of examples that have several parts of the same kind, such as pairs of trees.

Entailment asks whether a text implies a hypothesis. Zanzotto & Dell'Arciprete (2012, section 5.2.1)
compare such pairs part by part, :math:`PK_S(p_1, p_2) = K(t_1, t_2) + K(h_1, h_2)`. They add the
product of the pairs' lexical similarities, which are one feature per pair:

>>> from filbert import Examples, Forest
>>> from filbert.kernels import EachPart, Linear, SubsetTree
>>> X = Examples(
...     text=Forest(["(S (N dogs) (V bark))", "(S (N cats) (V purr))"]),
...     hypothesis=Forest(["(S (N dogs) (V run))", "(S (N dogs) (V run))"]),
...     lex=[[0.5], [0.8]],
... )
>>> pk = EachPart(SubsetTree(), ("text", "hypothesis"))
>>> pk_lex = pk + Linear(normalize=False).on("lex")
>>> pk_lex(X).round(3)
array([[2.25 , 1.653],
       [1.653, 2.64 ]])
"""

from itertools import product
from typing import Any, Self, cast

import numpy as np

from filbert.arrays import FloatArray
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.kernels.algebra import (
    Expression,
    Kernel,
    empty_matrix,
    is_number,
    n_examples,
    shown,
)

_ROUNDING = 1e-13  # relative to the parts' kernels with themselves
_BLOCK = 32  # examples per block when each example is compared with itself


class _OverParts(Expression):
    """A kernel that applies to several parts of examples."""

    def __init__(self, kernel: Kernel, parts: tuple[str, ...]) -> None:
        self.kernel = kernel
        self.parts = parts

    def on(self, part: str) -> Self:
        """Raise InvalidParameterError, because the parts are named already."""
        raise InvalidParameterError(
            f"{self!r} names its parts: change them with set_params(parts=)"
        )

    def _check(self) -> None:
        super()._check()
        parts = self.parts
        named = isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts)
        if not named or not parts or len(set(parts)) < len(parts):
            raise InvalidParameterError(
                f"{type(self).__name__}: parts must be a tuple of different names, got {parts!r}"
            )
        inner = self.kernel.get_params().items()
        if any(name.rpartition("__")[2] in ("part", "parts") and value for name, value in inner):
            raise InvalidParameterError(
                f"{type(self).__name__}: {self.kernel!r} already has a part; leave it out, "
                "because `parts` names the parts"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel!r}, {tuple(self.parts)!r})"


class EachPart(_OverParts):
    r"""The same kernel on each of several parts: ``K(x, y)`` is the sum of ``kernel(x_p, y_p)``.

    It is the sum ``kernel.on(p) + kernel.on(q) + ...`` with the same parameters for all parts, so
    ``kernel__decay`` tunes them together.

    Parameters
    ----------
    kernel : Kernel
        A kernel without a part.
    parts : tuple of str
        The names of the parts, all different.

    Examples
    --------
    >>> from filbert.kernels import SubsetTree
    >>> EachPart(SubsetTree(), ("text", "hypothesis")).expanded() == (
    ...     SubsetTree().on("text") + SubsetTree().on("hypothesis")
    ... )
    True
    """

    def expanded(self) -> Kernel:
        """Return the same kernel as a sum of kernels on one part each.

        Returns
        -------
        Kernel
            The sum.
        """
        self._check()
        expression: Any = sum(self.kernel.on(part) for part in self.parts)
        return cast(Kernel, expression)

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        return self.expanded()(X, Y, **options)

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        return self.expanded().diag(X, n_jobs=n_jobs)


class AllPairs(_OverParts):
    r"""The sum over all pairs of a part of one example and a part of the other.

    .. math:: K(x, y) = \sum_p \sum_q c_p c_q\, k(x_p, y_q)

    This is the inner product of the sums :math:`\sum_p c_p \phi(x_p)` of the parts' features.

    Parameters
    ----------
    kernel : Kernel
        A kernel without a part.
    parts : tuple of str
        The names of the parts. All must be trees, or all vectors.
    weights : tuple of float, optional
        The :math:`c_p`, which may be negative; 1 by default.

    Examples
    --------
    >>> from filbert import Examples, Forest
    >>> from filbert.kernels import SubsetTree
    >>> X = Examples(one=Forest(["(a b)", "(c d)"]), two=Forest(["(a b)", "(a b)"]))
    >>> AllPairs(SubsetTree(), ("one", "two"))(X)
    array([[4., 2.],
           [2., 2.]])
    """

    def __init__(
        self,
        kernel: Kernel,
        parts: tuple[str, ...],
        weights: tuple[float, ...] | None = None,
    ) -> None:
        super().__init__(kernel, parts)
        self.weights = weights

    def _check(self) -> None:
        super()._check()
        weights = self._weights()
        numbers = isinstance(weights, list | tuple) and all(map(is_number, weights))
        if not numbers or not np.isfinite(weights).all() or len(weights) != len(self.parts):
            raise InvalidParameterError(
                f"{type(self).__name__}: weights must be None or a finite number for each of the "
                f"{len(self.parts)} parts, got {weights!r}"
            )

    def _weights(self) -> Any:
        return (1.0,) * len(self.parts) if self.weights is None else self.weights

    def _values(self, X: Any, Y: Any, options: dict[str, Any]) -> FloatArray:
        rows = self._parts_of(X)
        columns = rows if Y is None else self._parts_of(Y)
        c = np.array(self._weights(), dtype=np.float64)
        values = empty_matrix(n_examples(X), n_examples(X if Y is None else Y))
        values.fill(0.0)
        for p, q in product(range(len(c)), repeat=2):
            if Y is not None:
                values += self._weighted(c[p] * c[q], rows[p], columns[q], options)
            elif p == q:
                values += self._weighted(c[p] * c[p], rows[p], None, options)
            elif p < q:  # k(x_q, y_p) is the same with x and y exchanged
                more = self._weighted(c[p] * c[q], rows[p], columns[q], options)
                values += more
                values += more.T
        return values

    def _weighted(self, weight: float, a: Any, b: Any, options: dict[str, Any]) -> FloatArray:
        values = self.kernel(a, b, **options)
        values *= weight
        return values

    def _selves(self, X: Any, n_jobs: int | None) -> FloatArray:
        parts = self._parts_of(X)
        values = np.zeros(n_examples(X))
        options = {"n_jobs": n_jobs, "verbose": 0}
        for first in range(0, len(values), _BLOCK):
            some = slice(first, first + _BLOCK)
            values[some] = np.diagonal(self._values(X[some], None, options))
        sizes = sum(
            c * c * self.kernel.diag(part, n_jobs=n_jobs)
            for c, part in zip(self._weights(), parts, strict=True)
        )
        values[values <= _ROUNDING * sizes] = 0.0  # parts that cancel leave no features
        return values

    def _parts_of(self, X: Any) -> list[Any]:
        if not isinstance(X, Examples):
            raise InvalidParameterError(
                f"{self!r} needs Examples with these parts, got {type(X).__name__}"
            )
        missing = [part for part in self.parts if part not in X.parts]
        if missing:
            raise InvalidParameterError(
                f"{self!r} needs a part {missing[0]!r}, but the examples have "
                + ", ".join(map(repr, X.parts))
            )
        if len({isinstance(X[part], Forest) for part in self.parts}) > 1:
            raise InputTypeError(f"{self!r}: its parts are both trees and matrices of features")
        return [X[part] for part in self.parts]

    def __repr__(self) -> str:
        if self.weights is None:
            return super().__repr__()
        weights = ", ".join(map(shown, self.weights)) + ("," if len(self.weights) == 1 else "")
        return f"AllPairs({self.kernel!r}, {tuple(self.parts)!r}, ({weights}))"


class Preference(AllPairs):
    r"""The kernel for ranking: an example is a pair, and its class says which one is preferred.

    .. math:: K(a, b) = k(a_1, b_1) + k(a_2, b_2) - k(a_1, b_2) - k(a_2, b_1)

    This is the inner product of the differences :math:`\phi(a_1) - \phi(a_2)` and
    :math:`\phi(b_1) - \phi(b_2)`. A classifier trained without an intercept therefore ranks single
    candidates (Shen & Joshi 2003). If candidates have trees and vectors, add one preference kernel
    for each.

    Parameters
    ----------
    kernel : Kernel
        A kernel without a part.
    parts : tuple of two str
        The part of the first candidate and the part of the second.

    Examples
    --------
    >>> from filbert import Examples, Forest
    >>> from filbert.kernels import SubsetTree
    >>> X = Examples(first=Forest(["(a b)", "(c d)"]), second=Forest(["(c d)", "(a b)"]))
    >>> Preference(SubsetTree(), ("first", "second"))(X)
    array([[ 2., -2.],
           [-2.,  2.]])
    """

    def __init__(self, kernel: Kernel, parts: tuple[str, str]) -> None:
        self.kernel = kernel
        self.parts = parts

    def _check(self) -> None:
        if isinstance(self.parts, list | tuple) and len(self.parts) != 2:
            raise InvalidParameterError(f"Preference: parts must be two names, got {self.parts!r}")
        super()._check()

    def _weights(self) -> Any:
        return (1.0, -1.0)

    def __repr__(self) -> str:
        return f"Preference({self.kernel!r}, {tuple(self.parts)!r})"
