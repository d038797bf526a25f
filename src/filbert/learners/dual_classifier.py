"""The base of classifiers that are trained in the dual, one problem per class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.corpus.methods import ScoresParts
from filbert.engine.work import rows_for_training
from filbert.learners.certificate import first_kernel_tol
from filbert.learners.dual import DualLearner, Task
from filbert.learners.problems import Solution
from filbert.learners.targets import checked_classes, checked_weights, class_factors, signs_of
from filbert.predictors import SupportVectorClassifier


@dataclass(frozen=True)
class ClassTask(Task):
    """A task with classes."""

    classes: NDArray[Any]
    coded: NDArray[np.intp]  # the class of each example


class DualClassifier(ScoresParts, ClassifierMixin, DualLearner):  # type: ignore[misc]
    """Two classes are one problem, more are one problem each, against the rest."""

    loss: str  # a parameter, or the only loss of the learner
    class_weight: dict[Any, float] | Literal["balanced"] | None

    def decision_function(self, X: Any) -> FloatArray:
        """Score trees: shape (len(X),) for two classes, (len(X), n_classes) for more."""
        check_is_fitted(self)
        return self._classifier().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each tree."""
        check_is_fitted(self)
        return self._classifier().predict(X)

    def _loss_name(self) -> str:
        """Return the loss that training uses."""
        return self.loss

    def _classifier(self) -> SupportVectorClassifier:
        return SupportVectorClassifier(self.model_, self.engine_, self.n_jobs, self.classes_)

    def _prepare(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, Cs: Sequence[float]
    ) -> ClassTask:
        kernel, examples = self._kernel_and_examples(X, Cs)
        n = examples.shape[0]
        classes, coded = checked_classes(y, n, type(self).__name__)
        weights = checked_weights(sample_weight, n)
        weights = weights * class_factors(self.class_weight, classes, coded)
        signs = signs_of(coded, len(classes))
        most = max(Cs, default=1.0)
        first = first_kernel_tol(self.tol, most * weights)
        needed = rows_for_training(signs, most)
        problems = self._problems(signs, weights, self._loss_name())
        task = self._task(
            kernel, examples, problems, lambda: self._trainer(kernel, examples, first, needed)
        )
        return ClassTask(**vars(task), classes=classes, coded=coded)

    def _keep(self, task: Task, solution: Solution) -> None:
        assert isinstance(task, ClassTask)
        super()._keep(task, solution)
        self.classes_ = task.classes
        self.n_support_ = np.bincount(task.coded[self.support_], minlength=len(task.classes))
