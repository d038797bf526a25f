"""Rows of the kernel matrix in a checkpoint, and where their solver is.

The last bits of a row depend on the rows that were computed with it. So rows are stored as they
are, each once, some in a file. If rows had to give way to others, all are stored again.
"""

from dataclasses import dataclass
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray, IndexArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.errors import CheckpointWarning

_FILES = "rows"  # how their names begin
_BYTES = 64 << 20  # of the rows in a file
_WRONG = (IndexError, TypeError, ValueError)  # what damaged arrays raise


@dataclass(frozen=True)
class RowsState:
    """Where a solver on rows is, beside the dual variables and its places."""

    order: IndexArray  # of the trees; those with rows come first
    last_used: NDArray[np.uint64]  # by tree
    values: FloatArray  # by problem: the decision values by tree, and the intercept
    n_batches: int
    has_new_rows: bool
    n_rows: int
    version: int  # of the files: each time that rows give way, there is a new one
    sizes: NDArray[np.int64]  # of the files, in rows

    @staticmethod
    def none() -> "RowsState":
        """Return the state of a solver without rows."""
        return RowsState(
            order=np.empty(0, dtype=np.uint32),
            last_used=np.empty(0, dtype=np.uint64),
            values=np.empty((0, 1)),
            n_batches=0,
            has_new_rows=False,
            n_rows=0,
            version=0,
            sizes=np.empty(0, dtype=np.int64),
        )


@dataclass(frozen=True)
class _Rows:
    trees: IndexArray  # in the places from that of the first row on
    values: FloatArray  # by row and such a place


class StoredRows:
    """Keeps the rows of a trainer in a checkpoint.

    A matrix that is there as a whole is computed again after an interruption, so its rows are not
    stored.
    """

    def __init__(self, kept: Checkpoint, trainer: _core.RowTrainer | _core.GramTrainer) -> None:
        self._kept = kept
        self._trainer = trainer
        self._first_version = self._version = 0
        self._sizes: list[int] = []

    def store(self) -> RowsState:
        """Store the rows that are not yet stored, and return the state of their solver."""
        trainer, version = self._trainer, self._first_version + self._trainer.n_rows_removed
        if version != self._version:
            self._version, self._sizes = version, []
        if isinstance(trainer, _core.RowTrainer):
            self._store_rows(trainer)
        return RowsState(
            order=trainer.order,
            last_used=trainer.last_used,
            values=trainer.values,
            n_batches=trainer.n_batches,
            has_new_rows=trainer.has_new_rows,
            n_rows=trainer.n_rows,
            version=version,
            sizes=np.array(self._sizes, dtype=np.int64),
        )

    def tidy(self) -> None:
        """Remove the files of earlier versions. Call it when the state is stored."""
        self._kept.remove(_FILES, [self._name(i) for i in range(len(self._sizes))])

    def resume(self, state: RowsState) -> bool:
        """Make the trainer as it was, or empty if files are damaged. Return whether it is."""
        try:
            self._fill(state)
            self._first_version = self._version = state.version
            self._sizes = state.sizes.tolist()
            return True
        except _WRONG as error:
            warn(CheckpointWarning(f"training begins again: {error}"), stacklevel=2)
        n = len(self._trainer.order)
        order, unused = np.arange(n, dtype=np.uint32), np.zeros(n, dtype=np.uint64)
        self._trainer.restore(order, unused, np.empty((0, n + 1)), 0, False)
        return False

    def _name(self, number: int) -> str:
        return f"{_FILES}-{self._version}-{number}"

    def _store_rows(self, trainer: _core.RowTrainer) -> None:
        order = trainer.order
        at_once = max(1, _BYTES // (8 * max(1, len(order))))
        for begin in range(sum(self._sizes), trainer.n_rows, at_once):
            end = min(begin + at_once, trainer.n_rows)
            rows = _Rows(order[begin:], trainer.rows(begin, end))
            if not self._kept.store(self._name(len(self._sizes)), rows):
                return  # the disk is full
            self._sizes.append(end - begin)

    def _fill(self, state: RowsState) -> None:
        trainer, n = self._trainer, len(self._trainer.order)
        trainer.restore(
            state.order, state.last_used, state.values, state.n_batches, state.has_new_rows
        )
        if isinstance(trainer, _core.GramTrainer):
            trees = np.ascontiguousarray(state.order[: state.n_rows])
            at_once = max(1, _BYTES // (8 * max(1, n)))
            for some in (trees[i : i + at_once] for i in range(0, len(trees), at_once)):
                trainer.append(some, trainer.rows_of(some))
        for number in range(len(state.sizes)):
            name = f"{_FILES}-{state.version}-{number}"
            rows = self._kept.latest(name, _Rows)
            if rows is None:
                raise ValueError(f"the file {name} is missing")
            values = np.zeros((len(rows.values), n))
            values[:, rows.trees] = rows.values
            trainer.append(np.ascontiguousarray(rows.trees[: len(values)]), values)
        if trainer.n_rows != state.n_rows:
            raise ValueError("it has another number of rows")
