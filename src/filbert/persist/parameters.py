"""Convert an estimator's parameters to JSON and back.

The same rules check them in both directions: whatever can be saved can be loaded.
"""

from inspect import Parameter, signature
from math import isfinite
from typing import Any, Protocol

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.kernels import (
    RBF,
    AllPairs,
    ApproximateTree,
    Constant,
    EachPart,
    Kernel,
    Linear,
    LocalPatterns,
    Normalized,
    PartialTree,
    Polynomial,
    Power,
    Preference,
    Product,
    Scaled,
    Sequence,
    SubsetTree,
    Subtree,
    Sum,
)
from filbert.kernels.terms import check_expression

# Files name a kernel. The name is looked up only in this table and never imported.
KERNELS: dict[str, type[Kernel]] = {
    kind.__name__: kind
    for kind in (
        *(ApproximateTree, LocalPatterns, PartialTree, Sequence, SubsetTree, Subtree),
        *(Linear, Polynomial, RBF),
        *(AllPairs, EachPart, Preference),
        *(Constant, Normalized, Power, Product, Scaled, Sum),
    )
}

_OF_KERNELS = ("kernel", "left", "right")  # parameters that hold a kernel
_LISTS: dict[str, Any] = {"parts": str, "weights": int | float}  # parameters that hold a list
_GROUPS = ("together", "at_least_one", "exactly_one")  # parameters that hold groups of symbols
_DEEPEST = 50  # nesting of kernels: a file must not exhaust the stack
_OPTIONAL = {"max_steps", "random_state"}  # may be None, although the default is not


class Parametrized(Protocol):
    """A kernel or an estimator."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """Return the parameters by name."""


def to_json(estimator: Parametrized, depth: int = 0) -> dict[str, Any]:
    """Return the parameters as JSON values."""
    values = estimator.get_params(deep=False)
    return {name: _encoded(type(estimator), name, value, depth) for name, value in values.items()}


def from_json(cls: type[Parametrized], values: Any, depth: int = 0) -> dict[str, Any]:
    """Return the parameters. Those that a file does not have keep their defaults."""
    if not isinstance(values, dict):
        raise InvalidParameterError("the parameters are not a JSON object")
    known = signature(cls).parameters
    unknown = values.keys() - known.keys()
    if unknown:
        raise InvalidParameterError(
            f"{cls.__name__} has no parameter {min(unknown)!r} in this version of Filbert"
        )
    needed = {name for name, p in known.items() if p.default is Parameter.empty}
    if needed - values.keys():
        raise InvalidParameterError(f"{cls.__name__} lacks {min(needed - values.keys())!r}")
    return {name: _decoded(cls, name, value, depth) for name, value in values.items()}


def kernel_to_json(kernel: Kernel, depth: int = 0) -> dict[str, Any]:
    """Return a kernel's name and parameters, which may be kernels too."""
    name = type(kernel).__name__
    if KERNELS.get(name) is not type(kernel):
        raise InvalidParameterError(
            f"a kernel of type {name} cannot be saved: use one of {', '.join(KERNELS)}"
        )
    _check_depth(depth)
    if depth == 0:
        check_expression(kernel)
    return {"name": name, "parameters": to_json(kernel, depth + 1)}


def kernel_from_json(value: Any, depth: int = 0) -> Kernel:
    """Return the kernel after checking its parameters."""
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in KERNELS:
        raise InvalidParameterError(f"there is no kernel {str(name)[:40]!r}")
    _check_depth(depth)
    kernel = KERNELS[name](**from_json(KERNELS[name], value.get("parameters"), depth + 1))
    if depth == 0:
        check_expression(kernel)
    return kernel


def _check_depth(depth: int) -> None:
    if depth > _DEEPEST:
        raise InvalidParameterError(f"kernels are nested more than {_DEEPEST} deep")


