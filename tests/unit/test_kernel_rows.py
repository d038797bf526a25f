"""Rows of queries against a corpus that was prepared once."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given

from filbert import Forest, _core
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from tests.reference.matrix import reference_matrix
from tests.reference.trees import Node, parse, write
from tests.strategies import forests

KERNELS = [
    PartialTree(0.4, 0.7),
    PartialTree(0.4, 0.7, penalty="gaps"),
    PartialTree(0.9, 0.5, max_subsequence=2, normalize=False),
    PartialTree(0.9, 0.5, max_subsequence=1),
    SubsetTree(0.4, include_leaves=True),
    Subtree(0.4, normalize=False),
]

# Labels that need no rows: b is a leaf everywhere, A and C stand above one leaf. Queries keep to
# that, or break it: A over two children, over none, and over a node that has children; b as a node
# that has children; labels that the corpus does not have.
CORPUS = ["(S (A b) (C b) (N (A d) b))", "(N (C d) (A b) b (A d))", "(S b (N (A b) (A d)))"]
QUERIES = [
    "(S (C d) (A b) (N b (A x)))",
    "(S (A x) (N (A (y z)) b))",
    "(S A (N (A) b (A d)))",
    "(S (b (A d)) (N (A b) (A (b c))))",
    "(S (A b d) (N (A b) (A b b)))",
    "(Z (A b))",
]


def rows_between(
    kernel: TreeKernel, queries: Forest, corpus: Forest, threads: int = 1
) -> npt.NDArray[np.float64]:
    prepared = _core.TileRows(
        kernel._spec(), corpus._dag, corpus._roots, bool(kernel.normalize), threads, None
    )
    for _ in range(2):  # the second time with what the first has kept
        out = np.full((len(queries), len(corpus)), np.nan)
        prepared.between(queries._dag, queries._roots, threads, None, out)
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@given(corpus=forests(), queries=forests())
def test_rows_are_those_of_the_matrix(
    kernel: TreeKernel, corpus: list[Node], queries: list[Node]
) -> None:
    a = Forest.from_brackets([write(tree) for tree in queries])
    b = Forest.from_brackets([write(tree) for tree in corpus])
    np.testing.assert_allclose(rows_between(kernel, a, b), kernel(a, b), rtol=1e-12)


@pytest.mark.parametrize("penalty", ["span", "gaps"])
@pytest.mark.parametrize("query", QUERIES)
def test_labels_may_be_of_another_kind_in_a_query(query: str, penalty: Any) -> None:
    kernel = PartialTree(0.4, 0.7, penalty=penalty, normalize=False)
    a, b = Forest.from_brackets([query]), Forest.from_brackets(CORPUS)
    expected = reference_matrix(kernel, [parse(query)], list(map(parse, CORPUS)))
    np.testing.assert_allclose(rows_between(kernel, a, b), expected, rtol=1e-12)


def test_rows_do_not_depend_on_threads() -> None:
    kernel = PartialTree()
    words = ["a", "b", "c", "d"]
    trees = [f"(S (N {words[i % 4]}) (V (N {words[i % 3]}) x{i % 50}))" for i in range(2000)]
    corpus = Forest.from_brackets(trees)
    one = rows_between(kernel, corpus[:40], corpus, threads=1)
    assert np.array_equal(one, rows_between(kernel, corpus[:40], corpus, threads=2))
    assert np.array_equal(one, kernel(corpus[:40], corpus))


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if type(kernel) is PartialTree])
def test_many_trees_with_leaves_of_their_own(kernel: TreeKernel) -> None:
    """Trees are compared in groups. What one group has must not be left to the next."""
    trees = [f"(S a{i % 5} b{i % 3} c{i % 7})" for i in range(30)]
    expected = [[kernel([a], [b])[0, 0] for b in trees] for a in trees]
    for K in (kernel(trees), kernel(trees, Forest(trees))):
        np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-15)
