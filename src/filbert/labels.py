"""Labels and names of groups as users give them, checked for missing ones and for their kinds."""

from collections.abc import Set
from numbers import Number
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from filbert.errors import InvalidParameterError


def as_given(values: ArrayLike) -> NDArray[Any]:
    """Return an array of the values as they are.

    Of a list, NumPy would make one text of 1 and "1", and the text "nan" of a missing label.
    """
    return np.asarray(values, dtype=None if hasattr(values, "dtype") else object)


def are_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are None, NaN, NaT or pandas.NA."""
    missing = np.zeros(values.shape, dtype=bool)
    if values.dtype.kind in "fc":
        np.isnan(values, out=missing)
    elif values.dtype.kind in "mM":
        np.isnat(values, out=missing)
    elif values.dtype == object:
        missing.flat[:] = [_is_missing(value) for value in values.flat]
    return missing


def kinds_of(values: NDArray[Any]) -> Set[str]:
    """Return the kinds of values: "number", or the names of other types."""
    if values.dtype != object:
        return {"number" if values.dtype.kind in "biufc" else values.dtype.type.__name__}
    return {_kind(value) for value in values.flat}


def checked_groups(group: ArrayLike | None, n: int, parameter: str = "group") -> NDArray[np.intp]:
    """Return the number of each example's group. Without groups, all examples are one."""
    if group is None:
        return np.zeros(n, dtype=np.intp)
    names = as_given(group)
    if names.shape != (n,):
        raise InvalidParameterError(
            f"{parameter} must have one name for each of {n:,} examples, got shape {names.shape}"
        )
    missing = np.ma.getmaskarray(group) if np.ma.isMaskedArray(group) else are_missing(names)
    if missing.any():
        i = int(missing.argmax())
        raise InvalidParameterError(f"sample {i} has no group, it is {names[i]}: leave it out")
    if len(kinds := kinds_of(names)) > 1:
        raise InvalidParameterError(
            f"groups must be of one kind, got {', '.join(sorted(kinds))}: use strings or integers"
        )
    try:
        return np.unique(names, return_inverse=True)[1].reshape(n)
    except TypeError:
        raise InvalidParameterError("groups must be of one kind: use strings or integers") from None


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, or not equal to itself as NaN and NaT are."""
    try:
        return value is None or bool(ne(value, value))
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def _kind(value: Any) -> str:
    if isinstance(value, Number | np.bool_):
        return "number"
    return "str" if isinstance(value, str) else type(value).__name__
