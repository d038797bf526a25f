"""What a part of a corpus does in the cascade: choose candidates, and check a model.

Both are pure functions of the part and of what all parts share.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.corpus.pieces import Rows
from filbert.errors import InvalidParameterError
from filbert.kernels.inputs import rows_for, without_others
from filbert.learners.certificate import first_kernel_tol
from filbert.learners.exact import ExactTrainer
from filbert.learners.problems import Problems
from filbert.learners.targets import are_plain, checked_labels, checked_weights, signs_of
from filbert.model import SupportVectorModel

_LOOSE = 1e-2  # the gap to which a part is trained by itself
_SAMPLE = 100  # candidates from a part with one class, which cannot be trained by itself


@dataclass(frozen=True)
class Machine:
    """The parameters of a support vector machine that do not depend on the examples."""

    kernel: Any
    C: float
    loss: str
    engine: Any
    intercept: bool
    kernel_tol: float | None
    tol: float
    max_iter: int | None
    max_memory: int | None
    n_jobs: int | None

    def train(
        self,
        examples: Any,
        signs: NDArray[np.int8],
        weights: FloatArray,
        seeds: NDArray[np.uint64],
        start: FloatArray | None = None,
        verbose: int = 0,
    ) -> "Fitted":
        """Train on examples in one piece."""
        first = first_kernel_tol(self.tol, self.C * weights)
        trainer = ExactTrainer(
            self.kernel,
            examples,
            owner="TreeSVC",
            engine=self.engine,
            kernel_tol=first if self.kernel_tol is None else float(self.kernel_tol),
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
            verbose=verbose,
        )
        solution = trainer.solve(
            Problems(
                signs=signs,
                weights=weights,
                C=self.C,
                loss=self.loss,
                intercept=self.intercept,
                tol=self.tol,
                max_iter=self.max_iter,
                seeds=seeds,
                start=start,
            )
        )
        assert solution.alpha is not None
        return Fitted(
            alpha=solution.alpha,
            intercept=solution.intercept,
            objective=np.array([curve.objective[-1] for curve in solution.convergence]),
            gap=np.array([curve.gap[-1] for curve in solution.convergence]),
            kernel_error=solution.kernel_error,
            engine=trainer.plan.name,
            reason=trainer.plan.reason,
        )


@dataclass(frozen=True)
class Fitted:
    """A solution on examples in one piece.

    Attributes
    ----------
    alpha : ndarray of shape (n_problems, n)
        The dual variables.
    intercept, objective, gap : ndarray of shape (n_problems,)
        The gap is relative to the objective.
    kernel_error : float
    engine, reason : str
    """

    alpha: FloatArray
    intercept: FloatArray
    objective: FloatArray
    gap: FloatArray
    kernel_error: float
    engine: str
    reason: str


@dataclass(frozen=True)
class Weighting:
    """The weights of examples, and the weights of their classes if the user gives any.

    Attributes
    ----------
    classes : ndarray or None
        All classes of the corpus, if they are known.
    factors : ndarray or None
        By class.
    """

    classes: NDArray[Any] | None = None
    factors: FloatArray | None = None

    def of(self, labels: NDArray[Any], sample_weight: FloatArray | None) -> FloatArray:
        """Return the weight of each example."""
        weights = checked_weights(sample_weight, len(labels))
        if self.classes is None or self.factors is None:
            return weights
        return weights * self.factors[np.searchsorted(self.classes, labels)]


@dataclass(frozen=True)
class Sent:
    """Examples that a part sends: candidates or violators.

    Attributes
    ----------
    row : ndarray of int
        Their rows in the part, ascending.
    label : ndarray
    weight : ndarray of float
    X : the examples, with only what the kernel needs; None if there are none
    """

    row: NDArray[np.intp]
    label: NDArray[Any]
    weight: FloatArray
    X: Any


@dataclass(frozen=True)
class First:
    """The first result of a part: its size, its classes with their counts, and candidates."""

    n: int
    classes: NDArray[Any]
    counts: NDArray[np.intp]
    candidates: Sent


@dataclass(frozen=True)
class Check:
    """The result of a part for a model.

    Attributes
    ----------
    loss : ndarray of shape (n_problems,)
        The summed losses of the examples that are not candidates.
    margin : ndarray of float
        For each candidate of the part, the smallest margin over the problems.
    violators : Sent
        The examples with a loss that are not candidates.
    """

    loss: FloatArray
    margin: FloatArray
    violators: Sent


def labels_of(rows: Rows, y: NDArray[Any] | None) -> NDArray[Any]:
    """Return the labels of a part: those that the user passed, or its own."""
    labels = rows.y if y is None else y
    if labels is None:
        raise InvalidParameterError("the corpus has no labels: pass y, one label per example")
    n = int(rows.X.shape[0])
    labels = np.asarray(labels)
    if n and (len(labels) != n or not are_plain(labels)):
        labels = checked_labels(labels, n)
    if labels.dtype == object and all(isinstance(label, str) for label in labels):
        return labels.astype(str)
    return labels


def count_classes(
    rows: Rows, y: NDArray[Any] | None, sample_weight: FloatArray | None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes of a part and the number of their examples."""
    return np.unique(labels_of(rows, y), return_counts=True)


