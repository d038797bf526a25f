"""Probabilities of logistic regression beside those of a calibrated SVM, on a test set."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, shared_data
from benchmarks.sections import Row, Section
from filbert import TreeLogisticRegression, TreeSVC, read_examples
from filbert.kernels import SubsetTree

N_TRAIN = 100_000
N_SEARCH = 20_000
COSTS = [0.1, 1.0, 10.0, 100.0, 1000.0]
KERNEL = SubsetTree(0.4)
NOTE = (
    f"srl-ewt (rule VB), SubsetTree(0.4), the first {N_TRAIN:,} examples of the training part, all "
    f"of the test part. C is chosen among {COSTS} by 3-fold cross-validation on the first "
    f"{N_SEARCH:,} training examples: by log loss for logistic regression, by accuracy for the "
    "SVM, which has its default loss, the squared hinge."
)


@dataclass(frozen=True)
class Predicted:
    """The probabilities that a learner gives to test examples."""

    learner: str
    C: float
    p: Any
    is_one: Any
    cpu_fit: float
    cpu_predict: float

    def bins(self) -> Any:
        """The tenth that each probability lies in."""
        return np.minimum((10 * self.p).astype(int), 9)

    def row(self) -> Row:
        """The measures of the probabilities."""
        sums = [np.bincount(self.bins(), values, 10) for values in (self.p, self.is_one)]
        error = np.abs(sums[0] - sums[1]).sum() / len(self.p)
        return {
            "learner": self.learner,
            "C": self.C,
            "cpu_fit": self.cpu_fit,
            "cpu_predict": self.cpu_predict,
            "brier": round(float(brier_score_loss(self.is_one, self.p)), 5),
            "log_loss": round(float(log_loss(self.is_one, self.p)), 5),
            "calibration_error": round(float(error), 5),
            "accuracy": round(float(np.mean((self.p > 0.5) == self.is_one)), 5),
        }


@cache
def predictions() -> list[Predicted]:
    with TemporaryDirectory() as folder:
        train, test = (
            write_boundary(shared_data(), part, Path(folder) / f"{part}.tsv")
            for part in ("train", "test")
        )
        X, y = read_examples(first_lines(train, N_TRAIN), labels="numbers")
        X_test, y_test = read_examples(test, labels="numbers")
    logistic, svm = (
        learner(KERNEL, C=chosen_cost(learner(KERNEL, random_state=0), X, y, score), random_state=0)
        for learner, score in (
            (TreeLogisticRegression, "neg_log_loss"),
            (TreeSVC, "accuracy"),
        )
    )
    learners = {
        "TreeLogisticRegression": logistic,
        "CalibratedClassifierCV(TreeSVC), ensemble": CalibratedClassifierCV(svm),
        "CalibratedClassifierCV(TreeSVC), one model": CalibratedClassifierCV(svm, ensemble=False),
    }
    found = []
    for name, learner in learners.items():
        clock = Clock()
        learner.fit(X, y)
        fit = clock.lap()[0]
        p = learner.predict_proba(X_test)[:, 1]
        C = logistic.C if learner is logistic else svm.C
        found.append(Predicted(name, C, p, y_test == 1, fit, clock.lap()[0]))
    return found


def chosen_cost(learner: Any, X: Any, y: Any, score: str) -> float:
    search = GridSearchCV(learner, {"C": COSTS}, scoring=score, cv=3, refit=False)
    search.fit(X[:N_SEARCH], y[:N_SEARCH])
    return float(search.best_params_["C"])


def section_calibration() -> Section:
    section = Section(
        "probabilities of logistic regression are as good as those of a calibrated SVM"
    )
    section.rows = [found.row() for found in predictions()]
    section.notes += [
        NOTE,
        "The calibration error is the mean difference between probability and frequency in ten "
        "bins of equal width, weighted by their size.",
    ]
    return section


def section_reliability() -> Section:
    section = Section("reliability: among examples with the probability p, a share p is positive")
    for found in predictions():
        for k in range(10):
            own = found.bins() == k
            if own.any():
                section.rows.append(
                    {
                        "learner": found.learner,
                        "bin": f"{k / 10:.1f} to {(k + 1) / 10:.1f}",
                        "examples": int(own.sum()),
                        "mean_probability": round(float(found.p[own].mean()), 4),
                        "share_of_positives": round(float(found.is_one[own].mean()), 4),
                    }
                )
    section.notes.append(NOTE)
    return section
