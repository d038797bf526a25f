"""Partial trees of nodes with many children, where equal children are looked up together.

Subsequences without a bound are computed for eight nodes at a time, in pieces; with any bound,
however large, node by node. Both must be the same, and what the plain program says.
"""

from random import Random
from typing import Any

import numpy as np
import pytest

from filbert import Forest
from filbert.kernels import PartialTree
from tests.reference.matrix import reference_value
from tests.reference.trees import parse

NO_BOUND = 10**6  # children, which is a bound but none that is ever reached
each_penalty = pytest.mark.parametrize("penalty", ["span", "gaps"])


def child(kind: int) -> str:
    """A leaf, a node over one leaf, or one with children of its own."""
    return (f"w{kind}", f"(T w{kind})", f"(N (T w{kind}) (N w{kind}))")[kind % 3]


def wide(rng: Random, n_children: int, n_kinds: int, strange: str = "z") -> str:
    """A node with every kind of child, in any order, and among them some that are its own."""
    kinds = list(range(n_kinds)) + rng.choices(range(n_kinds), k=n_children - n_kinds)
    children = list(map(child, rng.sample(kinds, n_children)))
    for place in (0, n_children // 2, n_children - 1):
        children[place] = rng.choice([children[place], strange, f"(T {strange})"])
    return f"(S {' '.join(children)})"


# Children are looked up together from 64 on, where there are at most 64 kinds of them and each
# comes twice on average. Slots come in pieces of 128, children in blocks of 16.
@each_penalty
@pytest.mark.parametrize(
    ("n_children", "n_kinds"),
    [(7, 3), (63, 3), (64, 3), (65, 30), (100, 70), (130, 60), (140, 63), (150, 66), (300, 90)],
)
def test_pieces_are_as_node_by_node(n_children: int, n_kinds: int, penalty: Any) -> None:
    rng = Random(n_children)
    sizes = [n_children + rng.randrange(20) for _ in range(10)]
    a = Forest([wide(rng, n, n_kinds, "y") for n in sizes])
    b = Forest([wide(rng, n, n_kinds) for n in sizes] + ["(S (T w1) w0)", "(S w9)"])
    for normalize in (True, False):
        options = {"penalty": penalty, "normalize": normalize}
        pieces = PartialTree(0.7, 0.8, **options)
        one_by_one = PartialTree(0.7, 0.8, max_subsequence=NO_BOUND, **options)
        for X, Y in ((a, b), (b, a), (a, None)):
            np.testing.assert_allclose(pieces(X, Y), one_by_one(X, Y), rtol=1e-12)


@each_penalty
@pytest.mark.parametrize(("n_children", "n_kinds"), [(64, 5), (66, 40), (70, 66)])
def test_values_are_those_of_the_papers(n_children: int, n_kinds: int, penalty: Any) -> None:
    rng = Random(n_kinds)
    a, b = wide(rng, n_children, n_kinds), wide(rng, n_children, n_kinds, "y")
    kernel = PartialTree(0.7, 0.8, penalty=penalty, normalize=False)
    expected = float(reference_value(kernel)(parse(a), parse(b)))
    for longest in (None, NO_BOUND):
        kernel.set_params(max_subsequence=longest)
        assert kernel.pair(a, b) == pytest.approx(expected, rel=1e-10)
        assert kernel.pair(b, a) == pytest.approx(expected, rel=1e-10)
