"""The part of a TreePerceptron that predicts, which needs no scikit-learn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.corpus.methods import by_parts
from filbert.examples import check_feature_names
from filbert.kernels.inputs import rows_for
from filbert.learners.perceptron_model import PerceptronModel
from filbert.predictors import classes_by_score


@dataclass(frozen=True)
class PerceptronClassifier:
    """Predicts with a perceptron's model as it is when it is asked.

    Attributes
    ----------
    model_ : PerceptronModel
    engine_ : {"factors", "online"}
        How the model was learnt.
    average, vote : bool
        As for :class:`~filbert.TreePerceptron`.
    n_jobs : int, optional
        Threads; the values do not depend on it.
    feature_names : mapping
        The names of features in the training data, by part.
    """

    model_: PerceptronModel
    engine_: str
    average: bool
    vote: bool
    n_jobs: int | None = None
    feature_names: Mapping[str, Any] = field(default_factory=dict)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in ascending order."""
        return self.model_.classes

    @by_parts
    def decision_function(self, X: Any) -> FloatArray:
        """Score examples: shape (len(X),) for two classes, (len(X), n_classes) for more."""
        model = self.model_
        X = rows_for(model.kernel, X)
        check_feature_names(self.feature_names, X)
        if self.vote:
            values = model.votes(X, self.n_jobs)
        else:
            values = model.scores(
                X,
                averaged=self.average,
                by_factors=self.engine_ == "factors",
                n_jobs=self.n_jobs,
            )
        return values[:, 0] if model.n_problems == 1 else values

    @by_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each example."""
        return classes_by_score(self.classes_, self.decision_function(X))
