"""Encode scikit-learn's CalibratedClassifierCV with sigmoids, and decode it."""

from typing import Any

import numpy as np
from sklearn import calibration
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.validation import check_is_fitted

from filbert.errors import InputTypeError, ModelFileError
from filbert.persist.archive import Arrays, DecodePart, EncodePart
from filbert.persist.checked import (
    array_of,
    arrays_of,
    checked_classes,
    floats_of,
    storable_classes,
)

_SIGMOIDS = "sigmoids"  # the array of slopes and intercepts
_ENSEMBLE = (True, False, "auto")


def encode(model: CalibratedClassifierCV, part: EncodePart) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted model. Folds that are not a number are not kept."""
    if model.method != "sigmoid":
        raise InputTypeError(
            f"a CalibratedClassifierCV with method={model.method!r} cannot be saved: use 'sigmoid'"
        )
    check_is_fitted(model)
    classes, are_objects = storable_classes(model.classes_)
    header: dict[str, Any] = {
        "classes_are_objects": are_objects,
        "cv": model.cv if type(model.cv) is int else None,
        "ensemble": model.ensemble,
        "n_jobs": model.n_jobs,
        "models": [],
    }
    arrays: Arrays = {"classes": classes}
    for number, fitted in enumerate(model.calibrated_classifiers_):
        entry, own = part(fitted.estimator)
        header["models"].append(entry)
        arrays |= {f"{number}.{name}": array for name, array in own.items()}
        sigmoids = [[float(sigmoid.a_), float(sigmoid.b_)] for sigmoid in fitted.calibrators]
        arrays[f"{number}.{_SIGMOIDS}"] = np.array(sigmoids)
    return header, arrays


def decode(header: dict[str, Any], arrays: Arrays, part: DecodePart) -> CalibratedClassifierCV:
    """Return the model; inconsistent content raises ModelFileError."""
    entries, cv, n_jobs = (header.get(name) for name in ("models", "cv", "n_jobs"))
    ensemble = header.get("ensemble")
    numbers = all(value is None or type(value) is int for value in (cv, n_jobs))
    if not isinstance(entries, list) or not entries or not numbers or ensemble not in _ENSEMBLE:
        raise ModelFileError("the header does not list the models that are calibrated")
    classes = checked_classes(array_of(arrays, "classes"), header.get("classes_are_objects"))
    fitted = []
    for number, entry in enumerate(entries):
        own = arrays_of(arrays, f"{number}.")
        sigmoids = own.pop(_SIGMOIDS, np.zeros(0))
        fitted.append(_calibrated(part(entry, own), sigmoids, classes))
    first = fitted[0].estimator
    model = CalibratedClassifierCV(clone(first), cv=cv, n_jobs=n_jobs, ensemble=ensemble)
    model.classes_, model.calibrated_classifiers_ = classes, fitted
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(first, name):
            setattr(model, name, getattr(first, name))
    return model


def _calibrated(estimator: Any, sigmoids: Any, classes: Any) -> Any:
    """Return scikit-learn's own pair of an estimator and its sigmoids."""
    known = getattr(estimator, "classes_", np.zeros(0)).tolist()
    if not hasattr(estimator, "decision_function") and not hasattr(estimator, "predict_proba"):
        raise ModelFileError("a model that is calibrated has no scores")
    if len(known) < 2 or not set(known) <= set(classes.tolist()):
        raise ModelFileError("a model that is calibrated has other classes")
    n = 1 if len(known) == 2 else len(known)
    floats_of({_SIGMOIDS: sigmoids}, _SIGMOIDS, (n, 2))
    calibrators = []
    for slope, intercept in sigmoids:
        sigmoid = calibration._SigmoidCalibration()
        sigmoid.a_, sigmoid.b_ = slope, intercept
        calibrators.append(sigmoid)
    return calibration._CalibratedClassifier(
        estimator, calibrators, classes=classes, method="sigmoid"
    )
