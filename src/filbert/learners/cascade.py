"""Exact training over the parts of a corpus: a cascade with a certificate.

The problem is that of one piece, over all n examples,

    P(w) = 1/2 |w|^2 + sum_i C_i loss_i(w)

but only one part is in memory at a time. Dual variables that are 0 outside a set S of candidates
are feasible for the whole problem. So the model that is trained on S alone has the gap

    P(w_S) - D(a_S) = (sum of the losses outside S) + (gap on S)

over *all* examples. The first term needs one pass, in which each part scores its own examples. The
loop, after Graf et al. 2005 (cascade SVM), with this gap as the stopping rule:

    S = support vectors of each part, trained by itself up to a loose gap
    repeat
        train on S, starting from the last dual variables
        each part: the sum of its losses outside S, and its examples with a loss (violators)
        stop if the gap is at most tol P
        S = support vectors + examples near the margin + violators

The dual objective never falls, because each training starts from the last solution, so the loop
ends. Only candidates, violators, models and sums travel. This needs losses that are 0 for all
examples beyond the margin, as the hinge and its square are.
"""

import sys
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.corpus.joining import joined
from filbert.corpus.parts import Parts
from filbert.corpus.runners import current_runner
from filbert.corpus.tasks import Work
from filbert.errors import InvalidParameterError
from filbert.kernels.inputs import without_others
from filbert.learners.cascade_tasks import (
    Check,
    First,
    Fitted,
    Machine,
    Sent,
    Weighting,
    check_model,
    choose_candidates,
    count_classes,
    seeds_for,
)
from filbert.learners.targets import (
    checked_weights,
    classes_of_parts,
    factors_of_classes,
    signs_of,
)
from filbert.model import SupportVectorModel

LOSSES = ("hinge", "squared_hinge")  # 0 beyond the margin
_NEAR = 1.2  # candidates up to this margin stay candidates
_MOST_ROUNDS = 100
_ON_CANDIDATES = 0.5  # the share of tol for the gap on the candidates
_IN_FIRST_ROUND = 10.0  # times this in the first round, which hardly ever is the last
_T = TypeVar("_T")


@dataclass(frozen=True)
class Round:
    """One round of training over parts.

    Attributes
    ----------
    n_candidates : int
        The number of examples that were trained on.
    n_support : int
        The number of support vectors among them.
    n_violators : int
        The number of other examples with a loss.
    objectives, gaps : ndarray of shape (n_problems,)
        The primal objective over all examples, and the relative duality gap.
    """

    n_candidates: int
    n_support: int
    n_violators: int
    objectives: FloatArray
    gaps: FloatArray

    @property
    def gap(self) -> float:
        """The largest gap."""
        return float(self.gaps.max())


@dataclass(frozen=True)
class Pool:
    """The candidates, in the order of parts and rows, with their dual variables."""

    part: NDArray[np.intp]
    row: NDArray[np.intp]
    label: NDArray[Any]
    weight: FloatArray
    X: Any
    alpha: FloatArray | None  # by problem and candidate

    def rows_of(self, part: int) -> NDArray[np.intp]:
        """Return the rows of the candidates of a part."""
        begin, end = np.searchsorted(self.part, [part, part + 1])
        return self.row[begin:end]

    def signs(self, classes: NDArray[Any]) -> NDArray[np.int8]:
        """Return the signs by problem and candidate."""
        return signs_of(np.searchsorted(classes, self.label), len(classes))

    def kept(self, keep: NDArray[np.bool_]) -> "Pool":
        """Return some of the candidates."""
        alpha = None if self.alpha is None else self.alpha[:, keep]
        X = self.X[np.flatnonzero(keep)]
        return Pool(self.part[keep], self.row[keep], self.label[keep], self.weight[keep], X, alpha)

    def with_others(self, others: list[Sent], kernel: Any) -> "Pool":
        """Return the pool with examples of each part added."""
        own = [without_others(kernel, self.X)] if len(self.row) else []
        X = joined(own + [other.X for other in others if len(other.row)])
        numbers = [np.full(len(other.row), part) for part, other in enumerate(others)]
        part = np.concatenate([self.part, *numbers])
        row = np.concatenate([self.row, *(other.row for other in others)])
        label = np.concatenate([self.label, *(other.label for other in others)])
        weight = np.concatenate([self.weight, *(other.weight for other in others)])
        order = np.lexsort((row, part))
        alpha = self.alpha
        if alpha is not None:
            new = np.zeros((len(alpha), len(row) - len(self.row)))
            alpha = np.ascontiguousarray(np.hstack([alpha, new])[:, order])
        return Pool(part[order], row[order], label[order], weight[order], X[order], alpha)


