"""Samples for cutting planes: uniform ones, and those in proportion to costs."""

import numpy as np
import pytest
from scipy.stats import chisquare

from filbert.learners.sampling import Sampler, recommended_sample_size


@pytest.mark.parametrize(
    ("n", "size"),
    [
        (1, 1),
        (499, 499),
        (500, 500),
        (99_999, 500),
        (100_000, 1_000),
        (999_999, 1_000),
        (1_000_000, 5_000),
        (10**8, 5_000),
    ],
)
def test_the_paper_s_recipe(n: int, size: int) -> None:
    assert recommended_sample_size(n) == size


@pytest.mark.parametrize("cost", [1.0, 0.3])
def test_equal_costs_give_uniform_samples_without_replacement(cost: float) -> None:
    rng = np.random.default_rng(0)
    sampler = Sampler(np.full(20, cost), 5)
    drawn = np.zeros(20)
    for _ in range(4000):
        examples, weights = sampler(rng)
        assert (np.diff(examples.astype(int)) > 0).all()  # ascending, and none twice
        assert weights.tolist() == [0.2] * 5
        drawn[examples] += 1
    assert chisquare(drawn).pvalue > 0.01
    assert drawn.sum() == 20_000


@pytest.mark.parametrize("size", [2, 7, 19])
def test_costs_are_how_often_an_example_is_drawn(size: int) -> None:
    """Algorithm 9, example by example: which one is drawn does not depend on the others."""
    rng = np.random.default_rng(1)
    costs = np.concatenate([np.zeros(4), np.arange(1, 17)]) / 3
    sampler = Sampler(costs, size)
    drawn = np.zeros(20)
    n_samples = 20_000 // size
    for _ in range(n_samples):
        examples, weights = sampler(rng)
        counts = weights * size
        assert (np.diff(examples.astype(int)) > 0).all()
        assert np.abs(counts - np.rint(counts)).max() < 1e-9
        assert counts.min() > 0.5
        assert counts.sum() == pytest.approx(size)
        drawn[examples] += counts
    assert not drawn[:4].any()
    expected = costs[4:] / costs.sum() * n_samples * size
    assert chisquare(drawn[4:], expected * drawn.sum() / expected.sum()).pvalue > 0.01


def test_an_example_that_is_drawn_twice_counts_twice() -> None:
    examples, weights = Sampler(np.array([0.0, 0.0, 1.0, 0.0, 1e-12]), 4)(np.random.default_rng(0))
    assert examples.tolist() == [2]
    assert weights.tolist() == [1.0]


def test_few_examples_may_have_all_of_the_cost() -> None:
    """Nearly all picks are rejected: they come in parts that fit into memory."""
    costs = np.full(100_000, 1e-9)
    costs[[7, 70_000]] = 1.0, 3.0
    drawn = np.zeros(100_000)
    for seed in range(10):
        examples, weights = Sampler(costs, 50)(np.random.default_rng(seed))
        assert weights.sum() == pytest.approx(1)
        drawn[examples] += weights
    assert drawn[[7, 70_000]].sum() > 9.8
    assert 6.5 < drawn[70_000] < 8.5


@pytest.mark.parametrize("size", [6, 7, 1000])
def test_a_sample_of_all_leaves_nothing_to_chance(size: int) -> None:
    costs = np.array([1.0, 0.0, 3.0, 2.0, 0.0, 4.0])
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    examples, weights = Sampler(costs, size)(rng)
    assert examples.tolist() == [0, 2, 3, 5]
    assert weights.tolist() == [0.1, 0.3, 0.2, 0.4]
    assert rng.bit_generator.state == before


def test_the_same_seed_gives_the_same_samples() -> None:
    for costs in (np.ones(50), np.arange(50.0)):
        sampler = Sampler(costs, 10)
        one, other = np.random.default_rng(3), np.random.default_rng(3)
        first = [sampler(one)[0].tolist() for _ in range(3)]
        assert first == [sampler(other)[0].tolist() for _ in range(3)]
        assert first[0] != first[1]
