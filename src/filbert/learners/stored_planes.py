"""The state of cutting planes in a checkpoint."""

import json
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray, IndexArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.learners.cutting_planes import Iteration, Planes, State
from filbert.learners.fit_checkpoints import Pace


class DeltaCounts(NamedTuple):
    """How often Delta was called and computed; None for callable kernels."""

    calls: int | None
    computed: int | None


@dataclass(frozen=True)
class _Stored:
    """A State as arrays, and the counts of Delta."""

    rng: str  # the state of the random numbers, as JSON
    size: NDArray[np.int64]  # by plane: the number of its examples
    examples: IndexArray
    weights: FloatArray
    offsets: FloatArray
    biases: FloatArray
    gram: FloatArray
    alpha: FloatArray
    idle: NDArray[np.int64]
    history: FloatArray  # by iteration and figure
    calls: int | None
    computed: int | None
    is_finished: bool


class StoredPlanes:
    """Keeps the state of one problem between two iterations.

    Parameters
    ----------
    kept : Checkpoint or None
        None: keep nothing.
    name : str
        The name of the problem.
    state, planes : State, Planes
        Empty. They are filled from the checkpoint.
    """

    def __init__(self, kept: Checkpoint | None, name: str, state: State, planes: Planes) -> None:
        self._kept = kept
        self._name = name
        self._state = state
        self._pace = Pace(1)
        self.counts = DeltaCounts(0, 0)  # of the time before
        self.is_finished = False
        found = None if kept is None else kept.latest(name, _Stored)
        if found is not None:
            self._restore(found, planes)

    def store_in_time(self, counts: DeltaCounts) -> None:
        """Store the state if it is time."""
        if self._kept is not None and self._pace.is_time():
            self._kept.store(self._name, _stored(self._state, counts, is_finished=False))
            self._pace.stored()

    def finish(self, counts: DeltaCounts) -> None:
        """Store the state of a problem that is solved."""
        if self._kept is not None:
            self._kept.store(self._name, _stored(self._state, counts, is_finished=True))

    def _restore(self, found: _Stored, planes: Planes) -> None:
        state, ends = self._state, np.cumsum(found.size)[:-1]
        state.rng.bit_generator.state = json.loads(found.rng)
        if len(found.size):
            state.examples = np.split(found.examples, ends)
            state.weights = np.split(found.weights, ends)
        state.offsets, state.biases, state.gram = found.offsets, found.biases, found.gram
        state.alpha, state.idle = found.alpha, found.idle
        for n_planes, n_active, *figures in found.history.tolist():
            state.history.append(Iteration(int(n_planes), int(n_active), *figures))
        for examples, weights in zip(state.examples, state.weights, strict=True):
            planes.restore(np.ascontiguousarray(examples), np.ascontiguousarray(weights))
        self.counts = DeltaCounts(found.calls, found.computed)
        self.is_finished = found.is_finished


def _stored(state: State, counts: DeltaCounts, *, is_finished: bool) -> _Stored:
    rng: dict[str, Any] = dict(state.rng.bit_generator.state)
    history = [astuple(iteration) for iteration in state.history]
    return _Stored(
        rng=json.dumps(rng),
        size=np.array([len(examples) for examples in state.examples], dtype=np.int64),
        examples=np.concatenate([np.empty(0, dtype=np.uint32), *state.examples]),
        weights=np.concatenate([np.empty(0), *state.weights]),
        offsets=state.offsets,
        biases=state.biases,
        gram=state.gram,
        alpha=state.alpha,
        idle=state.idle,
        history=np.array(history, dtype=np.float64).reshape(len(history), 5),
        calls=counts.calls,
        computed=counts.computed,
        is_finished=is_finished,
    )
