"""Bounds on scores that were computed with a kernel whose errors are known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray


@dataclass(frozen=True)
class ScoreBounds:
    """The smallest and the largest values that exact scores can have.

    Attributes
    ----------
    low, high : ndarray of shape (n, n_problems)
    """

    low: FloatArray
    high: FloatArray

    def shifted(self, intercept: FloatArray) -> "ScoreBounds":
        """Return the bounds of the scores with an intercept."""
        return ScoreBounds(self.low + intercept, self.high + intercept)

    def undecided(self) -> NDArray[np.intp]:
        """Return the examples whose class depends on where in its bounds a score lies.

        One problem decides by the sign of its score, several decide by the largest score.
        """
        if self.low.shape[1] == 1:
            return np.flatnonzero((self.low > 0) != (self.high > 0))
        rows = np.arange(len(self.low))
        winner = self.low.argmax(axis=1)
        others = self.high.copy()
        others[rows, winner] = -np.inf
        return np.flatnonzero(self.low[rows, winner] <= others.max(axis=1))


def score_bounds(
    scores: FloatArray,
    errors: FloatArray,
    weights: FloatArray,
    errors_of_weighted: FloatArray,
    *,
    have_sign: bool,
    rows: FloatArray | None = None,
) -> ScoreBounds:
    """Bound the exact scores ``sum_j weights_j K(j, t)`` of trees t.

    Parameters
    ----------
    scores : ndarray of shape (n, n_problems)
    errors : ndarray of shape (n,)
        The errors of the kernel for the trees that were scored.
    weights : ndarray of shape (m, n_problems)
    errors_of_weighted : ndarray of shape (m,)
        The errors of the kernel for the trees that have weights.
    have_sign : bool
        Whether the kernel is never above the exact one.
    rows : ndarray of shape (n,), optional
        Other bounds on the errors of the scores, for all problems.
    """
    roots = np.sqrt(errors_of_weighted)
    up, down = roots @ np.maximum(weights, 0.0), roots @ np.maximum(-weights, 0.0)
    if not have_sign:
        up = down = up + down
    reach = np.sqrt(errors)[:, None]
    most = np.inf if rows is None else rows[:, None]
    return ScoreBounds(
        scores - np.minimum(reach * down, most), scores + np.minimum(reach * up, most)
    )
