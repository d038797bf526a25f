"""The base of learners that are trained in the dual."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.corpus.parts import Parts
from filbert.engine import Engine
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.kernels.inputs import rows_for, warn_without_fragments
from filbert.learners.at_once import at_once
from filbert.learners.dual_parameters import check_cost
from filbert.learners.exact import ExactTrainer
from filbert.learners.kernel_parameter import KernelParameter
from filbert.learners.problems import Problems, Solution, Trainer
from filbert.model import SupportVectorModel


@dataclass(frozen=True)
class Task:
    """The data that all values of C share."""

    kernel: Any
    examples: Any  # in the form that the kernel needs
    trainer: Trainer
    problems: Problems  # with C = 1; each training has its own C, seeds and start


class DualLearner(KernelParameter, BaseEstimator):  # type: ignore[misc]
    """Trains in the dual, for one or several values of C, and keeps what training found.

    A subclass has the parameters below and perhaps others, and the methods `check_parameters` and
    `_prepare`.
    """

    C: float
    engine: Engine
    tol: float
    kernel_tol: float | None
    max_iter: int | None
    warm_start: bool
    max_memory: int | None
    n_jobs: int | None
    random_state: Any
    verbose: int

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on trees `X` with targets `y`. `sample_weight` multiplies C for each example."""
        y = self._target_of(X, y)
        task = self._prepare(X, y, sample_weight, [self.C])
        self._solve(task, self.C, self._warm_alpha(task))
        return self

    def fit_path(
        self, X: Any, y: ArrayLike, Cs: Iterable[float], sample_weight: ArrayLike | None = None
    ) -> list[Self]:
        """Train for several values of C, each starting from the previous solution.

        All values share one factorisation, or the same rows. Planes are found again for each value.
        Returns a fitted copy for each value, in the order of `Cs`.
        """
        Cs = checked_costs(Cs)
        y = self._target_of(X, y)
        task = self._prepare(X, y, sample_weight, Cs)
        fitted: list[Self] = []
        for C in Cs:
            start = fitted[-1]._alpha if fitted else None
            fitted.append(clone(self).set_params(C=C))
            fitted[-1]._solve(task, C, start)
        return fitted

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` calls it first. Call it yourself before reading X from a large file.
        """
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ---------------------------------------------------------------- training

    def _prepare(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, Cs: Sequence[float]
    ) -> Task:
        raise NotImplementedError

    def _target_of(self, X: Any, y: ArrayLike | None) -> ArrayLike:
        """Return y. Without it, or for a corpus in parts, raise an error."""
        name = type(self).__name__
        if isinstance(X, Parts):
            raise InputTypeError(
                f"{name} trains on examples in one piece: read them with filbert.read_examples. "
                "TreeSVC and TreePerceptron take a corpus in parts"
            )
        if y is None:
            raise InvalidParameterError(f"{name} needs y, one target per example")
        return y

    def _kernel_and_examples(self, X: Any, Cs: Sequence[float]) -> tuple[Any, Any]:
        """Check the parameters, and return the kernel and X in the form that it needs."""
        self.check_parameters()
        for C in Cs:
            check_cost(type(self).__name__, C)
        kernel = self._default_kernel() if self.kernel is None else clone(self.kernel, safe=False)
        return kernel, rows_for(kernel, X)

    def _task(
        self, kernel: Any, examples: Any, problems: Problems, make_trainer: Callable[[], Trainer]
    ) -> Task:
        if not problems.weights.any():
            raise InvalidParameterError("all weights are zero: there is nothing to learn from")
        warn_without_fragments(kernel, examples, stacklevel=5)
        trainer = make_trainer()
        if self.verbose > 0:
            print(trainer.plan, file=sys.stderr)
        return Task(kernel, examples, trainer, problems)

    def _trainer(
        self, kernel: Any, examples: Any, kernel_tol: float, rows_needed: float = 1.0
    ) -> Trainer:
        """Return a trainer whose first errors of the kernel are at most `kernel_tol`.

        `rows_needed` is the work by rows, see :func:`filbert.engine.work.rows_for_training`.
        """
        options = {**self._exact_options(kernel_tol), "rows_needed": rows_needed}
        return ExactTrainer(kernel, examples, engine=self.engine, **options)

    def _exact_options(self, kernel_tol: float) -> dict[str, Any]:
        return {
            "owner": type(self).__name__,
            "kernel_tol": kernel_tol if self.kernel_tol is None else float(self.kernel_tol),
            "max_memory": self.max_memory,
            "n_jobs": self.n_jobs,
            "verbose": self.verbose,
        }

    def _problems(self, signs: NDArray[np.int8], weights: FloatArray, loss: str) -> Problems:
        return Problems(
            signs=signs,
            weights=weights,
            C=1.0,
            loss=loss,
            intercept=bool(getattr(self, "fit_intercept", False)),
            tol=float(self.tol),
            max_iter=self.max_iter,
            seeds=np.zeros(len(signs), dtype=np.uint64),
        )

    def _warm_alpha(self, task: Task) -> FloatArray | None:
        """Return the last solution if a warm start is wanted and it has the right shape."""
        alpha: FloatArray | None = getattr(self, "_alpha", None) if self.warm_start else None
        return alpha if alpha is not None and alpha.shape == task.problems.signs.shape else None

    def _solve(
        self, task: Task, C: float, start: FloatArray | None, kept: Checkpoint | None = None
    ) -> None:
        rng = check_random_state(self.random_state if kept is None else kept.seed)
        n_problems = len(task.problems.signs)
        seeds = rng.randint(0, 2**63 - 1, size=n_problems, dtype=np.int64).astype(np.uint64)
        problems = replace(task.problems, C=float(C), seeds=seeds, start=start)
        solution = task.trainer.train(problems, kept)
        with at_once(self) as draft:
            draft._cost = problems.C
            draft._keep(task, solution)

    def _keep(self, task: Task, solution: Solution) -> None:
        self.support_ = np.flatnonzero(solution.coef.any(axis=0))
        coef = solution.coef[:, self.support_]
        support = task.examples[self.support_]
        self.model_ = SupportVectorModel(task.kernel, support, coef, solution.intercept)
        self.dual_coef_ = coef
        self.intercept_ = solution.intercept
        self.objective_ = solution.objective
        self.duality_gap_ = solution.gap
        self.kernel_error_ = solution.kernel_error
        self.n_iter_ = solution.n_iter
        self.convergence_ = solution.convergence
        self.engine_ = task.trainer.plan.name
        self.engine_reason_ = task.trainer.plan.reason
        self._alpha = solution.alpha


def checked_costs(Cs: Iterable[float]) -> list[float]:
    """Return the values of C of a path."""
    if not isinstance(Cs, Iterable):
        raise InvalidParameterError(f"Cs must be several values of C, got {Cs!r}")
    return list(Cs)
