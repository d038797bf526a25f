"""The factors of partial trees are exact. Errors are measured as in test_factors.py."""

import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.datasets import DATASETS
from filbert import Forest, _core
from filbert.errors import (
    KernelOverflowError,
    OutOfMemoryError,
    TooExpensiveError,
    WorkLimitError,
)
from filbert.kernels import PartialTree, SubsetTree, TreeKernel
from filbert.model import factorize
from tests.reference import kernels
from tests.reference.trees import Node
from tests.strategies import forests, random_trees
from tests.unit.test_factors import (
    SAMPLED,
    SHAPES,
    TOLERANCE,
    Array,
    assert_scores,
    assert_values,
    build,
    sample,
    weights,
)

BUDGETS = [1.0, 0.0, 1e9]  # as learners have it; always pairs; never pairs
each_budget = pytest.mark.parametrize("budget", BUDGETS)

DECAYS = st.sampled_from([1.0, 0.4, 0.01]) | st.floats(0.01, 1.0)
ANY_KERNEL = st.builds(
    PartialTree,
    DECAYS,
    DECAYS,
    penalty=st.sampled_from(["span", "gaps"]),
    max_subsequence=st.none() | st.integers(1, 4),
    normalize=st.booleans(),
)
KERNELS = [
    PartialTree(),
    PartialTree(0.6, 0.3, penalty="gaps"),
    PartialTree(0.9, max_subsequence=2),
    PartialTree(1.0, 1.0, penalty="gaps", max_subsequence=1),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def factors_of(
    kernel: PartialTree, forest: Forest, budget: float = 1.0, n_threads: int = 1
) -> _core.KernelOperator:
    return factorize(kernel, forest, budget=budget, n_jobs=n_threads)


def reference_matrix(kernel: PartialTree, trees: list[Node]) -> Array:
    value: Callable[..., kernels.Number] = partial(
        kernels.partial_tree,
        decay=kernel.decay,
        depth_decay=kernel.depth_decay,
        penalty=kernel.penalty,
        max_subsequence=kernel.max_subsequence,
    )
    if kernel.normalize:
        value = partial(kernels.normalized, value)
    return np.array([[value(x, y) for y in trees] for x in trees], dtype=float)


@given(forests(1, 8, 14), ANY_KERNEL, st.integers(0, 2**32))
@settings(max_examples=200)
def test_scores_equal_the_reference(trees: list[Node], kernel: PartialTree, seed: int) -> None:
    forest = build(trees)
    K = reference_matrix(kernel, trees)
    W = weights(len(trees), 3, seed)
    for budget in BUDGETS:
        factors = factors_of(kernel, forest, budget)
        assert factors.n_trees == len(trees)
        assert_scores(factors.scores(W, 1), K, W)
        assert_values(factors, K)


@given(forests(1, 6, 14), ANY_KERNEL, st.data())
@settings(max_examples=60)
def test_repeated_trees(trees: list[Node], kernel: PartialTree, data: st.DataObject) -> None:
    picked = data.draw(st.lists(st.integers(0, len(trees) - 1), min_size=1, max_size=20))
    K = reference_matrix(kernel, trees)[np.ix_(picked, picked)]
    for budget in BUDGETS:
        assert_values(factors_of(kernel, build(trees[i] for i in picked), budget), K)


@given(forests(2, 10, 20), ANY_KERNEL, st.sampled_from(BUDGETS))
@settings(max_examples=40)
def test_small_forests_have_the_same_bytes_for_any_threads(
    trees: list[Node], kernel: PartialTree, budget: float
) -> None:
    forest, W = build(trees), weights(len(trees), 4)
    one = factors_of(kernel, forest, budget, 1).scores(W, 1)
    three = factors_of(kernel, forest, budget, 3).scores(W, 3)
    assert one.tobytes() == three.tobytes()


@pytest.mark.parametrize("budget", [1.0, 0.0])
@each_kernel
def test_the_same_bytes_for_any_number_of_threads(kernel: PartialTree, budget: float) -> None:
    forest = build(random_trees(5, 150, 20))
    W = weights(150, 5)
    results = [factors_of(kernel, forest, budget, n) for n in (1, 2, 3)]
    scores = [factors.scores(W, n) for n, factors in enumerate(results, 1)]
    for factors, values in zip(results[1:], scores[1:], strict=True):
        assert values.tobytes() == scores[0].tobytes()
        assert factors.n_entries == results[0].n_entries
        assert factors.n_columns == results[0].n_columns
    assert_scores(scores[0], kernel(forest), W)
    assert (results[0].n_blocks_by_pairs > 0) == (budget == 0)


@pytest.mark.parametrize("budget", [1.0, 0.0])
@each_kernel
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: Callable[[], list[Node]], kernel: PartialTree, budget: float) -> None:
    """Against the pairwise engine, which is tested against the reference."""
    forest = build(shape())
    assert_values(factors_of(kernel, forest, budget), kernel(forest))


