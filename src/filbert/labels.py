"""Labels and names of groups as users give them, checked for missing ones and for their kinds."""

from collections.abc import Set
from numbers import Number
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