def choose_candidates(
    rows: Rows,
    y: NDArray[Any] | None,
    sample_weight: FloatArray | None,
    seed: list[int],
    machine: Machine,
    weighting: Weighting,
) -> First:
    """Train on a part by itself, and return its support vectors."""
    labels = labels_of(rows, y)
    weights = weighting.of(labels, sample_weight)
    classes, coded, counts = np.unique(labels, return_inverse=True, return_counts=True)
    examples = rows_for(machine.kernel, rows.X)
    with_weight = np.flatnonzero(weights)
    if len(np.unique(coded[with_weight])) < 2:
        row = with_weight[:: max(1, len(with_weight) // _SAMPLE)][:_SAMPLE]
    else:
        signs = signs_of(coded, len(classes))
        loose = replace(machine, tol=max(machine.tol, _LOOSE))
        fitted = loose.train(examples, signs, weights, seeds_for(seed, len(signs)))
        row = np.flatnonzero(fitted.alpha.any(axis=0))
    candidates = _sent(machine.kernel, examples, row, labels, weights)
    return First(len(labels), classes, counts, candidates)


def check_model(
    rows: Rows,
    y: NDArray[Any] | None,
    sample_weight: FloatArray | None,
    candidates: NDArray[np.intp],
    model: SupportVectorModel,
    classes: NDArray[Any],
    machine: Machine,
    weighting: Weighting,
) -> Check:
    """Score the examples of a part, and return its share of the gap and its violators.

    If scores are known up to bounds only, margins are the smallest possible ones, so that the sum
    of losses is never too small.
    """
    labels = labels_of(rows, y)
    weights = weighting.of(labels, sample_weight)
    examples = rows_for(machine.kernel, rows.X)
    signs = signs_of(np.searchsorted(classes, labels), len(classes)).T
    scores = model.score_bounds(examples, n_jobs=machine.n_jobs)
    margins = np.where(signs > 0, scores.low, -scores.high)
    losses = np.maximum(0.0, 1.0 - margins)
    if machine.loss == "squared_hinge":
        losses **= 2
    losses *= (machine.C * weights)[:, None]
    losses[candidates] = 0.0
    row = np.flatnonzero(losses.any(axis=1))
    return Check(
        loss=losses.sum(axis=0),
        margin=margins[candidates].min(axis=1, initial=np.inf),
        violators=_sent(machine.kernel, examples, row, labels, weights),
    )


def _sent(
    kernel: Any, X: Any, row: NDArray[np.intp], labels: NDArray[Any], weights: FloatArray
) -> Sent:
    own = without_others(kernel, X[row]) if len(row) else None
    return Sent(row, labels[row], weights[row], own)


def seeds_for(seed: list[int], n: int) -> NDArray[np.uint64]:
    """Return one seed for each of n problems."""
    return np.random.SeedSequence(seed).generate_state(n, np.uint64).astype(np.uint64)
