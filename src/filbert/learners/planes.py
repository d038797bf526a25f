"""The strategies of Severyn & Moschitti 2012: how planes are stored, and training with each."""

from collections.abc import Iterable
from typing import Any, Literal
from warnings import warn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from filbert import _core
from filbert.arrays import FloatArray, IndexArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.engine import Plan
from filbert.engine.rows import KernelFunction, checked_kernel_values
from filbert.errors import InvalidParameterError, KernelOverflowError
from filbert.kernels import TreeKernel
from filbert.kernels.capabilities import capabilities_of
from filbert.learners.cutting_planes import State, cutting_planes, iteration_bound
from filbert.learners.problems import Convergence, Problems, Solution
from filbert.learners.sampling import Sampler, recommended_sample_size
from filbert.learners.stored_planes import DeltaCounts, StoredPlanes
from filbert.progress import progress_bar
from filbert.threads import n_threads

Strategy = Literal["usvm", "sdag", "sdag+"]

_STORAGE = {
    "usvm": _core.PlaneStorage.lists,  # Eq. 4
    "sdag": _core.PlaneStorage.dags,  # Eq. 10
    "sdag+": _core.PlaneStorage.one_dag,  # Eq. 11
}
_MAX_ITER = 300  # as in the paper's Table 4
_BYTES = 64 << 20  # of a callable kernel's values in memory at a time
_ROUNDING = 1e-8  # of the largest kernel value


class TreePlanes:
    """Planes over trees, stored in one of the paper's ways."""

    def __init__(self, strategy: Strategy, trees: _core.TrainingTrees, threads: int) -> None:
        self.store = _core.PlaneStore(_STORAGE[strategy], trees)
        self.threads = threads

    def scores(self, sample: IndexArray, alpha: FloatArray) -> FloatArray:
        """Return w . phi(x) for a sample of the examples."""
        return self.store.scores(sample, alpha, self.threads, None)

    def add(self, places: IndexArray, weights: FloatArray) -> FloatArray:
        """Add a plane of examples of the last sample; return its products with all planes."""
        return self.store.add(places, weights, self.threads, None)

    def keep(self, planes: IndexArray) -> None:
        """Drop all planes except these."""
        self.store.keep(planes)

    def restore(self, examples: IndexArray, weights: FloatArray) -> None:
        """Add a plane of examples as before, whose products are known."""
        self.store.restore(examples, weights)


