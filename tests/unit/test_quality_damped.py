"""The counts of fragments behind the damped kernels of benchmarks/quality.py."""

import numpy as np
import pytest

from benchmarks.quality_sections.damped import BASE, DAMPING, DECAY, counts_and_weights, predicted
from benchmarks.quality_sections.tasks import Task
from filbert import Forest
from filbert.kernels import SubsetTree
from tests.reference.trees import write
from tests.strategies import random_trees

X = Forest(map(write, random_trees(5, 40, 12)))
KERNEL = SubsetTree(DECAY, include_leaves=True, normalize=False)


def test_plain_counts_give_the_kernel() -> None:
    counts, weights = counts_and_weights(X)
    products = (counts * weights) @ counts.T
    np.testing.assert_allclose(products.toarray(), KERNEL(X), rtol=1e-12)
    assert (counts.data == counts.data.round()).all()


def test_every_count_is_damped_also_of_fragments_of_one_tree() -> None:
    """The fragments of this tree: a leaf three times, one production thrice, one with all."""
    counts, weights = counts_and_weights(Forest(["(S (A a) (A a) (A a))", "(B b)"]))
    row = dict(zip(counts[[0]].indices.tolist(), counts[[0]].data.tolist(), strict=True))
    thrice = sum(weights[column] for column, n in row.items() if n == 3)
    assert thrice == pytest.approx(2 * DECAY)  # a, and (A a)
    damped = sum(DAMPING["log"](n) ** 2 * weights[column] for column, n in row.items())
    once = sum(weights[column] for column, n in row.items() if n == 1)
    assert damped == pytest.approx(np.log(4) ** 2 * thrice + np.log(2) ** 2 * once)


def test_trees_outside_of_the_folds_are_left_out() -> None:
    texts = [str(tree) for tree in X]
    y = np.array(["even" if tree.n_nodes % 2 == 0 else "odd" for tree in X])
    task = Task(texts, X, y, [(np.arange(5, 25), np.arange(30, 40))])
    assert set(predicted(BASE.removeprefix("damping: "), task, task.folds[0])) <= {"even", "odd"}