def first_pool(sent: list[Sent], kernel: Any) -> Pool:
    """Return the candidates that the parts chose."""
    if not any(len(one.row) for one in sent):
        raise InvalidParameterError("all weights are zero: there is nothing to learn from")
    none = np.zeros(0, dtype=np.intp)
    empty = Pool(none, none, sent[0].label[:0], np.zeros(0), None, None)
    return empty.with_others(sent, kernel)


@dataclass(frozen=True)
class Trained:
    """The result of training over parts."""

    pool: Pool
    classes: NDArray[Any]
    sizes: NDArray[np.intp]  # by part
    fitted: Fitted
    model: SupportVectorModel
    rounds: list[Round]


class Cascade:
    """Trains support vector machines over a corpus in parts."""

    def __init__(
        self,
        machine: Machine,
        corpus: Parts,
        *,
        y: Any,
        sample_weight: Any,
        class_weight: Any,
        checkpoint: Checkpoint,
        verbose: int,
    ) -> None:
        if machine.loss not in LOSSES:
            raise InvalidParameterError(
                f"a corpus in parts is trained with the loss {' or '.join(map(repr, LOSSES))}: "
                f"with {machine.loss!r} every example is a support vector. Train in one piece."
            )
        self._runner = current_runner(several_passes=True)
        self._corpus = corpus
        self._machine = machine
        self._checkpoint = checkpoint
        self._verbose = verbose
        self._own = _by_part(corpus, y, sample_weight)
        self._weighting = self._weighting_of(class_weight)

    def train(self) -> Trained:
        """Train until the gap over all examples is at most `tol`, and warn if it is not."""
        first = self._map("first", First, choose_candidates, "training parts", self._seeds())
        classes = classes_of_parts([one.classes for one in first], "TreeSVC")
        pool = first_pool([one.candidates for one in first], self._machine.kernel)
        rounds: list[Round] = []
        while True:
            fitted = self._fit(pool, classes, len(rounds))
            pool = replace(pool, alpha=fitted.alpha)
            model = _model_of(pool, classes, fitted, self._machine.kernel)
            checks = self._check(pool, model, classes, len(rounds))
            rounds.append(_round(pool, fitted, checks))
            self._tell(rounds[-1], len(rounds))
            is_stuck = fitted.gap.max() > self._tol_in(len(rounds) - 1)  # max_iter is too small
            if rounds[-1].gap <= self._machine.tol or is_stuck or len(rounds) == _MOST_ROUNDS:
                break
            pool = _next_pool(pool, checks, self._machine.kernel)
        if rounds[-1].gap > self._machine.tol:
            self._warn(rounds)
        sizes = np.array([one.n for one in first], dtype=np.intp)
        return Trained(pool, classes, sizes, fitted, model, rounds)

    # ---------------------------------------------------------------- steps

    def _map(
        self, step: str, kind: type[_T], task: Any, title: str, own: list[Any], *shared: Any
    ) -> list[_T]:
        work = Work(title, task, (*shared, self._machine, self._weighting))
        arguments = [(*given, one) for given, one in zip(self._own, own, strict=True)]
        pieces = self._corpus.pieces
        return self._checkpoint.map(
            self._runner, step, kind, work, pieces, arguments, self._verbose
        )

    def _fit(self, pool: Pool, classes: NDArray[Any], number: int) -> Fitted:
        signs = pool.signs(classes)
        seeds = seeds_for([self._checkpoint.seed, number, 1], len(signs))
        machine, verbose = replace(self._machine, tol=self._tol_in(number)), self._verbose
        return self._checkpoint.once(
            f"fit-{number}",
            Fitted,
            lambda: machine.train(pool.X, signs, pool.weight, seeds, pool.alpha, verbose),
        )

    def _tol_in(self, number: int) -> float:
        """Return the gap to reach on the candidates in a round."""
        tol = _ON_CANDIDATES * self._machine.tol
        return max(tol, min(0.1, _IN_FIRST_ROUND * tol)) if number == 0 else tol

    def _check(
        self, pool: Pool, model: SupportVectorModel, classes: NDArray[Any], number: int
    ) -> list[Check]:
        own = [pool.rows_of(part) for part in range(self._corpus.n_parts)]
        return self._map(f"check-{number}", Check, check_model, "scoring", own, model, classes)

    def _seeds(self) -> list[list[int]]:
        return [[self._checkpoint.seed, part, 0] for part in range(self._corpus.n_parts)]

    def _weighting_of(self, class_weight: Any) -> Weighting:
        """Return the weights of classes. They need a pass of their own over the labels."""
        if class_weight is None:
            return Weighting()
        work = Work("counting classes", count_classes)
        counted = list(self._runner.map(work, self._corpus.pieces, self._own, self._verbose))
        classes = classes_of_parts([own for own, _ in counted], "TreeSVC")
        counts = np.zeros(len(classes), dtype=np.intp)
        for own, n in counted:
            counts[np.searchsorted(classes, own)] += n
        return Weighting(classes, factors_of_classes(class_weight, classes, counts))

    # ---------------------------------------------------------------- messages

    def _tell(self, done: Round, n_rounds: int) -> None:
        if self._verbose > 0:
            print(
                f"round {n_rounds}: {done.n_candidates:,} candidates, {done.n_support:,} support "
                f"vectors, {done.n_violators:,} violators, gap {done.gap:.1e}",
                file=sys.stderr,
            )

    def _warn(self, rounds: list[Round]) -> None:
        n = len(rounds)
        warn(
            f"TreeSVC stopped after {n} round{'' if n == 1 else 's'} over the parts at a relative "
            f"duality gap of {rounds[-1].gap:.1e}, above tol={self._machine.tol:g}: raise "
            "max_iter, or lower C",
            ConvergenceWarning,
            stacklevel=4,
        )


