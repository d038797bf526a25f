"""Training in pieces: the solver pauses, its state is stored, and it goes on."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.learners.fit_checkpoints import Pace
from filbert.learners.problems import Convergence, Problems
from filbert.learners.stored_rows import RowsState, StoredRows

_STEP = "solver"  # the name of the state in a checkpoint
_FIRST = 20  # sweeps on factors, between passes over all examples; on rows, any number is one


@dataclass(frozen=True)
class Curves:
    """The convergence of some problems, one after the other."""

    n: NDArray[np.int64]  # by problem: the number of its steps
    steps: NDArray[np.int64]
    objective: FloatArray
    gap: FloatArray

    @staticmethod
    def packed(curves: list[Convergence]) -> "Curves":
        """Return curves in one piece."""
        return Curves(
            np.array([len(curve.steps) for curve in curves], dtype=np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *(curve.steps for curve in curves)]),
            np.concatenate([np.empty(0), *(curve.objective for curve in curves)]),
            np.concatenate([np.empty(0), *(curve.gap for curve in curves)]),
        )

    def unpacked(self) -> list[Convergence]:
        """Return the curves, by problem."""
        ends = np.cumsum(self.n)[:-1]
        parts = (np.split(values, ends) for values in (self.steps, self.objective, self.gap))
        return [Convergence(*own) for own in zip(*parts, strict=True)] if len(self.n) else []


@dataclass(frozen=True)
class Run:
    """A run of the solver: what it begins with, beside the dual variables."""

    kernel_tol: float
    room: float  # see ExactTrainer.solve
    n_left: int  # sweeps
    before: Curves  # of the runs before


@dataclass(frozen=True)
class Paused:
    """The state of a solver that paused within a run."""

    run: Run
    alpha: FloatArray  # by problem and example
    places: NDArray[np.uint64]
    looks: Curves  # of this run
    rows: RowsState


class Pauses:
    """Runs a solver in pieces, from the stored state on."""

    def __init__(self, kept: Checkpoint, matrix: Any) -> None:
        self._kept = kept
        self._pace = Pace(_FIRST)
        is_on_rows = isinstance(matrix, _core.RowTrainer | _core.GramTrainer)
        self._rows = StoredRows(kept, matrix) if is_on_rows else None
        at = kept.latest(_STEP, Paused)
        is_there = at is not None and (self._rows is None or self._rows.resume(at.rows))
        self._at = at if is_there else None

    @property
    def run(self) -> Run | None:
        """The run that was interrupted, or None if training begins."""
        return None if self._at is None else self._at.run

    def descend(
        self, descend: Callable[..., _core.SvmSolutions], problems: Problems, run: Run
    ) -> tuple[_core.SvmSolutions, list[Convergence]]:
        """Run the solver to the end of a run; return its solutions and their convergence."""
        at, self._at = self._at, None
        while True:
            pause: dict[str, Any] = {"pause": self._pace.size}
            own, looks = problems, None
            if at is not None:
                own = replace(problems, start=at.alpha)
                pause["places"] = at.places
                looks = at.looks.unpacked()
            solved = descend(own, run.n_left, **pause)
            curves = looks_of(solved)
            if looks is not None:
                curves = [_continued(*both) for both in zip(looks, curves, strict=True)]
            if not solved.is_paused:
                return solved, curves
            packed = Curves.packed(curves)
            at = Paused(run, solved.alpha, solved.places, packed, RowsState.none())
            if self._pace.is_time():
                self._store(at)

    def _store(self, at: Paused) -> None:
        if self._rows is None:
            self._kept.store(_STEP, at)
        elif self._kept.store(_STEP, replace(at, rows=self._rows.store())):
            self._rows.tidy()
        self._pace.stored()


def looks_of(solved: _core.SvmSolutions) -> list[Convergence]:
    """Return the convergence of each problem."""
    return [Convergence(steps.astype(np.int64), *values) for steps, *values in solved.looks]


def _continued(before: Convergence, after: Convergence) -> Convergence:
    """Join the curves before and after a pause: both have the pass over all examples there."""
    new = after.steps >= before.steps[-1]
    return Convergence(
        np.append(before.steps[:-1], after.steps[new]),
        np.append(before.objective[:-1], after.objective[new]),
        np.append(before.gap[:-1], after.gap[new]),
    )
