"""What the trees of a clone class have in common."""

from typing import Any

import numpy as np

from filbert.errors import OutOfMemoryError, TooManyFragmentsError
from filbert.forest import Forest, as_forest
from filbert.fragments import Fragment, recurring_fragments
from filbert.kernels import SubsetTree

_MOST = 100_000  # fragments to look at


def shared_fragment(X: Any, *, n_jobs: int | None = None) -> Fragment | None:
    """Return the largest subset tree that every tree contains, or None if they share none.

    Of several largest ones, the first in the order of :func:`recurring_fragments` is returned. None
    is also returned for trees with more than a hundred thousand recurring fragments.

    Parameters
    ----------
    X : Forest, or sequence of trees or bracket strings
        The trees to compare.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Fragment or None
        The fragment.

    Examples
    --------
    >>> str(shared_fragment(["(S (NP a) (VP b))", "(Q (S (NP a) (VP c)))"]))
    '(S (NP a) (VP …))'
    """
    forest = X if isinstance(X, Forest) else as_forest(X)
    if len(forest) == 0:
        return None
    try:
        found = recurring_fragments(
            forest, kernel=SubsetTree(), min_count=len(forest), max_fragments=_MOST, n_jobs=n_jobs
        )
    except (TooManyFragmentsError, OutOfMemoryError):
        return None
    in_all = np.flatnonzero((found.fragments.count(forest) > 0).sum(axis=0) == len(forest))
    if len(in_all) == 0:
        return None
    return found.fragments[int(in_all[np.argmax(found.size[in_all])])]
