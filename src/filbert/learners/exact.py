"""The exact strategy: coordinate descent in the dual, by factors or by rows of kernels."""

from abc import ABC, abstractmethod
from typing import Any, Literal
from warnings import warn

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from filbert._core import GramTrainer, KernelOperator, RowTrainer, SumOperator
from filbert.errors import OutOfMemoryError, WorkLimitError
from filbert.forest import Forest
from filbert.kernels import Kernel, PartialTree, Subtree, TreeKernel
from filbert.kernels.algebra import n_examples
from filbert.learners.problems import Convergence, Problems, Solution
from filbert.model import factorize
from filbert.progress import progress_bar
from filbert.sum_factors import sum_factors
from filbert.threads import n_threads
from filbert.work import LITTLE_WORK, row_steps, steps_worth_trying

Engine = Literal["auto", "factors", "rows"]
Matrix = KernelOperator | RowTrainer | SumOperator | GramTrainer

_MAX_ITER = 10_000
_ROWS_KEPT = 672 << 20  # bytes: all rows of 12,000 trees, and with the program less than 1 GB


class DualTrainer(ABC):
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
        self.kernel = kernel
        self.examples = examples
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.matrix, self.engine = self._matrix(engine)

    @abstractmethod
    def _matrix(self, engine: Engine) -> tuple[Matrix, str]:
        """Return what computes kernels, which engine that is and why."""

    def train(self, problems: Problems) -> Solution:
        """Solve the problems, and warn where `tol` was not reached."""
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


class ExactTrainer(DualTrainer):
    """Of one tree kernel, by its factors or by rows of its matrix."""

    kernel: TreeKernel
    examples: Forest

    def _matrix(self, engine: Engine) -> tuple[KernelOperator | RowTrainer, str]:
        """Return what computes kernels, which engine that is and why.

        Nobody knows how much work it is to factorise but by doing it. So it is tried, and given up
        where it takes more than a part of what the rows may take.
        """
        if engine == "factors":
            return self._factors(None), "factors: as asked for"
        if engine == "rows":
            return self._rows(), "rows: as asked for"
        if isinstance(self.kernel.exact(), Subtree):
            return self._factors(None), "factors: those of Subtree take no search"
        rows = row_steps(self.kernel, self.examples)
        if isinstance(self.kernel.exact(), PartialTree) and rows < LITTLE_WORK:
            reason = f"the whole kernel matrix takes about {rows:.1e} steps only"
            return self._rows(), f"rows: {reason}"
        max_work = steps_worth_trying(self.kernel, rows)
        try:
            factors = self._factors(max_work)
        except WorkLimitError:
            reason = (
                f"factorising was given up after {max_work:.1e} steps, "
                f"the whole kernel matrix takes about {rows:.1e}"
            )
            return self._rows(), f"rows: {reason}"
        reason = (
            f"factorising took less than {max_work:.1e} steps, "
            f"the whole kernel matrix would take about {rows:.1e}"
        )
        return factors, f"factors: {reason}"

    def _factors(self, max_work: float | None) -> KernelOperator:
        with progress_bar("factorising", show=self.verbose > 0) as progress:
            return factorize(
                self.kernel,
                self.examples,
                max_memory=self.max_memory,
                max_work=max_work,
                n_jobs=self.n_jobs,
                progress=progress,
            )

    def _rows(self) -> RowTrainer:
        with progress_bar("preparing", show=self.verbose > 0) as progress:
            return RowTrainer(
                self.kernel._spec(),
                self.examples._dag,
                self.examples._roots,
                bool(self.kernel.normalize),
                _ROWS_KEPT if self.max_memory is None else self.max_memory,
                n_threads(self.n_jobs),
                progress,
            )


class SumTrainer(DualTrainer):
    """Of any kernel of Filbert's: sums by the factors of their terms, others by the matrix."""

    kernel: Kernel

    def _matrix(self, engine: Engine) -> tuple[SumOperator | GramTrainer, str]:
        """Return what computes kernels, which engine that is and why.

        Where the whole matrix does not fit, there is no other way than factors, whatever they take.
        """
        if engine == "rows":
            return self._whole_matrix(), "rows: as asked for"
        if engine == "factors" or not self._whole_matrix_fits():
            reason = "as asked for" if engine == "factors" else "the kernel matrix would not fit"
            return self._only_factors(), f"factors: {reason}"
        try:
            return self._factors(limited=True), "factors: those of all terms"
        except (WorkLimitError, OutOfMemoryError) as error:
            return self._whole_matrix(), f"rows: {error}"

    def _only_factors(self) -> SumOperator:
        try:
            return self._factors(limited=False)
        except OutOfMemoryError as error:
            what = error.what
        raise OutOfMemoryError(
            f"{what}; strategy='usvm' takes any kernel without factors, and vectors of fewer "
            "features have fewer products"
        )

    def _factors(self, *, limited: bool) -> SumOperator:
        return sum_factors(
            self.kernel,
            self.examples,
            max_memory=self.max_memory,
            limited=limited,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _whole_matrix_fits(self) -> bool:
        return 8 * n_examples(self.examples) ** 2 <= self._room()

    def _whole_matrix(self) -> GramTrainer:
        n = n_examples(self.examples)
        if not self._whole_matrix_fits():
            raise OutOfMemoryError(
                f"the kernel matrix of {n:,} examples takes {8 * n * n >> 20:,} MiB, but "
                f"{self._room() >> 20:,} MiB are allowed"
            )
        matrix = self.kernel(self.examples, n_jobs=self.n_jobs, verbose=self.verbose)
        return GramTrainer(matrix, self._room())

    def _room(self) -> int:
        return _ROWS_KEPT if self.max_memory is None else self.max_memory
