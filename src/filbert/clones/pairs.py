"""All pairs of trees above a similarity, by an index or by the kernel matrix in blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.search.segments import Segments

Pairs = tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]

_BLOCK = 1 << 22  # entries of the matrix that are in memory at a time
_QUERIES = 256  # at a time


def similar_pairs(
    kernel: TreeKernel,
    trees: Forest,
    min_similarity: float,
    *,
    n_jobs: int | None = None,
    progress: Any = None,
) -> Pairs:
    """Return all pairs i < j with at least this kernel value, and the values.

    The kernel is normalised. Under SubsetTree and Subtree, each tree is a query to an index of all
    trees (:class:`~filbert.TreeIndex`), whose lists visit only what trees have in common. Under
    other kernels, all pairs are compared, block by block: the matrix of PartialTree takes less
    time than the pairs that its bounds leave. In both cases the memory is bounded, apart from the
    result.

    Parameters
    ----------
    kernel : tree kernel with ``normalize=True``
        The measure of similarity.
    trees : Forest
        The trees to compare with each other.
    min_similarity : float
        The lowest kernel value of a pair, above 0 and at most 1.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``, in trees.

    Returns
    -------
    first : ndarray of int
        The number of the first tree of each pair, ascending.
    second : ndarray of int
        The number of the second tree.
    values : ndarray of float
        The kernel of the pair.

    Examples
    --------
    >>> from filbert import Forest
    >>> from filbert.kernels import SubsetTree
    >>> trees = Forest(["(S (A a) (B b))", "(S (A a) (B c))", "(T (C c))"])
    >>> similar_pairs(SubsetTree(), trees, 0.5)
    (array([0]), array([1]), array([0.60606061]))
    """
    known = kernel.capabilities
    if not (known.tree_in_core and known.match == "production" and known.all_roots):
        return _by_matrix(kernel, trees, min_similarity, n_jobs, progress)
    segments = Segments(kernel)
    segments.add(trees, n_jobs)
    n = len(trees)
    parts = []
    for first in range(0, n, _QUERIES):
        found = segments.search(
            trees[first : first + _QUERIES],
            n_neighbors=None,
            least=min_similarity,
            n_jobs=n_jobs,
        )
        counts = np.diff(found.ends, prepend=0)
        i = np.repeat(np.arange(first, first + len(counts)), counts)
        later = np.flatnonzero(i < found.ids)
        later = later[np.lexsort((found.ids[later], i[later]))]
        parts.append((i[later], found.ids[later], found.values[later]))
        if progress is not None:
            progress(first + len(counts), n)
    return _together(parts)


def _by_matrix(
    kernel: TreeKernel, trees: Forest, least: float, n_jobs: int | None, progress: Any
) -> Pairs:
    """Compare all pairs, block by block: the memory is bounded."""
    n = len(trees)
    rows = max(1, min(512, _BLOCK // max(n, 1)))
    parts = []
    for first in range(0, n, rows):
        last = min(first + rows, n)
        K = kernel(trees[first:last], trees[first:], n_jobs=n_jobs)
        i, j = np.nonzero(least <= K)
        later = i < j  # the block starts on the diagonal
        i, j = i[later], j[later]
        parts.append((i + first, j + first, K[i, j]))
        if progress is not None:
            progress(last, n)
    return _together(parts)


def _together(parts: list[Pairs]) -> Pairs:
    nothing = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    i, j, values = (np.concatenate(each) for each in zip(nothing, *parts, strict=True))
    return i, j, values
