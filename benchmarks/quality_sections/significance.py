"""Test whether one system is better than another if both were trained several times."""

import numpy as np
from numpy.typing import NDArray

N_SHUFFLES = 10_000


def p_value(differences: NDArray[np.float64]) -> float:
    """Return the p-value of a mean difference, by randomisation over test trees.

    The difference of a tree is that of how often two systems predict it right, over all seeds. If
    the systems were equally good, its sign would be chance. All predictions of a tree are swapped
    together, because predictions of the same tree depend on each other. For a single seed, this is
    `filbert.metrics.randomization_test` of the accuracy.
    """
    sizes, counts = np.unique(np.abs(differences), return_counts=True)
    rng = np.random.default_rng(0)
    signs = 2 * rng.binomial(counts, 0.5, size=(N_SHUFFLES, len(counts))) - counts
    shuffled = np.abs(signs @ sizes)
    observed = abs(float(differences.sum()))
    n_as_large = int((shuffled >= observed - 1e-9).sum())
    return (n_as_large + 1) / (N_SHUFFLES + 1)
