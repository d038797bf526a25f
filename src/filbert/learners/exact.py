"""The exact strategy: coordinate descent in the dual, by factors or by rows of the kernel matrix."""

from dataclasses import dataclass
from typing import Literal
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from filbert._core import KernelOperator, RowTrainer
from filbert.errors import WorkLimitError
from filbert.forest import Forest
from filbert.kernels import PartialTree, Subtree, TreeKernel
from filbert.model import factorize
from filbert.progress import progress_bar
from filbert.threads import n_threads
from filbert.work import row_steps, worth_trying

FloatArray = NDArray[np.float64]
Engine = Literal["auto", "factors", "rows"]

_LITTLE_WORK = 1e8  # steps, a tenth of a second
_ROWS_KEPT = 672 << 20  # bytes: all rows of 12,000 trees, and with the program less than 1 GB


@dataclass(frozen=True)
class KernelMatrix:
    """What computes with the kernels of the training set, and which engine that is and why."""

    operator: KernelOperator | RowTrainer
    engine: str


def kernel_matrix(
    kernel: TreeKernel,
    forest: Forest,
    engine: Engine,
    max_memory: int | None,
    n_jobs: int | None,
    verbose: int,
) -> KernelMatrix:
    """Choose the engine and prepare it.

    Nobody knows how much work it is to factorise but by doing it. So it is tried, and given up
    where it takes more than a part of what the rows may take.
    """

    def factors(max_work: float | None) -> KernelOperator:
        with progress_bar("factorising", show=verbose > 0) as progress:
            return factorize(
                kernel,
                forest,
                max_memory=max_memory,
                max_work=max_work,
                n_jobs=n_jobs,
                progress=progress,
            )

    def rows() -> RowTrainer:
        kept = _ROWS_KEPT if max_memory is None else max_memory
        with progress_bar("preparing", show=verbose > 0) as progress:
            return RowTrainer(
                kernel._spec(),
                forest._dag,
                forest._roots,
                bool(kernel.normalize),
                kept,
                n_threads(n_jobs),
                progress,
            )

    if engine == "factors":
        return KernelMatrix(factors(None), "factors: as asked for")
    if engine == "rows":
        return KernelMatrix(rows(), "rows: as asked for")
    if isinstance(kernel, Subtree):
        return KernelMatrix(factors(None), "factors: those of Subtree take no search")
    steps = row_steps(kernel, forest)
    if isinstance(kernel, PartialTree) and steps < _LITTLE_WORK:
        reason = f"the whole kernel matrix takes about {steps:.1e} steps only"
        return KernelMatrix(rows(), f"rows: {reason}")
    max_work = worth_trying(kernel, steps)
    try:
        operator = factors(max_work)
    except WorkLimitError:
        reason = (
            f"factorising was given up after {max_work:.1e} steps, "
            f"the whole kernel matrix takes about {steps:.1e}"
        )
        return KernelMatrix(rows(), f"rows: {reason}")
    reason = (
        f"factorising took less than {max_work:.1e} steps, "
        f"the whole kernel matrix would take about {steps:.1e}"
    )
    return KernelMatrix(operator, f"factors: {reason}")


@dataclass(frozen=True)
class Descent:
    """The solutions of some problems over the same examples."""

    alpha: FloatArray  # by problem and example
    intercept: FloatArray
    primal: FloatArray
    gap: FloatArray
    n_sweeps: NDArray[np.uint32]


def descend(
    matrix: KernelMatrix,
    signs: NDArray[np.int8],
    bounds: FloatArray,
    start: FloatArray | None,
    *,
    squared_hinge: bool,
    intercept: bool,
    tol: float,
    seeds: NDArray[np.uint64],
    max_iter: int,
    n_jobs: int | None,
    verbose: int,
) -> Descent:
    """Train until the relative duality gap is `tol`, or warn."""
    with progress_bar("training", show=verbose > 0) as progress:
        alpha, b, primal, _, gap, sweeps = matrix.operator.train(
            signs,
            np.ascontiguousarray(np.broadcast_to(bounds, signs.shape)),
            start,
            squared_hinge,
            intercept,
            tol,
            seeds,
            max_iter,
            n_threads(n_jobs),
            progress,
        )
    if gap.max() > tol:
        warn(
            f"TreeSVC stopped after max_iter={max_iter} sweeps at a relative duality gap "
            f"of {gap.max():.1e}, above tol={tol:g}: raise max_iter, or lower C",
            ConvergenceWarning,
            stacklevel=5,
        )
    return Descent(alpha, b, primal, gap, sweeps)
