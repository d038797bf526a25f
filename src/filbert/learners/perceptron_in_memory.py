"""TreePerceptron on examples in memory: online, or by factors."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from filbert import _core
from filbert.corpus.checkpoints import Checkpoint
from filbert.engine import sum_factors
from filbert.engine.work import work_limit
from filbert.errors import InvalidParameterError, OutOfMemoryError, WorkLimitError
from filbert.kernels import Kernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import without_others
from filbert.kernels.terms import check_is_sum, is_sum
from filbert.learners.perceptron_model import Log, PerceptronModel, State, Targets
from filbert.learners.perceptron_online import (
    Numbers,
    check_room_for,
    learn_batch,
    learning_bar,
    no_support,
)
from filbert.learners.perceptron_terms import dense_widths
from filbert.learners.perceptron_visits import FactorVisits, OnlineVisits
from filbert.learners.targets import checked_classes, checked_weights, class_factors, signs_of


class InMemory:
    """Learns from examples in several epochs, with the parameters of a TreePerceptron.

    Attributes
    ----------
    model : PerceptronModel
        What was learnt so far.
    engine, reason : str
        "factors" or "online", and why.
    kernel_error : float
        The largest error of a kernel, 0 if kernels were exact.
    """

    def __init__(self, learner: Any, kernel: Kernel, X: Any, y: Any, sample_weight: Any) -> None:
        self._learner = learner
        self._X = X
        n = n_examples(X)
        classes, coded = checked_classes(y, n, "TreePerceptron")
        weights = checked_weights(sample_weight, n)
        weights = weights * class_factors(learner.class_weight, classes, coded)
        if not weights.any():
            raise InvalidParameterError("all weights are zero: there is nothing to learn from")
        self._targets = Targets(signs_of(coded, len(classes)), weights, float(learner.margin))
        self.model = PerceptronModel(kernel, classes, intercept=bool(learner.fit_intercept))
        self.engine, self.reason, self.kernel_error = "online", "", 0.0

    def learn(self, kept: Checkpoint | None) -> bool:
        """Learn, and return whether Ctrl-C interrupted it."""
        order = self._order(self._learner.random_state if kept is None else kept.seed)
        factors, self.reason = self._factors_or_reason()
        if factors is None:
            return self._by_dag(order, kept)
        self.engine = "factors"
        self.kernel_error = float(factors.kernel_errors.max(initial=0.0))
        return self._by_factors(factors, order, kept)

    def _order(self, random_state: Any) -> Numbers:
        """Return the order of examples in each epoch, or one order for all epochs."""
        n, learner = n_examples(self._X), self._learner
        if learner.shuffle is not None and not learner.shuffle:
            return np.arange(n, dtype=np.uint32)[np.newaxis]
        rng = check_random_state(random_state)
        return np.array([rng.permutation(n) for _ in range(learner.n_epochs)], dtype=np.uint32)

    def _by_dag(self, order: Numbers, kept: Checkpoint | None) -> bool:
        """Learn online, and return whether Ctrl-C interrupted it."""
        learner, new = self._learner, self.model
        check_room_for(learner, new.kernel, self._X, len(new.classes))
        support_of = no_support(n_examples(self._X))
        visits = OnlineVisits(kept, learner.n_epochs * order.shape[1])
        self.model = model = visits.restored(new, support_of)
        batch = model.batch(self._X, learner.n_jobs)
        try:
            for number, begin, end in visits.pieces(order.shape[1]):
                epoch = order[number % len(order)][begin:end]
                what = f"epoch {number + 1} of {learner.n_epochs}"
                with learning_bar(what, len(epoch), show=learner.verbose > 0) as tell:
                    learn_batch(learner, model, batch, self._targets, epoch, support_of, tell)
                visits.store_in_time(model, support_of)
        except KeyboardInterrupt:
            return True
        return False

    def _by_factors(
        self, factors: _core.SumFactors, order: Numbers, kept: Checkpoint | None
    ) -> bool:
        """Learn by factors, and return whether Ctrl-C interrupted it."""
        learner, new, targets = self._learner, self.model, self._targets
        visits = FactorVisits(kept, int(learner.n_epochs) * order.shape[1])
        interrupted = False
        with learning_bar("learning", visits.n_all, show=learner.verbose > 0) as tell:
            while visits.n_done < visits.n_all and not interrupted:
                rows, log, interrupted = _core.train_perceptron(
                    factors,
                    targets.signs,
                    targets.weights,
                    targets.margin,
                    new.intercept,
                    order,
                    visits.n_done,
                    visits.next_pause(),
                    visits.before,
                    tell,
                )
                visits.learnt(rows, log, to_the_end=not interrupted)
        rows, log = visits.before
        support = without_others(new.kernel, self._X[rows.astype(np.intp)])
        self.model = PerceptronModel.of_state(
            new.kernel, new.classes, State(support, Log(*log), 0), intercept=new.intercept
        )
        self.model.widths = dense_widths(new.kernel, self._X)
        return interrupted

    def _factors_or_reason(self) -> tuple[_core.SumFactors | None, str]:
        """Return the factors, or None if there are none, and the reason."""
        engine, kernel = self._learner.engine, self.model.kernel
        requested = f"engine={engine!r} was requested"
        if engine == "online":
            return None, requested
        if self._learner.max_nodes is not None:
            return None, "max_nodes limits a model that grows online"
        if engine == "factors":
            check_is_sum(kernel, "Use engine='online'.")
            return self._factors(None), requested
        if not is_sum(kernel):
            return None, f"{kernel!r} has no factors"
        try:
            return self._factors(work_limit), "the kernel has factors that save work"
        except (WorkLimitError, OutOfMemoryError) as error:
            return None, str(error)

    def _factors(self, max_work: Any) -> _core.SumFactors:
        return sum_factors(
            self.model.kernel,
            self._X,
            max_work=max_work,
            kernel_tol=float(self._learner.kernel_tol),
            n_jobs=self._learner.n_jobs,
            verbose=self._learner.verbose,
        )
