"""An estimator's parameters as JSON, and back.

They are checked by the same rules in both directions: what was saved can be loaded.
"""

from inspect import signature
from math import isfinite
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from filbert.errors import InvalidParameterError
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel

# Files name a kernel; what a name means is told here, and never looked up in Python.
KERNELS: dict[str, type[TreeKernel]] = {
    "PartialTree": PartialTree,
    "SubsetTree": SubsetTree,
    "Subtree": Subtree,
}

_OPTIONAL = {"max_steps"}  # may be None, although the default is not


def to_json(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters as what JSON has."""
    values = estimator.get_params(deep=False)
    return {name: _encoded(type(estimator), name, value) for name, value in values.items()}


def from_json(cls: type[BaseEstimator], values: Any) -> dict[str, Any]:
    """Return the parameters; those that a file does not have are left to their defaults."""
    if not isinstance(values, dict):
        raise InvalidParameterError("the parameters are not a JSON object")
    unknown = values.keys() - signature(cls).parameters.keys()
    if unknown:
        raise InvalidParameterError(
            f"{cls.__name__} has no parameter {min(unknown)!r} in this version of Filbert"
        )
    return {name: _decoded(cls, name, value) for name, value in values.items()}


def kernel_to_json(kernel: TreeKernel) -> dict[str, Any]:
    """Return a kernel's name and parameters."""
    name = type(kernel).__name__
    if KERNELS.get(name) is not type(kernel):
        raise InvalidParameterError(
            f"a kernel of type {name} cannot be saved: use one of {', '.join(KERNELS)}"
        )
    kernel._spec()
    return {"name": name, "parameters": to_json(kernel)}


def kernel_from_json(value: Any) -> TreeKernel:
    """Return the kernel, its parameters checked."""
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in KERNELS:
        raise InvalidParameterError(f"there is no kernel {str(name)[:40]!r}")
    kernel = KERNELS[name](**from_json(KERNELS[name], value.get("parameters")))
    kernel._spec()
    return kernel


def _encoded(cls: type[BaseEstimator], name: str, value: Any) -> Any:
    if name == "kernel":
        return None if value is None else kernel_to_json(value)
    if name == "random_state":  # a generator has moved on since: it cannot be had again
        value = value if isinstance(value, int | np.integer) else None
    if name == "class_weight" and isinstance(value, dict):
        # Keys in JSON are strings, those of classes need not be.
        return [[_checked_class(_plain(k)), _checked_weight(_plain(v))] for k, v in value.items()]
    return _checked(cls, name, _plain(value))


def _decoded(cls: type[BaseEstimator], name: str, value: Any) -> Any:
    if name == "kernel":
        return None if value is None else kernel_from_json(value)
    if name == "class_weight" and isinstance(value, list):
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            raise InvalidParameterError("class_weight must have pairs of a class and a weight")
        return {_checked_class(k): _checked_weight(v) for k, v in value}
    return _checked(cls, name, value)


def _plain(value: Any) -> Any:
    """A number of Python for one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def _checked(cls: type[BaseEstimator], name: str, value: Any) -> Any:
    """Refuse a value of another type than the parameter's default has."""
    default = signature(cls).parameters[name].default
    allowed: dict[type, Any] = {bool: bool | int, int: int, float: float | int, str: str}
    if value is None:
        right = default is None or name in _OPTIONAL
    elif name == "class_weight":
        right = value == "balanced"
    elif name == "part":
        right = isinstance(value, str)
    elif default is None:  # a number that may be left open
        right = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        right = isinstance(value, allowed[type(default)])
    if not right or (isinstance(value, float) and not isfinite(value)):
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
