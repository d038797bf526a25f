"""A common view of all estimators and models that can be explained."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.engine.contributions import Contributions
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.explanations.data import TrainingCurve
from filbert.kernels import Kernel, TreeKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import rows_for
from filbert.kernels.terms import check_is_sum, is_sum, tree_kernels
from filbert.learners.dual import DualLearner
from filbert.learners.perceptron import TreePerceptron
from filbert.learners.perceptron_model import ERROR_BLOCK
from filbert.model import SupportVectorModel, TermScores
from filbert.unpack import learner_in

_SIDES = ("lower", "higher")  # of the scores of estimators that predict numbers


@dataclass(frozen=True)
class ModelView:
    """A decision function ``sum_i coef_i K(support_i, x) + intercept`` with named classes.

    Attributes
    ----------
    learner : str
    model : SupportVectorModel
    estimator : TreeSVC, TreeLogisticRegression, TreeSVR, TreePerceptron or None
    classes : ndarray
        The classes of the estimator. One that predicts numbers has "lower" and "higher".
    curves : tuple of TrainingCurve
    """

    learner: str
    model: SupportVectorModel
    estimator: Any
    classes: NDArray[Any]
    curves: tuple[TrainingCurve, ...]

    @property
    def kernel(self) -> Kernel:
        """The kernel of the model. Explanations need one of Filbert's kernels."""
        assert isinstance(self.model.kernel, Kernel)
        return self.model.kernel

    @property
    def predicts_numbers(self) -> bool:
        """Whether the estimator is a regressor or a ranker."""
        return isinstance(self.estimator, DualLearner) and not hasattr(self.estimator, "classes_")

    @property
    def names(self) -> tuple[str, ...]:
        """The classes as text."""
        return tuple(map(str, self.classes.tolist()))

    @property
    def n_support(self) -> int:
        """The number of support vectors."""
        return int(self.model.coef.shape[1])

    def problems(self) -> list[tuple[str, str]]:
        """Return the meaning of a positive and of a negative score for each problem."""
        return _problems(self.classes)

    def rows(self, X: Any) -> Any:
        """Return examples that have a `shape` and can be indexed."""
        return rows_for(self.model.kernel, X)

    def kernels(self, X: Any, n_jobs: int | None) -> FloatArray:
        """Return the kernels of rows with all support vectors."""
        return self.kernel(X, self.model.support, n_jobs=n_jobs)

    def norms(self, X: Any, n_jobs: int | None) -> FloatArray:
        """Return the norm of each row."""
        return np.sqrt(self.kernel.diag(X, n_jobs=n_jobs))

    def support_norms(self, n_jobs: int | None) -> FloatArray:
        """Return the norm of each support vector."""
        return self.norms(self.model.support, n_jobs)

    def scores(self, X: Any, n_jobs: int | None) -> FloatArray:
        """Score rows as the estimator does: shape (len(X), n_problems)."""
        if self.estimator is None:
            values = self.model.decision_function(X, n_jobs=n_jobs)
        elif self.predicts_numbers:
            values = self.estimator.predict(X)
        else:
            values = self.estimator.decision_function(X)
        return np.asarray(values).reshape(n_examples(X), len(self.model.coef))

    def term_scores(self, X: Any, n_jobs: int | None) -> list[TermScores]:
        """Split the scores of rows, without the intercept, into the terms of the kernel."""
        if n_examples(X) == 0:
            return []
        if self.n_support == 0:
            return [self._nothing(kernel, X) for kernel in tree_kernels(self.kernel)]
        return self.model.term_scores(X, n_jobs=n_jobs)

    def _nothing(self, kernel: TreeKernel, X: Any) -> TermScores:
        """Return zero contributions, for a model without support vectors."""
        none = np.zeros(0, dtype=np.uint32)
        k = len(self.model.coef)
        nodes = Contributions(kernel.trees_of(X), none, none, np.zeros((0, k)), none)
        return TermScores(kernel.part, nodes.sums(), nodes)


def view_of(model: Any) -> ModelView:
    """Return the view of a fitted estimator, a pipeline or search with one, or a model."""
    model = learner_in(model)
    if isinstance(model, DualLearner):
        check_is_fitted(model)
        classes = getattr(model, "classes_", np.array(_SIDES))
        curves = _dual_curves(model, classes)
        return ModelView(type(model).__name__, _explainable(model.model_), model, classes, curves)
    if isinstance(model, TreePerceptron):
        check_is_fitted(model)
        return _view_of_perceptron(model)
    if isinstance(model, SupportVectorModel):
        n = len(model.coef)
        classes = np.array(["-1", "+1"] if n == 1 else [str(k) for k in range(n)])
        return ModelView(type(model).__name__, _explainable(model), None, classes, ())
    raise InputTypeError(
        "explain takes a fitted learner of Filbert, such as a TreeSVC or a TreePerceptron, or the "
        f"model of one, not {type(model).__name__}"
    )


def _view_of_perceptron(perceptron: TreePerceptron) -> ModelView:
    if perceptron.vote:
        raise InvalidParameterError(
            "votes are not a sum over nodes: explain the average with set_params(vote=False)"
        )
    perceptron = perceptron.at_this_time()  # another thread may continue learning
    model = _explainable(perceptron.model_.scorer(averaged=bool(perceptron.average)))
    return ModelView(
        "TreePerceptron", model, perceptron, perceptron.classes_, _error_curve(perceptron)
    )


def _explainable(model: SupportVectorModel) -> SupportVectorModel:
    if model.is_of_trees:
        return model
    if is_sum(model.kernel):
        trees = model.tree_models() or model.pattern_scorers()
        if not trees and model.coef.shape[1] > 0:
            raise InvalidParameterError(
                f"{model.kernel!r} has no trees: an explanation needs a tree kernel"
            )
        return model
    instead = "Explanations need such a sum: other kernels have no contributions of single nodes."
    if isinstance(model.kernel, Kernel):
        check_is_sum(model.kernel, instead)
    raise InvalidParameterError(
        f"{model.kernel!r} is not one of Filbert's kernels, which are sums over nodes. {instead}"
    )


# ---------------------------------------------------------------- training curves


def _dual_curves(model: DualLearner, classes: NDArray[Any]) -> tuple[TrainingCurve, ...]:
    names = [f"{positive} against {negative}" for positive, negative in _problems(classes)]
    x_name = "iterations" if model.engine_ == "planes" else "sweeps"
    curves = []
    for name, curve in zip(names, model.convergence_, strict=False):
        if np.isfinite([curve.objective, curve.gap]).all():
            curves.append(
                TrainingCurve(
                    name,
                    x_name,
                    tuple(map(float, curve.steps)),
                    tuple(map(float, curve.objective)),
                    tuple(map(float, curve.gap)),
                )
            )
    return tuple(curves)


def _problems(classes: NDArray[Any]) -> list[tuple[str, str]]:
    names = list(map(str, classes.tolist()))
    return [(names[1], names[0])] if len(names) == 2 else [(name, "the rest") for name in names]


def _error_curve(perceptron: TreePerceptron) -> tuple[TrainingCurve, ...]:
    """Return the share of wrong predictions in each block of a thousand examples."""
    errors = np.asarray(perceptron.error_history_, dtype=np.float64)
    if len(errors) == 0:
        return ()
    ends = np.minimum(np.arange(1, len(errors) + 1) * ERROR_BLOCK, perceptron.n_seen_)
    share = errors / np.diff(ends, prepend=0)
    return (
        TrainingCurve(
            "all classes",
            "examples",
            tuple(map(float, ends)),
            tuple(map(float, share)),
            (),
            "share of wrong predictions",
        ),
    )
