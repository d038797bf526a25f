"""Encode the scikit-learn estimators that files may hold, and decode them.

A file holds the parameters that differ from their defaults and the public fitted attributes in the
table of `sklearn_table`. Everything that such an estimator computes follows from these.
"""

from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import __version__ as sklearn_version
from sklearn.utils.validation import check_is_fitted

from filbert.errors import FilbertError, InputTypeError, InvalidParameterError, ModelFileError
from filbert.persist import plain
from filbert.persist.archive import Arrays
from filbert.persist.checked import checked_classes, storable_classes
from filbert.persist.sklearn_table import PARTS, Part, class_of

_COUNTS = ("n_features_in_", "n_iter_", "n_samples_seen_")  # a number, or one for each problem
_MAY_BE_NAN = {"scores_", "pvalues_", "variances_", "explained_variance_ratio_"}
_MAY_BE_NONE = {"mean_", "var_", "scale_", "pvalues_"}
_OPTIONAL = {"idf_"}  # a TfidfTransformer with use_idf=False has none
_FUNCTIONS = {  # the only functions among parameters
    name: ("sklearn.feature_selection", name) for name in ("chi2", "f_classif")
}


def encode(model: Any) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator."""
    part = PARTS[type(model).__name__]
    parameters = _parameters(model)
    if part.arrays:
        check_is_fitted(model)
    arrays: Arrays = {}
    header: dict[str, Any] = {"scikit-learn": sklearn_version, "parameters": parameters}
    header["values"] = {}
    for name in (*part.arrays, *_COUNTS):
        value = getattr(model, name, None)
        if isinstance(value, np.ndarray) and value.ndim > 0:
            arrays[name] = value
        elif hasattr(model, name):
            header["values"][name] = plain.to_json(_scalar(value))
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = [str(name) for name in model.feature_names_in_]
    n_problems = None
    if part.has_classes:
        classes, header["classes_are_objects"] = storable_classes(model.classes_)
        n_problems = _n_problems(classes)
    try:
        _check_arrays(part, arrays, header["values"], n_problems)
    except ModelFileError as error:
        raise InvalidParameterError(f"this {type(model).__name__}: {error.reason}") from None
    return header, {**arrays, "classes_": classes} if part.has_classes else arrays


def decode(name: str, header: dict[str, Any], arrays: Arrays) -> Any:
    """Return the estimator; inconsistent content raises ModelFileError."""
    part, values = PARTS[name], header.get("values")
    if not isinstance(values, dict) or not values.keys() <= {*part.arrays, *_COUNTS}:
        raise ModelFileError(f"the header does not have the values of a {name}")
    model = _made(name, header)
    n_problems = None
    if part.has_classes:
        if "classes_" not in arrays:
            raise ModelFileError("the array 'classes_' is missing")
        model.classes_ = checked_classes(arrays["classes_"], header.get("classes_are_objects"))
        n_problems = _n_problems(model.classes_)
    own = {key: array for key, array in arrays.items() if key != "classes_"}
    _check_arrays(part, own, values, n_problems)
    for key, value in {**values, **own}.items():
        setattr(model, key, value)
    names = header.get("feature_names")
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(text, str) for text in names):
            raise ModelFileError("the names of the features are not text")
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


# ---------------------------------------------------------------- parameters


def _parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, as JSON."""
    defaults = {name: p.default for name, p in signature(type(model)).parameters.items()}
    found = {}
    for name, value in model.get_params(deep=False).items():
        if name == "random_state" and not isinstance(value, int | np.integer):
            continue  # a generator's earlier state is gone
        if type(value) is type(defaults[name]) and value == defaults[name]:
            continue
        known = getattr(value, "__name__", None)
        if known in _FUNCTIONS and value is _function(known):
            found[name] = {"function": known}
            continue
        try:
            found[name] = plain.to_json(value)
        except FilbertError as error:
            raise InputTypeError(f"{type(model).__name__}: {name}: {error}") from None
    return found


def _made(name: str, header: dict[str, Any]) -> Any:
    """Return an estimator with the parameters of a file, as scikit-learn's own rules allow."""
    kind, parameters = class_of(name), header.get("parameters")
    if not isinstance(parameters, dict):
        raise ModelFileError("the parameters are not a JSON object")
    unknown = parameters.keys() - signature(kind).parameters.keys()
    if unknown:
        writer = str(header.get("scikit-learn"))[:20]
        raise ModelFileError(
            f"{name} has no parameter {min(unknown)!r:.40} in scikit-learn {sklearn_version}",
            f"use the version of scikit-learn that the file was written with, {writer}",
        )
    try:
        model = kind(**{key: _parameter(value) for key, value in parameters.items()})
        model._validate_params()
    except ValueError as error:  # of Filbert and of scikit-learn
        raise ModelFileError(str(error)) from None
    return model


def _parameter(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"function"}:
        name = value["function"]
        if not isinstance(name, str) or name not in _FUNCTIONS:
            raise InvalidParameterError(f"there is no function {name!r:.40}")
        return _function(name)
    return plain.from_json(value)


def _function(name: str) -> Any:
    module, attribute = _FUNCTIONS[name]
    return getattr(import_module(module), attribute)


# ---------------------------------------------------------------- fitted attributes


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.ndarray) else value


def _n_problems(classes: NDArray[Any]) -> int:
    return 1 if len(classes) == 2 else len(classes)


def _check_arrays(
    part: Part, arrays: Arrays, values: dict[str, Any], n_problems: int | None
) -> None:
    """Check that numbers are finite, and that arrays have the axes in the table and equal sizes."""
    for name, value in values.items():
        _check_value(name, value)
    sizes: dict[str, int] = {} if n_problems is None else {"problems": n_problems}
    if "n_features_in_" in values:
        sizes["features"] = values["n_features_in_"]
    for name, array in arrays.items():
        axes = part.arrays.get(name, ("problems or features",) if name in _COUNTS else ())
        if array.ndim == 0 or array.ndim != len(axes):
            raise ModelFileError(f"the array {name!r} does not belong there, or has wrong axes")
        for axis, n in zip(axes, array.shape, strict=True):
            if sizes.setdefault(axis, n) != n:
                raise ModelFileError(f"the array {name!r} has {n:,} {axis}, not {sizes[axis]:,}")
        is_number = array.dtype.kind in ("iuf" if name in _COUNTS else "f")
        if not is_number or not (name in _MAY_BE_NAN or np.isfinite(array).all()):
            raise ModelFileError(f"the array {name!r} has values that are not finite numbers")
    missing = part.arrays.keys() - arrays.keys() - values.keys() - _OPTIONAL
    if missing:
        raise ModelFileError(f"the array {min(missing)!r} is missing")


def _check_value(name: str, value: Any) -> None:
    if name == "n_features_in_":
        right = type(value) is int and value >= 0
    elif name in _COUNTS:
        right = type(value) in (int, float) and value >= 0
    elif name == "intercept_":  # of LinearSVC without an intercept
        right = type(value) is float
    else:
        right = value is None and name in _MAY_BE_NONE
    if not right:
        raise ModelFileError(f"{name!r} cannot be {value!r:.60}")
