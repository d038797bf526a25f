"""Ranking by many pairs, which are never written out: cutting planes with order statistics."""

from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.engine import plan_for
from filbert.learners.plane_qp import solve_dual
from filbert.learners.problems import Convergence, Problems, Solution
from filbert.progress import progress_bar
from filbert.threads import n_threads

_MAX_ITER = 1000
_IDLE = 20  # iterations after which a plane without a share is dropped


@dataclass(frozen=True)
class Plane:
    """What the pairs that miss their margin have in common: a linear lower bound of the loss.

    With `f` the scores of the examples, the loss of all pairs is at least
    ``offset - coef . f``, and equal to it where the plane was found.
    """

    coef: FloatArray  # by example
    offset: float


class OrderedPairs:
    """All pairs of a group with different targets, by their order alone.

    The hinge loss of all pairs and its derivative take some sorts instead of a pass over the pairs
    (Joachims 2006, for two targets; Lee & Lin 2014). With several targets, two examples differ in
    some highest bit of the rank of their target. For each bit, the examples of a group that agree
    in the higher bits are sorted by score, those with the bit 1 less the margin. Sums from either
    end then give the pairs that miss it.
    """

    def __init__(self, targets: FloatArray, groups: NDArray[np.intp], weights: FloatArray) -> None:
        self.weights = weights
        self._used = np.flatnonzero(weights)
        group, y = groups[self._used], targets[self._used]
        order = np.lexsort((y, group))
        new_group = np.diff(group[order], prepend=-1) != 0
        new_level = new_group | (np.diff(y[order], prepend=np.nan) != 0)
        level = np.cumsum(new_level) - 1
        first = np.maximum.accumulate(np.where(new_group, level, 0))
        self._group = group
        self._rank = np.empty(len(order), dtype=np.int64)  # of the target among those of the group
        self._rank[order] = level - first
        self.total = self._total()

    def plane(self, scores: FloatArray) -> Plane:
        """Return the plane of the pairs whose scores differ by less than 1."""
        f, v = scores[self._used], self.weights[self._used]
        coef = np.zeros(len(f))
        offset = 0.0
        for bit in range(int(self._rank.max()).bit_length()):
            is_high = (self._rank >> bit) & 1 == 1
            block = self._rank >> (bit + 1)
            order = np.lexsort((is_high, f - is_high, block, self._group))  # by 1: low before high
            new = np.diff(self._group[order], prepend=-1) != 0
            new |= np.diff(block[order], prepend=-1) != 0
            high = is_high[order]
            low_after = _after(np.where(high, 0.0, v[order]), new)
            high_before = _before(np.where(high, v[order], 0.0), new)
            coef[order] += np.where(high, low_after, -high_before)
            offset += float((v[order] * low_after)[high].sum())
        whole = np.zeros(len(scores))
        whole[self._used] = v * coef
        return Plane(whole, offset)

    def _total(self) -> float:
        """The sum of the weights of all pairs: with equal scores, all miss their margin."""
        return self.plane(np.zeros(len(self.weights))).offset


def _before(values: FloatArray, new: NDArray[np.bool_]) -> FloatArray:
    """Return for each place the sum of the values before it in its block."""
    sums = np.cumsum(values) - values
    starts = np.flatnonzero(new)
    before: FloatArray = sums - np.repeat(sums[starts], np.diff(starts, append=len(values)))
    return before


def _after(values: FloatArray, new: NDArray[np.bool_]) -> FloatArray:
    last = np.append(new[1:], True)
    return _before(values[::-1], last[::-1])[::-1]


