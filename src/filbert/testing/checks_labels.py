"""Checks of y: which labels are accepted, and which are refused."""

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from filbert.testing.tools import (
    assert_same,
    check,
    expected_error,
    fresh,
    outputs,
    sentences,
)


def _pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError:
        return None


def _check_labels(name: str, estimator: Any, labels: Any, n_classes: int = 3) -> None:
    """Check that other names for the classes change only the names."""
    X, y = sentences(30, n_classes)
    plain = fresh(estimator).fit(X, y)
    named = fresh(estimator).fit(X, labels[y])
    what = f"{name} with labels {labels!r}"
    assert_same(named.classes_, labels, f"{what}: classes_")
    assert_same(named.predict(X), labels[plain.predict(X)], f"{what}: predict")
    assert_same(outputs(named, X[:3]).shape, outputs(plain, X[:3]).shape, f"{what}: shape")
    if hasattr(estimator, "decision_function"):
        assert_same(outputs(named, X), outputs(plain, X), f"{what}: decision_function")


@check("classifier")
def check_string_labels(name: str, estimator: Any) -> None:
    """Check that labels may be strings."""
    _check_labels(name, estimator, np.array(["no", "or so", "yes"]))


@check("classifier")
def check_integer_labels(name: str, estimator: Any) -> None:
    """Check that labels may be any integers of any width."""
    _check_labels(name, estimator, np.array([-7, 3, 1000]))
    _check_labels(name, estimator, np.array([1, 2, 255], dtype=np.uint8))
    _check_labels(name, estimator, np.array([-1, 1]), n_classes=2)


@check("classifier")
def check_boolean_labels(name: str, estimator: Any) -> None:
    """Check that labels may be False and True."""
    _check_labels(name, estimator, np.array([False, True]), n_classes=2)


@check("classifier")
def check_object_labels(name: str, estimator: Any) -> None:
    """Check that labels may be strings in an array of objects."""
    _check_labels(name, estimator, np.array(["a", "bb", "ccc"], dtype=object))


@check("classifier")
def check_whole_numbers_as_floats(name: str, estimator: Any) -> None:
    """Check that labels may be floats that are whole numbers."""
    _check_labels(name, estimator, np.array([-1.0, 1.0]), n_classes=2)


@check("classifier")
def check_lists_of_labels(name: str, estimator: Any) -> None:
    """Check that labels may be a list or a tuple."""
    X, y = sentences(30, 3)
    expected = outputs(fresh(estimator).fit(X, y), X)
    for form in (list, tuple):
        actual = outputs(fresh(estimator).fit(X, form(y.tolist())), X)
        assert_same(actual, expected, f"{name}: y as a {form.__name__}")


@check("classifier")
def check_series_of_labels(name: str, estimator: Any) -> None:
    """Check that labels may be a pandas Series with any index, which is ignored."""
    pd = _pandas()
    if pd is None:
        return
    X, y = sentences(30, 3)
    names = np.array(["x", "y", "z"])[y]
    expected = outputs(fresh(estimator).fit(X, names), X)
    for kind in (object, "category", "string"):
        series = pd.Series(names, index=np.arange(30)[::-1] * 7 - 3, dtype=kind)
        fitted = fresh(estimator).fit(X, series)
        assert_same(outputs(fitted, X), expected, f"{name}: y as a Series of {kind}")
        assert fitted.predict(X[:1])[0] in "xyz", f"{name}: a Series of {kind}: unknown class"


@check("sample_weight")
def check_series_of_weights(name: str, estimator: Any) -> None:
    """Check that weights may be a pandas Series with any index, which is ignored."""
    pd = _pandas()
    if pd is None:
        return
    X, y = sentences()
    weights = np.linspace(0.5, 2, len(y))
    expected = outputs(fresh(estimator).fit(X, y, sample_weight=weights), X)
    series = pd.Series(weights, index=np.arange(len(y))[::-1])
    actual = outputs(fresh(estimator).fit(X, y, sample_weight=series), X)
    assert_same(actual, expected, f"{name}: sample_weight as a Series")


