"""Checks of the probabilities of classes."""

from typing import Any

import numpy as np

from filbert.testing.tools import assert_close, assert_same, check, fresh, sentences


@check("classifier", "predict_proba")
def check_probabilities(name: str, estimator: Any) -> None:
    """Check that probabilities have one column per class, are positive, and sum to 1."""
    for n_classes in (2, 3):
        X, y = sentences(40, n_classes)
        p = fresh(estimator).fit(X, y).predict_proba(X)
        assert p.shape == (40, n_classes), f"{name}: probabilities of shape {p.shape}"
        assert p.dtype == np.float64, f"{name}: expected float64 probabilities, got {p.dtype}"
        assert (p >= 0).all(), f"{name}: probabilities should not be negative"
        assert_close(p.sum(axis=1), np.ones(40), f"{name}: probabilities should sum to 1", 1e-12)


@check("classifier", "predict_proba")
def check_probabilities_agree_with_predictions(name: str, estimator: Any) -> None:
    """Check that the most probable class is predicted."""
    for n_classes in (2, 3):
        X, y = sentences(60, n_classes)
        fitted = fresh(estimator).fit(X, np.array(["r", "s", "t"])[y])
        chosen = fitted.classes_[fitted.predict_proba(X).argmax(axis=1)]
        assert_same(fitted.predict(X), chosen, f"{name}: predict should follow probabilities")


@check("classifier", "predict_proba", "predict_log_proba")
def check_logarithms_of_probabilities(name: str, estimator: Any) -> None:
    """Check that `predict_log_proba` gives finite logarithms of `predict_proba`."""
    for n_classes in (2, 3):
        X, y = sentences(40, n_classes)
        fitted = fresh(estimator).fit(X, y)
        logarithms = fitted.predict_log_proba(X)
        assert np.isfinite(logarithms).all(), f"{name}: predict_log_proba should be finite"
        assert_close(np.exp(logarithms), fitted.predict_proba(X), f"{name}: logarithms", 1e-12)


@check("classifier", "predict_proba")
def check_probabilities_of_nothing(name: str, estimator: Any) -> None:
    """Check that an empty X gives no rows of probabilities."""
    for n_classes in (2, 3):
        X, y = sentences(30, n_classes)
        shape = fresh(estimator).fit(X, y).predict_proba(X[:0]).shape
        assert shape == (0, n_classes), f"{name}: expected shape {(0, n_classes)}, got {shape}"
