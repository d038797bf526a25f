"""The factors of the kernel matrix of trees."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import OutOfMemoryError, WorkLimitError
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.threads import n_threads


def factorize(
    kernel: TreeKernel,
    forest: Forest,
    *,
    max_memory: int | None = None,
    max_work: float | None = None,
    budget: float = 1.0,
    keep_nodes: bool = False,
    n_first: int = 0,
    kernel_tol: float = 0.0,
    row_weights: FloatArray | None = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> _core.KernelOperator:
    """Factorise the kernel matrix of a forest's trees.

    The result has `kernel_errors`: the kernel of trees i and j by the factors differs by at most
    ``sqrt(kernel_errors[i] * kernel_errors[j])`` from the kernel. They are empty if nothing was
    pruned. Beside them are `kernel_error_rows`: the differences of row i, times the weights of the
    trees j, add up to at most ``kernel_error_rows[i]``.

    Parameters
    ----------
    kernel : TreeKernel
        A kernel with factors, see :class:`filbert.kernels.capabilities.Capabilities`.
    forest : Forest
    max_memory : int, optional
        The maximum number of bytes for the factors.
    max_work : float, optional
        The maximum number of steps for finding the factors, of about a nanosecond each. Whether
        they suffice depends only on the trees and the kernel, not on threads or the machine.
    budget : float
        The number of steps that the nodes of a production (for PartialTree, of a label) may take
        before they are compared pair by pair, as a multiple of the steps for the pairs. With 0 they
        are always compared pair by pair. The values are the same.
    keep_nodes : bool
        Allow node contributions. Nodes are then numbered as in the forest.
    n_first : int
        If not 0, with SubsetTree and PartialTree: the factors only serve to score the trees after
        the first `n_first` by weights of the first `n_first`. This takes less work.
    kernel_tol : float
        With PartialTree, light fragments may be left out such that no kernel error exceeds this
        share of a tree's kernel with itself. With 0, and for other kernels, factors are exact.
    row_weights : ndarray of shape (len(forest),), optional
        The weights in `kernel_error_rows`, not negative. By default, 1.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Raises
    ------
    OutOfMemoryError
        If `max_memory` does not suffice.
    WorkLimitError
        If `max_work` does not suffice.
    """
    dag, roots = (forest._dag, forest._roots) if keep_nodes else _without_other_nodes(forest)
    limit = 2**63 if max_memory is None else max_memory

    def factors_of(dag: _core.Dag, roots: NDArray[np.uint32]) -> _core.KernelOperator:
        return _core.KernelOperator(
            kernel._spec(),
            dag,
            roots,
            bool(kernel.normalize),
            budget,
            limit,
            np.inf if max_work is None else max_work,
            keep_nodes,
            n_first,
            n_threads(n_jobs),
            progress,
            kernel_tol,
            row_weights,
        )

    try:
        return factors_of(dag, roots)
    except OutOfMemoryError as error:
        what = error.what
    raise OutOfMemoryError(f"{what}; {_what_would_fit(factors_of, dag, roots, limit)}")


def scores_between(
    kernel: TreeKernel,
    forest: Forest,
    weights: FloatArray,
    *,
    max_work: float | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Score trees by weights of the first trees of a forest, with kernels that are not normalised.

    Factorises only the fragments that trees with weights share with the others.

    Parameters
    ----------
    kernel : TreeKernel
        A kernel with factors, see :class:`filbert.kernels.capabilities.Capabilities`.
    forest : Forest
    weights : ndarray of shape (n_first, n_columns)
    max_work, n_jobs
        As in `factorize`.

    Returns
    -------
    ndarray of shape (len(forest) - n_first, n_columns)

    Raises
    ------
    WorkLimitError
        If `max_work` does not suffice.
    """
    dag, roots = _without_other_nodes(forest)
    most = np.inf if max_work is None else max_work
    return _core.scores_between(kernel._spec(), dag, roots, weights, most, n_threads(n_jobs))


def _without_other_nodes(forest: Forest) -> tuple[_core.Dag, NDArray[np.uint32]]:
    dag, roots = forest._dag, forest._roots
    return dag.extract(roots) if forest.n_subtrees < 0.7 * dag.size else (dag, roots)


def _what_would_fit(
    factors_of: Callable[[_core.Dag, NDArray[np.uint32]], _core.KernelOperator],
    dag: _core.Dag,
    roots: NDArray[np.uint32],
    limit: int,
) -> str:
    """Say how many of the trees would fit into memory, estimated from a subset that fits.

    Factors grow a little faster than the number of trees, at most like its power of 1.1.
    """
    growth = 1.1
    step = 16
    while step <= len(roots):
        part = roots[::step]
        try:
            n_bytes = factors_of(*dag.extract(part)).peak_bytes
        except (OutOfMemoryError, WorkLimitError):
            step *= 16
            continue
        n_fit = min(len(part) * (limit / n_bytes) ** (1 / growth), len(roots) - 1)
        need = n_bytes * (len(roots) / len(part)) ** growth
        return (
            f"about {float(f'{n_fit:.2g}'):,.0f} of the {len(roots):,} trees would fit, "
            f"and all of them into about {float(f'{need / 2**20:.2g}'):,.0f} MiB"
        )
    return f"not even a few of the {len(roots):,} trees would fit"
