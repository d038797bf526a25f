"""The choice between factors and rows."""

from dataclasses import dataclass
from typing import Any, Literal

from filbert import _core
from filbert.engine.rows import matrix_fits, row_trainer
from filbert.engine.sums import sum_factors
from filbert.engine.work import LITTLE_WORK, row_steps, steps_worth_trying, work_limit
from filbert.errors import OutOfMemoryError, WorkLimitError
from filbert.kernels import TreeKernel
from filbert.kernels.capabilities import capabilities_of

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

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def plan_for(
    kernel: Any,
    X: Any,
    *,
    engine: Engine = "auto",
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
    options: dict[str, Any] = {"max_memory": max_memory, "n_jobs": n_jobs, "verbose": verbose}
    if engine == "rows":
        return Plan("rows", "requested", row_trainer(kernel, X, **options))
    if engine == "factors":
        return Plan("factors", "requested", _only_factors(kernel, X, options))
    if capabilities_of(kernel).tree_in_core:
        return _plan_for_trees(kernel, X, options)
    if not matrix_fits(X, max_memory):
        reason = "the kernel matrix would not fit into memory"
        return Plan("factors", reason, _only_factors(kernel, X, options))
    try:
        factors = sum_factors(kernel, X, max_work=work_limit, **options)
    except (WorkLimitError, OutOfMemoryError) as error:
        return Plan("rows", str(error), row_trainer(kernel, X, **options))
    return Plan("factors", "all terms of the kernel have factors", factors)


def _plan_for_trees(kernel: TreeKernel, X: Any, options: dict[str, Any]) -> Plan:
    """Choose by the work that a tree kernel takes. Its rows need not fit into memory."""
    expected = kernel.capabilities.factors
    if expected == "direct":
        return Plan(
            "factors",
            "the factors of this kernel need no search",
            sum_factors(kernel, X, **options),
        )
    if expected == "none":
        return Plan("rows", "the kernel has no factors", row_trainer(kernel, X, **options))
    steps = row_steps(kernel, kernel.trees_of(X))
    if expected == "uncertain" and steps < LITTLE_WORK:
        reason = f"the whole kernel matrix takes only about {steps:.1e} steps"
        return Plan("rows", reason, row_trainer(kernel, X, **options))
    limit = steps_worth_trying(kernel, steps)
    try:
        factors = sum_factors(kernel, X, max_work=lambda *_: limit, **options)
    except WorkLimitError:
        reason = (
            f"factorising was given up after {limit:.1e} steps, "
            f"the whole kernel matrix takes about {steps:.1e}"
        )
        return Plan("rows", reason, row_trainer(kernel, X, **options))
    reason = (
        f"factorising took less than {limit:.1e} steps, "
        f"the whole kernel matrix would take about {steps:.1e}"
    )
    return Plan("factors", reason, factors)


def _only_factors(kernel: Any, X: Any, options: dict[str, Any]) -> _core.SumFactors:
    try:
        return sum_factors(kernel, X, **options)
    except OutOfMemoryError as error:
        what = error.what
    raise OutOfMemoryError(f"{what}; strategy='usvm' accepts any kernel and needs no factors")
