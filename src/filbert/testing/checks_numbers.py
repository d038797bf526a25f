"""Checks of estimators that predict numbers: regressors and rankers."""

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from filbert.forest import Forest, as_forest
from filbert.testing.tools import (
    Array,
    assert_close,
    assert_same,
    check,
    expected_error,
    fresh,
    outputs,
    sentences,
    tight,
)


def measured(n: int = 60) -> tuple[Forest, Array]:
    """Make sentences of three kinds, each with its own mean target, and a little noise."""
    X, y = sentences(n, 3, noise=False)
    return X, np.array([-1.0, 0.2, 1.5])[y] + np.random.default_rng(0).normal(0, 0.1, n)


@check("numbers")
def check_shape_of_numbers(name: str, estimator: Any) -> None:
    """Check that there is one float64 per tree."""
    X, y = measured()
    values = fresh(estimator).fit(X, y).predict(X)
    assert values.shape == (60,), f"{name}: expected shape (60,), got {values.shape}"
    assert values.dtype == np.float64, f"{name}: expected float64, got {values.dtype}"


@check("numbers")
def check_numbers_follow_targets(name: str, estimator: Any) -> None:
    """Check that predictions of new trees correlate with the targets."""
    X, y = measured(90)
    predicted = fresh(estimator).fit(X[:60], y[:60]).predict(X[60:])
    correlation = np.corrcoef(predicted, y[60:])[0, 1]
    assert correlation > 0.8, f"{name} should learn easy data, correlation {correlation:.2f}"


@check("numbers")
def check_forms_of_targets(name: str, estimator: Any) -> None:
    """Check that targets may be a list, a tuple, integers or a column of shape (n, 1)."""
    X, _ = measured()
    y = np.arange(60) % 5
    expected = outputs(fresh(estimator).fit(X, y.astype(float)), X)
    for form in (y, y.tolist(), tuple(y.tolist()), y.astype(np.float32), y.astype(object)):
        actual = outputs(fresh(estimator).fit(X, form), X)
        assert_same(actual, expected, f"{name}: y as {type(form).__name__}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        column = outputs(fresh(estimator).fit(X, y[:, None]), X)
    assert_same(column, expected, f"{name}: y of shape (n, 1)")


@check("numbers")
def check_bad_targets(name: str, estimator: Any) -> None:
    """Check that missing, infinite or too few targets, words and tables raise errors."""
    X, y = measured()
    broken = [np.where(np.arange(60) == 3, bad, y) for bad in (np.nan, np.inf)]
    cases: list[Any] = [*broken, y[:-1], np.append(y, 1.0), y[:0], ["word"] * 60, None]
    cases.append(np.column_stack([y, y]))
    for bad in cases:
        with expected_error((ValueError, TypeError), f"{name}.fit with y={bad!r:.30}"):
            fresh(estimator).fit(X, bad)


@check("numbers")
def check_numbers_in_a_pipeline(name: str, estimator: Any) -> None:
    """Check that the estimator works at the end of a pipeline that reads trees."""
    X, y = measured()
    texts = list(map(str, X))
    fitted = make_pipeline(FunctionTransformer(as_forest), fresh(estimator)).fit(texts, y)
    expected = outputs(fresh(estimator).fit(X, y), X)
    assert_same(fitted.predict(texts), expected, f"{name} in a pipeline")


# ---------------------------------------------------------------- regressors


@check("regressor", "score")
def check_score_is_r2(name: str, estimator: Any) -> None:
    """Check that `score` is the coefficient of determination, weighted if there are weights."""
    X, y = measured()
    fitted = fresh(estimator).fit(X, y)
    for sample_weight in (None, np.linspace(0, 1, 60)):
        expected = r2_score(y, fitted.predict(X), sample_weight=sample_weight)
        score = fitted.score(X, y, sample_weight=sample_weight)
        assert abs(score - expected) < 1e-12, f"{name}.score: expected {expected}, got {score}"


@check("regressor")
def check_cross_validated_regression(name: str, estimator: Any) -> None:
    """Check that `cross_val_score` gives the same result on a Forest and on strings."""
    X, y = measured()
    scores = cross_val_score(fresh(estimator), X, y, cv=3, error_score="raise")
    assert scores.min() > 0.5, f"cross_val_score({name}) should be high on easy data: {scores}"
    forms = (X, list(map(str, X)))
    of_forest, of_texts = (cross_val_score(tight(estimator), form, y, cv=3) for form in forms)
    assert_close(of_texts, of_forest, f"{name}: cross-validation on strings and on a Forest", 1e-9)


@check("regressor", "kernel")
def check_grid_search_of_regression(name: str, estimator: Any) -> None:
    """Check that `GridSearchCV` sets the parameters of the kernel, also of a default kernel."""
    X, y = measured()
    new = fresh(estimator)
    decay = next(key for key in new.get_params() if key.endswith("__decay"))
    search = GridSearchCV(new, {decay: [0.2, 0.8]}, cv=2, error_score="raise").fit(X, y)
    found = search.best_estimator_.get_params()[decay]
    assert found == search.best_params_[decay], f"{name}: the kernel's decay is {found}"


# ---------------------------------------------------------------- rankers


def _groups(n: int = 60) -> Array:
    return np.arange(n) // 6


@check("ranker")
def check_ranking_within_groups(name: str, estimator: Any) -> None:
    """Check that only comparisons within a group matter: a group's targets may be shifted."""
    X, y = measured()
    group = _groups()
    expected = outputs(fresh(estimator).fit(X, y, group=group), X)
    shifted = outputs(fresh(estimator).fit(X, y + 10 * group, group=group), X)
    assert_same(shifted, expected, f"{name}: shifting the targets of groups should change nothing")


@check("ranker")
def check_names_of_groups(name: str, estimator: Any) -> None:
    """Check that groups may have any names, and that their order hardly matters."""
    X, y = measured()
    group = _groups()
    expected = outputs(fresh(estimator).fit(X, y, group=group), X)
    for names in (group.astype(str), group.astype(float), group.tolist(), group * 7 - 3):
        actual = outputs(fresh(estimator).fit(X, y, group=names), X)
        assert_close(actual, expected, f"{name}: group as {names!r:.20}", 0.1)


@check("ranker")
def check_bad_groups(name: str, estimator: Any) -> None:
    """Check that a wrong number of groups, or nothing to compare, raises ValueError."""
    X, y = measured()
    for group in (_groups()[:-1], np.zeros((60, 2)), np.arange(60)):
        with expected_error(ValueError, f"{name}.fit with group={group!r:.30}"):
            fresh(estimator).fit(X, y, group=group)
    with expected_error(ValueError, f"{name}.fit with equal targets"):
        fresh(estimator).fit(X, np.ones(60))
