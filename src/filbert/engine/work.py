"""Estimates of the work of kernels, in steps of about a nanosecond, to choose engines."""

import numpy as np
from numpy.typing import NDArray

from filbert.forest import Forest
from filbert.kernels import TreeKernel

# Measured on one core, in nanoseconds: for two children of nodes with the same label, and for any
# two trees.
_CHILDREN = 0.9
_TREES = 50.0

LITTLE_WORK = 1e8  # steps: a tenth of a second, too little to choose an engine for

# Pruned factors save time up to this share of the steps of the rows that training needs, and below
# the second number of steps. Chosen by the table of benchmarks.exact_ptk, section engines: there,
# the chosen engine takes 1.07 times as long as the better one, as a geometric mean, and 2.1 times
# at most (0.1 s added to all times). With LITTLE_WORK as the second number: 1.19 and 12 times.
PRUNED = 0.6
LITTLE_PRUNED = 4e8


def row_steps(kernel: TreeKernel, forest: Forest) -> float:
    """Estimate the steps that the kernel matrix of a forest's trees takes by rows.

    Two nodes of one label with `k` and `m` children take `k m` steps (partial trees), or `k` steps
    if `k` and `m` are equal (subset trees). Every pair of distinct nodes occurs about once. Nodes
    over a single leaf, such as parts of speech, hardly count.
    """
    dag = forest._dag
    if forest.n_subtrees < dag.size:
        dag, _ = dag.extract(forest._roots)
    _, _, labels, ends, children = dag.to_arrays()
    counts = np.diff(ends.astype(np.int64), prepend=0)
    single = np.flatnonzero(counts == 1)
    over_leaf = single[counts[children[ends[single] - np.uint64(1)]] == 0]
    weights = counts.astype(np.float64)
    weights[over_leaf] = 0.0
    classes = labels.astype(np.int64)
    if kernel.capabilities.match == "production":
        productions = classes * (int(counts.max(initial=0)) + 1) + counts
        classes = np.unique(productions, return_inverse=True)[1]
        weights = np.sqrt(weights)
    sums = np.bincount(classes, weights=weights)
    # Not sums @ sums: the threads of BLAS would stay busy for a tenth of a second afterwards.
    squares = float(np.square(sums).sum())
    return _CHILDREN * squares / 2 + _TREES * len(forest) ** 2 / 2


def row_steps_between(kernel: TreeKernel, a: Forest, b: Forest) -> float:
    """Estimate the steps for two forests, if labels have the same distribution in both."""
    return 2.0 * float(np.sqrt(row_steps(kernel, a) * row_steps(kernel, b)))


def rows_for_training(signs: NDArray[np.int8], C: float) -> float:
    """Guess the work of training by rows, as a multiple of that of the whole matrix.

    A problem needs the rows of its support vectors, and hardly more of these have the sign of the
    larger side than of the smaller. With a larger C, training on the rows takes longer, compared
    with training on factors.

    Parameters
    ----------
    signs : ndarray of shape (n_problems, n)
    C : float
    """
    smaller = np.minimum((signs > 0).sum(axis=1), (signs < 0).sum(axis=1)).sum()
    needed: float = min(1.0, 2.0 * float(smaller) / signs.shape[1])
    return needed * float(np.cbrt(max(1.0, C)))


def steps_worth_trying(kernel: TreeKernel, steps_by_rows: float, kernel_tol: float = 0.0) -> float:
    """Return the steps after which factorising is given up for rows.

    `steps_by_rows` are those of the rows that are needed. A try that fails should cost little
    compared with them, unless it hardly ever fails. Pruned factors seldom fail.
    """
    if kernel.capabilities.factors != "uncertain":
        return max(LITTLE_WORK, steps_by_rows)
    if kernel_tol > 0:
        return max(LITTLE_PRUNED, PRUNED * steps_by_rows)
    return max(LITTLE_WORK, 0.05 * steps_by_rows)


def work_limit(kernel: TreeKernel, forest: Forest, kernel_tol: float = 0.0) -> float | None:
    """Return the steps after which factorising a forest is given up, or None if it is direct."""
    if kernel.capabilities.factors == "direct":
        return None
    return steps_worth_trying(kernel, row_steps(kernel, forest), kernel_tol)
