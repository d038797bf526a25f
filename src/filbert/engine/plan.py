"""The choice between factors and rows."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray
from filbert.engine.rows import matrix_fits, row_trainer
from filbert.engine.sums import WorkLimit, sum_factors
from filbert.engine.tree_factors import factorize
from filbert.engine.work import LITTLE_WORK, row_steps, steps_worth_trying, work_limit
from filbert.errors import OutOfMemoryError, WorkLimitError
from filbert.kernels.capabilities import capabilities_of

# Whether pruned factors take too much work is found out on every 16th tree. From a 16th to all
# trees, the work of factorising grew with the number of trees to the power of 1.05 to 1.25 on five
# data sets of parse trees and documents, and of 1.7 on sessions (cslogs). If the guess is too low,
# the limit on work ends the try.
_SAMPLE = 16
_GROWTH = 1.2
_FEWEST = 50  # trees of a sample

Engine = Literal["auto", "factors", "rows"]
EngineName = Literal["factors", "rows", "planes"]
Operator = _core.SumFactors | _core.RowTrainer | _core.GramTrainer


@dataclass(frozen=True)
class Plan:
    """The choice of an engine, the reason for it, and the prepared operator.

    Attributes
    ----------
    name : {"factors", "rows", "planes"}
    reason : str
        The reason, for users.
    operator : the object that computes with the kernel matrix of the examples
        It has a method `train`. None for planes, which are made for each problem.
    """

    name: EngineName
    reason: str
    operator: Operator | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the operator computes the kernel up to rounding."""
        return self.kernel_errors.size == 0

    @property
    def kernel_errors(self) -> FloatArray:
        """The errors of the kernel by example, see `sum_factors`. Empty if it is exact."""
        factors = self.operator
        return factors.kernel_errors if isinstance(factors, _core.SumFactors) else np.empty(0)

    @property
    def kernel_error_rows(self) -> FloatArray:
        """Bounds on the sums of the errors of each example with all others."""
        factors = self.operator
        return factors.kernel_error_rows if isinstance(factors, _core.SumFactors) else np.empty(0)

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def plan_for(
    kernel: Any,
    X: Any,
    *,
    engine: Engine = "auto",
    kernel_tol: float = 0.0,
    rows_needed: float = 1.0,
    max_memory: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Plan:
    """Choose and prepare an engine for the kernel matrix of some examples.

    The work of factorising is unknown until it is done. So factorising is tried, and given up if it
    takes more than a share of the work that the rows may take.

    Parameters
    ----------
    kernel : Kernel, or callable with ``engine="rows"``
    X : the examples, as :func:`filbert.kernels.inputs.rows_for` returns them
    engine : {"auto", "factors", "rows"}
    kernel_tol : float
        The largest error of tree kernels in factors, see
        :func:`filbert.engine.tree_factors.factorize`. Rows are always exact.
    rows_needed : float
        The work that is expected by rows, as a multiple of that of the whole matrix, see
        :func:`filbert.engine.work.rows_for_training`. It matters for pruned factors only.
    max_memory : int, optional
        The maximum number of bytes for the factors or the rows.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int
        If positive, show progress.

    Raises
    ------
    OutOfMemoryError
        If memory does not suffice for the requested engine, or for both.
    """
    options = {"max_memory": max_memory, "n_jobs": n_jobs, "verbose": verbose}
    engines = _Engines(kernel, X, kernel_tol, rows_needed, options)
    if engine == "rows":
        return engines.rows("requested")
    if engine == "factors":
        return engines.only_factors("requested")
    if capabilities_of(kernel).tree_in_core:
        return _plan_for_trees(engines)
    if not matrix_fits(X, max_memory):
        return engines.only_factors("the kernel matrix would not fit into memory")
    try:
        limit = partial(work_limit, kernel_tol=kernel_tol)
        return engines.factors("all terms of the kernel have factors", limit)
    except (WorkLimitError, OutOfMemoryError) as error:
        return engines.rows(str(error))


@dataclass(frozen=True)
class _Engines:
    """Prepares either engine for some examples."""

    kernel: Any
    X: Any
    kernel_tol: float
    rows_needed: float
    options: dict[str, Any]

    def rows(self, reason: str) -> Plan:
        return Plan("rows", reason, row_trainer(self.kernel, self.X, **self.options))

    def factors(self, reason: str, max_work: WorkLimit | None = None) -> Plan:
        options = {**self.options, "kernel_tol": self.kernel_tol}
        return Plan(
            "factors", reason, sum_factors(self.kernel, self.X, max_work=max_work, **options)
        )

    def sample_fits(self, max_work: float) -> bool:
        """Return whether factorising the trees is likely to take no more than these steps."""
        trees = self.kernel.trees_of(self.X)[::_SAMPLE]
        if len(trees) < _FEWEST:
            return True
        options = {"kernel_tol": self.kernel_tol, "n_jobs": self.options["n_jobs"]}
        try:
            factorize(self.kernel.whole(), trees, max_work=max_work / _SAMPLE**_GROWTH, **options)
        except WorkLimitError:
            return False
        return True

    def only_factors(self, reason: str) -> Plan:
        """Return a plan with factors. The error message names a strategy that needs none."""
        try:
            return self.factors(reason)
        except OutOfMemoryError as error:
            what = error.what
        raise OutOfMemoryError(
            f"{what}; TreeSVC(strategy='usvm') accepts any kernel and needs no factors"
        )


def _plan_for_trees(engines: _Engines) -> Plan:
    """Choose by the work that a tree kernel takes. Its rows need not fit into memory."""
    kernel = engines.kernel
    expected = kernel.capabilities.factors
    if expected == "direct":
        return engines.factors("the factors of this kernel need no search")
    if expected == "none":
        return engines.rows("the kernel has no factors")
    steps = row_steps(kernel, kernel.trees_of(engines.X))
    if expected == "uncertain" and steps < LITTLE_WORK:
        return engines.rows(f"the whole kernel matrix takes only about {steps:.1e} steps")
    prunes = engines.kernel_tol > 0 and expected == "uncertain"
    needed = steps * engines.rows_needed if prunes else steps
    limit = steps_worth_trying(kernel, needed, engines.kernel_tol)
    if prunes and not engines.sample_fits(limit):
        return engines.rows(
            f"factorising a sample shows that all trees take more than {limit:.1e} steps, "
            f"the whole kernel matrix takes about {steps:.1e}"
        )
    try:
        return engines.factors(
            f"factorising took less than {limit:.1e} steps, "
            f"the whole kernel matrix would take about {steps:.1e}",
            lambda *_: limit,
        )
    except WorkLimitError:
        return engines.rows(
            f"factorising was given up after {limit:.1e} steps, "
            f"the whole kernel matrix takes about {steps:.1e}"
        )
