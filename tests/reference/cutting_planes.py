"""Algorithm 2 of Severyn & Moschitti 2012 over a kernel matrix, in plain NumPy.

Planes are weights of all examples. Nothing is updated: each iteration computes all that it needs
from the kernel matrix.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

ON_MARGIN = 1e-9  # what counts as on the margin
IDLE = 50  # a plane without a part in w for so many iterations is dropped,
LOOK = 10  # which is looked at once in so many


@dataclass
class Step:
    """What an iteration did, for those who count: `plane` are examples that were sampled."""

    stored: list[int]  # the steps whose planes there were
    sample: Array
    plane: Array
    violation: float


@dataclass
class Run:
    """The outcome: w as weights of the examples, and how it came about."""

    coef: Array
    intercept: float
    objective: float
    dual: float
    steps: list[Step] = field(default_factory=list)


def cutting_planes(
    K: Array,
    signs: Array,
    sample: Callable[[np.random.Generator], tuple[Array, Array]],
    rng: np.random.Generator,
    C: float,
    epsilon: float,
    intercept: bool,
    max_iter: int = 10**6,
) -> Run:
    """Train on examples with the kernel matrix `K`; `C` is the weight of the mean loss."""
    K = K + 1.0 if intercept else K  # the constant feature
    steps: list[Step] = []
    planes: dict[int, tuple[Array, float, int]] = {}  # by step: g as weights, d, idle iterations
    while True:
        stored = list(planes)
        g = np.array([planes[j][0] for j in stored]).reshape(len(stored), len(K))
        d = np.array([planes[j][1] for j in stored])
        alpha = solve_dual(g @ K @ g.T, d, C)
        w = alpha @ g
        slack = max(0.0, *(d - g @ K @ w)) if stored else 0.0
        for share, j in zip(alpha, stored, strict=True):
            planes[j] = (planes[j][0], planes[j][1], 0 if share > 1e-9 * C else planes[j][2] + 1)

        examples, weights = sample(rng)
        margins = signs[examples] * (K @ w)[examples]
        found = margins <= 1 + ON_MARGIN
        plane = np.zeros(len(K))
        plane[examples[found]] = weights[found] * signs[examples[found]]
        offset = weights[found].sum()
        loss = offset - plane @ K @ w
        steps.append(Step(stored, examples, examples[found], loss - slack))
        if loss - slack <= epsilon or len(steps) == max_iter:
            square = w @ K @ w
            bias = w.sum() if intercept else 0.0
            return Run(w, bias, square / 2 + C * loss, d @ alpha - square / 2, steps)
        if len(steps) % LOOK == 0:
            planes = {j: kept for j, kept in planes.items() if kept[2] < IDLE}
        planes[len(steps) - 1] = (plane, offset, 0)


def solve_dual(gram: Array, offsets: Array, C: float) -> Array:
    """Maximise ``offsets . alpha - alpha . gram alpha / 2``, alpha >= 0 with a sum of at most C.

    A plane of nothing takes up what is left of C. Then the sum is C, and the best step from one
    variable to another can be told at once (sequential minimal optimisation).
    """
    n = len(offsets) + 1
    G, d = np.zeros((n, n)), np.zeros(n)
    G[1:, 1:], d[1:] = gram, offsets
    alpha = np.zeros(n)
    alpha[0] = C
    while True:
        gradient = d - G @ alpha
        up = int(gradient.argmax())
        down = int(np.where(alpha > 0, gradient, np.inf).argmin())
        gain = gradient[up] - gradient[down]
        if gain <= 1e-13:
            return alpha[1:]
        curvature = max(G[up, up] + G[down, down] - 2 * G[up, down], 1e-300)
        step = min(gain / curvature, alpha[down])
        alpha[up] += step
        alpha[down] -= step


# ---------------------------------------------------------------- calls of Delta


def lists_calls(pairs: Array, steps: list[Step]) -> int:
    """uSVM: each example that is scored meets all examples of all planes.

    `pairs[i, k]` counts the pairs of nodes of two trees that have the same production (or label).
    A new plane meets itself in half of the pairs of its examples, and the diagonal.
    """
    calls = 0
    for step in steps:
        calls += sum(int(pairs[np.ix_(step.sample, steps[j].plane)].sum()) for j in step.stored)
    for step in steps[:-1]:
        own = pairs[np.ix_(step.plane, step.plane)]
        calls += int((own.sum() + own.trace()) // 2)
    return calls


def dags_calls(nodes: Callable[[Array], Any], steps: list[Step]) -> int:
    """SDAG: each example meets each plane's distinct nodes; so does each example of a new plane.

    `nodes` gives a Counter of the nodes, named ``(production, subtree)``, that some trees have.
    """
    calls = 0
    for step in steps:
        calls += sum(_meetings(nodes, step.sample, steps[j].plane) for j in step.stored)
    return calls + sum(_meetings(nodes, step.plane, step.plane) for step in steps[:-1])


def one_dag_calls(nodes: Callable[[Array], Any], steps: list[Step], parts: int) -> int:
    """SDAG+: each example meets the distinct nodes of all planes together.

    So does a new plane, put together in a few parts, each with its distinct nodes.
    """
    calls = 0
    for k, step in enumerate(steps):
        together = np.concatenate([np.empty(0, int), *(steps[j].plane for j in step.stored)])
        calls += _meetings(nodes, step.sample, together)
        if k + 1 < len(steps):
            together = np.concatenate([steps[j].plane for j in steps[k + 1].stored])
            n, m = min(parts, len(step.plane)), len(step.plane)
            for p in range(n):
                part = step.plane[p * m // n : (p + 1) * m // n]
                calls += _meetings(nodes, part, together, distinct=True)
    return calls


def _meetings(
    nodes: Callable[[Array], Any], trees: Array, dag: Array, distinct: bool = False
) -> int:
    """The pairs of a node of the trees, with repetition, and a distinct node of the DAG."""
    in_dag = Counter(production for production, _ in nodes(dag))
    return sum(
        (1 if distinct else count) * in_dag[production]
        for (production, _), count in nodes(trees).items()
    )
