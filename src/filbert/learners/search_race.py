"""A race of settings over folds: those that are clearly worse than the best leave it.

Every kernel is prepared once: all folds, losses and values of C share its factors, or its whole
matrix if factors may not pay. The first round tries each kernel on the first fold, with the first
loss and without the smallest and the largest C. The second round tries the kernels that are left
with the other losses, and with the smallest and largest C if the score still rises towards it. The
settings that are left go on over the other folds.

A setting leaves if the best one is better by more than `_ERRORS` standard errors of the difference,
example by example, or if too many others are better. The first kernel with the first loss and the
middle C, the *reference*, stays. It wins unless the best one is better by more than half a standard
error: a choice among many settings by small differences is a choice by chance. All that depends
only on the examples and the seed. A time budget may end the race; what it left out is listed.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from filbert.arrays import FloatArray
from filbert.errors import (
    KernelOverflowError,
    MatrixTooLargeError,
    NoFragmentsWarning,
    OutOfMemoryError,
    WorkLimitError,
)
from filbert.learners.cross_validation import SharedFolds
from filbert.learners.search_folds import Fold
from filbert.learners.search_kernels import work_of
from filbert.learners.svm import TreeSVC

_ERRORS = 2.0  # standard errors by which a setting that leaves is worse
_ERRORS_OF_REFERENCE = 0.5  # by which the reference is worse
_KERNELS = 4  # the most kernels after the first round
_SETTINGS = 6  # the most settings after the first fold
_LATE = "the time budget ran out"
_TOO_MUCH = (KernelOverflowError, MatrixTooLargeError, OutOfMemoryError, WorkLimitError)

SCORES: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "f1_macro": lambda y, predicted: f1_score(y, predicted, average="macro", zero_division=0.0),
}


@dataclass(frozen=True)
class Setting:
    """A kernel by its place in the list, a loss and a C."""

    kernel: int
    loss: str
    C: float


@dataclass
class Race:
    """Settings, examples and folds; then scores, and what was left out for which reason.

    Attributes
    ----------
    scores : dict of lists
        By setting, the scores of the folds that it took part in.
    left_out : dict of str
        By setting, why it did not take part at all or in all folds, except for settings that were
        worse than others.
    """

    learner: Callable[[Any], TreeSVC]  # of a kernel
    kernels: Sequence[Any]
    losses: Sequence[str]
    Cs: Sequence[float]
    X: Any
    y: NDArray[Any]
    folds: list[Fold]
    scoring: str
    max_work: float
    deadline: float  # of time.monotonic
    report: Callable[[int, int], None]
    scores: dict[Setting, list[float]] = field(default_factory=dict)
    left_out: dict[Setting, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._shared: dict[int, SharedFolds] = {}
        self._right: dict[Setting, list[FloatArray]] = {}
        counts = dict(zip(*np.unique(self.y, return_counts=True), strict=True))
        by_class = {c: 1.0 if self.scoring == "accuracy" else 1 / n for c, n in counts.items()}
        self._weights = np.array([by_class[c] for c in self.y])

    @property
    def settings(self) -> list[Setting]:
        """All settings, also those that do not take part."""
        n = len(self.kernels)
        return [Setting(k, loss, C) for k in range(n) for loss in self.losses for C in self.Cs]

    def run(self) -> None:
        """Run the race to its end or to the end of the time."""
        self._leave_out_costly()
        alive = [s for s in self.settings if s not in self.left_out]
        inner = self.Cs[1:-1] if len(self.Cs) > 3 else self.Cs
        first = [s for s in alive if s.loss == self.losses[0] and s.C in inner]
        if not self._run_fold(0, first):
            self.left_out |= {s: _LATE for s in alive if s not in self.scores}
            return
        first = self._better(first, self._n_of_best_kernels(first))
        kernels = {s.kernel for s in first}
        rest = [s for s in alive if s.kernel in kernels and s not in self.scores]
        others = [s for s in rest if s.C in inner or self._rises_to(s)]
        if not self._run_fold(0, others):
            return
        alive = self._better(first + others, _SETTINGS)
        for number in range(1, len(self.folds)):
            kernels = {s.kernel for s in alive}
            self._shared = {k: v for k, v in self._shared.items() if k in kernels}
            if not self._run_fold(number, alive):
                return
            alive = self._better(alive, _SETTINGS)

    @property
    def reference(self) -> Setting:
        """The first kernel with the first loss and the middle C."""
        return Setting(0, self.losses[0], self.Cs[len(self.Cs) // 2])

    def best(self) -> Setting:
        """Return the setting with the best mean score among those with the most folds.

        Of equal ones, the kernel that is listed first wins, then the smaller C. The reference wins
        if the best one is not better by more than half a standard error.
        """
        order = {s: i for i, s in enumerate(self.settings)}
        best = max(
            self.scores,
            key=lambda s: (len(self.scores[s]), float(np.mean(self.scores[s])), -order[s]),
        )
        known = self.reference
        if len(self.scores.get(known, [])) < len(self.scores[best]):
            return best
        return best if self._is_worse(known, best, _ERRORS_OF_REFERENCE) else known

    def _leave_out_costly(self) -> None:
        for number, kernel in enumerate(self.kernels):
            work = work_of(kernel, self.X)
            if work > self.max_work and number > 0:
                self._leave_out(
                    number,
                    f"its kernel may take {work:.1e} steps, above max_work={self.max_work:g}",
                )

    def _leave_out(self, kernel: int, reason: str) -> None:
        self.left_out |= {s: reason for s in self.settings if s.kernel == kernel}

    def _run_fold(self, number: int, settings: list[Setting]) -> bool:
        """Train and score settings on a fold. Return whether the time sufficed."""
        train, test = self.folds[number]
        groups = list(_paths(settings))
        for done, (kernel, loss, Cs) in enumerate(groups):
            self.report(number * len(groups) + done, len(self.folds) * len(groups))
            if self.scores and time.monotonic() > self.deadline:
                late = [Setting(k, own, C) for k, own, costs in groups[done:] for C in costs]
                self.left_out |= dict.fromkeys(late, _LATE)
                return False
            if any(s.kernel == kernel for s in self.left_out):
                continue
            try:
                shared = self._prepared(kernel)
                predicted = shared.predictions(train, test, Cs, loss)
            except _TOO_MUCH as error:
                self._leave_out(kernel, str(error))
                continue
            for C, own in zip(Cs, predicted, strict=True):
                self._keep(Setting(kernel, loss, C), test, own)
        return True

    def _prepared(self, kernel: int) -> SharedFolds:
        if kernel not in self._shared:
            svm, X = self.learner(self.kernels[kernel]), self.X
            if work_of(self.kernels[kernel], X) > 0:
                svm, X = _by_matrix(svm, X)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoFragmentsWarning)  # said when it is chosen
                self._shared[kernel] = SharedFolds(svm, X, self.y, self.Cs)
        return self._shared[kernel]

    def _rises_to(self, setting: Setting) -> bool:
        """Return whether the score of the first loss is best next to the setting's C."""
        known = {
            s.C: own[0]
            for s, own in self.scores.items()
            if s.kernel == setting.kernel and s.loss == self.losses[0]
        }
        nearest = min(known, key=lambda C: abs(C - setting.C))
        return known[nearest] == max(known.values())

    def _keep(self, setting: Setting, test: NDArray[np.intp], predicted: NDArray[Any]) -> None:
        score = float(SCORES[self.scoring](self.y[test], predicted))
        self.scores.setdefault(setting, []).append(score)
        weighted = self._weights[test] * (self.y[test] == predicted)
        self._right.setdefault(setting, []).append(weighted)

    def _n_of_best_kernels(self, settings: list[Setting]) -> int:
        """Return how many of the settings, from the best, have the most kernels that go on."""
        seen: set[int] = set()
        for n, setting in enumerate(self._ranked(settings)):
            seen.add(setting.kernel)
            if len(seen) > _KERNELS:
                return n
        return len(settings)

    def _ranked(self, settings: list[Setting]) -> list[Setting]:
        """Return the settings that took part, the best first; ties stay in order."""
        present = [s for s in settings if s in self.scores]
        return sorted(present, key=lambda s: -float(np.mean(self.scores[s])))

    def _better(self, settings: list[Setting], n_most: int) -> list[Setting]:
        """Return the settings that are not clearly worse than the best, in their order."""
        ranked = self._ranked(settings)
        kept = {s for s in ranked[:n_most] if not self._is_worse(s, ranked[0], _ERRORS)}
        return [s for s in settings if s in kept or s == self.reference]

    def _is_worse(self, setting: Setting, best: Setting, n_errors: float) -> bool:
        """Return whether the best one is better by more standard errors of the difference."""
        differences = np.concatenate(self._right[best]) - np.concatenate(self._right[setting])
        error = float(differences.std()) / np.sqrt(len(differences))
        return bool(differences.mean() > n_errors * error)


def _by_matrix(svm: TreeSVC, X: Any) -> tuple[TreeSVC, NDArray[np.intp]]:
    """Return the learner with a function of the kernel matrix, and the numbers of the examples."""
    matrix = svm.kernel(X, n_jobs=svm.n_jobs)

    def values(a: NDArray[np.intp], b: NDArray[np.intp]) -> FloatArray:
        entries: FloatArray = matrix[np.ix_(a[:, 0], b[:, 0])]
        return entries

    return svm.set_params(kernel=values, engine="rows"), np.arange(len(matrix))[:, None]


def _paths(settings: list[Setting]) -> Iterator[tuple[int, str, list[float]]]:
    """Yield kernel and loss with the values of C, ascending, in the order of the settings."""
    paths: dict[tuple[int, str], list[float]] = {}
    for setting in settings:
        paths.setdefault((setting.kernel, setting.loss), []).append(setting.C)
    for (kernel, loss), Cs in paths.items():
        yield kernel, loss, sorted(Cs)
