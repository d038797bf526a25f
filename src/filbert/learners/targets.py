"""Checks of the labels and weights of examples."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError


def checked_labels(y: ArrayLike, n: int) -> NDArray[Any]:
    """Return one label for each of n examples."""
    labels = column_or_1d(y, warn=True)
    if len(labels) != n:
        raise InvalidParameterError(f"X has {n:,} examples, but y has {len(labels):,} labels")
    if n == 0:
        raise InvalidParameterError("there are no examples to learn from")
    check_classification_targets(labels)
    return np.asarray(labels)


def checked_classes(y: ArrayLike, n: int, learner: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes, at least two, and the class of each example."""
    labels = checked_labels(y, n)
    classes, coded = _distinct(labels)
    if len(classes) < 2:
        raise InvalidParameterError(
            f"{learner} needs at least two classes, but all labels are {classes[0]}"
        )
    return classes, coded


def classes_given(classes: ArrayLike, learner: str) -> NDArray[Any]:
    """Return the classes that a user lists, sorted."""
    listed = np.asarray(classes)
    if listed.ndim != 1 or len(listed) < 2:
        raise InvalidParameterError(
            f"{learner}: classes must list at least two labels, got {classes!r}"
        )
    distinct, _ = _distinct(listed)
    if len(distinct) < len(listed):
        raise InvalidParameterError(f"{learner}: classes must differ, got {classes!r}")
    return distinct


def coded_labels(y: ArrayLike, n: int, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class of each example among known classes."""
    labels = checked_labels(y, n)
    try:
        places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        unknown = np.flatnonzero(classes[places] != labels)
    except TypeError:
        places, unknown = np.zeros(n, dtype=np.intp), np.arange(n)
    if len(unknown):
        shown = ", ".join(map(repr, classes[:10].tolist()))
        label = labels[unknown[:1]].tolist()[0]
        raise InvalidParameterError(
            f"sample {unknown[0]} has the label {label!r}, which is none of the "
            f"classes {shown}: list all classes in the first call of partial_fit"
        )
    return places


def checked_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """Return a weight that is finite and not negative for each of n examples."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InvalidParameterError(
            f"sample_weight must have one number for each of {n:,} examples, "
            f"got shape {weights.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InvalidParameterError(
            f"sample_weight must be finite and not negative; for sample {bad[0]} it is "
            f"{weights[bad[0]]}"
        )
    return weights


def class_factors(class_weight: Any, classes: NDArray[Any], coded: NDArray[np.intp]) -> FloatArray:
    """Return the weight of each example's class."""
    if class_weight is None:
        return np.ones(len(coded))
    factors = compute_class_weight(class_weight, classes=classes, y=classes[coded])
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise InvalidParameterError(
            f"class_weight must be finite and not negative, got {class_weight!r}"
        )
    return np.asarray(factors, dtype=np.float64)[coded]


def signs_of(coded: NDArray[np.intp], n_classes: int) -> NDArray[np.int8]:
    """Return +1 and -1 by problem and example. Two classes are one problem, more are one each."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(coded == c, 1, -1) for c in positives], dtype=np.int8)


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    try:
        classes, coded = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InvalidParameterError(
            f"labels must be of one kind, got {kinds}: fill in missing labels, or use strings"
        ) from None
    return classes, coded
