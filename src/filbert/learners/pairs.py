"""Preferences between the candidates of a group: which of two should score higher."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.errors import InvalidParameterError
from filbert.learners.exact import ExactTrainer
from filbert.learners.problems import Problems, Solution
from filbert.threads import n_threads

MOST_PAIRS = 1 << 25  # that are written out: about 3 GB in training
_BLOCK = 1 << 20  # pairs at a time, where not all are needed at once


class Preferences:
    """All pairs of examples of the same group with different targets, in order of their groups.

    They are not stored: ``numbers`` has for each example, in sorted order, how many examples of its
    group have a lower target. These come right at the beginning of the group.
    """

    def __init__(self, targets: FloatArray, groups: NDArray[np.intp]) -> None:
        self._order = np.lexsort((targets, groups))
        n = len(self._order)
        y, g = targets[self._order], groups[self._order]
        places = np.arange(n)
        new_group = np.diff(g, prepend=-1) != 0
        new_level = new_group | (np.diff(y, prepend=np.nan) != 0)
        self._begin = np.maximum.accumulate(np.where(new_group, places, 0))
        level = np.maximum.accumulate(np.where(new_level, places, 0))
        self._numbers = level - self._begin

    def __len__(self) -> int:
        return int(self._numbers.sum())

    def blocks(self, size: int = _BLOCK) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the higher and the lower examples of some pairs at a time."""
        ends = np.cumsum(self._numbers)
        first = 0
        while first < len(ends):
            done = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + size, "right")))
            yield self._pairs(slice(first, last))
            first = last

    def _pairs(self, part: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        numbers, begin = self._numbers[part], self._begin[part]
        starts = np.cumsum(numbers) - numbers
        within = np.arange(int(numbers.sum())) - np.repeat(starts, numbers)
        lower = self._order[np.repeat(begin, numbers) + within]
        return np.repeat(self._order[part], numbers), lower


def share_in_order(targets: FloatArray, scores: FloatArray, groups: NDArray[np.intp]) -> float:
    """Return the share of pairs of a group whose scores have the order of their targets."""
    known = Preferences(targets, groups)
    if len(known) == 0:
        raise InvalidParameterError("no two candidates of the same group have different y")
    right = 0.0
    for higher, lower in known.blocks():
        difference = scores[higher] - scores[lower]
        right += np.count_nonzero(difference > 0) + np.count_nonzero(difference == 0) / 2
    return float(right / len(known))


def count_pairs(targets: FloatArray, groups: NDArray[np.intp], weights: FloatArray) -> int:
    """Count the pairs of the same group with different targets, of examples with a weight."""
    used = np.flatnonzero(weights)
    n = len(Preferences(targets[used], groups[used]))
    if n == 0:
        raise InvalidParameterError(
            "there is nothing to compare: no two examples of the same group have different y"
        )
    return n


@dataclass(frozen=True)
class Pairs:
    """Pairs of examples. The first should score higher."""

    higher: NDArray[np.uint32]
    lower: NDArray[np.uint32]
    n_examples: int

    @classmethod
    def of(cls, targets: FloatArray, groups: NDArray[np.intp], weights: FloatArray) -> "Pairs":
        """Return all pairs of the same group with different targets, of examples with a weight."""
        used = np.flatnonzero(weights)
        blocks = list(Preferences(targets[used], groups[used]).blocks())
        higher, lower = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        used = used.astype(np.uint32)
        return cls(used[higher], used[lower], len(targets))

    def __len__(self) -> int:
        return len(self.higher)

    @property
    def most_of_one(self) -> int:
        """The largest number of pairs that one example is in."""
        return int(np.bincount(np.concatenate([self.higher, self.lower])).max(initial=0))

    def by_example(self, weights: FloatArray) -> FloatArray:
        """Return the weights of examples, given those of their differences in rows."""
        n = self.n_examples
        rows = [np.bincount(self.higher, w, n) - np.bincount(self.lower, w, n) for w in weights]
        return np.array(rows)


class PairTrainer(ExactTrainer):
    """Solves problems over the differences of two examples each, on factors.

    A difference is never stored. Its dual variable changes the weights of two examples.
    """

    def __init__(self, kernel: Any, examples: Any, *, pairs: Pairs, **options: Any) -> None:
        self._pairs = pairs
        super().__init__(kernel, examples, engine="factors", **options)

    def solve(self, problems: Problems, kept: Checkpoint | None = None) -> Solution:
        """Solve the problems. The solution has the weights of examples, and alpha by pair."""
        solution = super().solve(problems, kept)
        return replace(solution, coef=self._pairs.by_example(solution.coef))

    def _prepare(self, kernel_tol: float) -> None:
        super()._prepare(kernel_tol)
        self.plan = replace(self.plan, reason="differences of examples are those of their factors")
        self.matrix = _PairOperator(self.plan.operator, self._pairs, n_threads(self.n_jobs))

    def _kernel_errors(self) -> FloatArray:
        # With E the errors of the kernel and |E_ij| <= sqrt(d_i d_j), the errors between the
        # differences i - j and k - l are at most (sqrt(d_i) + sqrt(d_j)) (sqrt(d_k) + sqrt(d_l)).
        roots = np.sqrt(self.plan.kernel_errors)
        errors: FloatArray = (roots[self._pairs.higher] + roots[self._pairs.lower]) ** 2
        return errors

    def _kernel_error_rows(self) -> FloatArray:
        # The errors E_ik + E_il + E_jk + E_jl between i - j and k - l, summed over k and l.
        rows = self.plan.kernel_error_rows
        pairs = self._pairs
        sums: FloatArray = pairs.most_of_one * (rows[pairs.higher] + rows[pairs.lower])
        return sums


class _PairOperator:
    """What `ExactTrainer` needs of factors, for pairs in place of examples."""

    errors_have_sign = False

    def __init__(self, factors: Any, pairs: Pairs, n_jobs: int) -> None:
        self._factors, self._pairs = factors, pairs
        self._core = _core.PairFactors(factors, pairs.higher, pairs.lower, n_jobs, None)

    def train(self, problems: Any, n_jobs: int, progress: Any) -> _core.SvmSolutions:
        return self._core.train(problems, n_jobs, progress)

    def scores(self, weights: FloatArray, n_jobs: int) -> FloatArray:
        by_example = np.ascontiguousarray(self._pairs.by_example(weights.T).T)
        scores: FloatArray = self._factors.scores(by_example, n_jobs)
        return np.ascontiguousarray(scores[self._pairs.higher] - scores[self._pairs.lower])
