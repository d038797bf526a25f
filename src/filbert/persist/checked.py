"""Check the arrays of a file before they are used."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.errors import InputTypeError, ModelFileError
from filbert.persist.archive import Arrays

# ---------------------------------------------------------------- classes


def storable_classes(classes: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Return classes as a plain array, and whether they were Python objects (as in pandas).

    Objects that are all strings, or all numbers of one kind, are stored as an array of that kind.
    """
    stored = classes
    if classes.dtype == object and len({type(c) for c in classes}) == 1:
        stored = np.array(classes.tolist())
        if stored.tolist() != classes.tolist():  # NumPy strips NULs at the end of a string
            stored = classes
    kind, width = stored.dtype.kind, stored.dtype.itemsize
    if kind not in "Uiufb" or (kind == "f" and width > 8):
        raise InputTypeError(
            f"classes of type {classes.dtype} cannot be saved: train with labels that are all "
            "strings, integers, floats or bools"
        )
    return stored, classes.dtype == object


def checked_classes(classes: NDArray[Any], are_objects: Any) -> NDArray[Any]:
    """Return the classes of a file after checking them: at least two, in ascending order."""
    if classes.ndim != 1 or len(classes) < 2 or not isinstance(are_objects, bool):
        raise ModelFileError("there are fewer than two classes")
    plain = np.ascontiguousarray(classes)
    if plain.dtype.kind == "U":
        right = plain.dtype.itemsize > 0 and plain.view(np.uint32).max() <= 0x10FFFF
    elif plain.dtype.kind == "b":
        right = plain.view(np.uint8).max() <= 1
    else:
        right = bool(np.isfinite(plain).all())
    if not right or not (plain[:-1] < plain[1:]).all():
        raise ModelFileError("the classes are not ascending values")
    return plain.astype(object) if are_objects else plain


# ---------------------------------------------------------------- arrays


def arrays_of(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin with a prefix, by their names without it."""
    return {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}


def array_of(arrays: Arrays, name: str) -> NDArray[Any]:
    """Return an array of a file; raise ModelFileError if it is missing."""
    if name not in arrays:
        raise ModelFileError(f"the array {name!r} is missing")
    return arrays[name]


def integers_of(arrays: Arrays, name: str, n: int) -> NDArray[np.int64]:
    """Return an array of n non-negative integers."""
    array = array_of(arrays, name)
    if array.dtype != np.int64 or array.shape != (n,) or (array < 0).any():
        raise ModelFileError(f"the array {name!r} does not have {n:,} numbers from 0")
    return array


def floats_of(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array of finite numbers of the right shape."""
    array = array_of(arrays, name)
    if array.dtype != np.float64 or array.shape != shape:
        raise ModelFileError(f"the array {name!r} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ModelFileError(f"the array {name!r} has a number that is not finite")
    return array


# ---------------------------------------------------------------- figures


def kernel_error_of(header: dict[str, Any]) -> float:
    """Return the largest error of a kernel in training; older files are of exact kernels."""
    value = header.get("kernel_error", 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < np.inf:
        raise ModelFileError("'kernel_error' is not a number from 0")
    return float(value)
