"""Scores from kernels with all support vectors, in blocks that fit into memory."""

from collections.abc import Callable
from typing import Any

import numpy as np

from filbert.arrays import FloatArray

_PAIRS_BYTES = 64 << 20  # of the kernel matrix in memory at a time


def n_at_a_time(n_support: int) -> int:
    """Return how many examples are compared with all support vectors at a time."""
    return max(1, _PAIRS_BYTES // (8 * n_support))


def scored_in_parts(X: Any, kernels: Callable[[Any], FloatArray], coef: FloatArray) -> FloatArray:
    """Score examples by a function that returns their kernels with all support vectors."""
    n = n_at_a_time(coef.shape[1])
    parts = (X[i : i + n] for i in range(0, X.shape[0], n))
    return np.vstack([kernels(part) @ coef.T for part in parts])