class PairPlaneTrainer:
    """Minimises the hinge loss of many pairs by cutting planes (Joachims 2006).

    Each iteration adds the plane at the current solution and solves the dual program over all
    planes so far. Its value is a lower bound on the objective over all pairs. So the gap between
    the best objective found and this bound is true. Training stops when it is at most `tol` times
    the objective.
    """

    def __init__(
        self, kernel: Any, examples: Any, pairs: OrderedPairs, *, owner: str, **options: Any
    ) -> None:
        self._owner, self._pairs, self._verbose = owner, pairs, options["verbose"]
        self._n_jobs = n_threads(options["n_jobs"])
        self.plan = plan_for(kernel, examples, engine="factors", **{**options, "kernel_tol": 0.0})

    def train(self, problems: Problems, kept: Checkpoint | None = None) -> Solution:
        """Solve the problem, and warn if `tol` was not reached. There are no checkpoints."""
        most = _MAX_ITER if problems.max_iter is None else problems.max_iter
        C = problems.C * self._pairs.total
        planes = _Planes()
        looks: list[tuple[float, float]] = []
        best, best_objective, bound = np.zeros(len(problems.weights)), np.inf, 0.0
        with progress_bar("training", show=self._verbose > 0) as progress:
            while True:
                alpha = planes.solve(C)
                norm = float(alpha @ planes.gram @ alpha)
                bound = max(bound, float(planes.offsets @ alpha) - norm / 2)
                scores = alpha @ planes.scores if len(alpha) else np.zeros(len(best))
                plane = self._pairs.plane(scores)
                loss = problems.C * (plane.offset - float(plane.coef @ scores))
                if norm / 2 + loss < best_objective:
                    best_objective = norm / 2 + loss
                    best = alpha @ planes.coefs if len(alpha) else best
                gap = max(0.0, 1 - bound / best_objective) if best_objective > 0 else 0.0
                looks.append((best_objective, gap))
                if progress is not None:
                    progress(len(looks), most)
                if gap <= problems.tol or len(looks) > most:
                    break
                self._add(planes, plane)
        if gap > problems.tol:
            self._warn(gap, problems.tol, most)
        return self._solution(best, looks)

    def _add(self, planes: "_Planes", plane: Plane) -> None:
        # Divided by the weight of all pairs, offsets are at most 1, as `solve_dual` needs it.
        coef = plane.coef / self._pairs.total
        column = np.ascontiguousarray(coef[:, np.newaxis])
        scores = self.plan.operator.scores(column, self._n_jobs)[:, 0]  # type: ignore[union-attr]
        planes.add(coef, plane.offset / self._pairs.total, scores)

    def _solution(self, coef: FloatArray, looks: list[tuple[float, float]]) -> Solution:
        objectives, gaps = (np.array(values) for values in zip(*looks, strict=True))
        return Solution(
            coef=coef[np.newaxis],
            intercept=np.zeros(1),
            objective=float(objectives[-1]),
            gap=float(gaps[-1]),
            n_iter=len(looks) - 1,
            convergence=[Convergence(np.arange(len(looks)), objectives, gaps)],
        )

    def _warn(self, gap: float, tol: float, most: int) -> None:
        warn(
            f"{self._owner} stopped after max_iter={most} planes at a relative duality gap of "
            f"{gap:.1e}, above tol={tol:g}: raise max_iter, or lower C",
            ConvergenceWarning,
            stacklevel=5,
        )


class _Planes:
    """Planes with their kernels. Those that have had no share for long are dropped."""

    def __init__(self) -> None:
        self.coefs: Any = None  # by plane and example
        self.scores: Any = None  # the kernel matrix times coefs
        self.offsets = np.empty(0)
        self.gram = np.empty((0, 0))
        self._idle = np.empty(0, dtype=np.int64)

    def add(self, coef: FloatArray, offset: float, scores: FloatArray) -> None:
        first = self.coefs is None
        self.coefs = coef[np.newaxis] if first else np.vstack([self.coefs, coef])
        self.scores = scores[np.newaxis] if first else np.vstack([self.scores, scores])
        row = self.scores @ coef
        self.gram = np.block([[self.gram, row[:-1, np.newaxis]], [row[np.newaxis]]])
        self.offsets = np.append(self.offsets, offset)
        self._idle = np.append(self._idle, 0)

    def solve(self, C: float) -> FloatArray:
        """Return the best weights of the planes."""
        alpha, _ = solve_dual(self.gram, self.offsets, C)
        self._idle = np.where(alpha > 0, 0, self._idle + 1)
        kept = self._idle < _IDLE
        if not kept.all():
            self.coefs, self.scores = self.coefs[kept], self.scores[kept]
            self.gram, self.offsets = self.gram[np.ix_(kept, kept)], self.offsets[kept]
            self._idle, alpha = self._idle[kept], alpha[kept]
        return alpha
