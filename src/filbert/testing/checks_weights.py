"""Checks of the weights of examples and classes."""

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from filbert.testing.tools import (
    assert_close,
    assert_same,
    check,
    expected_error,
    fresh,
    outputs,
    sentences,
    tight,
)


@check("sample_weight")
def check_weights_of_one(name: str, estimator: Any) -> None:
    """Check that weights of 1 give the same as no weights, to the last bit."""
    X, y = sentences()
    expected = outputs(fresh(estimator).fit(X, y), X)
    for ones in (np.ones(40), [1] * 40, np.ones(40, dtype=np.float32), None):
        actual = outputs(fresh(estimator).fit(X, y, sample_weight=ones), X)
        assert_same(actual, expected, f"{name}: sample_weight of ones should change nothing")


@check("sample_weight")
def check_a_scalar_weight(name: str, estimator: Any) -> None:
    """Check that a scalar sample_weight raises or is the weight of every example."""
    X, y = sentences()
    try:
        fitted = fresh(estimator).fit(X, y, sample_weight=2.0)
    except (ValueError, TypeError):
        return
    expected = outputs(fresh(estimator).fit(X, y, sample_weight=np.full(40, 2.0)), X)
    assert_same(
        outputs(fitted, X), expected, f"{name}: a scalar should be the weight of all examples"
    )


@check("sample_weight", "optimum")
def check_weights_are_repetitions(name: str, estimator: Any) -> None:
    """Check that weight 3 gives the same as the example three times."""
    for n_classes in (2, 3):
        X, y = sentences(40, n_classes)
        weights = np.random.default_rng(0).integers(1, 4, 40)
        rows = np.repeat(np.arange(40), weights)
        weighted = tight(estimator).fit(X, y, sample_weight=weights)
        repeated = tight(estimator).fit(X[rows], y[rows])
        assert_close(outputs(weighted, X), outputs(repeated, X), f"{name}: weights as repetitions")


@check("sample_weight", "optimum")
def check_weights_of_zero(name: str, estimator: Any) -> None:
    """Check that weight 0 gives the same as no example."""
    X, y = sentences()
    weights = np.ones(40)
    weights[::3] = 0
    kept = np.flatnonzero(weights)
    weighted = tight(estimator).fit(X, y, sample_weight=weights)
    left_out = tight(estimator).fit(X[kept], y[kept])
    assert_close(outputs(weighted, X), outputs(left_out, X), f"{name}: weights of zero")


@check("sample_weight", "additive", "C")
def check_weights_multiply_c(name: str, estimator: Any) -> None:
    """Check that weights of 2 give the same as twice the C."""
    X, y = sentences()
    C = estimator.get_params()["C"]
    weighted = tight(estimator).fit(X, y, sample_weight=np.full(40, 2.0))
    doubled = tight(estimator, C=2 * C).fit(X, y)
    assert_close(outputs(weighted, X), outputs(doubled, X), f"{name}: weights of 2 and C doubled")


@check("classifier", "sample_weight")
def check_weights_matter(name: str, estimator: Any) -> None:
    """Check that the heavier of two contradictory examples wins."""
    X, _ = sentences(2)
    trees, y = X[[0, 0, 1, 1]], np.array([0, 1, 0, 1])
    fitted = fresh(estimator).fit(trees, y, sample_weight=[5, 0.01, 0.01, 5])
    predicted = fitted.predict(X).tolist() if hasattr(fitted, "predict") else [0, 1]
    assert predicted == [0, 1], f"{name} should follow the heavier examples, predicts {predicted}"


@check("sample_weight")
def check_bad_weights(name: str, estimator: Any) -> None:
    """Check that negative, NaN and infinite weights raise ValueError."""
    X, y = sentences()
    for bad in (-1.0, np.nan, np.inf, -np.inf):
        weights = np.ones(40)
        weights[7] = bad
        with expected_error(ValueError, f"{name}.fit with a weight of {bad}"):
            fresh(estimator).fit(X, y, sample_weight=weights)


@check("sample_weight")
def check_shape_of_weights(name: str, estimator: Any) -> None:
    """Check that a wrong number of weights, or a table of them, raises ValueError."""
    X, y = sentences()
    for weights in (np.ones(39), np.ones(41), np.ones(0), np.ones((40, 2)), np.ones((40, 40))):
        with expected_error(ValueError, f"{name}.fit with weights of shape {weights.shape}"):
            fresh(estimator).fit(X, y, sample_weight=weights)


@check("sample_weight")
def check_weights_that_are_no_numbers(name: str, estimator: Any) -> None:
    """Check that weights that are not numbers raise an error."""
    X, y = sentences()
    for weights in (["heavy"] * 40, [None] * 40, "balanced"):
        with expected_error((ValueError, TypeError), f"{name}.fit with weights {weights!r:.20}"):
            fresh(estimator).fit(X, y, sample_weight=weights)


@check("class_weight", "sample_weight")
def check_balanced_classes(name: str, estimator: Any) -> None:
    """Check that `class_weight="balanced"` gives the same as such weights of examples."""
    for n_classes in (2, 3):
        X, y = sentences(40, n_classes)
        X, y = X[: 33 - n_classes], y[: 33 - n_classes]
        weights = compute_sample_weight("balanced", y)
        balanced = tight(estimator, class_weight="balanced").fit(X, y)
        weighted = tight(estimator, class_weight=None).fit(X, y, sample_weight=weights)
        assert_close(outputs(balanced, X), outputs(weighted, X), f"{name}: balanced classes", 1e-6)


@check("class_weight", "sample_weight")
def check_weights_of_classes(name: str, estimator: Any) -> None:
    """Check that a dict of class weights acts as weights of examples and multiplies them."""
    X, y = sentences(40, 3)
    labels = np.array(["a", "b", "c"])[y]
    factors = {"a": 0.5, "b": 3.0, "c": 1.0}
    own = np.linspace(0.5, 1.5, 40)
    by_class = np.array([factors[label] for label in labels])
    classes = tight(estimator, class_weight=factors)
    plain = tight(estimator, class_weight=None)
    for both in (np.ones(40), own):
        actual = outputs(classes.fit(X, labels, sample_weight=both), X)
        expected = outputs(plain.fit(X, labels, sample_weight=both * by_class), X)
        assert_close(actual, expected, f"{name}: class_weight={factors}", 1e-6)


@check("class_weight")
def check_classes_without_a_weight(name: str, estimator: Any) -> None:
    """Check that a class that is missing in the dict has weight 1."""
    X, y = sentences(40, 3)
    some = fresh(estimator, class_weight={1: 2.0}).fit(X, y)
    full = fresh(estimator, class_weight={0: 1.0, 1: 2.0, 2: 1.0}).fit(X, y)
    assert_same(outputs(some, X), outputs(full, X), f"{name}: class_weight={{1: 2.0}}")


@check("class_weight")
def check_bad_weights_of_classes(name: str, estimator: Any) -> None:
    """Check that unknown classes, unknown words, and negative or non-finite weights raise."""
    X, y = sentences()
    bad: tuple[Any, ...] = ("unbalanced", {"no such class": 2.0}, 3.0)
    bad += tuple({0: 1.0, 1: weight} for weight in (-1.0, np.nan, np.inf))
    for class_weight in bad:
        with expected_error((ValueError, TypeError), f"{name}(class_weight={class_weight!r}).fit"):
            fresh(estimator, class_weight=class_weight).fit(X, y)
