"""Predicting with a model, without the estimator that learnt it.

Estimators need scikit-learn, which takes longer to import than a thousand trees take to score. What
is here needs only the model. Estimators predict with it too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.corpus.methods import by_parts
from filbert.engine.plan import EngineName
from filbert.engine.score_bounds import ScoreBounds
from filbert.engine.tree_scorer import Method
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.inputs import rows_for
from filbert.model import SupportVectorModel


class Predictor(Protocol):
    """What predicts classes: a classifier below, or a fitted estimator."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in ascending order."""

    def decision_function(self, X: Any) -> FloatArray:
        """Score examples: shape (len(X),) for two classes, (len(X), n_classes) for more."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each example."""


@dataclass(frozen=True)
class SupportVectorPredictor:
    """The part of a learner that scores by support vectors.

    Attributes
    ----------
    model_ : SupportVectorModel
    engine_ : {"factors", "rows", "planes"}
        How kernels were computed in training.
    n_jobs : int, optional
        Threads; the values do not depend on it.
    """

    model_: SupportVectorModel
    engine_: EngineName
    n_jobs: int | None

    def scores(self, X: Any) -> FloatArray:
        """Score trees: shape (len(X), n_problems)."""
        method: Method = "rows" if self._avoids_factors() else "auto"
        return self.model_.decision_function(X, method=method, n_jobs=self.n_jobs)

    def _avoids_factors(self) -> bool:
        """Return whether factorising was too expensive in training, so prediction does not try."""
        hard = capabilities_of(self.model_.kernel).factors == "uncertain"
        return hard and self.engine_ == "rows"


@dataclass(frozen=True)
class SupportVectorClassifier(SupportVectorPredictor):
    """The part of a TreeSVC that predicts.

    Attributes
    ----------
    classes_ : ndarray
    """

    classes_: NDArray[Any]

    @by_parts
    def decision_function(self, X: Any) -> FloatArray:
        """Score trees: shape (len(X),) for two classes, (len(X), n_classes) for more."""
        values = self.scores(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    @by_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each tree, by bounds on its scores if these decide."""
        if self._avoids_factors():
            return classes_by_score(self.classes_, self.decision_function(X))
        X = rows_for(self.model_.kernel, X)
        bounds = self.model_.score_bounds(X, n_jobs=self.n_jobs)
        return decided_classes(self.classes_, bounds, lambda rows: self.decision_function(X[rows]))


class LogisticClassifier(SupportVectorClassifier):
    """The part of a TreeLogisticRegression that predicts."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probability of each class: shape (len(X), n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Predict the logarithm of each probability."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.logaddexp(0.0, np.stack([scores, -scores], axis=1))
        against_rest = -np.logaddexp(0.0, -scores)
        total: FloatArray = np.logaddexp.reduce(against_rest, axis=1, keepdims=True)
        return against_rest - total


class SupportVectorRegressor(SupportVectorPredictor):
    """The part of a TreeSVR or TreeRanker that predicts."""

    @by_parts
    def predict(self, X: Any) -> FloatArray:
        """Predict a number for each tree: shape (len(X),)."""
        return self.scores(X)[:, 0]


def decided_classes(
    classes: NDArray[Any],
    bounds: ScoreBounds,
    exact: Callable[[NDArray[np.intp]], FloatArray],
) -> NDArray[Any]:
    """Return the class of each tree by bounds on its scores.

    `exact` returns the exact scores of the trees for which the bounds leave a choice.
    """
    values = bounds.low[:, 0] if len(classes) == 2 else bounds.low
    predicted = classes_by_score(classes, values)
    undecided = bounds.undecided()
    if len(undecided):
        predicted[undecided] = classes_by_score(classes, exact(undecided))
    return predicted


def classes_by_score(classes: NDArray[Any], values: FloatArray) -> NDArray[Any]:
    """Return the class of each tree, by the sign of its score or by the largest of several."""
    chosen = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
    predicted: NDArray[Any] = classes[chosen]
    return predicted
