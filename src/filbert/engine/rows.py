"""Training by rows of the kernel matrix: computed when needed, or all at once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.engine.work import row_steps
from filbert.errors import InvalidParameterError, OutOfMemoryError
from filbert.kernels import Kernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.capabilities import capabilities_of
from filbert.progress import progress_bar
from filbert.threads import n_threads

KernelFunction = Callable[[Any, Any], Any]

ROWS_KEPT = 672 << 20  # bytes: all rows of 12,000 trees, and with the program less than 1 GB
_ROUNDING = 1e-8  # of the largest value of a kernel that is not ours


@dataclass(frozen=True)
class RowsNeeded:
    """Rows of one tree kernel in the core. Those that do not fit are computed again."""

    kernel: Any
    X: Any
    max_memory: int | None
    n_jobs: int | None
    verbose: int

    @cached_property
    def steps(self) -> float:
        """The estimated steps of the whole matrix."""
        return row_steps(self.kernel, self.kernel.trees_of(self.X))

    def operator(self) -> _core.RowTrainer:
        """Prepare the trees."""
        trees = self.kernel.trees_of(self.X)
        with progress_bar("preparing", show=self.verbose > 0) as progress:
            return _core.RowTrainer(
                self.kernel._spec(),
                trees._dag,
                trees._roots,
                bool(self.kernel.normalize),
                _room(self.max_memory),
                n_threads(self.n_jobs),
                progress,
            )


@dataclass(frozen=True)
class WholeMatrix:
    """The kernel matrix of any kernel, or of a function ``kernel(X, Y)``."""

    kernel: Any
    X: Any
    max_memory: int | None
    n_jobs: int | None
    verbose: int

    @property
    def fit(self) -> bool:
        """Whether the matrix fits into memory."""
        return 8 * n_examples(self.X) ** 2 <= _room(self.max_memory)

    def operator(self) -> _core.GramTrainer:
        """Compute the matrix."""
        n, room = n_examples(self.X), _room(self.max_memory)
        if not self.fit:
            raise OutOfMemoryError(
                f"the kernel matrix of {n:,} examples takes {8 * n * n >> 20:,} MiB, but "
                f"{room >> 20:,} MiB are allowed"
            )
        if isinstance(self.kernel, Kernel):
            matrix = self.kernel(self.X, n_jobs=self.n_jobs, verbose=self.verbose)
        else:
            matrix = _checked_matrix(self.kernel, self.X)
        return _core.GramTrainer(matrix, room)


def rows_of(
    kernel: Any, X: Any, *, max_memory: int | None, n_jobs: int | None, verbose: int
) -> RowsNeeded | WholeMatrix:
    """Return how a kernel's rows are computed."""
    way = RowsNeeded if capabilities_of(kernel).tree_in_core else WholeMatrix
    return way(kernel, X, max_memory, n_jobs, verbose)


def checked_kernel_values(kernel: KernelFunction, X: Any, Y: Any) -> NDArray[np.float64]:
    """Call a kernel that is not ours, and trust its result only when it is a matrix of numbers."""
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


def _checked_matrix(kernel: KernelFunction, X: Any) -> NDArray[np.float64]:
    """Return the matrix of a function; training relies on its symmetry."""
    values = checked_kernel_values(kernel, X, X)
    room = _ROUNDING * np.abs(values).max(initial=0.0)
    if (np.abs(values - values.T) > room).any():
        raise InvalidParameterError(f"kernel {kernel!r} is not symmetric: K(a, b) is not K(b, a)")
    if (values.diagonal() < -room).any():
        raise InvalidParameterError(
            f"kernel {kernel!r} is not positive semi-definite: an example has the squared norm "
            f"{values.diagonal().min():.1e}"
        )
    return np.ascontiguousarray(values)


def _room(max_memory: int | None) -> int:
    return ROWS_KEPT if max_memory is None else max_memory