class ListsOfExamples:
    """uSVM (Eq. 4) for any kernel, called as ``kernel(X, Y)``.

    An example in several planes is compared with the sample once.
    """

    def __init__(self, kernel: KernelFunction, X: Any) -> None:
        self.kernel = kernel
        self.X = X
        self._sample: IndexArray = np.empty(0, dtype=np.uint32)
        self._scores = np.empty((0, 0))  # by example of the sample, and plane
        self._planes = sp.csr_array((0, X.shape[0]))  # weights by plane and example

    def scores(self, sample: IndexArray, alpha: FloatArray) -> FloatArray:
        """Return w . phi(x) for a sample of the examples."""
        self._sample = sample
        self._scores = np.zeros((len(sample), self._planes.shape[0]))
        stored = np.unique(self._planes.indices)
        at_once = max(1, _BYTES // (8 * max(1, len(sample))))
        for some in (stored[i : i + at_once] for i in range(0, len(stored), at_once)):
            self._scores += self._values(sample, some) @ self._planes[:, some].T
        return np.asarray(self._scores @ alpha)

    def add(self, places: IndexArray, weights: FloatArray) -> FloatArray:
        """Add a plane of examples of the last sample; return its products with all planes."""
        examples = self._sample[places]
        with_others = weights @ self._scores[places]
        values = self._values(examples, examples)
        with_itself = float(weights @ values @ weights)
        if with_itself < -_ROUNDING * np.abs(values).max(initial=0):
            raise InvalidParameterError(
                f"kernel {self.kernel!r} is not positive semi-definite: a weighted sum of "
                f"examples has the squared norm {with_itself:.1e}"
            )
        self.restore(examples, weights)
        return np.append(with_others, with_itself)

    def restore(self, examples: IndexArray, weights: FloatArray) -> None:
        """Add a plane of examples as before, whose products are known."""
        shape = (1, self.X.shape[0])
        plane = sp.csr_array((weights, examples.astype(np.int64), [0, len(weights)]), shape=shape)
        self._planes = sp.csr_array(sp.vstack([self._planes, plane]))

    def keep(self, planes: IndexArray) -> None:
        """Drop all planes except these."""
        self._planes = self._planes[planes]
        self._scores = self._scores[:, planes]

    def _values(self, rows: NDArray[Any], columns: NDArray[Any]) -> FloatArray:
        return checked_kernel_values(self.kernel, self.X[rows], self.X[columns])


class PlaneTrainer:
    """Solves problems by cutting planes on samples."""

    def __init__(
        self,
        strategy: Strategy,
        kernel: Any,
        X: Any,
        *,
        sample_size: int | None,
        n_jobs: int | None,
        verbose: int,
    ) -> None:
        self.strategy = strategy
        self.kernel = kernel
        self.X = X
        self.n = X.shape[0]
        recipe = sample_size is None
        self.sample_size = min(self.n, recommended_sample_size(self.n) if recipe else sample_size)
        self.threads = n_threads(n_jobs)
        self.verbose = verbose
        source = "by the paper's recipe" if recipe else "as requested"
        self.plan = Plan(
            "planes",
            f"{strategy} with samples of {self.sample_size:,} of {self.n:,} examples, {source}",
        )
        by_nodes = capabilities_of(kernel).tree_in_core
        self._trees = self._training_trees(kernel, X) if by_nodes else None

    def _training_trees(self, kernel: TreeKernel, X: Any) -> _core.TrainingTrees:
        forest = kernel.trees_of(X)
        dag, roots = forest._dag, forest._roots
        if forest.n_subtrees < 0.7 * dag.size:  # leave the rest out
            dag, roots = dag.extract(roots)
        normalize = bool(kernel.normalize)
        try:
            with progress_bar("preparing", show=self.verbose > 0) as progress:
                return _core.TrainingTrees(
                    kernel._spec(), dag, roots, normalize, self.threads, progress
                )
        except KernelOverflowError as error:
            hint = "use strategy='exact' with normalize=True, which has no such range"
            raise KernelOverflowError(error.what, hint) from None

    def train(self, problems: Problems, kept: Checkpoint | None = None) -> Solution:
        """Solve the problems one after the other, and warn if `tol` was not reached.

        With a checkpoint, begin where it is, and store the state every so often.
        """
        max_iter = _MAX_ITER if problems.max_iter is None else problems.max_iter
        runs = [self._run(problems, k, max_iter, kept) for k in range(len(problems.signs))]
        states = [state for state, _ in runs]
        last = [state.history[-1] for state in states]
        worst = max(now.violation for now in last)
        if worst > problems.tol:
            warn(
                f"TreeSVC stopped after max_iter={max_iter} iterations at a plane that is violated "
                f"by {worst:.1e}, more than tol={problems.tol:g}: raise max_iter or sample_size, "
                "or use strategy='exact'",
                ConvergenceWarning,
                stacklevel=4,
            )
        return Solution(
            coef=np.array([state.coefficients(self.n) for state in states]),
            intercept=np.array(
                [state.alpha @ state.biases if problems.intercept else 0.0 for state in states]
            ),
            objective=sum(now.objective for now in last),
            gap=max((now.objective - now.dual) / now.objective for now in last),
            n_iter=max(len(state.history) for state in states),
            convergence=[_convergence(state) for state in states],
            report={
                "sample_size_": self.sample_size,
                "iteration_bound_": self._bound(problems),
                "n_planes_": sum(len(state.alpha) for state in states),
                "history_": [state.history for state in states],
                "delta_calls_": self._sum(counts.calls for _, counts in runs),
                "delta_computed_": self._sum(counts.computed for _, counts in runs),
            },
        )

    def _run(
        self, problems: Problems, k: int, max_iter: int, kept: Checkpoint | None
    ) -> tuple[State, DeltaCounts]:
        """Solve one problem; its planes are not kept."""
        planes: TreePlanes | ListsOfExamples = (
            ListsOfExamples(self.kernel, self.X)
            if self._trees is None
            else TreePlanes(self.strategy, self._trees, self.threads)
        )
        state = State(np.random.default_rng(problems.seeds[k]))
        stored = StoredPlanes(kept, f"planes-{k}", state, planes)
        if stored.is_finished:
            return state, self._counts(planes, stored)
        # The mean loss of the paper's objective is over examples in proportion to their weights.
        steps = cutting_planes(
            planes,
            problems.signs[k],
            Sampler(problems.weights, self.sample_size),
            state,
            C=problems.C * float(problems.weights.sum()),
            epsilon=problems.tol,
            intercept=problems.intercept,
            between=lambda: stored.store_in_time(self._counts(planes, stored)),
        )
        with progress_bar("cutting planes", show=self.verbose > 0) as progress:
            for now in steps:
                n = len(state.history)
                if progress is not None:
                    progress(n, max_iter, f"cutting planes, violation {now.violation:.4f}")
                if n == max_iter:
                    break
        counts = self._counts(planes, stored)
        stored.finish(counts)
        return state, counts

    def _counts(self, planes: TreePlanes | ListsOfExamples, stored: StoredPlanes) -> DeltaCounts:
        """Return the counts so far, with those before an interruption."""
        if not isinstance(planes, TreePlanes):
            return DeltaCounts(None, None)
        store, before = planes.store, stored.counts
        return DeltaCounts(
            store.delta_calls + (before.calls or 0), store.delta_computed + (before.computed or 0)
        )

    def _bound(self, problems: Problems) -> float | None:
        if self._trees is None:  # it would take one kernel call per example
            return None
        C = problems.C * float(problems.weights.sum())
        return iteration_bound(C, self._trees.largest_self + problems.intercept, problems.tol)

    def _sum(self, counts: Iterable[int | None]) -> int | None:
        return None if self._trees is None else sum(count or 0 for count in counts)


def _convergence(state: State) -> Convergence:
    objective = np.array([now.objective for now in state.history])
    dual = np.array([now.dual for now in state.history])
    return Convergence(
        np.arange(1, len(objective) + 1), objective, np.maximum(0.0, (objective - dual) / objective)
    )
