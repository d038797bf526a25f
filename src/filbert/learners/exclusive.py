"""Estimators that learn bit by bit, in one thread at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from filbert.errors import ConcurrentLearningError

_learning: dict[int, object] = {}  # by the id of the estimator


@contextmanager
def learning(estimator: Any) -> Iterator[None]:
    """Claim an estimator for the block; ConcurrentLearningError where another has claimed it.

    There is no waiting: the other may be the same thread, interrupted by a signal whose handler
    has called us.
    """
    own = object()
    if _learning.setdefault(id(estimator), own) is not own:  # in one step
        raise ConcurrentLearningError(type(estimator).__name__)
    try:
        yield
    finally:
        del _learning[id(estimator)]
