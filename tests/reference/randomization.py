"""The randomisation test as it is told: every way to swap predictions, in exact fractions."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Labels = Sequence[Any]
Metric = Callable[[Labels, Labels], Fraction]


def quotient(above: int, below: int) -> Fraction:
    return Fraction(above, below) if below else Fraction(0)


def accuracy(y: Labels, pred: Labels) -> Fraction:
    return quotient(sum(t == p for t, p in zip(y, pred, strict=True)), len(y))


def precision(y: Labels, pred: Labels, positive: Any = 1) -> Fraction:
    right = sum(t == p == positive for t, p in zip(y, pred, strict=True))
    return quotient(right, sum(p == positive for p in pred))


def recall(y: Labels, pred: Labels, positive: Any = 1) -> Fraction:
    return precision(pred, y, positive)


def f1(y: Labels, pred: Labels, positive: Any = 1) -> Fraction:
    p, r = precision(y, pred, positive), recall(y, pred, positive)
    return 2 * p * r / (p + r) if p + r else Fraction(0)


def macro(metric: Callable[[Labels, Labels, Any], Fraction]) -> Metric:
    """The mean over the classes that occur."""

    def mean(y: Labels, pred: Labels) -> Fraction:
        classes = {*y, *pred}
        return sum((metric(y, pred, c) for c in classes), Fraction(0)) / len(classes)

    return mean


def p_value(y: Labels, a: Labels, b: Labels, metric: Metric) -> Fraction:
    """The share of the 2^n ways to swap whose difference is at least the observed one."""
    observed = abs(metric(y, a) - metric(y, b))
    reached = 0
    for swap in product([False, True], repeat=len(y)):
        pairs = [(q, p) if s else (p, q) for p, q, s in zip(a, b, swap, strict=True)]
        reached += abs(metric(y, [p for p, _ in pairs]) - metric(y, [q for _, q in pairs])) >= (
            observed
        )
    return Fraction(reached, 2 ** len(y))
