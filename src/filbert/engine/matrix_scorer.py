"""Scores by kernels with all support vectors, not more of them at a time than fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from filbert.arrays import FloatArray
from filbert.engine.rows import KernelFunction, checked_kernel_values

_PAIRS_BYTES = 64 << 20  # of the kernel matrix at a time


@dataclass(frozen=True)
class MatrixScorer:
    """Scores ``sum_i coef_i kernel(support_i, x)`` of any kernel or function."""

    kernel: KernelFunction
    support: Any
    coef: FloatArray

    def scores(self, X: Any, method: str, n_jobs: int | None) -> FloatArray:
        """Score examples: shape (len(X), n_problems). There is one method only."""

        def kernels(part: Any) -> FloatArray:
            return checked_kernel_values(self.kernel, part, self.support)

        return scored_in_parts(X, kernels, self.coef)


def n_at_a_time(n_support: int) -> int:
    """Return how many examples are compared with all support vectors at a time."""
    return max(1, _PAIRS_BYTES // (8 * n_support))


def scored_in_parts(X: Any, kernels: Callable[[Any], FloatArray], coef: FloatArray) -> FloatArray:
    """Score examples by a function that returns their kernels with all support vectors."""
    n = n_at_a_time(coef.shape[1])
    parts = (X[i : i + n] for i in range(0, X.shape[0], n))
    return np.vstack([kernels(part) @ coef.T for part in parts])
