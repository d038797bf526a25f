"""Checks of the output of classifiers: shapes, agreement of methods, and accuracy."""

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score

from filbert.testing.tools import assert_same, check, fresh, sentences


@check("classifier")
def check_it_learns(name: str, estimator: Any) -> None:
    """Check that the estimator separates kinds of sentences with different productions."""
    for n_classes in (2, 3):
        X, y = sentences(90, n_classes, noise=False)
        accuracy = np.mean(fresh(estimator).fit(X[:60], y[:60]).predict(X[60:]) == y[60:])
        assert accuracy > 0.9, f"{name} should learn {n_classes} kinds, accuracy {accuracy:.2f}"


@check("classifier")
def check_known_classes(name: str, estimator: Any) -> None:
    """Check that predictions are classes of the training data, with their type."""
    X, y = sentences(30, 3)
    fitted = fresh(estimator).fit(X, np.array(["a", "b", "c"])[y])
    predicted = fitted.predict([*map(str, X), "(unseen (tree x))", "(S)"])
    assert predicted.shape == (32,), f"{name}.predict: expected shape (32,), got {predicted.shape}"
    assert set(predicted) <= set("abc"), f"{name} predicts unknown classes: {set(predicted)}"
    assert predicted.dtype == fitted.classes_.dtype, f"{name}: predictions should be {'<U1'}"


@check("classifier", "decision_function")
def check_shape_for_two_classes(name: str, estimator: Any) -> None:
    """Check that two classes give one float64 score per tree."""
    X, y = sentences()
    values = fresh(estimator).fit(X, y).decision_function(X)
    assert values.shape == (40,), f"{name}: expected scores of shape (40,), got {values.shape}"
    assert values.dtype == np.float64, f"{name}: expected float64 scores, got {values.dtype}"


@check("classifier", "decision_function")
def check_shape_for_many_classes(name: str, estimator: Any) -> None:
    """Check that more classes give one column of scores per class."""
    X, y = sentences(40, 3)
    values = fresh(estimator).fit(X, y).decision_function(X)
    assert values.shape == (40, 3), f"{name}: expected scores of shape (40, 3), got {values.shape}"


@check("classifier", "decision_function")
def check_scores_agree_with_predictions(name: str, estimator: Any) -> None:
    """Check that predictions follow the largest score, or the sign for two classes."""
    for n_classes in (2, 3):
        X, y = sentences(60, n_classes)
        fitted = fresh(estimator).fit(X, np.array(["r", "s", "t"])[y])
        values = fitted.decision_function(X)
        chosen = values.argmax(axis=1) if values.ndim == 2 else (values > 0).astype(int)
        assert_same(
            fitted.predict(X), fitted.classes_[chosen], f"{name}: predict should follow the scores"
        )


@check("classifier", "score")
def check_score_is_accuracy(name: str, estimator: Any) -> None:
    """Check that `score` is the accuracy, weighted if there are weights."""
    X, y = sentences(60, 3)
    fitted = fresh(estimator).fit(X[:30], y[:30])
    weights = np.linspace(0, 1, 60)
    for sample_weight in (None, weights):
        expected = accuracy_score(y, fitted.predict(X), sample_weight=sample_weight)
        score = fitted.score(X, y, sample_weight=sample_weight)
        assert abs(score - expected) < 1e-12, f"{name}.score: expected {expected}, got {score}"


@check("predict")
def check_outputs_are_new_arrays(name: str, estimator: Any) -> None:
    """Check that writing into predictions changes neither the estimator nor later predictions."""
    X, y = sentences(40, 3)
    fitted = fresh(estimator).fit(X, y)
    for method in ("predict", "decision_function"):
        if hasattr(fitted, method):
            first = getattr(fitted, method)(X)
            expected = first.copy()
            first[:] = 0
            assert_same(getattr(fitted, method)(X), expected, f"{name}.{method} after writing")
