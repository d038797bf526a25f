"""Checks of the labels and weights of examples.

scikit-learn is imported where it is needed. The workers of a cluster train parts without it: it
takes more memory than a part, with what it imports itself.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError, OutOfMemoryError
from filbert.given import described
from filbert.labels import are_missing, as_given, kinds_of

# Bytes at the peak of training and prediction: signs, dual variables, coefficients and copies.
_BY_CLASS_AND_EXAMPLE = 32


def checked_labels(y: ArrayLike, n: int) -> NDArray[Any]:
    """Return one label for each of n examples."""
    from sklearn.utils.multiclass import check_classification_targets  # noqa: PLC0415

    labels = _column(as_given(y))
    if len(labels) != n:
        raise InvalidParameterError(f"X has {n:,} examples, but y has {len(labels):,} labels")
    if n == 0:
        raise InvalidParameterError("there are no examples to learn from")
    _check_all_of_one_kind(labels)
    if not hasattr(y, "dtype"):  # a list, of which NumPy makes numbers or texts
        labels = np.array(labels.tolist())
    try:
        check_classification_targets(labels)
    except (TypeError, ValueError) as error:
        broken = labels[labels != np.round(labels)] if labels.dtype.kind == "f" else []
        if len(broken):
            raise InvalidParameterError(
                f"y has numbers that are no classes, such as {broken[0]}: use TreeSVR to predict "
                "numbers, or text for classes"
            ) from None
        raise InvalidParameterError(str(error)) from None
    return labels


def are_plain(labels: NDArray[Any]) -> bool:
    """Whether an array certainly passes as labels: it has texts, or whole numbers."""
    if labels.ndim != 1 or labels.dtype.kind not in "Uiubf":
        return False
    if labels.dtype.kind != "f":
        return True
    return bool(np.isfinite(labels).all() and (labels == np.round(labels)).all())


def _check_all_of_one_kind(labels: NDArray[Any]) -> None:
    missing = np.flatnonzero(are_missing(labels))
    if len(missing):
        raise InvalidParameterError(
            f"sample {missing[0]} has no label, it is {labels[missing[0]]}: leave it out, or give "
            "it a label"
        )
    if len(kinds := kinds_of(labels)) > 1:
        raise InvalidParameterError(
            f"labels must be of one kind, got {', '.join(sorted(kinds))}: use strings for all"
        )


def checked_targets(y: ArrayLike, n: int) -> FloatArray:
    """Return one finite number for each of n examples."""
    if y is None:
        raise InvalidParameterError("y is missing: pass the number to predict for each example")
    values = _column(y)
    if len(values) != n:
        raise InvalidParameterError(f"X has {n:,} examples, but y has {len(values):,} numbers")
    if n == 0:
        raise InvalidParameterError("there are no examples to learn from")
    return finite_numbers("y", values)


def _column(y: ArrayLike) -> NDArray[Any]:
    """Return y as an array of one dimension."""
    from sklearn.utils.validation import column_or_1d  # noqa: PLC0415

    if np.ndim(y) == 0:
        given = y.item() if isinstance(y, np.ndarray) else y
        raise InvalidParameterError(
            f"y must be a list or an array of one dimension, got {described(given)}: pass one "
            "value for each example"
        )
    try:
        column: NDArray[Any] = column_or_1d(y, warn=True)
    except ValueError as error:
        raise InvalidParameterError(str(error)) from None
    return column


def finite_numbers(name: str, values: ArrayLike) -> FloatArray:
    """Return an array of numbers; raise InvalidParameterError if one of them is not finite."""
    given = np.asarray(values)
    if given.dtype.kind in "mM":
        raise InvalidParameterError(
            f"{name} must have numbers, got {given.dtype}: convert dates and durations, such as to "
            "days"
        )
    if given.dtype.kind in "OSU":
        _check_are_numbers(name, given)
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"{name} must have numbers: {error}") from None
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise InvalidParameterError(
            f"{name} must be finite; for sample {bad[0]} it is {numbers.flat[bad[0]]}: leave it out"
        )
    return numbers


def _check_are_numbers(name: str, values: NDArray[Any]) -> None:
    """Name the first text that is no number. Python reads 1_000 as one, and tables do not."""
    for i, value in enumerate(values.flat):
        if not isinstance(value, str | bytes):
            continue
        try:
            float(value)
            is_number = "_" not in str(value)
        except ValueError:
            is_number = False
        if not is_number:
            shown = value.item() if isinstance(value, np.generic) else value
            raise InvalidParameterError(
                f"{name} must have numbers; for sample {i} it is {shown!r}: write a number or "
                "leave the sample out"
            )


def checked_classes(y: ArrayLike, n: int, learner: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes, at least two, and the class of each example."""
    labels = checked_labels(y, n)
    classes, coded = _distinct(labels)
    if len(classes) < 2:
        raise InvalidParameterError(
            f"{learner} needs at least two classes, but all labels are {classes[0]}"
        )
    check_room(len(classes), n)
    return classes, coded