@each_kernel
def test_contributions_add_up_to_scores(kernel: PartialTree) -> None:
    forest = build(random_trees(6, 60, 15))
    factors = factorize(kernel, forest, keep_nodes=True)
    W = weights(60, 2)
    trees, _, counts, values = factors.contributions(W, 0, 1)
    sums = np.zeros((60, 2))
    np.add.at(sums, trees, counts[:, None] * values)
    assert_scores(sums, kernel(forest), W)


def test_long_chains() -> None:
    """Longer than plain recursion goes."""
    texts = ["(a " * n + leaf + ")" * n for n in (50, 300) for leaf in "xy"]
    texts += ["(a (b " * n + leaf + "))" * n for n in (40, 600) for leaf in "xy"]
    forest, kernel = Forest(texts), PartialTree(0.7)
    assert_values(factors_of(kernel, forest), kernel(forest))


def wide_texts(n_children: int) -> list[str]:
    rng = Random(4)

    def child() -> str:
        return f"({rng.choice('TU')} {rng.choice('xyz')})"

    return [f"(S {' '.join(child() for _ in range(n_children))})" for _ in range(6)]


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("budget", [1.0, 0.0])
@pytest.mark.parametrize("penalty", ["span", "gaps"])
def test_trees_beyond_double(budget: float, n_threads: int, penalty: Any) -> None:
    forest = Forest([*wide_texts(600), *wide_texts(3)])
    kernel = PartialTree(1.0, 1.0, penalty=penalty)
    with pytest.raises(KernelOverflowError):
        factors_of(PartialTree(1.0, 1.0, penalty=penalty, normalize=False), forest, budget)
    values = factors_of(kernel, forest, budget, n_threads).scores(np.eye(len(forest)), 1)
    np.testing.assert_allclose(values, kernel(forest), rtol=TOLERANCE, atol=1e-100)


@pytest.mark.parametrize("budget", [1.0, 0.0])
def test_a_limit_of_memory(budget: float) -> None:
    forest, kernel = build(random_trees(5, 100, 20)), PartialTree()
    needed = factorize(kernel, forest, budget=budget, n_jobs=1).peak_bytes
    assert factorize(kernel, forest, budget=budget, max_memory=2 * needed).n_trees == 100
    for limit in (1000, needed // 2):
        with pytest.raises(OutOfMemoryError, match=r"of the 100 trees would fit.* raise max"):
            factorize(kernel, forest, budget=budget, max_memory=limit)


@pytest.mark.parametrize("budget", [1.0, 0.0])
@pytest.mark.parametrize("kernel", [PartialTree(), SubsetTree()], ids=repr)
def test_a_limit_of_work(kernel: TreeKernel, budget: float) -> None:
    forest = build(random_trees(5, 100, 20))
    for n_jobs in (1, 3):
        assert factorize(kernel, forest, budget=budget, max_work=1e12, n_jobs=n_jobs).n_trees == 100
        with pytest.raises(WorkLimitError, match=r"more than max_work=1e\+04 steps") as caught:
            factorize(kernel, forest, budget=budget, max_work=1e4, n_jobs=n_jobs)
        again = pickle.loads(pickle.dumps(caught.value))
        assert again.max_work == 1e4
        assert str(again) == str(caught.value)


def test_a_limit_of_steps() -> None:
    with pytest.raises(TooExpensiveError, match="a node labelled 'S' with 20 children"):
        factors_of(PartialTree(max_steps=300), Forest(wide_texts(20)))


@each_kernel
def test_no_trees(kernel: PartialTree) -> None:
    assert factorize(kernel, Forest()).scores(np.ones((0, 2)), 1).shape == (0, 2)


@pytest.mark.shared
@pytest.mark.parametrize("name", SAMPLED)
def test_every_data_set(shared_dir: Path, name: str) -> None:
    """Against the pairwise engine, which is tested against the reference."""
    forest = Forest(sample(DATASETS[name](shared_dir / "data"), 120, seed=1))
    for kernel in KERNELS[:2]:
        K = kernel(forest)
        for budget in (1.0, 0.0):
            assert_values(factors_of(kernel, forest, budget, 2), K)
