"""The model of a perceptron: support vectors and the log of updates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.forest import Forest
from filbert.kernels import Kernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.terms import is_sum, tree_kernels
from filbert.learners.exclusive import Learning
from filbert.learners.perceptron_terms import Batch, Terms, with_sparse_rows
from filbert.model import SupportVectorModel
from filbert.threads import n_threads

_MANY = 20_000  # more trees than this are scored by factors, together with the support vectors
_VOTE_BYTES = 64 << 20  # of kernel values in memory at a time
_ROUNDING = 1e-12  # as in the core's perceptron_rule.hpp
ERROR_BLOCK = 1000  # examples whose wrong predictions are counted together
_KEPT = 0.9  # share of max_nodes that is kept when support vectors are removed


@dataclass(frozen=True)
class Log:
    """The updates in order: each is ``w += amount * x`` for one problem, at one example.

    Attributes
    ----------
    support, problem : ndarray of int
        The support vector that is added, and the problem whose weights it is added to.
    amount : ndarray of float
    time : ndarray of int
        The number of examples seen up to the update, including its own.
    errors : ndarray of int
        The number of wrong predictions in each block of a thousand examples.
    n_seen, n_errors : int
        The number of all examples, and of wrong predictions among them.
    """

    support: NDArray[np.uint32]
    problem: NDArray[np.uint32]
    amount: FloatArray
    time: NDArray[np.uint64]
    errors: NDArray[np.uint32]
    n_seen: int
    n_errors: int

    def coef(self, n_problems: int, n_support: int, *, averaged: bool) -> FloatArray:
        """Return the coefficients of the support vectors, by problem."""
        amount = self.amount
        if averaged and len(amount):
            amount = amount * ((self.n_seen + 1 - self.time.astype(np.float64)) / self.n_seen)
        coef = np.zeros((n_problems, n_support))
        np.add.at(coef, (self.problem, self.support), amount)
        return coef

    def kept(self, support: NDArray[np.intp]) -> "Log":
        """Return the log restricted to some of the support vectors."""
        number = np.full(int(self.support.max(initial=0)) + 1, -1)
        number[support] = np.arange(len(support))
        mine = number[self.support] >= 0
        return Log(
            number[self.support[mine]].astype(np.uint32),
            self.problem[mine],
            self.amount[mine],
            self.time[mine],
            self.errors,
            self.n_seen,
            self.n_errors,
        )


@dataclass(frozen=True)
class Targets:
    """The learning targets of some examples."""

    signs: NDArray[np.int8]  # by problem and example
    weights: FloatArray  # by example
    margin: float

    @property
    def n_problems(self) -> int:
        """The number of problems of two classes."""
        return len(self.signs)


@dataclass(frozen=True)
class State:
    """A snapshot of a model, which later learning does not change.

    Attributes
    ----------
    support : Forest, Examples or sparse rows
        The support vectors, in the form that X has.
    log : Log
    n_forgotten : int
        The number of support vectors removed.
    """

    support: Any
    log: Log
    n_forgotten: int
    scorers: dict[bool, Any] = field(default_factory=dict, repr=False)  # see PerceptronModel


@dataclass
class _Growing:
    """The model in the core, and its last snapshot."""

    core: _core.OnlinePerceptron
    n_forgotten: int
    last: State | None


class PerceptronModel:
    """Support vectors with a log of updates.

    It has two forms. The *growing* form is a weighted DAG in the core, which learns online. The
    *plain* form consists of the support vectors and the log. Each is made from the other when it is
    needed. Replaying the log gives the same DAG to the last bit.

    One thread may learn while others read. They read the model between two examples.
    """

    _growing: _Growing  # set when it is first needed

    def __init__(self, kernel: Kernel, classes: NDArray[Any], *, intercept: bool) -> None:
        self.kernel = kernel
        self.classes = classes
        self.intercept = intercept
        self.widths: dict[str, int] = {}  # number of features of dense vectors, by part
        self.terms = Terms(kernel, intercept=intercept)
        self._state: State | None = None  # the initial state, or None

    @classmethod
    def of_state(
        cls, kernel: Kernel, classes: NDArray[Any], state: State, *, intercept: bool
    ) -> "PerceptronModel":
        """Return a model with a given state."""
        model = cls(kernel, classes, intercept=intercept)
        model._state = state
        return model

    @property
    def n_problems(self) -> int:
        """The number of problems of two classes."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    # ---------------------------------------------------------------- both forms

    def _held(self) -> _Growing:
        """Return the growing form, and make it if there is none yet."""
        if "_growing" not in vars(self):
            state = self._state
            if state is None:
                made = _Growing(self.terms.new_model(self.n_problems), 0, None)
            else:
                core = self._replayed(state.support, state.log)
                made = _Growing(core, state.n_forgotten, state)
            # In one step: another thread may have made one meanwhile and learn with it.
            vars(self).setdefault("_growing", made)
        return self._growing

    def state(self) -> State:
        """Return the model as it is now."""
        if self._state is not None and "_growing" not in vars(self):
            return self._state
        growing = self._held()  # keep this one, even if another thread replaces it
        last = growing.last
        if last is None or last.log.n_seen != growing.core.n_seen:
            log, support = growing.core.state()
            last = State(self._together(support), Log(*log), growing.n_forgotten)
            growing.last = last
        return last

    def at_this_time(self) -> "PerceptronModel":
        """Return a separate model in the current state."""
        model = self.of_state(self.kernel, self.classes, self.state(), intercept=self.intercept)
        model.widths = dict(self.widths)
        return model

    @property
    def n_seen(self) -> int:
        """The number of examples visited."""
        if "_growing" in vars(self):
            return self._growing.core.n_seen
        return 0 if self._state is None else self._state.log.n_seen

    def plain(self) -> tuple[Any, Log]:
        """Return the support vectors, in the form that X has, and the log."""
        state = self.state()
        return state.support, state.log

    def _replayed(self, support: Any, log: Log) -> _core.OnlinePerceptron:
        core = self.terms.new_model(self.n_problems)
        batch = self.terms.batch(support, core, n_threads(1))
        core.replay(
            batch.parts,
            batch.scales,
            batch.norms,
            log.support,
            log.problem,
            log.amount,
            log.time,
            log.errors,
            log.n_seen,
            log.n_errors,
        )
        return core

    def _together(self, support: list[Any]) -> Any:
        """Return the core's support vectors, given by term, in the form that X has."""
        data: list[Any] = []
        for term, own in zip(self.terms.terms, support, strict=True):
            if term.capabilities.of == "trees":
                data.append(Forest._of(*own))
            else:
                begin, features, values = own
                shape = len(begin) - 1, int(features.max(initial=0)) + 1
                rows = (values, features.astype(np.int64), begin.astype(np.int64))
                data.append(scipy.sparse.csr_array(rows, shape=shape))
        return self.terms.together(data)

    def __getstate__(self) -> dict[str, Any]:
        now = self.state()
        state = {**vars(self), "_state": State(now.support, now.log, now.n_forgotten)}
        state.pop("_growing", None)
        return state

    # ---------------------------------------------------------------- learning

    def batch(self, X: Any, n_jobs: int | None) -> Batch:
        """Check and prepare examples, so that learning from them cannot fail."""
        batch = self.terms.batch(X, self._held().core, n_threads(n_jobs))
        for part, width in batch.widths.items():
            if self.widths.get(part, width) != width:
                raise InvalidParameterError(
                    f"{f'part {part!r} has' if part else 'there are'} vectors of {width:,} "
                    f"features, but {self.widths[part]:,} so far"
                )
        return batch

    def learn(
        self,
        batch: Batch,
        targets: Targets,
        order: NDArray[np.uint32],
        support_of: NDArray[np.uint32],
        *,
        max_nodes: int | None,
        lightest_leave: bool,
        progress: Callable[[int, int], None] | None,
        all_support_of: NDArray[np.uint32] | None = None,
    ) -> None:
        """Learn from examples in an order. Update `support_of`, their support vector numbers.

        If the examples will be visited again after others, `all_support_of` has the numbers of all
        of them, and `support_of` is a view of it.
        """
        every = support_of if all_support_of is None else all_support_of
        with Learning(self):  # shallow copies of an estimator share their model
            self._learn(
                batch, targets, order, support_of, every, max_nodes, lightest_leave, progress
            )

    def _learn(
        self,
        batch: Batch,
        targets: Targets,
        order: NDArray[np.uint32],
        support_of: NDArray[np.uint32],
        every: NDArray[np.uint32],
        max_nodes: int | None,
        lightest_leave: bool,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.widths |= batch.widths
        n_done = 0
        while n_done < len(order):
            core = self._held().core
            n_done += core.learn(
                batch.parts,
                batch.scales,
                batch.norms,
                targets.signs,
                targets.weights,
                targets.margin,
                order[n_done:],
                support_of,
                2**63 if max_nodes is None else max_nodes,
                progress,
            )
            if max_nodes is not None and core.figures()["n_nodes"] > max_nodes:
                self._forget(max_nodes, lightest_leave, every)

    def _forget(self, max_nodes: int, lightest_leave: bool, support_of: NDArray[np.uint32]) -> None:
        """Remove support vectors, and rebuild the DAG of the others."""
        core, state = self._held().core, self.state()
        log, n_support = state.log, n_examples(state.support)
        preferred = np.arange(n_support)[::-1]  # the newest first
        if lightest_leave:
            weight = np.abs(log.coef(self.n_problems, n_support, averaged=False)).sum(axis=0)
            preferred = preferred[np.argsort(-weight[preferred], kind="stable")]
        numbers = preferred.astype(np.uint32)
        n = core.n_that_fit(numbers, int(_KEPT * max_nodes)) or core.n_that_fit(numbers, max_nodes)
        kept = np.sort(preferred[:n])
        number = np.full(n_support + 1, 2**32 - 1, dtype=np.uint32)
        number[kept] = np.arange(n)
        known = np.minimum(support_of, n_support)
        left = State(state.support[kept], log.kept(kept), state.n_forgotten + n_support - n)
        growing = _Growing(self._replayed(left.support, left.log), left.n_forgotten, left)
        support_of[:] = number[known]
        self._growing = growing

    # ---------------------------------------------------------------- scoring

    def scores(self, X: Any, *, averaged: bool, by_factors: bool, n_jobs: int | None) -> FloatArray:
        """Score examples by the last weights or by their average: shape (len(X), n_problems)."""
        if by_factors or (n_examples(X) > _MANY and is_sum(self.kernel)):
            values: FloatArray = self.scorer(averaged=averaged).decision_function(X, n_jobs=n_jobs)
            return values
        batch = self.batch(X, n_jobs)
        return self._held().core.scores(
            batch.parts, batch.scales, batch.norms, averaged, n_threads(n_jobs)
        )

    def scorer(self, *, averaged: bool) -> Any:
        """Return the last weights, or their average, as a model with coefficients."""
        state = self.state()
        if averaged not in state.scorers:
            support = state.support
            coef = state.log.coef(self.n_problems, n_examples(support), averaged=averaged)
            intercept = coef.sum(axis=1) if self.intercept else np.zeros(self.n_problems)
            state.scorers[averaged] = SupportVectorModel(self.kernel, support, coef, intercept)
        return state.scorers[averaged]

    def votes(self, X: Any, n_jobs: int | None) -> FloatArray:
        """Score examples by votes of the weights after each example: means of -1, 0 and +1.

        Kernel values with the support vectors are summed in the order of the updates, in blocks of
        examples that fit into memory.
        """
        support, log = self.plain()
        n, n_support = n_examples(X), n_examples(support)
        votes = np.zeros((n, self.n_problems))
        if n == 0 or n_support == 0:
            return votes
        X, support = with_sparse_rows(X), with_sparse_rows(support)
        norms = np.sqrt(self.terms.kernel.diag(support, n_jobs=n_jobs))
        at_a_time = max(1, _VOTE_BYTES // (8 * max(n_support, len(log.amount))))
        for first in range(0, n, at_a_time):
            part = X[first : first + at_a_time]
            values = self.terms.kernel(part, support, n_jobs=n_jobs)
            own = np.sqrt(self.terms.kernel.diag(part, n_jobs=n_jobs))
            for problem in range(self.n_problems):
                mine = np.flatnonzero(log.problem == problem)
                amount, number = log.amount[mine], log.support[mine]
                time = log.time[mine].astype(np.float64)
                lived = np.diff(time, append=log.n_seen + 1.0)
                scores = np.cumsum(values[:, number] * amount, axis=1)
                reach = np.cumsum(np.abs(amount) * norms[number])
                scores[np.abs(scores) <= _ROUNDING * own[:, None] * reach] = 0.0
                votes[first : first + at_a_time, problem] = np.sign(scores) @ lived / log.n_seen
        return votes

    # ---------------------------------------------------------------- figures

    def figures(self) -> dict[str, Any]:
        """Return figures on the course of learning and the size of the model."""
        if "_growing" in vars(self):
            growing = self._growing
            return {**growing.core.figures(), "n_forgotten": growing.n_forgotten}
        state = self.state()
        log = state.log
        forests = [kernel.trees_of(state.support) for kernel in tree_kernels(self.kernel)]
        return {
            "n_seen": log.n_seen,
            "n_errors": log.n_errors,
            "n_updates": len(log.amount),
            "n_support_vectors": n_examples(state.support),
            "n_nodes": sum(forest.n_subtrees for forest in forests),
            "n_tree_nodes": sum(forest.n_nodes for forest in forests),
            "error_history": log.errors,
            "n_forgotten": state.n_forgotten,
        }
