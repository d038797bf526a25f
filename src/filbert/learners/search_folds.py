"""The examples of a search: a sample if there are many, in stratified or grouped folds."""

import warnings
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from filbert.errors import InvalidParameterError

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def sampled(coded: NDArray[np.intp], n_most: int | None, rng: RandomState) -> NDArray[np.intp]:
    """Return at most about `n_most` examples in their order, of each class its share.

    No class is lost: each keeps at least ten examples, or all if it has fewer.
    """
    n = len(coded)
    if n_most is None or n <= n_most:
        return np.arange(n)
    counts = np.bincount(coded)
    wanted = np.minimum(counts, np.maximum(10, np.round(counts * (n_most / n)))).astype(int)
    order = rng.permutation(n)
    kept = [order[coded[order] == c][:most] for c, most in enumerate(wanted)]
    return np.sort(np.concatenate(kept))


def folds_of(coded: NDArray[np.intp], groups: Any, cv: Any, seed: int) -> list[Fold]:
    """Return folds with about the same classes. Examples of a group stay in one fold.

    `cv` is their number or a splitter of scikit-learn. There are fewer folds if no class has enough
    examples for them, and none if no class has two.
    """
    n = len(coded)
    splitter = cv
    if isinstance(cv, int | np.integer):
        n_folds = min(int(cv), int(np.bincount(coded).max()))
        if groups is not None:
            n_folds = min(n_folds, len(np.unique(groups)))
        if n_folds < 2:
            return []
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer examples than folds
        try:
            folds = [split for split in splitter.split(np.zeros(n), coded, groups) if len(split[1])]
        except ValueError as error:
            raise InvalidParameterError(
                f"the examples cannot be split by cv={cv!r}: {error}"
            ) from None
    return [(np.asarray(train), np.asarray(test)) for train, test in folds]
