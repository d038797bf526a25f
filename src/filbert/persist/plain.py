"""Convert parameter values of any plain kind to JSON and back.

JSON has no tuples, no sets, no keys but strings, and no infinite numbers. These values are written
as an object with one entry, such as ``{"tuple": [1, 2]}``.
"""

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from filbert.errors import InputTypeError, InvalidParameterError
from filbert.kernels import Kernel
from filbert.persist import parameters

_DEEPEST = 20  # nesting of values: a file must not exhaust the stack
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def to_json(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON. Raise InputTypeError for functions and other objects."""
    if depth > _DEEPEST:
        raise InvalidParameterError(f"values are nested more than {_DEEPEST} deep")
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if isfinite(value) else {"float": str(value)}
    if isinstance(value, Kernel):
        return {"kernel": parameters.kernel_to_json(value)}
    if type(value) in (list, tuple, set, frozenset, dict):
        return _contained(value, depth)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return {"array": [to_json(item, depth + 1) for item in value.tolist()]}
    what = "a function" if callable(value) else f"a value of type {type(value).__name__}"
    raise InputTypeError(f"{what} cannot be saved, because a file holds no code")


def from_json(value: Any, depth: int = 0) -> Any:
    """Return the value. Raise InvalidParameterError if no value is written like this."""
    if depth > _DEEPEST:
        raise InvalidParameterError(f"values are nested more than {_DEEPEST} deep")
    if isinstance(value, list):
        return [from_json(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    [(kind, content)] = value.items() if len(value) == 1 else [("", None)]
    reader = _READERS.get(kind)
    if reader is None:
        raise InvalidParameterError(f"a parameter cannot be {value!r:.60}")
    return reader(content, depth)


def _contained(value: Any, depth: int) -> Any:
    if type(value) is dict:
        return {"dict": [[to_json(k, depth + 1), to_json(v, depth + 1)] for k, v in value.items()]}
    items = [to_json(item, depth + 1) for item in value]
    if type(value) is list:
        return items
    if type(value) is tuple:
        return {"tuple": items}
    # Sets have no order, but the same set must give the same bytes.
    return {type(value).__name__: sorted(items, key=repr)}


def _float(content: Any, depth: int) -> float:
    if not isinstance(content, str) or content not in _FLOATS:
        raise InvalidParameterError(f"a parameter cannot be the number {content!r:.60}")
    return _FLOATS[content]


def _list(content: Any, depth: int) -> list[Any]:
    if not isinstance(content, list):
        raise InvalidParameterError(f"a parameter cannot be a list {content!r:.60}")
    return [from_json(item, depth + 1) for item in content]


def _hashable(make: Callable[[Any], Any]) -> Callable[[Any, int], Any]:
    def read(content: Any, depth: int) -> Any:
        try:
            return make(_list(content, depth))
        except (TypeError, ValueError):  # of what cannot be a key, or is not a pair
            raise InvalidParameterError(f"a parameter cannot hold {content!r:.60}") from None

    return read


_READERS: dict[str, Callable[[Any, int], Any]] = {
    "float": _float,
    "kernel": lambda content, depth: parameters.kernel_from_json(content),
    "tuple": lambda content, depth: tuple(_list(content, depth)),
    "array": lambda content, depth: np.array(_list(content, depth)),
    "dict": _hashable(dict),
    "set": _hashable(set),
    "frozenset": _hashable(frozenset),
}