def classes_given(classes: ArrayLike, learner: str) -> NDArray[Any]:
    """Return the classes that a user lists, sorted."""
    listed = np.asarray(classes)
    if listed.ndim != 1 or len(listed) < 2:
        raise InvalidParameterError(
            f"{learner}: classes must list at least two labels, got {shown(listed)}"
        )
    distinct, _ = _distinct(listed)
    if len(distinct) < len(listed):
        raise InvalidParameterError(f"{learner}: classes must differ, got {shown(listed)}")
    return distinct


def shown(labels: NDArray[Any]) -> str:
    """Return at most ten labels as text."""
    more = ", ..." if labels.size > 10 else ""
    return f"{', '.join(map(repr, labels.ravel()[:10].tolist()))}{more}"


def coded_labels(y: ArrayLike, n: int, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class of each example among known classes."""
    labels = checked_labels(y, n)
    try:
        places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        unknown = np.flatnonzero(classes[places] != labels)
    except TypeError:
        places, unknown = np.zeros(n, dtype=np.intp), np.arange(n)
    if len(unknown):
        label = labels[unknown[:1]].tolist()[0]
        raise InvalidParameterError(
            f"sample {unknown[0]} has the label {label!r}, which is none of the "
            f"classes {shown(classes)}: list all classes in the first call of partial_fit"
        )
    return places


def checked_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """Return a weight that is finite and not negative for each of n examples."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"sample_weight must have numbers: {error}") from None
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
    counts = np.bincount(coded, minlength=len(classes))
    return factors_of_classes(class_weight, classes, counts)[coded]


def factors_of_classes(
    class_weight: Any, classes: NDArray[Any], counts: NDArray[np.intp]
) -> FloatArray:
    """Return the weights of classes, of which so many examples are given."""
    # scikit-learn asks for all labels. Those of one example of each class are enough for a
    # dictionary. Its "balanced" is the number of examples divided by that of classes and the count.
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = counts.sum() / (len(classes) * counts.astype(np.float64))
    else:
        from sklearn.utils.class_weight import compute_class_weight  # noqa: PLC0415

        try:
            factors = compute_class_weight(class_weight, classes=classes, y=classes)
        except (ValueError, TypeError) as error:
            raise InvalidParameterError(
                f"class_weight must be None, 'balanced' or a dictionary from classes of y to "
                f"weights, got {class_weight!r}: {error}"
            ) from None
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise InvalidParameterError(
            f"class_weight must be finite and not negative, got {class_weight!r}"
        )
    return np.asarray(factors, dtype=np.float64)


def classes_of_parts(of_parts: Sequence[NDArray[Any]], learner: str) -> NDArray[Any]:
    """Return the classes of a corpus, at least two, from those of its parts."""
    with_examples = [classes for classes in of_parts if len(classes)]
    if not with_examples:
        raise InvalidParameterError("there are no examples to learn from")
    if len({classes.dtype.kind in "USO" for classes in with_examples}) > 1:
        raise InvalidParameterError(
            "the labels of some parts are text, those of others are numbers: pass labels='text' "
            "or labels='numbers'"
        )
    return checked_classes(np.concatenate(with_examples), sum(map(len, with_examples)), learner)[0]


def signs_of(coded: NDArray[np.intp], n_classes: int) -> NDArray[np.int8]:
    """Return +1 and -1 by problem and example. Two classes are one problem, more are one each."""
    check_room(n_classes, len(coded))
    positives = [1] if n_classes == 2 else range(n_classes)
    signs = np.full((len(positives), len(coded)), -1, dtype=np.int8)
    for own, c in zip(signs, positives, strict=True):
        own[coded == c] = 1
    return signs


def check_room(n_classes: int, n: int, bytes_each: float = _BY_CLASS_AND_EXAMPLE) -> None:
    """Raise OutOfMemoryError if what is kept by class and example cannot fit into memory."""
    needed, there = int(bytes_each * n_classes * n), memory_of_machine()
    if needed > there:
        raise OutOfMemoryError(
            f"each of the {n_classes:,} classes is a problem over all {n:,} examples, which takes "
            f"about {needed >> 30:,} GiB, and this machine has {there >> 30:,} GiB",
            "join rare classes, or train on fewer examples",
        )


def memory_of_machine() -> int:
    """Return the bytes of memory, or a number beyond all memories if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 2**63


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    try:
        classes, coded = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InvalidParameterError(
            f"labels must be of one kind, got {kinds}: fill in missing labels, or use strings"
        ) from None
    return classes, coded
