"""The kernel perceptron as it is told in papers: plain Python, every weight vector kept.

A weight vector is a dictionary from examples to coefficients (Aiolli et al. 2007, section III), and
a kernel is a matrix of values. Freund & Schapire 1999 tell how weight vectors vote.
"""

import math
from dataclasses import dataclass, field

Weights = dict[int, float]  # coefficient by example
Matrix = list[list[float]]

ROUNDING = 1e-12


@dataclass
class Problem:
    """One problem of two classes: the weights, and those after each example so far."""

    weights: Weights = field(default_factory=dict)
    reach: float = 0.0  # what |w| can be at most
    past: list[Weights] = field(default_factory=list)


def score(kernel: Matrix, weights: Weights, x: int) -> float:
    """Sum of coefficients times kernels; `x` is a column."""
    return math.fsum(a * kernel[i][x] for i, a in weights.items())


def learn(
    kernel: Matrix,
    signs: list[list[int]],
    order: list[int],
    margin: float = 0.0,
    example_weights: list[float] | None = None,
) -> list[Problem]:
    """Go through the examples in an order; `signs` are by problem and example."""
    problems = [Problem() for _ in signs]
    for x in order:
        weight = 1.0 if example_weights is None else example_weights[x]
        if weight == 0:
            continue
        norm = math.sqrt(kernel[x][x])
        for problem, y in zip(problems, signs, strict=True):
            slack = ROUNDING * problem.reach * norm
            if y[x] * score(kernel, problem.weights, x) <= margin + slack:
                problem.weights[x] = problem.weights.get(x, 0.0) + y[x] * weight
                problem.reach += weight * norm
            problem.past.append(dict(problem.weights))
    return problems


def plain(kernel: Matrix, problem: Problem, x: int) -> float:
    """The score by the last weights."""
    return score(kernel, problem.weights, x)


def averaged(kernel: Matrix, problem: Problem, x: int) -> float:
    """The mean of the scores by the weights after each example."""
    scores = [score(kernel, weights, x) for weights in problem.past]
    return math.fsum(scores) / len(scores)


def voted(kernel: Matrix, problem: Problem, x: int) -> float:
    """The mean of their signs; scores that are 0 but for rounding have none."""
    scores = [score(kernel, weights, x) for weights in problem.past]
    largest = max(1.0, *(max(map(abs, row)) for row in kernel)) * (1 + len(scores))
    return sum((s > 0) - (s < 0) for s in scores if abs(s) > 1e-10 * largest) / len(scores)
