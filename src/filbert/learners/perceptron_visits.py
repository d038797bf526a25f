"""The visits of a perceptron to its examples, in pieces between which a checkpoint is kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.corpus.checkpoints import Checkpoint
from filbert.learners.fit_checkpoints import Pace
from filbert.learners.perceptron_model import Log, PerceptronModel, State

_STEP = "perceptron"  # the name of the state in a checkpoint
_FIRST = 1000  # visits before the first look at the clock


class _Visits:
    """Counts visits to examples, over all epochs."""

    def __init__(self, kept: Checkpoint | None, n_all: int) -> None:
        self._kept = kept
        self._pace = Pace(_FIRST)
        self.n_all = n_all
        self.n_done = 0

    def next_pause(self) -> int:
        """Return the number of visits after which to look at the clock."""
        return self.n_all if self._kept is None else min(self.n_done + self._pace.size, self.n_all)


# ---------------------------------------------------------------- online


@dataclass(frozen=True)
class _OnlineState:
    n_done: int
    n_forgotten: int
    support_of: NDArray[np.uint32]
    log: Log
    X: Any  # the support vectors


class OnlineVisits(_Visits):
    """The visits of a model that grows."""

    def restored(self, new: PerceptronModel, support_of: NDArray[np.uint32]) -> PerceptronModel:
        """Return the model of the checkpoint, or the new one, and fill in `support_of`."""
        found = None if self._kept is None else self._kept.latest(_STEP, _OnlineState)
        if found is None:
            return new
        self.n_done = found.n_done
        support_of[:] = found.support_of
        state = State(found.X, found.log, found.n_forgotten)
        return PerceptronModel.of_state(new.kernel, new.classes, state, intercept=new.intercept)

    def pieces(self, n: int) -> Iterator[tuple[int, int, int]]:
        """Yield epochs with the begin and end of a piece, where each epoch has n visits."""
        while self.n_done < self.n_all:
            epoch, begin = divmod(self.n_done, n)
            end = min(n, begin + self.next_pause() - self.n_done)
            self.n_done += end - begin
            yield epoch, begin, end

    def store_in_time(self, model: PerceptronModel, support_of: NDArray[np.uint32]) -> None:
        """Store the model after a piece, if it is time."""
        if self._kept is None or self.n_done == self.n_all or not self._pace.is_time():
            return
        state = model.state()
        parts = self.n_done, state.n_forgotten, support_of, state.log, state.support
        self._kept.store(_STEP, _OnlineState(*parts))
        self._pace.stored()


# ---------------------------------------------------------------- on factors


@dataclass(frozen=True)
class _FactorState:
    n_done: int
    support: NDArray[np.uint32]  # by support vector: its example
    log: Log


class FactorVisits(_Visits):
    """The visits of a perceptron on factors.

    Attributes
    ----------
    before : tuple or None
        The support vectors' examples and the log so far, as the core takes them.
    """

    def __init__(self, kept: Checkpoint | None, n_all: int) -> None:
        super().__init__(kept, n_all)
        self.before: Any = None
        found = None if kept is None else kept.latest(_STEP, _FactorState)
        if found is not None:
            self.n_done = found.n_done
            self.before = found.support, _plain(found.log)

    def learnt(
        self, support: NDArray[np.uint32], log: tuple[Any, ...], *, to_the_end: bool
    ) -> None:
        """Take what was learnt from a piece. If all of it was visited, store it in time."""
        self.before = support, log
        if not to_the_end:
            return
        self.n_done = self.next_pause()
        if self._kept is not None and self.n_done < self.n_all and self._pace.is_time():
            self._kept.store(_STEP, _FactorState(self.n_done, support, Log(*log)))
            self._pace.stored()


def _plain(log: Log) -> tuple[Any, ...]:
    """Return a log as the core takes it."""
    return tuple(vars(log).values())
