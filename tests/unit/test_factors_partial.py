"""The factors of partial trees are exact, beside what test_factors.py says of all kernels."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from filbert import Forest
from filbert.engine import factorize
from filbert.errors import KernelOverflowError, TooExpensiveError
from filbert.kernels import PartialTree, TreeKernel
from tests.reference.trees import Node
from tests.strategies import random_trees
from tests.unit.test_factors import (
    BUDGETS,
    LARGE,
    PARTIAL,
    SAMPLED,
    SHAPES,
    TOLERANCE,
    assert_scores,
    assert_values,
    build,
    each_budget,
    factors_of,
    sampled_from,
    weights,
)

each_kernel = pytest.mark.parametrize("kernel", PARTIAL, ids=repr)


@each_budget
@each_kernel
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: Callable[[], list[Node]], kernel: TreeKernel, budget: float) -> None:
    """Against the pairwise engine, which is tested against the reference."""
    forest = build(shape())
    assert_values(factors_of(kernel, forest, budget), kernel(forest))


@each_kernel
def test_contributions_add_up_to_scores(kernel: TreeKernel) -> None:
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


@pytest.mark.product
@pytest.mark.parametrize("penalty", ["span", "gaps"])
def test_trees_beyond_double(penalty: Any) -> None:
    forest = Forest([*wide_texts(600), *wide_texts(3)])
    kernel = PartialTree(1.0, 1.0, penalty=penalty)
    K = kernel(forest)
    for budget in BUDGETS[:2]:
        with pytest.raises(KernelOverflowError):
            factors_of(PartialTree(1.0, 1.0, penalty=penalty, normalize=False), forest, budget)
        for n_threads in (1, 3):
            values = factors_of(kernel, forest, budget, n_threads).scores(np.eye(len(forest)), 1)
            np.testing.assert_allclose(values, K, rtol=TOLERANCE, atol=1e-100)


def test_a_limit_of_steps() -> None:
    with pytest.raises(TooExpensiveError, match="a node labelled 'S' with 20 children"):
        factors_of(PartialTree(max_steps=300), Forest(wide_texts(20)))


@pytest.mark.product
@pytest.mark.shared
@pytest.mark.parametrize("name", SAMPLED)
def test_every_data_set(shared_dir: Path, name: str) -> None:
    """Against the pairwise engine, which is tested against the reference."""
    n = 30 if name in LARGE else 60
    forest = Forest(sampled_from(shared_dir / "data", name)[:n])
    for kernel in PARTIAL[:2]:
        K = kernel(forest)
        for budget in (1.0, 0.0):
            assert_values(factors_of(kernel, forest, budget, 2), K)
