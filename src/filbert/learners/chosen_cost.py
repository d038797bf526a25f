"""The C of TreeSVC, if the examples choose it.

Few examples of clean classes and many examples of noisy ones need different values. A short
cross-validation tells them apart. It has no parameters, and its result does not depend on the seed
of the learner or on the number of threads.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from filbert.errors import NoFragmentsWarning
from filbert.learners.cross_validation import SharedFolds
from filbert.learners.dual_classifier import DualClassifier
from filbert.learners.search_folds import folds_of, sampled

AUTO = "auto"
SMALL, USUAL = 1.0, 10.0  # for noisy classes, and for clean ones
_N_MOST = 3000  # examples
_N_FOLDS = 5
_ERRORS = 1.5  # standard errors by which 1 must be better than 10
_TOL = 1e-2  # a gap that hardly changes predictions


def chosen_cost(svm: DualClassifier, task: Any) -> float:
    """Return 10, or 1 if it predicts held-out examples better by more than 1.5 standard errors.

    At most about 3,000 examples are used, of each class its share. An example counts by its weight.
    Without factors, training is too expensive for a search, and the result is 10.
    """
    weighted = np.unique(task.coded[task.problems.weights > 0])
    if task.trainer.plan.name != "factors" or len(weighted) < 2:
        return USUAL
    chooser = clone(svm).set_params(random_state=0, verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said of the final training
        warnings.simplefilter("ignore", NoFragmentsWarning)
        part = _part(chooser, task)
        folds = folds_of(part.coded, None, _N_FOLDS, 0)
        if not folds:
            return USUAL
        shared = SharedFolds.of_task(chooser, part)
        gain = np.zeros(len(part.coded))
        for train, test in folds:
            small, usual = shared.predictions(train, test, [SMALL, USUAL], part.problems.loss)
            truth = part.classes[part.coded[test]]
            gain[test] = (small == truth) * 1.0 - (usual == truth)
    gain *= part.problems.weights
    error = float(gain.std()) * np.sqrt(len(gain))  # of the sum
    return SMALL if float(gain.sum()) > _ERRORS * error else USUAL


def _part(svm: DualClassifier, task: Any) -> Any:
    """Return the task with a sample of its examples, up to a larger gap."""
    seen = np.flatnonzero(task.problems.weights)
    rows = seen[sampled(task.coded[seen], _N_MOST, RandomState(0))]
    if len(rows) < len(task.coded):
        y, weights = task.classes[task.coded[rows]], task.problems.weights[rows]
        svm.set_params(class_weight=None)  # the weights have its factors
        task = svm._prepare(task.examples[rows], y, weights, [USUAL])
    return replace(task, problems=replace(task.problems, tol=max(task.problems.tol, _TOL)))
