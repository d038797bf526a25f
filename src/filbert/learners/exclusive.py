"""A claim on estimators that learn incrementally: one call at a time."""

import sys
from types import FrameType
from typing import Any

from filbert.errors import ConcurrentLearningError


class Learning:
    """Claim an estimator for the block, or raise ConcurrentLearningError if it is claimed.

    It never waits, because the owner may be the same thread, interrupted by a signal handler that
    called this function.

    A claim ends with the call of the function that has the block, at the latest. Ctrl-C may come
    between any two steps, also in `__enter__` and `__exit__`, and leave a claim behind. The next
    claim finds out that no thread runs its function any more. The block must not be in a generator.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._frame: FrameType | None = None

    def __enter__(self) -> None:
        self._frame = sys._getframe(1)
        _claims[self] = None  # in one step
        for claim in list(_claims):  # the oldest first
            if claim is self:
                return  # later claims see this one
            if not claim._runs():
                _claims.pop(claim, None)
            elif claim._estimator is self._estimator:
                self.__exit__()
                raise ConcurrentLearningError(type(self._estimator).__name__)

    def __exit__(self, *_: object) -> None:
        _claims.pop(self, None)
        self._frame = None

    def _runs(self) -> bool:
        """Whether some thread is still in the function that has the block."""
        frame = self._frame
        if frame is None:
            return False
        try:
            frame.clear()  # refused, in one step, while the function runs
        except RuntimeError:
            return True
        return False


_claims: dict[Learning, None] = {}  # in the order in which they were made
