"""The exact strategy: coordinate descent in the dual, by factors or by rows of kernels."""

from typing import Any
from warnings import warn

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from filbert.engine import Engine, plan_for
from filbert.learners.problems import Convergence, Problems, Solution
from filbert.progress import progress_bar
from filbert.threads import n_threads

_MAX_ITER = 10_000


class ExactTrainer:
    """Solves problems without sampling, to a gap between primal and dual over all examples."""

    def __init__(
        self,
        kernel: Any,
        examples: Any,
        *,
        engine: Engine,
        max_memory: int | None,
        n_jobs: int | None,
        verbose: int,
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.plan = plan_for(
            kernel,
            examples,
            engine=engine,
            max_memory=max_memory,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.matrix: Any = self.plan.operator

    def train(self, problems: Problems) -> Solution:
        """Solve the problems, and warn where `tol` was not reached."""
        bounds = np.broadcast_to(problems.C * problems.weights, problems.signs.shape)
        max_iter = _MAX_ITER if problems.max_iter is None else problems.max_iter
        with progress_bar("training", show=self.verbose > 0) as progress:
            alpha, intercept, primal, _, gap, sweeps, looks = self.matrix.train(
                problems.signs,
                np.ascontiguousarray(bounds),
                problems.start,
                problems.squared_hinge,
                problems.intercept,
                problems.tol,
                problems.seeds,
                max_iter,
                n_threads(self.n_jobs),
                progress,
            )
        if gap.max() > problems.tol:
            warn(
                f"TreeSVC stopped after max_iter={max_iter} sweeps at a relative duality gap "
                f"of {gap.max():.1e}, above tol={problems.tol:g}: raise max_iter, or lower C",
                ConvergenceWarning,
                stacklevel=4,
            )
        return Solution(
            coef=alpha * problems.signs,
            intercept=intercept,
            objective=float(primal.sum()),
            gap=float(gap.max()),
            n_iter=int(sweeps.max()),
            convergence=[Convergence(n.astype(np.int64), *values) for n, *values in looks],
            alpha=alpha,
        )
