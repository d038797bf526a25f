"""The exact strategy: coordinate descent in the dual, by factors or by rows."""

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
    """Solves problems without sampling, up to a duality gap over all examples."""

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
        """Solve the problems, and warn if `tol` was not reached."""
        max_iter = _MAX_ITER if problems.max_iter is None else problems.max_iter
        with progress_bar("training", show=self.verbose > 0) as progress:
            solved = self.matrix.train(problems.on_core(max_iter), n_threads(self.n_jobs), progress)
        gap = float(solved.gap.max())
        if gap > problems.tol:
            warn(
                f"TreeSVC stopped after max_iter={max_iter} sweeps at a relative duality gap "
                f"of {gap:.1e}, above tol={problems.tol:g}: raise max_iter, or lower C",
                ConvergenceWarning,
                stacklevel=4,
            )
        alpha = solved.alpha
        return Solution(
            coef=alpha * problems.signs,
            intercept=solved.intercept,
            objective=float(solved.primal.sum()),
            gap=gap,
            n_iter=int(solved.n_sweeps.max()),
            convergence=[Convergence(n.astype(np.int64), *values) for n, *values in solved.looks],
            alpha=alpha,
        )
