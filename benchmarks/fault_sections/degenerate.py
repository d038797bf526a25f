"""Degenerate data: every learner ends, with finite numbers or with a clear error.

A set is a learner, some data and some parameters. A signal ends a set that takes too much CPU time,
or that waits without end. The core notices signals, so this is also a test that it does.
"""

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from benchmarks.fault_sections.subjects import LEARNERS, random_trees, trained, values_of
from filbert import Forest
from filbert.errors import FilbertError
from filbert.kernels import PartialTree, SubsetTree

_CPU_SECONDS, _WALL_SECONDS = 20.0, 900.0  # for one set, on a busy machine

Data = tuple[list[str], Any, dict[str, Any]]  # trees, labels, other arguments of fit


def _plain(n: int = 24) -> tuple[list[str], np.ndarray[Any, Any]]:
    trees = random_trees(n, depth=2)
    return trees, np.arange(n) % 2


def _weights(*values: float) -> Data:
    trees, y = _plain()
    return trees, y, {"sample_weight": np.resize(np.array(values), len(y))}


def _with_tree(tree: str) -> Data:
    trees, y = _plain()
    return [tree, *trees[1:]], y, {}


def _many_classes() -> Data:
    trees, _ = _plain(60)
    return trees, np.arange(60), {}


DATA: dict[str, Callable[[], Data]] = {
    "no tree": lambda: ([], [], {}),
    "one tree": lambda: (["(S (A a))"], [1], {}),
    "two trees": lambda: (["(S (A a))", "(S (B b))"], [0, 1], {}),
    "one class": lambda: (_plain()[0], np.ones(24, dtype=int), {}),
    "equal trees": lambda: (["(S (A a) (B b))"] * 24, np.arange(24) % 2, {}),
    "contradictory labels": lambda: (_plain(12)[0] * 2, np.repeat([0, 1], 12), {}),
    "trees that share nothing": lambda: ([f"(S{i} (A{i} a))" for i in range(24)], _plain()[1], {}),
    "trees without a fragment": lambda: ([f"(a{i % 5})" for i in range(24)], _plain()[1], {}),
    "one tree with fragments": lambda: (["(a)"] * 23 + ["(S (A a))"], _plain()[1], {}),
    "weights of 0 and 1": lambda: _weights(0.0, 0.0, 0.0, 1.0),
    "all weights 0": lambda: _weights(0.0),
    "weights of 1e300": lambda: _weights(1e300, 1.0),
    "weights of 1e-300": lambda: _weights(1e-300, 1.0),
    "a weight that is not a number": lambda: _weights(np.nan, 1.0),
    "a negative weight": lambda: _weights(-1.0, 1.0),
    "a class for each tree": _many_classes,
    "labels that are not numbers": lambda: (_plain()[0], ["x", "y\x1b[2J"] * 12, {}),
    "too few labels": lambda: (_plain()[0], [0, 1], {}),
    "one long chain": lambda: _with_tree("(a " * 3000 + "x" + ")" * 3000),
    "one wide node": lambda: _with_tree(f"(S {'(A a) ' * 500})"),
}  # fmt: skip

PARAMETERS: dict[str, dict[str, Any]] = {
    "C = 1e-10": {"C": 1e-10},
    "C = 1e10": {"C": 1e10},
    "C = 1e308": {"C": 1e308},
    "decay = 1e-300": {"kernel": SubsetTree(1e-300)},
    "decay = 1": {"kernel": SubsetTree(1.0, normalize=False)},
    "decays of partial trees = 1e-300": {"kernel": PartialTree(1e-300, 1e-300)},
    "decays of partial trees = 1": {"kernel": PartialTree(1.0, 1.0, normalize=False)},
    "tol = 1e-300": {"tol": 1e-300, "max_iter": 30},
    "max_iter = 1": {"max_iter": 1},
    "max_memory = 1": {"max_memory": 1},
}


class Set(NamedTuple):
    """A learner with the names of its data and parameters."""

    learner: str
    data: str
    parameters: str


def all_sets() -> list[Set]:
    """Return every learner with all data, and with plain data and all parameters that it has."""
    sets = [Set(learner, data, "") for learner, data in product(LEARNERS, DATA)]
    for learner, (name, parameters) in product(LEARNERS, PARAMETERS.items()):
        if parameters.keys() <= LEARNERS[learner]().get_params(deep=False).keys():
            sets += [Set(learner, data, name) for data in ("contradictory labels", "equal trees")]
    return sets


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    timers = {
        (signal.SIGPROF, signal.ITIMER_PROF): _CPU_SECONDS,
        (signal.SIGALRM, signal.ITIMER_REAL): _WALL_SECONDS,
    }
    before = {number: signal.signal(number, stop) for number, _ in timers}
    for (_, timer), seconds in timers.items():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, timer in timers:
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


def outcome(one: Set) -> str:
    """Train, and say how it ended."""
    trees, y, others = DATA[one.data]()
    learner = LEARNERS[one.learner]()
    learner.set_params(**PARAMETERS.get(one.parameters, {}))
    try:
        with _time_limit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forest = Forest(trees)
            if others and "sample_weight" not in learner.fit.__code__.co_varnames:
                return "no weights"
            if one.learner == "TreeRanker":
                others["group"] = np.zeros(len(forest), dtype=int)
            learner = (
                trained(learner, forest, y) if not others else learner.fit(forest, y, **others)
            )
            values = values_of(learner, Forest(["(S (A a))", "(S (A b) (B b))"]))
    except TimeoutError:
        return "hang"
    except FilbertError:
        return "error"
    except Exception as error:
        return f"wrong error: {type(error).__name__}: {error}"
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return "not finite"
    return "ends"


def run(sets: list[Set]) -> dict[str, Any]:
    """Return how the sets ended."""
    outcomes = {one: outcome(one) for one in sets}
    bad = [
        f"{one.learner}, {one.data}, {one.parameters}: {told}"
        for one, told in outcomes.items()
        if told not in ("ends", "error", "no weights")
    ]
    told = list(outcomes.values())
    return {
        "sets": len(sets) - told.count("no weights"),
        "end": told.count("ends"),
        "clear_errors": told.count("error"),
        "hangs": told.count("hang"),
        "not_finite": told.count("not finite"),
        "bad": len(bad),
        "examples_of_bad": bad[:20],
    }
