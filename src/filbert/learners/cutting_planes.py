"""Support vector machines by cutting planes with sampling (Severyn & Moschitti 2012).

The problem is the 1-slack form of the SVM (their Eq. 2): one slack variable for the mean loss, and
a constraint ``w . g >= d - slack`` for each set of examples that may be in the margin at once. The
algorithm searches only for the most violated constraints, the *planes*. Each plane is found on a
sample of the training set, so the time of an iteration grows with the sample and not with the set.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray, IndexArray
from filbert.errors import KernelOverflowError
from filbert.learners.plane_qp import solve_dual

_IDLE = 50  # a plane is idle after this many iterations without a share in w
_MANY = 0.05  # idle planes are dropped if they are this share of all; the others are stored again
_LARGEST = 1e300  # the largest value in the quadratic problem
_ON_MARGIN = 1e-9  # rounding must not decide whether an example on the margin is in a plane


class Planes(Protocol):
    """The storage of planes. The strategies differ only in this."""

    def scores(self, sample: IndexArray, alpha: FloatArray) -> FloatArray:
        """Return w . phi(x) for a sample of the examples, where w = sum_j alpha_j g_j."""

    def add(self, places: IndexArray, weights: FloatArray) -> FloatArray:
        """Add a plane of examples of the last sample; return its products with all planes."""

    def keep(self, planes: IndexArray) -> None:
        """Drop all planes except these."""

    def restore(self, examples: IndexArray, weights: FloatArray) -> None:
        """Add a plane of examples as before, whose products are known."""


@dataclass(frozen=True)
class Iteration:
    """The figures at the end of an iteration."""

    n_planes: int
    n_active: int  # planes with a share in w
    violation: float  # of the plane found, in mean loss
    objective: float  # the primal objective, with the loss on the sample
    dual: float  # the dual objective over the planes


@dataclass
class State:
    """The state between two iterations, except the planes' storage."""

    rng: np.random.Generator
    examples: list[IndexArray] = field(default_factory=list)  # by plane
    weights: list[FloatArray] = field(default_factory=list)  # of these examples, times the sign
    offsets: FloatArray = field(default_factory=lambda: np.empty(0))  # d, by plane
    biases: FloatArray = field(default_factory=lambda: np.empty(0))  # constant feature, by plane
    gram: FloatArray = field(default_factory=lambda: np.empty((0, 0)))  # products of planes
    alpha: FloatArray = field(default_factory=lambda: np.empty(0))
    idle: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    history: list[Iteration] = field(default_factory=list)

    def add(
        self, examples: IndexArray, weights: FloatArray, offset: float, products: FloatArray
    ) -> None:
        """Add a plane: its examples, their weights, d, and its products with all planes."""
        n = len(self.offsets)
        gram = np.empty((n + 1, n + 1))
        gram[:n, :n] = self.gram
        gram[n, :] = gram[:, n] = products
        self.gram = gram
        self.examples.append(examples)
        self.weights.append(weights)
        self.offsets = np.append(self.offsets, offset)
        self.biases = np.append(self.biases, weights.sum())
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)

    def keep(self, planes: IndexArray) -> None:
        """Drop all planes except these."""
        self.examples = [self.examples[j] for j in planes]
        self.weights = [self.weights[j] for j in planes]
        self.offsets = self.offsets[planes]
        self.biases = self.biases[planes]
        self.gram = self.gram[np.ix_(planes, planes)]
        self.alpha = self.alpha[planes]
        self.idle = self.idle[planes]

    def coefficients(self, n: int) -> FloatArray:
        """Return w as weights of the n examples."""
        coef = np.zeros(n)
        for alpha, examples, weights in zip(self.alpha, self.examples, self.weights, strict=True):
            coef[examples] += alpha * weights
        return coef


def cutting_planes(
    planes: Planes,
    signs: NDArray[np.int8],
    sample: Callable[[np.random.Generator], tuple[IndexArray, FloatArray]],
    state: State,
    *,
    C: float,
    epsilon: float,
    intercept: bool,
    between: Callable[[], None] = lambda: None,
) -> Iterator[Iteration]:
    """Run Algorithm 2 until no plane is violated by more than `epsilon`, and yield iterations.

    Parameters
    ----------
    planes : Planes
        Storage that has the planes of the state.
    signs : ndarray of -1 and 1
        The labels, by example.
    sample : callable
        Draws examples in ascending order and their weights, which sum to 1.
    state : State
        Changed in place. After each iteration, `state.alpha` and the planes define w.
    C : float
        The paper's C, the weight of the mean loss.
    epsilon : float
        The violation, in mean loss, above which a plane is added.
    intercept : bool
        Fit an intercept, the weight of a constant feature.
    between : callable
        It is called between two iterations, when the state is whole.
    """
    while True:
        likely = (state.alpha > 0) | (state.idle == 0)  # those active before, and the new one
        state.alpha, slack = solve_dual(state.gram, state.offsets, C, likely)  # lines 4 and 5
        active = state.alpha > 0
        state.idle = np.where(active, 0, state.idle + 1)
        examples, weights = sample(state.rng)  # line 6
        y = signs[examples]
        scores = planes.scores(examples, state.alpha)  # line 7: Algorithm 3 or 4
        if intercept:
            scores = scores + state.alpha @ state.biases
        in_plane = np.flatnonzero(y * scores <= 1 + _ON_MARGIN).astype(np.uint32)
        weights, y = weights[in_plane], y[in_plane]
        offset = float(weights.sum())  # line 9
        loss = offset - float((weights * y) @ scores[in_plane])
        squared_norm = float(state.alpha @ state.gram @ state.alpha)
        now = Iteration(
            n_planes=len(state.alpha),
            n_active=int(active.sum()),
            violation=loss - slack,
            objective=squared_norm / 2 + C * loss,
            dual=float(state.offsets @ state.alpha) - squared_norm / 2,
        )
        state.history.append(now)
        yield now
        if now.violation <= epsilon:  # line 12
            return
        _drop_idle(planes, state)
        products = planes.add(in_plane, weights * y)  # line 8
        if intercept:
            products = products + (weights @ y) * np.append(state.biases, weights @ y)
        if not np.isfinite(products).all() or np.abs(products).max() > _LARGEST / max(1.0, C):
            raise KernelOverflowError(
                "kernel values times C are beyond the range of float64",
                "use normalize=True, or a smaller C",
            )
        state.add(examples[in_plane], weights * y, offset, products)  # line 10
        between()


def _drop_idle(planes: Planes, state: State) -> None:
    kept = np.flatnonzero(state.idle < _IDLE).astype(np.uint32)
    n_idle = len(state.idle) - len(kept)
    if n_idle > 0 and n_idle >= _MANY * len(state.idle):
        planes.keep(kept)
        state.keep(kept)


def iteration_bound(C: float, largest_self: float, epsilon: float) -> float:
    """Return Theorem 3's bound on the number of iterations.

    `largest_self` is R^2, the largest kernel of an example with itself. The paper's Delta, the
    largest loss at w = 0, is 1.
    """
    return 8 * C * largest_self / epsilon / epsilon