@check("classifier")
def check_column_of_labels(name: str, estimator: Any) -> None:
    """Check that labels of shape (n, 1) are accepted, at most with a warning."""
    X, y = sentences()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        actual = outputs(fresh(estimator).fit(X, y[:, None]), X)
    assert_same(actual, outputs(fresh(estimator).fit(X, y), X), f"{name}: y of shape (n, 1)")


@check("classifier")
def check_wrong_number_of_labels(name: str, estimator: Any) -> None:
    """Check that more or fewer labels than trees raise ValueError."""
    X, y = sentences()
    for labels in (y[:-1], np.append(y, 1), y[:0]):
        with expected_error(ValueError, f"{name}.fit with {len(labels)} labels of 40 trees"):
            fresh(estimator).fit(X, labels)


@check("classifier")
def check_missing_labels(name: str, estimator: Any) -> None:
    """Check that NaN, infinity and None among the labels, and y=None, raise errors."""
    X, y = sentences()
    for missing in (np.nan, np.inf):
        labels = y.astype(float)
        labels[3] = missing
        with expected_error(ValueError, f"{name}.fit with a label {missing}"):
            fresh(estimator).fit(X, labels)
    labels = np.array(["a", "b"], dtype=object)[y]
    labels[3] = None
    with expected_error((ValueError, TypeError), f"{name}.fit with a label None"):
        fresh(estimator).fit(X, labels)
    with expected_error((ValueError, TypeError), f"{name}.fit with y=None"):
        fresh(estimator).fit(X, None)


@check("classifier")
def check_continuous_labels(name: str, estimator: Any) -> None:
    """Check that fractions as labels raise ValueError."""
    X, y = sentences()
    with expected_error(ValueError, f"{name}.fit with continuous labels"):
        fresh(estimator).fit(X, y + np.linspace(0, 0.9, len(y)))


@check("classifier")
def check_several_labels_for_a_tree(name: str, estimator: Any) -> None:
    """Check that a table of labels raises ValueError."""
    X, y = sentences()
    with expected_error(ValueError, f"{name}.fit with two columns of labels"):
        fresh(estimator).fit(X, np.column_stack([y, y]))


@check("classifier")
def check_one_class(name: str, estimator: Any) -> None:
    """Check that a single class raises ValueError or is always predicted."""
    X, y = sentences()
    try:
        fitted = fresh(estimator).fit(X, np.full(len(y), "only"))
    except ValueError as error:
        if "class" in str(error):
            return
        raise AssertionError(f"{name}: the error should mention classes: {error}") from error
    assert set(fitted.predict(X)) == {"only"}, f"{name} should predict the only class"


@check("classifier")
def check_one_example(name: str, estimator: Any) -> None:
    """Check that a single example raises ValueError or that its class is predicted."""
    X, _ = sentences()
    try:
        fitted = fresh(estimator).fit(X[:1], [5])
    except ValueError:
        return
    assert fitted.predict(X[:1]).tolist() == [5], f"{name} should predict the only class"


@check("classifier")
def check_one_example_of_a_class(name: str, estimator: Any) -> None:
    """Check that two examples of two classes, and a class of one example, can be learnt."""
    X, y = sentences(30, 3, noise=False)
    predicted = fresh(estimator).fit(X[:2], y[:2]).predict(X[:2])
    assert set(predicted) <= {0, 1}, f"{name} predicts unknown classes: {predicted}"
    rare = fresh(estimator).fit(X[[0, 1, 2, 3, 4, 6, 7]], y[[0, 1, 2, 3, 4, 6, 7]])
    assert rare.classes_.tolist() == [0, 1, 2], f"{name} should know a class of one example"


@check("classifier")
def check_classes_are_sorted(name: str, estimator: Any) -> None:
    """Check that `classes_` holds each label once, sorted, for any order of examples."""
    X, y = sentences(30, 3)
    for labels in (np.array([5, -1, 2]), np.array(["z", "a", "m"])):
        fitted = fresh(estimator).fit(X, labels[y])
        assert_same(fitted.classes_, np.sort(labels), f"{name}: classes_ should be sorted")
