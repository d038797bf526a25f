"""Encode a fitted TreeSVC as a header and arrays, and decode it."""

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from filbert.engine.plan import EngineName
from filbert.errors import FilbertError, InputTypeError, InvalidParameterError, ModelFileError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.kernels import Kernel
from filbert.kernels.inputs import rows_for
from filbert.learners.svm import TreeSVC
from filbert.model import SupportVectorModel
from filbert.persist import convergence, parameters, rows
from filbert.persist.archive import Arrays

_FOREST = "support."  # prefix of the names of the support vectors' arrays
_FIGURES = ("objective", "duality_gap", "n_iter")
_OF_PLANES = ("sample_size", "delta_calls", "delta_computed", "n_planes", "iteration_bound")


def encode(svm: TreeSVC) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator."""
    check_is_fitted(svm)
    if not isinstance(svm.model_.kernel, Kernel):
        raise InvalidParameterError(
            f"a model with the kernel {svm.model_.kernel!r} cannot be saved: a file holds no code. "
            "Use Filbert's kernels, or sums or products of them."
        )
    header: dict[str, Any] = {"parameters": parameters.to_json(svm)}
    svm.check_parameters()
    if not (np.isfinite(svm.model_.coef).all() and np.isfinite(svm.model_.intercept).all()):
        raise InvalidParameterError("the model has weights that are not finite: train it again")
    classes, are_objects = storable_classes(svm.classes_)
    header |= {
        "kernel": parameters.kernel_to_json(svm.model_.kernel),
        "classes_are_objects": are_objects,
        "engine": svm.engine_,
        "engine_reason": svm.engine_reason_,
        **{name: _or_none(getattr(svm, f"{name}_")) for name in _FIGURES + _OF_PLANES},
    }
    arrays = {
        "classes": classes,
        "indices": svm.support_.astype(np.int64),
        "n_support": svm.n_support_.astype(np.int64),
        "coef": svm.model_.coef,
        "intercept": svm.model_.intercept,
        **convergence.encode(svm.convergence_),
    }
    if svm.model_.is_of_trees:
        forest = svm.model_.kernel.trees_of(svm.model_.support).to_arrays()
        return header, arrays | {_FOREST + name: array for name, array in forest.items()}
    header["support"], parts = rows.encode(svm.model_.support)
    return header, arrays | parts


def decode(header: dict[str, Any], arrays: Arrays) -> TreeSVC:
    """Return the estimator; inconsistent content raises ModelFileError."""
    try:
        svm = TreeSVC(**parameters.from_json(TreeSVC, header.get("parameters")))
        svm.check_parameters()
        kernel = parameters.kernel_from_json(header.get("kernel"))
        support = _support(kernel, header, arrays)
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    n, n_classes = support.shape[0], len(array_of(arrays, "classes"))
    n_problems = 1 if n_classes == 2 else n_classes
    svm.classes_ = checked_classes(array_of(arrays, "classes"), header.get("classes_are_objects"))
    svm.support_ = integers_of(arrays, "indices", n).astype(np.intp, copy=False)
    svm.n_support_ = integers_of(arrays, "n_support", n_classes).astype(np.intp, copy=False)
    coef = floats_of(arrays, "coef", (n_problems, n))
    intercept = floats_of(arrays, "intercept", (n_problems,))
    if (np.diff(svm.support_) <= 0).any():
        raise ModelFileError("the indices of the support vectors are not in ascending order")
    if int(svm.n_support_.sum(dtype=object)) != n:
        raise ModelFileError(f"the classes' support vectors do not add up to {n:,}")
    try:
        svm.model_ = SupportVectorModel(kernel, support, coef, intercept)
    except FilbertError as error:  # such as norms beyond float64
        raise ModelFileError(str(error)) from None
    svm.dual_coef_, svm.intercept_ = coef, intercept
    svm.objective_ = _figure(header, "objective")
    svm.duality_gap_ = _figure(header, "duality_gap")
    svm.n_iter_ = int(_figure(header, "n_iter"))
    svm.convergence_ = convergence.decode(arrays, n_problems)
    svm.engine_, svm.engine_reason_ = _engine(header)
    for name in _OF_PLANES:
        known = header.get(name) is not None
        setattr(svm, f"{name}_", _figure(header, name) if known else None)
    svm.history_ = None
    return svm


def _support(kernel: Kernel, header: dict[str, Any], arrays: Arrays) -> Any:
    if kernel.capabilities.tree_in_core:
        trees = Forest.from_arrays(arrays_of(arrays, _FOREST))
        part = kernel.part
        return trees if part is None else Examples._of({part: trees})
    return rows_for(kernel, rows.decode(header.get("support"), arrays))


def _engine(header: dict[str, Any]) -> tuple[EngineName, str]:
    name, reason = header.get("engine", "factors"), header.get("engine_reason", "")
    if name not in get_args(EngineName) or not isinstance(reason, str):
        raise ModelFileError("the header does not say how kernels were computed")
    return name, reason


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


# ---------------------------------------------------------------- figures of the training


def _or_none(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None  # JSON has no NaN


def _figure(header: dict[str, Any], name: str) -> float:
    value = header.get(name, "")
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelFileError(f"{name!r} is not a number")
    return value
