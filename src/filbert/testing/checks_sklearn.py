"""Checks of the use with scikit-learn: searches, pipelines, ensembles."""

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from filbert.forest import Forest, as_forest
from filbert.testing.tools import assert_same, check, fresh, outputs, sentences

NAMES = np.array(["a", "b", "c"])


def _good(accuracy: Any, what: str) -> None:
    assert np.min(accuracy) > 0.8, f"{what} should learn easy data, accuracy {accuracy}"


def _easy(n_classes: int = 3) -> tuple[Forest, Any]:
    X, y = sentences(60, n_classes, noise=False)
    return X, NAMES[y]


@check("classifier")
def check_cross_validation(name: str, estimator: Any) -> None:
    """Check that `cross_val_score` gives the same result on a Forest and on strings."""
    X, y = _easy()
    scores = cross_val_score(fresh(estimator), X, y, cv=3, error_score="raise")
    _good(scores, f"cross_val_score({name})")
    texts = cross_val_score(fresh(estimator), list(map(str, X)), y, cv=3, error_score="raise")
    assert_same(texts, scores, f"{name}: cross-validation on strings should equal that on a Forest")


@check("classifier")
def check_cross_validated_predictions(name: str, estimator: Any) -> None:
    """Check that `cross_val_predict` gives a class, or scores, for every tree."""
    X, y = _easy()
    _good(np.mean(cross_val_predict(fresh(estimator), X, y, cv=3) == y), f"predictions of {name}")
    if hasattr(estimator, "decision_function"):
        values = cross_val_predict(fresh(estimator), X, y, cv=3, method="decision_function")
        assert values.shape == (60, 3), f"{name}: expected scores (60, 3), got {values.shape}"


@check("classifier")
def check_learning_curve(name: str, estimator: Any) -> None:
    """Check that `learning_curve` works."""
    X, y = _easy()
    _, _, scores = learning_curve(fresh(estimator), X, y, train_sizes=[20, 40], cv=3)
    _good(scores[-1], f"learning_curve({name})")


@check("classifier")
def check_train_test_split(name: str, estimator: Any) -> None:
    """Check that `train_test_split` of a Forest gives parts for training and prediction."""
    X, y = _easy()
    train, test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    _good(fresh(estimator).fit(train, y_train).score(test, y_test), f"{name} on a split")


@check("classifier", "kernel")
def check_grid_search(name: str, estimator: Any) -> None:
    """Check that `GridSearchCV` sets the parameters of the kernel, also of a default kernel."""
    X, y = _easy()
    new = fresh(estimator)
    decays = [key for key in new.get_params() if key.endswith("__decay")]
    assert decays, f"{name}.get_params should include those of the kernel, such as kernel__decay"
    decay = decays[0]  # the first term of a sum
    search = GridSearchCV(new, {decay: [0.2, 0.8]}, cv=2, error_score="raise").fit(X, y)
    _good(search.best_score_, f"GridSearchCV({name})")
    found = search.best_estimator_.get_params()[decay]
    assert found == search.best_params_[decay], f"{name}: the kernel's decay is {found}"


@check("classifier")
def check_pipeline(name: str, estimator: Any) -> None:
    """Check that the estimator works at the end of a pipeline that reads trees."""
    X, y = _easy()
    expected = outputs(fresh(estimator).fit(X, y), X)
    reader = FunctionTransformer(as_forest)
    fitted = make_pipeline(reader, fresh(estimator)).fit(list(map(str, X)), y)
    assert_same(outputs(fitted, list(map(str, X))), expected, f"{name} in a pipeline")
    passed = Pipeline([("nothing", "passthrough"), ("last", fresh(estimator))]).fit(X, y)
    assert_same(outputs(passed, X), expected, f"{name} in a pipeline")


@check("classifier", "sample_weight")
def check_pipeline_with_weights(name: str, estimator: Any) -> None:
    """Check that a pipeline passes weights to the estimator."""
    X, y = sentences()
    weights = np.linspace(0.1, 2, 40)
    expected = outputs(fresh(estimator).fit(X, y, sample_weight=weights), X)
    pipeline = Pipeline([("nothing", "passthrough"), ("last", fresh(estimator))])
    actual = outputs(pipeline.fit(X, y, last__sample_weight=weights), X)
    assert_same(actual, expected, f"{name} in a pipeline, with weights")


@check("classifier", "decision_function")
def check_calibration(name: str, estimator: Any) -> None:
    """Check that `CalibratedClassifierCV` turns scores into probabilities."""
    for n_classes in (2, 3):
        X, y = _easy(n_classes)
        for ensemble in (True, False):
            calibrated = CalibratedClassifierCV(fresh(estimator), cv=3, ensemble=ensemble)
            p = calibrated.fit(X, y).predict_proba(X)
            assert p.shape == (60, n_classes), f"{name}: probabilities of shape {p.shape}"
            assert np.allclose(p.sum(axis=1), 1), f"{name}: probabilities should sum to 1"
            _good(calibrated.score(X, y), f"calibrated {name}")


@check("classifier")
def check_stacking(name: str, estimator: Any) -> None:
    """Check that `StackingClassifier` accepts the estimator."""
    X, y = _easy()
    parts = [("one", fresh(estimator)), ("two", fresh(estimator))]
    stacked = StackingClassifier(parts, LogisticRegression(), cv=3).fit(X, y)
    _good(stacked.score(X, y), f"stacked {name}")


@check("classifier")
def check_voting(name: str, estimator: Any) -> None:
    """Check that `VotingClassifier` accepts the estimator."""
    X, y = _easy()
    voting = VotingClassifier([(part, fresh(estimator)) for part in ("one", "two")]).fit(X, y)
    expected = fresh(estimator).fit(X, y).predict(X)
    assert_same(voting.predict(X), expected, f"{name}: two equal voters should agree")


@check("classifier", "decision_function")
def check_one_against_the_rest(name: str, estimator: Any) -> None:
    """Check that `OneVsRestClassifier` accepts the estimator."""
    X, y = _easy()
    rest = OneVsRestClassifier(fresh(estimator)).fit(X, y)
    _good(rest.score(X, y), f"OneVsRestClassifier({name})")
    shape = rest.decision_function(X).shape
    assert shape == (60, 3), f"{name}: expected scores of shape (60, 3), got {shape}"


@check("classifier", "decision_function")
def check_pairs_of_classes(name: str, estimator: Any) -> None:
    """Check that pairs of classes can be trained on parts of a Forest."""
    X, y = _easy()
    for pair in ("ab", "bc", "ac"):
        rows = np.flatnonzero(np.isin(y, list(pair)))
        fitted = fresh(estimator).fit(X[rows], y[rows])
        assert fitted.classes_.tolist() == list(pair), f"{name}: classes_ of the pair {pair}"
        _good(fitted.score(X[rows], y[rows]), f"{name} on the pair {pair}")
