"""Kernels of one tree or one vector per example, which may be one of several parts."""

from inspect import signature
from typing import Any, Self

import numpy as np

from filbert.errors import InputTypeError, InvalidParameterError
from filbert.examples import Examples, only_forest, part_of_table
from filbert.forest import Forest, as_forest
from filbert.given import check_in_one_piece, is_table
from filbert.kernels.algebra import Kernel, shown


class PlainKernel(Kernel):
    """A kernel of one tree or vector per example. `part` names it if examples have several."""

    part: str | None

    def on(self, part: str) -> Self:
        """Return the same kernel on a named part of :class:`~filbert.Examples`.

        The kernel also accepts a DataFrame with a column of this name, or a dictionary.

        Examples
        --------
        >>> from filbert import Examples, Forest
        >>> from filbert.kernels import SubsetTree
        >>> X = Examples(first=Forest(["(a b)", "(a c)"]), second=Forest(["(a b)", "(a b)"]))
        >>> SubsetTree().on("second")(X)
        array([[1., 1.],
               [1., 1.]])
        """
        if not isinstance(part, str):
            raise InvalidParameterError(f"the name of a part must be a string, got {part!r}")
        return self.with_params(part=part)

    def whole(self) -> Self:
        """Return the same kernel without a part: it applies to whole examples."""
        return self if self.part is None else self.with_params(part=None)

    def normalized(self) -> Kernel:
        """Return the same kernel with ``normalize=True``."""
        if "normalize" not in self.get_params(deep=False):
            return super().normalized()
        return self.with_params(normalize=True)

    def part_of(self, X: Any) -> Any:
        """Return the data that the kernel applies to: X, or its part `self.part`."""
        check_in_one_piece(X)
        if self.part is None:
            X = only_forest(X)
        if isinstance(X, Examples):
            names = ", ".join(map(repr, X.parts))
            if self.part is None:
                raise InvalidParameterError(
                    f"examples have the parts {names}: choose one for {self!r}, such as "
                    f".on({next(iter(X.parts))!r})"
                )
            if self.part not in X.parts:
                raise InvalidParameterError(
                    f"{self!r} needs a part {self.part!r}, but the examples have {names}"
                )
            return X[self.part]
        if self.part is None:
            return X
        if is_table(X):
            return part_of_table(X, self.part)
        raise InvalidParameterError(
            f"{self!r} needs Examples with a part {self.part!r}, got {type(X).__name__}; "
            "a DataFrame with this column works too"
        )

    def rows_of(self, X: Any) -> Any:
        """Return the data that the kernel applies to, checked."""
        return self.part_of(X)

    def _forest_of(self, X: Any) -> Forest:
        """Return the data that the kernel applies to as trees."""
        part = self.part_of(X)
        if self.part is not None and not isinstance(part, Forest):
            raise InputTypeError(
                f"{self!r} needs trees, but part {self.part!r} is a matrix of features"
            )
        return as_forest(part)

    def __repr__(self) -> str:
        values = self.get_params(deep=False)
        names = [name for name in signature(type(self)).parameters if name != "part"]
        listed = ", ".join(f"{name}={shown(values[name])}" for name in names if name in values)
        on = "" if values.get("part") is None else f".on({values['part']!r})"
        return f"{type(self).__name__}({listed}){on}"

    def _check_switch(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, bool | np.bool_):
            raise InvalidParameterError(
                f"{type(self).__name__}: {name} must be True or False, got {value!r}"
            )
