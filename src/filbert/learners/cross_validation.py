"""Cross-validation of TreeSVC for several values of C with one factorisation."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from filbert.arrays import FloatArray
from filbert.engine.score_bounds import ScoreBounds, score_bounds
from filbert.learners.dual_classifier import DualClassifier
from filbert.learners.targets import class_factors
from filbert.predictors import decided_classes
from filbert.threads import n_threads

Folds = Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]


def cross_val_predict_path(
    svm: DualClassifier, X: Any, y: ArrayLike, Cs: Sequence[float], folds: Folds
) -> list[NDArray[Any]]:
    """Predict each example by models that were trained without its fold, for several values of C.

    All folds and all values of C share one factorisation, or the same rows: examples that are left
    out have the weight 0. The models reach the same optimum as models of the other folds alone.

    Parameters
    ----------
    svm : TreeSVC
        Its C is not used.
    X : the examples
    y : array of shape (n,)
        Their classes.
    Cs : sequence of float
        Each value starts from the solution of the one before it.
    folds : iterable of (training indices, test indices)
        As the splitters of scikit-learn return them. Each example is in one test set.

    Returns
    -------
    list of arrays of shape (n,)
        The predicted classes for each value of C.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from filbert import TreeSVC
    >>> X = ["(S a)", "(S a b)", "(S (A a) b)", "(Q c)", "(Q c d)", "(Q (C c) d)"]
    >>> y = ["s", "s", "s", "q", "q", "q"]
    >>> folds = StratifiedKFold(3).split(X, y)
    >>> [predicted] = cross_val_predict_path(TreeSVC(random_state=0), X, y, [1.0], folds)
    >>> predicted.shape
    (6,)
    """
    shared = SharedFolds(svm, X, y, Cs)
    predicted = [np.empty(shared.n, dtype=shared.classes.dtype) for _ in Cs]
    for train, test in folds:
        for own, found in zip(predicted, shared.predictions(train, test, Cs), strict=True):
            own[test] = found
    return predicted


class SharedFolds:
    """Trains on parts of some examples with one factorisation, or with the same rows.

    Examples that are left out have the weight 0.

    Parameters
    ----------
    svm : TreeSVC
        Its C is not used.
    X : the examples
    y : array of shape (n,)
        Their classes.
    Cs : sequence of float
        The values of C that training will use.
    """

    def __init__(self, svm: DualClassifier, X: Any, y: ArrayLike, Cs: Sequence[float]) -> None:
        self._keep(svm, svm._prepare(X, y, None, Cs), None)

    @classmethod
    def of_task(cls, svm: DualClassifier, task: Any) -> "SharedFolds":
        """Return the same for a prepared task, whose weights are used in all folds."""
        shared = cls.__new__(cls)
        shared._keep(svm, task, task.problems.weights)
        return shared

    def _keep(self, svm: DualClassifier, task: Any, weights: FloatArray | None) -> None:
        self._svm, self._task, self._weights = svm, task, weights
        self.n = len(task.coded)
        self.classes = task.classes

    def predictions(
        self,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        Cs: Sequence[float],
        loss: str | None = None,
    ) -> list[NDArray[Any]]:
        """Predict the test examples for each C, each starting from the solution before it.

        `loss` replaces the loss of the estimator.
        """
        svm, task = self._svm, self._task
        weights = np.zeros(self.n)
        if self._weights is None:
            present, coded = np.unique(task.coded[train], return_inverse=True)
            weights[train] = class_factors(svm.class_weight, task.classes[present], coded)
        else:
            weights[train] = self._weights[train]
        problems = replace(task.problems, weights=weights, loss=loss or svm._loss_name())
        fold = replace(task, problems=problems)
        start: FloatArray | None = None
        predicted = []
        for C in Cs:
            model = clone(svm).set_params(C=C)
            model._solve(fold, C, start)
            start = model._alpha
            predicted.append(_predicted(model, task, test))
        return predicted


def _predicted(model: DualClassifier, task: Any, test: NDArray[np.intp]) -> NDArray[Any]:
    """Predict the examples of a fold, by the factors if there are any."""
    plan = task.trainer.plan
    if plan.name != "factors":
        return model.predict(task.examples[test])
    weights = np.zeros((len(task.coded), len(task.problems.signs)))
    weights[model.support_] = model.dual_coef_.T
    scores = plan.operator.scores(weights, n_threads(model.n_jobs))[test] + model.intercept_
    bounds = ScoreBounds(scores, scores)
    if not plan.is_exact:
        errors, have_sign = plan.kernel_errors, plan.operator.errors_have_sign
        rows = np.abs(weights).max() * plan.kernel_error_rows[test]
        bounds = score_bounds(scores, errors[test], weights, errors, have_sign=have_sign, rows=rows)
    return decided_classes(
        task.classes, bounds, lambda rows: model.decision_function(task.examples[test[rows]])
    )
