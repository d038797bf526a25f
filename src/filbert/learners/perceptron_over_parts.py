"""TreePerceptron over a corpus in parts: the parts in order, as one stream."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Rows
from filbert.errors import InvalidParameterError
from filbert.examples import check_feature_names, feature_names_of
from filbert.kernels.algebra import Kernel
from filbert.kernels.inputs import rows_for
from filbert.learners.perceptron_model import PerceptronModel, Targets
from filbert.learners.perceptron_online import learn_batch, learning_bar, no_support
from filbert.learners.targets import checked_classes, checked_weights, class_factors, signs_of


class PartsOfStream:
    """Learns from the parts of a corpus one after another, in several epochs.

    Each part is in memory only while it is visited. What is kept of all examples is a class, a
    weight and the number of a support vector.
    """

    def __init__(
        self, learner: Any, kernel: Kernel, corpus: Parts, y: Any, sample_weight: Any
    ) -> None:
        self._learner = learner
        self._corpus = corpus
        labels = corpus.labels() if y is None else y
        self.classes, coded = checked_classes(labels, len(corpus), "TreePerceptron")
        weights = checked_weights(sample_weight, len(corpus))
        weights = weights * class_factors(learner.class_weight, self.classes, coded)
        if not weights.any():
            raise InvalidParameterError("all weights are zero: there is nothing to learn from")
        self._coded = corpus.split(coded, "y")
        self._weights = corpus.split(weights, "sample_weight")
        self._support_of = no_support(len(corpus))
        self.feature_names: Any = {}
        self.model = PerceptronModel(kernel, self.classes, intercept=bool(learner.fit_intercept))

    def learn(self) -> bool:
        """Learn, and return whether Ctrl-C interrupted it."""
        try:
            for epoch in range(self._learner.n_epochs):
                for part, rows in filled_parts(self._corpus):
                    name = f"epoch {epoch + 1}, part {part + 1} of {self._corpus.n_parts}"
                    self._visit(part, rows, name)
        except KeyboardInterrupt:
            return True
        return False

    def _visit(self, part: int, rows: Rows, title: str) -> None:
        model, learner = self.model, self._learner
        X = rows_for(model.kernel, rows.X)
        check_feature_names(self.feature_names, X)
        self.feature_names = self.feature_names or feature_names_of(X)
        signs = signs_of(self._coded[part], len(self.classes))
        targets = Targets(signs, self._weights[part], float(learner.margin))
        own = self._corpus.split_by_parts(self._support_of)[part]
        order = np.arange(len(own), dtype=np.uint32)
        with learning_bar(title, len(order), show=learner.verbose > 0) as tell:
            batch = model.batch(X, learner.n_jobs)
            learn_batch(learner, model, batch, targets, order, own, tell, self._support_of)


def filled_parts(corpus: Parts) -> Iterator[tuple[int, Rows]]:
    """Yield the number and the examples of each part that has any, one at a time."""
    for part, rows in enumerate(corpus.each()):
        if rows.X.shape[0]:
            yield part, rows


def check_suits_parts(learner: Any) -> None:
    """Raise InvalidParameterError if a TreePerceptron needs all examples in memory."""
    if learner.shuffle:
        raise InvalidParameterError(
            "TreePerceptron: shuffle=True needs all examples in memory: shuffle the files once, "
            "and use shuffle=False for a corpus in parts"
        )
    if learner.engine == "factors":
        raise InvalidParameterError(
            "TreePerceptron: engine='factors' needs all examples in memory: use engine='online' "
            "for a corpus in parts"
        )
