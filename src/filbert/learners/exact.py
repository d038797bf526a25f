"""The exact strategy: coordinate descent in the dual, by factors or by rows."""

from dataclasses import replace
from functools import partial
from typing import Any
from warnings import warn

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.engine import Engine, plan_for
from filbert.errors import InvalidParameterError
from filbert.learners.certificate import Certificate
from filbert.learners.pauses import Curves, Pauses, Run, looks_of
from filbert.learners.problems import Convergence, Problems, Solution
from filbert.progress import progress_bar
from filbert.threads import n_threads

_MAX_ITER = 10_000
_OF_SOLVER = 0.8  # the share of tol, as far as errors of the kernel leave it, that the solver takes


class ExactTrainer:
    """Solves problems without sampling, up to a duality gap over all examples.

    The gap is that of the exact kernel, also if the factors are pruned. Then a bound on it is
    computed from the solution. If the bound exceeds `tol`, either the solver goes on to a smaller
    gap, or the matrix is factorised again with smaller errors.
    """

    def __init__(
        self,
        kernel: Any,
        examples: Any,
        *,
        owner: str,
        engine: Engine,
        kernel_tol: float,
        rows_needed: float = 1.0,
        max_memory: int | None,
        n_jobs: int | None,
        verbose: int,
    ) -> None:
        self.owner = owner
        self.n_jobs = n_jobs
        self.verbose = verbose
        self._plan_for = partial(
            plan_for,
            kernel,
            examples,
            engine=engine,
            rows_needed=rows_needed,
            max_memory=max_memory,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self._prepare(kernel_tol)

    def train(self, problems: Problems, kept: Checkpoint | None = None) -> Solution:
        """Solve the problems, and warn if `tol` was not reached.

        With a checkpoint, begin where it is, and store the state every so often.
        """
        solution = self.solve(problems, kept)
        if not np.isfinite(solution.objective):
            raise InvalidParameterError(
                f"{self.owner}: the objective is too large for a double: use smaller targets, C or "
                "sample_weight"
            )
        if solution.gap > problems.tol:
            n_most = _MAX_ITER if problems.max_iter is None else problems.max_iter
            self._warn(solution.gap, problems.tol, n_most)
        return solution

    def solve(self, problems: Problems, kept: Checkpoint | None = None) -> Solution:
        """Solve the problems, up to `tol` if `max_iter` suffices."""
        runs = _Runs(_MAX_ITER if problems.max_iter is None else problems.max_iter)
        pauses = None if kept is None else Pauses(kept, self.matrix)
        tol, start = problems.tol, problems.start
        room = tol  # that errors of the kernel leave
        if pauses is not None and pauses.run is not None:
            room, runs = pauses.run.room, _Runs(pauses.run.n_left, pauses.run.before.unpacked())
            if pauses.run.kernel_tol != self._kernel_tol:
                self._prepare(pauses.run.kernel_tol)
        while True:
            own_tol = tol if self.plan.is_exact else _OF_SOLVER * room
            own = replace(problems, tol=own_tol, start=start)
            if pauses is None:
                solved = self._descend(own, runs.n_left)
                runs.add(solved, looks_of(solved))
            else:
                run = Run(self._kernel_tol, room, runs.n_left, Curves.packed(runs.convergence))
                solved, looks = pauses.descend(self._descend, own, run)
                runs.add(solved, looks)
            gaps = solved.gap
            if self.plan.is_exact:
                break
            certificate = self._certificate(problems, solved)
            gaps = certificate.gaps()
            if gaps.max() <= tol or runs.n_left == 0:
                break
            room = tol - certificate.excess()
            if room < tol / 2 or solved.n_sweeps.max() == 0:  # the solver alone cannot do it
                self._prepare(certificate.finer(self._kernel_tol, tol))
                room = tol
            start = solved.alpha
        error = float(self.plan.kernel_errors.max(initial=0.0))
        return runs.solution(problems, solved, gaps, error)

    def _prepare(self, kernel_tol: float) -> None:
        self._kernel_tol = kernel_tol
        self.plan = self._plan_for(kernel_tol=kernel_tol)
        self.matrix: Any = self.plan.operator

    def _descend(self, problems: Problems, n_sweeps: int, **pause: Any) -> _core.SvmSolutions:
        with progress_bar("training", show=self.verbose > 0) as progress:
            solved: _core.SvmSolutions = self.matrix.train(
                problems.on_core(n_sweeps, **pause), n_threads(self.n_jobs), progress
            )
        return solved

    def _certificate(self, problems: Problems, solved: _core.SvmSolutions) -> Certificate:
        weights = np.ascontiguousarray((solved.alpha * problems.signs).T)
        return Certificate(
            problems=problems.on_core(0),
            alpha=solved.alpha,
            scores=self.matrix.scores(weights, n_threads(self.n_jobs)) + solved.intercept,
            own=solved.gap,
            errors=self._kernel_errors(),
            rows=self._kernel_error_rows(),
            have_sign=self.matrix.errors_have_sign,
        )

    def _kernel_errors(self) -> FloatArray:
        return self.plan.kernel_errors

    def _kernel_error_rows(self) -> FloatArray:
        return self.plan.kernel_error_rows

    def _warn(self, gap: float, tol: float, max_iter: int) -> None:
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415, as in targets.py

        warn(
            f"{self.owner} stopped after max_iter={max_iter} sweeps at a relative duality gap "
            f"of {gap:.1e}, above tol={tol:g}: raise max_iter, or lower C",
            ConvergenceWarning,
            stacklevel=5,
        )


class _Runs:
    """The runs of the solver, each from where the last one ended."""

    def __init__(self, n_most: int, convergence: list[Convergence] | None = None) -> None:
        self.n_left = n_most
        self.convergence = convergence or []  # by problem

    def add(self, solved: _core.SvmSolutions, new: list[Convergence]) -> None:
        """Count the sweeps of a run, and append its convergence to that of earlier runs."""
        self.n_left -= int(solved.n_sweeps.max())
        if self.convergence:
            new = [_joined(*both) for both in zip(self.convergence, new, strict=True)]
        self.convergence = new

    def solution(
        self, problems: Problems, solved: _core.SvmSolutions, gaps: FloatArray, kernel_error: float
    ) -> Solution:
        """Return the solution of the last run, whose gaps under the exact kernel are given."""
        curves = zip(self.convergence, gaps, strict=True)
        return Solution(
            coef=solved.alpha * problems.signs,
            intercept=solved.intercept,
            objective=float(solved.primal.sum()),
            gap=float(gaps.max()),
            n_iter=max(int(curve.steps[-1]) for curve in self.convergence),
            convergence=[replace(own, gap=np.append(own.gap[:-1], gap)) for own, gap in curves],
            alpha=solved.alpha,
            kernel_error=kernel_error,
        )


def _joined(before: Convergence, after: Convergence) -> Convergence:
    """Join the curves of two runs. The second begins where the first ends."""
    return Convergence(
        np.append(before.steps[:-1], before.steps[-1] + after.steps),
        np.append(before.objective[:-1], after.objective),
        np.append(before.gap[:-1], after.gap),
    )