def _encoded(cls: type[Parametrized], name: str, value: Any, depth: int) -> Any:
    if name in _OF_KERNELS:
        return None if value is None else kernel_to_json(value, depth)
    if name == "random_state":  # a generator's earlier state is gone
        value = value if isinstance(value, int | np.integer) else None
    if name == "class_weight" and isinstance(value, dict):
        # JSON keys are strings, but classes need not be.
        return [[_checked_class(_plain(k)), _checked_weight(_plain(v))] for k, v in value.items()]
    if name == "symbols":
        return symbols_to_json(value)
    if name in _GROUPS:
        return [symbols_to_json(group) for group in value]
    if name in _LISTS and value is not None:
        return _checked_list(cls, name, [_plain(item) for item in value])
    return _checked(cls, name, _plain(value))


def _decoded(cls: type[Parametrized], name: str, value: Any, depth: int) -> Any:
    if name in _OF_KERNELS:
        return None if value is None else kernel_from_json(value, depth)
    if name == "class_weight" and isinstance(value, list):
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            raise InvalidParameterError("class_weight must have pairs of a class and a weight")
        return {_checked_class(k): _checked_weight(v) for k, v in value}
    if name == "symbols":
        return symbols_from_json(f"{cls.__name__}: symbols", value)
    if name in _GROUPS:
        what = f"{cls.__name__}: {name}"
        return tuple(symbols_from_json(what, group) for group in _list(what, value))
    if name in _LISTS and value is not None:
        return tuple(_checked_list(cls, name, value))
    return _checked(cls, name, value)


def symbols_to_json(symbols: Any) -> list[Any]:
    """Return labels as strings and productions as lists of strings."""
    return [list(labels) if isinstance(labels, tuple) else labels for labels in symbols]


def symbols_from_json(what: str, value: Any) -> tuple[Any, ...]:
    """Return labels as strings and productions as tuples; the caller checks which they are."""
    plain = all(isinstance(symbol, str | list) for symbol in _list(what, value))
    if not plain or not all(isinstance(x, str) for symbol in value for x in symbol):
        raise InvalidParameterError(f"{what} cannot be {value!r:.60}")
    return tuple(tuple(symbol) if isinstance(symbol, list) else symbol for symbol in value)


def _list(what: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidParameterError(f"{what} cannot be {value!r:.60}")
    return value


def _plain(value: Any) -> Any:
    """Convert a NumPy number to a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def _checked(cls: type[Parametrized], name: str, value: Any) -> Any:
    """Return a value if it has the type of the parameter's default; otherwise raise."""
    default = signature(cls).parameters[name].default
    allowed: dict[type, Any] = {bool: bool | int, int: int, float: float | int, str: str}
    if value is None:
        right = default is None or name in _OPTIONAL
    elif name == "class_weight":
        right = value == "balanced"
    elif name == "part":
        right = isinstance(value, str)
    elif name == "shuffle":
        right = isinstance(value, bool)
    elif name == "C" and isinstance(default, str):  # or a number
        right = value == default or _is_number(value)
    elif default is None or default is Parameter.empty:  # an optional or required number
        right = _is_number(value)
    else:
        right = isinstance(value, allowed[type(default)])
    if not right or (isinstance(value, float) and not isfinite(value)):
        raise InvalidParameterError(f"{cls.__name__}: {name} cannot be {value!r:.60}")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checked_list(cls: type[Parametrized], name: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(item, _LISTS[name]) for item in value):
        raise InvalidParameterError(f"{cls.__name__}: {name} cannot be {value!r:.60}")
    return value


def _checked_class(value: Any) -> Any:
    if not isinstance(value, str) and not _is_finite(value):
        raise InvalidParameterError(f"class_weight has the class {value!r:.60}: use str or numbers")
    return value


def _checked_weight(value: Any) -> Any:
    if not _is_finite(value) or isinstance(value, bool):
        raise InvalidParameterError(f"class_weight has the weight {value!r:.60}: use a number")
    return value


def _is_finite(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))
