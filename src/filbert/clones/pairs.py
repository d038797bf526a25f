"""All pairs of trees above a similarity, by the exact kernel matrix in blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.forest import Forest
from filbert.kernels import TreeKernel

_BLOCK = 1 << 22  # entries of the matrix that are in memory at a time


def similar_pairs(
    kernel: TreeKernel,
    trees: Forest,
    min_similarity: float,
    *,
    n_jobs: int | None = None,
    progress: Any = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Return all pairs i < j with at least this kernel value, and the values.

    The kernel is normalised. Every pair is evaluated, block by block, so the time is quadratic in
    the number of trees and the memory is not.

    Parameters
    ----------
    kernel : tree kernel with ``normalize=True``
    trees : Forest
    min_similarity : float
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``, in trees.

    Examples
    --------
    >>> from filbert import Forest
    >>> from filbert.kernels import SubsetTree
    >>> trees = Forest(["(S (A a) (B b))", "(S (A a) (B c))", "(T (C c))"])
    >>> similar_pairs(SubsetTree(), trees, 0.5)
    (array([0]), array([1]), array([0.60606061]))
    """
    n = len(trees)
    rows = max(1, min(512, _BLOCK // max(n, 1)))
    found_i, found_j, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for first in range(0, n, rows):
        last = min(first + rows, n)
        K = kernel(trees[first:last], trees[first:], n_jobs=n_jobs)
        i, j = np.nonzero(min_similarity <= K)
        later = i < j  # the block starts on the diagonal
        found_i.append(i[later] + first)
        found_j.append(j[later] + first)
        values.append(K[i[later], j[later]])
        if progress is not None:
            progress(last, n)
    return np.concatenate(found_i), np.concatenate(found_j), np.concatenate(values)
