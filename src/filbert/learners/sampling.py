"""Samples of the training set for cutting planes (Severyn & Moschitti 2012)."""

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray, IndexArray


def recommended_sample_size(n: int) -> int:
    """Return the sample size r that the paper recommends for n examples (section 7.3.1).

    The paper recommends 5,000 to 10,000 from a million examples on, 1,000 to 5,000 from 100,000
    on, and smaller values below. This function returns the smallest value of each range, and 500
    below 100,000.
    """
    if n >= 1_000_000:
        return 5_000
    if n >= 100_000:
        return 1_000
    return min(n, 500)


class Sampler:
    """Draws examples for a plane, in proportion to their costs.

    If the sample is as large as the training set, it consists of all examples: nothing is random,
    and planes are exact. Without costs, examples are drawn uniformly without replacement. With
    costs, they are drawn by Algorithm 9: an example picked at random is kept with the probability
    cost / largest cost, until there are enough. An example that is kept twice counts twice.
    """

    def __init__(self, costs: FloatArray, size: int) -> None:
        self.costs = costs
        self.size = size
        self.largest = float(costs.max())
        self.uniform = bool((costs == self.largest).all())

    def __call__(self, rng: np.random.Generator) -> tuple[IndexArray, FloatArray]:
        """Return examples in ascending order, and weights that sum to 1."""
        n = len(self.costs)
        if self.size >= n:
            every = np.flatnonzero(self.costs)
            return every.astype(np.uint32), self.costs[every] / self.costs.sum()
        if self.uniform:
            some = np.sort(rng.choice(n, self.size, replace=False))
            return some.astype(np.uint32), np.full(self.size, 1 / self.size)
        kept, counts = np.unique(self._by_rejection(rng), return_counts=True)
        return kept.astype(np.uint32), counts / self.size

    def _by_rejection(self, rng: np.random.Generator) -> NDArray[np.int64]:
        kept = np.empty(0, dtype=np.int64)
        at_once = int(1.1 * self.size * self.largest / float(self.costs.mean())) + 16
        at_once = min(at_once, 1 << 20)  # a few examples may have nearly all the cost
        while len(kept) < self.size:
            picked = rng.integers(len(self.costs), size=at_once)
            heads = rng.random(at_once) * self.largest < self.costs[picked]
            kept = np.append(kept, picked[heads])
        return kept[: self.size]
