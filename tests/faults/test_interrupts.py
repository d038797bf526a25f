"""Ctrl-C at random moments leaves a learner usable: see fault_sections."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from benchmarks.fault_sections import interrupts
from benchmarks.fault_sections.subjects import LEARNERS, bytes_of, data, trained, values_of
from tests.faults.steps import AtStep


@pytest.mark.parametrize("name", LEARNERS)
def test_an_interrupted_learner_is_usable(name: str) -> None:
    found = interrupts.run(name, 4, size=60)
    assert found["unusable"] == 0


def test_a_long_training_is_interrupted() -> None:
    found = interrupts.run("TreeSVC by usvm", 3, size=100)
    assert found["interrupts"] > 0
    assert found["unusable"] == 0


X, Y = data(24, depth=2)
# Each takes what it has found in a function of its own. The perceptrons learn as they go.
FEW = ("TreeSVC", "TreeRanker", "FragmentVectorizer", "SymbolSelector", "TreeFeatures")


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("was_fitted", [False, True])
def test_an_interrupt_never_leaves_half_of_a_training(name: str, was_fitted: bool) -> None:
    """It comes before any attribute that a learner sets, and at any step of `at_once`."""

    def new() -> Any:
        return trained(LEARNERS[name](), X[:12], Y[:12]) if was_fitted else LEARNERS[name]()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        allowed = [values_of(trained(new(), X, Y), X)]
        allowed += [values_of(new(), X)] if was_fitted else []
        n = 1
        learner = new()
        while AtStep(n, type(learner)).during(partial(trained, learner, X, Y)):
            try:
                found = values_of(learner, X)
            except (NotFittedError, AttributeError):
                assert not was_fitted
                assert not any(attribute.endswith("_") for attribute in vars(learner))
            else:
                assert any(map(np.array_equal, [found] * 2, allowed))
                bytes_of(learner)
            learner, n = new(), n + 1
    assert n > 1
