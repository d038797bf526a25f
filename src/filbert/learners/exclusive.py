"""A lock for estimators that learn incrementally: one thread at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from filbert.errors import ConcurrentLearningError

_learning: dict[int, object] = {}  # by the id of the estimator


@contextmanager
def learning(estimator: Any) -> Iterator[None]:
    """Claim an estimator for the block, or raise ConcurrentLearningError if it is claimed.

    It never waits, because the owner may be the same thread, interrupted by a signal handler that
    called this function.
    """
    own = object()
    if _learning.setdefault(id(estimator), own) is not own:  # in one step
        raise ConcurrentLearningError(type(estimator).__name__)
    try:
        yield
    finally:
        del _learning[id(estimator)]
