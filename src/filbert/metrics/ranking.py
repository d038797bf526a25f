"""Measures of rankings within groups.

All take the true targets, the scores of a ranker, and the group of each candidate. Without groups,
all candidates are one. Equal scores are no ranking: among candidates with equal scores, the worst
one counts as the first, so that a constant score earns nothing.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.labels import checked_groups
from filbert.learners.pairs import share_in_order
from filbert.learners.targets import finite_numbers

Gain = Literal["linear", "exponential"]
_LARGEST_EXPONENT = 1000  # sums of 2^y stay finite


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    group: ArrayLike | None = None,
    *,
    k: int | None = None,
    gain: Gain = "linear",
) -> float:
    """Return the mean normalised discounted cumulative gain of the groups.

    The candidate at rank r adds its gain divided by log2(r + 1). The sum is divided by that of the
    best order. Groups without a positive gain are left out.

    Parameters
    ----------
    y : array-like of numbers from 0
        The targets.
    scores : array-like of numbers
        The score of each candidate. A higher score is a better rank.
    group : array-like, optional
        The group of each candidate. By default all candidates are one group.
    k : int, optional
        Count only the first k ranks.
    gain : {"linear", "exponential"}
        The gain of a candidate: y, as in scikit-learn, or 2^y - 1.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> round(ndcg([2, 1, 0, 1, 0], [0.9, 0.1, 0.5, 0.7, 0.6], group=[1, 1, 1, 2, 2]), 3)
    0.975
    """
    if gain not in ("linear", "exponential"):
        raise InvalidParameterError(f"gain must be 'linear' or 'exponential', got {gain!r}")
    ranked = _ranked(y, scores, group)
    if (ranked.y < 0).any():
        raise InvalidParameterError("y must not be negative: shift the targets, they are gains")
    if gain == "exponential" and (ranked.y > _LARGEST_EXPONENT).any():
        raise InvalidParameterError(
            f"2^y is too large for y = {ranked.y.max():g}: use gain='linear', or targets of at "
            f"most {_LARGEST_EXPONENT}"
        )
    gains = ranked.y if gain == "linear" else np.exp2(ranked.y) - 1
    best = _ranked(gains, gains, ranked.groups)  # the groups are in order already
    found = ranked.sums(gains * _discounts(ranked.ranks, k))
    ideal = best.sums(best.y * _discounts(best.ranks, k))
    return _mean(found, ideal, "no group has a candidate with y > 0")


def mean_reciprocal_rank(y: ArrayLike, scores: ArrayLike, group: ArrayLike | None = None) -> float:
    """Return the mean of 1 / (rank of the first relevant candidate) over the groups.

    A candidate is relevant if its y is positive. Groups without one are left out.

    Parameters
    ----------
    y : array-like of numbers
        The targets. Candidates with a positive target are relevant.
    scores : array-like of numbers
        The score of each candidate. A higher score is a better rank.
    group : array-like, optional
        By default, all candidates are one group.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> mean_reciprocal_rank([0, 1, 1, 0], [0.9, 0.5, 0.7, 0.1], group=["a", "a", "b", "b"])
    0.75
    """
    ranked = _ranked(y, scores, group)
    relevant = ranked.y > 0
    first = np.full(ranked.n_groups, np.inf)
    np.minimum.at(first, ranked.groups[relevant], ranked.ranks[relevant])
    return _mean(1 / first, ranked.sums(relevant) > 0, "no group has a candidate with y > 0")


def mean_average_precision(
    y: ArrayLike, scores: ArrayLike, group: ArrayLike | None = None
) -> float:
    """Return the mean over the groups of the mean precision at the ranks of relevant candidates.

    A candidate is relevant if its y is positive. Groups without one are left out.

    Parameters
    ----------
    y : array-like of numbers
        The targets. Candidates with a positive target are relevant.
    scores : array-like of numbers
        The score of each candidate. A higher score is a better rank.
    group : array-like, optional
        By default, all candidates are one group.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> round(mean_average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 4)
    0.8333
    """
    ranked = _ranked(y, scores, group)
    relevant = ranked.y > 0
    n_relevant = ranked.sums(relevant)
    before = np.cumsum(n_relevant) - n_relevant  # in earlier groups
    found = np.cumsum(relevant) - before[ranked.groups]
    precision = ranked.sums(relevant * found / ranked.ranks)
    return _mean(precision, n_relevant, "no group has a candidate with y > 0")


def precision_at_k(
    y: ArrayLike, scores: ArrayLike, group: ArrayLike | None = None, *, k: int = 1
) -> float:
    """Return the mean over the groups of the share of relevant candidates among the first k.

    A candidate is relevant if its y is positive. Groups without one are left out. In a group with
    fewer than k candidates, the missing ones are not relevant.

    Parameters
    ----------
    y : array-like of numbers
        The targets. Candidates with a positive target are relevant.
    scores : array-like of numbers
        The score of each candidate. A higher score is a better rank.
    group : array-like, optional
        By default, all candidates are one group.
    k : int
        The number of first ranks that count.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> precision_at_k([0, 1, 1, 0], [0.9, 0.5, 0.7, 0.1], group=["a", "a", "b", "b"])
    0.5
    """
    ranked = _ranked(y, scores, group)
    relevant = ranked.y > 0
    found = ranked.sums(relevant & (ranked.ranks <= _checked_k(k)))
    return _mean(found / k, ranked.sums(relevant) > 0, "no group has a candidate with y > 0")


def recall_at_k(
    y: ArrayLike, scores: ArrayLike, group: ArrayLike | None = None, *, k: int = 1
) -> float:
    """Return the mean over the groups of the share of relevant candidates that are in the first k.

    A candidate is relevant if its y is positive. Groups without one are left out.

    Parameters
    ----------
    y : array-like of numbers
        The targets. Candidates with a positive target are relevant.
    scores : array-like of numbers
        The score of each candidate. A higher score is a better rank.
    group : array-like, optional
        By default, all candidates are one group.
    k : int
        The number of first ranks that count.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> recall_at_k([1, 1, 1, 0], [0.9, 0.5, 0.7, 0.1], group=["a", "a", "b", "b"])
    0.75
    """
    ranked = _ranked(y, scores, group)
    relevant = ranked.y > 0
    found = ranked.sums(relevant & (ranked.ranks <= _checked_k(k)))
    n_relevant = ranked.sums(relevant)
    share = found / np.maximum(1, n_relevant)
    return _mean(share, n_relevant > 0, "no group has a candidate with y > 0")


def pairwise_accuracy(y: ArrayLike, scores: ArrayLike, group: ArrayLike | None = None) -> float:
    """Return the share of pairs in the right order.

    Pairs are all pairs of candidates of the same group with different y. Pairs with equal scores
    count half.

    Parameters
    ----------
    y : array-like of numbers
        The targets. Only their order within a group matters.
    scores : array-like of numbers
        The score of each candidate. A higher score is a better rank.
    group : array-like, optional
        By default, all candidates are one group.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> pairwise_accuracy([2, 1, 0, 1, 0], [0.9, 0.1, 0.5, 0.7, 0.7], group=[1, 1, 1, 2, 2])
    0.625
    """
    targets, values, groups = _checked(y, scores, group)
    return share_in_order(targets, values, groups)


# ---------------------------------------------------------------- ranks


@dataclass(frozen=True)
class _Ranked:
    """Candidates in the order of their groups and ranks."""

    y: FloatArray
    groups: NDArray[np.intp]
    ranks: NDArray[np.intp]  # from 1

    @property
    def n_groups(self) -> int:
        return int(self.groups[-1]) + 1

    def sums(self, values: NDArray[Any]) -> FloatArray:
        """Return the sum of each group."""
        sums: FloatArray = np.bincount(self.groups, values, self.n_groups).astype(np.float64)
        return sums


def _ranked(y: ArrayLike, scores: ArrayLike, group: ArrayLike | None) -> _Ranked:
    targets, values, groups = _checked(y, scores, group)
    order = np.lexsort((targets, -values, groups))  # the worst of equal scores first
    groups = groups[order]
    begin = np.searchsorted(groups, np.arange(groups[-1] + 1))
    return _Ranked(targets[order], groups, np.arange(len(order)) - begin[groups] + 1)


def _checked(
    y: ArrayLike, scores: ArrayLike, group: ArrayLike | None
) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
    targets, values = finite_numbers("y", y), finite_numbers("scores", scores)
    if targets.ndim != 1 or targets.shape != values.shape:
        raise InvalidParameterError(
            f"y and scores must have one number for each candidate, got shapes {targets.shape} and "
            f"{values.shape}"
        )
    if len(targets) == 0:
        raise InvalidParameterError("there are no candidates, so there is nothing to measure")
    return targets, values, checked_groups(group, len(targets))


def _discounts(ranks: NDArray[np.intp], k: int | None) -> FloatArray:
    discounts: FloatArray = 1 / np.log2(ranks + 1)
    return discounts if k is None else discounts * (ranks <= _checked_k(k))


def _checked_k(k: Any) -> int:
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise InvalidParameterError(f"k must be a positive integer, got {k!r}")
    return int(k)


def _mean(above: FloatArray, below: NDArray[Any], nothing: str) -> float:
    """Return the mean quotient of the groups whose denominator is not 0."""
    used = below > 0
    if not used.any():
        raise InvalidParameterError(f"{nothing}: there is nothing to measure")
    return float(np.mean(above[used] / below[used]))