def _by_part(corpus: Parts, y: Any, sample_weight: Any) -> list[tuple[Any, Any]]:
    """Return the labels and weights that the user passed, for each part; None if there are none."""
    nothing = [None] * corpus.n_parts
    labels = nothing if y is None else corpus.split(y, "y")
    if sample_weight is None:
        return list(zip(labels, nothing, strict=True))
    weights = checked_weights(sample_weight, len(corpus))
    if not weights.any():
        raise InvalidParameterError("all weights are zero: there is nothing to learn from")
    return list(zip(labels, corpus.split(weights, "sample_weight"), strict=True))


def _model_of(pool: Pool, classes: NDArray[Any], fitted: Fitted, kernel: Any) -> SupportVectorModel:
    support = np.flatnonzero(fitted.alpha.any(axis=0))
    coef = (fitted.alpha * pool.signs(classes))[:, support]
    return SupportVectorModel(kernel, pool.X[support], coef, fitted.intercept)


def _round(pool: Pool, fitted: Fitted, checks: list[Check]) -> Round:
    """Return the gap over all examples.

    The gap on the candidates is relative to their objective P. Adding losses L outside gives
    (gap P + L) / (P + L). With pruned factors P is that of their kernel, which is at most what the
    bound on the gap is relative to, so this is a bound too.
    """
    outside = np.sum([check.loss for check in checks], axis=0)
    objective = fitted.objective + outside
    gaps = (fitted.gap * fitted.objective + outside) / objective
    return Round(
        n_candidates=len(pool.row),
        n_support=int(np.count_nonzero(fitted.alpha.any(axis=0))),
        n_violators=sum(len(check.violators.row) for check in checks),
        objectives=objective,
        gaps=gaps,
    )


def _next_pool(pool: Pool, checks: list[Check], kernel: Any) -> Pool:
    """Keep support vectors and examples near the margin, and add the violators."""
    assert pool.alpha is not None
    margin = np.concatenate([check.margin for check in checks])  # in the order of the pool
    kept = pool.kept(pool.alpha.any(axis=0) | (margin < _NEAR))
    return kept.with_others([check.violators for check in checks], kernel)
