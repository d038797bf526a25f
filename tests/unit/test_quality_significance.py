"""The p-values and standard errors of benchmarks/quality.py."""

import numpy as np
import pytest

from benchmarks.quality_sections.ablation import variance_of
from benchmarks.quality_sections.significance import p_value
from filbert.metrics import randomization_test


@pytest.mark.parametrize("gain", [0, 5, 15, 30])
def test_one_seed_is_the_randomisation_test_of_the_accuracy(gain: int) -> None:
    y = np.zeros(200, dtype=int)
    a, b = y.copy(), y.copy()
    b[: 20 + gain] = 1  # wrong
    a[100:120] = 1
    wanted = randomization_test(y, a, b, metric="accuracy", exact=True)
    differences = (a == y).astype(float) - (b == y)
    assert p_value(differences) == pytest.approx(wanted.p_value, abs=0.015)


def test_seeds_of_the_same_trees_are_not_new_evidence() -> None:
    one = np.repeat([1.0, -1.0, 0.0], [12, 5, 100])
    assert p_value(np.mean([one] * 5, axis=0)) == p_value(one)


def test_no_difference() -> None:
    assert p_value(np.zeros(10)) == 1.0


def test_variance_is_that_of_trees_and_of_seeds() -> None:
    by_tree = np.array([[0.0, 100.0, 0.0, 0.0]])
    assert variance_of(by_tree) == pytest.approx(by_tree.var() / 4)
    seeds = np.array([[0.0, 0.0], [10.0, 10.0], [20.0, 20.0]])
    assert variance_of(seeds) == pytest.approx(100.0 / 3)
