"""Training by rows of the kernel matrix, computed when needed or all at once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError, OutOfMemoryError
from filbert.kernels import Kernel, TreeKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.capabilities import capabilities_of
from filbert.progress import progress_bar
from filbert.threads import n_threads

KernelFunction = Callable[[Any, Any], Any]

ROWS_KEPT = 672 << 20  # bytes: all rows of 12,000 trees; the whole process stays below 1 GB
_ROUNDING = 1e-8  # relative to the largest value of a user's kernel


def row_trainer(
    kernel: Any, X: Any, *, max_memory: int | None, n_jobs: int | None, verbose: int
) -> _core.RowTrainer | _core.GramTrainer:
    """Return a trainer by rows: on demand for a tree kernel of the core, else all at once."""
    room = ROWS_KEPT if max_memory is None else max_memory
    if capabilities_of(kernel).tree_in_core:
        return _rows_needed(kernel, X, room, n_jobs, verbose)
    n = n_examples(X)
    if not matrix_fits(X, max_memory):
        raise OutOfMemoryError(
            f"the kernel matrix of {n:,} examples takes {8 * n * n >> 20:,} MiB, but "
            f"{room >> 20:,} MiB are allowed"
        )
    if isinstance(kernel, Kernel):
        return _core.GramTrainer(kernel(X, n_jobs=n_jobs, verbose=verbose), room)
    return _core.GramTrainer(_checked_matrix(kernel, X), room)


def matrix_fits(X: Any, max_memory: int | None) -> bool:
    """Return whether the kernel matrix of some examples fits into memory."""
    return 8 * n_examples(X) ** 2 <= (ROWS_KEPT if max_memory is None else max_memory)


def _rows_needed(
    kernel: TreeKernel, X: Any, room: int, n_jobs: int | None, verbose: int
) -> _core.RowTrainer:
    spec, normalize, trees = kernel._spec(), bool(kernel.normalize), kernel.trees_of(X)
    threads = n_threads(n_jobs)
    with progress_bar("preparing", show=verbose > 0) as progress:
        return _core.RowTrainer(spec, trees._dag, trees._roots, normalize, room, threads, progress)


def checked_kernel_values(kernel: KernelFunction, X: Any, Y: Any) -> FloatArray:
    """Call a user's kernel, and check that its result is a matrix of finite numbers."""
    shape = (X.shape[0], Y.shape[0])
    values = np.asarray(kernel(X, Y))
    if values.shape != shape or values.dtype.kind not in "fiu":
        raise InvalidParameterError(
            f"kernel {kernel!r} returned an array of shape {values.shape} and type {values.dtype} "
            f"for {shape[0]} and {shape[1]} examples: it must return floats of shape {shape}"
        )
    values = values.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        raise InvalidParameterError(f"kernel {kernel!r} returned values that are not finite")
    return values


def _checked_matrix(kernel: KernelFunction, X: Any) -> FloatArray:
    """Return the matrix of a function. Check its symmetry, which training relies on."""
    values = checked_kernel_values(kernel, X, X)
    rounding = _ROUNDING * np.abs(values).max(initial=0.0)
    if (np.abs(values - values.T) > rounding).any():
        raise InvalidParameterError(f"kernel {kernel!r} is not symmetric: K(a, b) is not K(b, a)")
    if (values.diagonal() < -rounding).any():
        raise InvalidParameterError(
            f"kernel {kernel!r} is not positive semi-definite: an example has the squared norm "
            f"{values.diagonal().min():.1e}"
        )
    return np.ascontiguousarray(values)
