"""The native kernels give what the plain ones of `tests.reference` give."""

import lzma
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.kernels import PartialTree, SubsetTree, Subtree
from tests.reference import kernels
from tests.reference.trees import Node, write
from tests.strategies import DISJOINT, MIXED, Alphabet, forests, random_trees

Kernel = Subtree | SubsetTree | PartialTree
Array = npt.NDArray[np.float64]
TOLERANCE = 1e-10


class Case(NamedTuple):
    """A native kernel, its reference, and the parameters of both: they have the same names."""

    native: type[Kernel]
    reference: Callable[..., kernels.Number]
    parameters: dict[str, Any]

    def kernel(self, normalize: bool = False) -> Kernel:
        return self.native(**self.parameters, normalize=normalize)

    def matrix(self, a: list[Node], b: list[Node], normalize: bool = False) -> Array:
        value = partial(self.reference, **self.parameters)
        if normalize:
            value = partial(kernels.normalized, value)
        return np.array([[value(x, y) for y in b] for x in a], dtype=float)


def st_(**parameters: Any) -> Case:
    return Case(Subtree, kernels.subtree, parameters)


def stk(**parameters: Any) -> Case:
    return Case(SubsetTree, kernels.subset_tree, parameters)


def ptk(**parameters: Any) -> Case:
    return Case(PartialTree, kernels.partial_tree, parameters)


DECAYS = st.sampled_from([1.0, 0.4, 0.001]) | st.floats(0.001, 1.0)
CASES = st.one_of(
    st.builds(st_, decay=DECAYS),
    st.builds(stk, decay=DECAYS, include_leaves=st.booleans()),
    st.builds(
        ptk,
        decay=DECAYS,
        depth_decay=DECAYS,
        penalty=st.sampled_from(["span", "gaps"]),
        max_subsequence=st.none() | st.integers(1, 6),
    ),
)
# One of each kind, for tests that are not driven by Hypothesis.
KINDS = {
    "st": st_(decay=0.4),
    "stk": stk(decay=0.4),
    "stk-leaves": stk(decay=0.4, include_leaves=True),
    "ptk-span": ptk(decay=0.4, depth_decay=0.6),
    "ptk-gaps": ptk(decay=0.4, depth_decay=0.6, penalty="gaps"),
    "ptk-max-2": ptk(decay=0.7, depth_decay=0.6, max_subsequence=2),
    "ptk-gaps-max-3": ptk(decay=0.7, depth_decay=0.6, penalty="gaps", max_subsequence=3),
    "st-1": st_(decay=1.0),
    "stk-1": stk(decay=1.0),
    "ptk-1": ptk(decay=1.0, depth_decay=1.0),
}
each_kind = pytest.mark.parametrize("case", KINDS.values(), ids=KINDS)


def build(trees: list[Node]) -> Forest:
    return Forest.from_brackets([write(tree) for tree in trees])


def assert_close(native: Array, reference: Array, tolerance: float = TOLERANCE) -> None:
    """Each entry to a relative tolerance; zeros are exactly zero, and there is no NaN or inf."""
    assert native.shape == reference.shape
    assert native.dtype == np.float64
    np.testing.assert_array_equal(native == 0, reference == 0, "zeros differ")
    np.testing.assert_allclose(native, reference, rtol=tolerance, atol=0, equal_nan=False)


# Hypothesis over trees, parameters and ways to call


@given(CASES, forests(max_size=5), forests(max_size=5), st.booleans())
def test_two_forests_built_apart(case: Case, a: list[Node], b: list[Node], normalize: bool) -> None:
    native = case.kernel(normalize)(build(a), build(b))
    assert_close(native, case.matrix(a, b, normalize))


@given(CASES, forests(max_size=6), st.booleans())
def test_one_forest(case: Case, trees: list[Node], normalize: bool) -> None:
    forest, kernel = build(trees), case.kernel(normalize)
    reference = case.matrix(trees, trees, normalize)
    assert_close(kernel(forest), reference)
    assert_close(kernel(forest, forest), reference)
    assert_close(kernel.diag(forest), reference.diagonal())


@given(CASES, forests(min_size=2, max_size=4), st.booleans())
def test_pairs_of_trees(case: Case, trees: list[Node], normalize: bool) -> None:
    together, apart, kernel = build(trees), build(trees[::-1]), case.kernel(normalize)
    n = len(trees)
    reference = case.matrix(trees, trees, normalize)
    within = [[kernel.pair(together[i], together[j]) for j in range(n)] for i in range(n)]
    across = [[kernel.pair(together[i], apart[n - 1 - j]) for j in range(n)] for i in range(n)]
    assert_close(np.array(within), reference)
    assert_close(np.array(across), reference)


@given(CASES, forests(min_size=3, max_size=6), st.data())
def test_views(case: Case, trees: list[Node], data: st.DataObject) -> None:
    """Rows picked, sliced and masked, of one forest or of two, with repeats and in any order."""
    n = len(trees)
    forest, other, kernel = build(trees), build(trees[::-1]), case.kernel()
    some = st.lists(st.integers(0, n - 1), min_size=1, max_size=n)
    picked = data.draw(some, label="picked")
    start = data.draw(st.integers(0, n - 1), label="start")
    kept = data.draw(st.sets(st.integers(0, n - 1), min_size=1), label="kept")
    mask = np.isin(np.arange(n), list(kept))

    reference = case.matrix(trees, trees)
    assert_close(kernel(forest[picked], forest[start:]), reference[picked][:, start:])
    assert_close(kernel(forest[mask], other), reference[mask][:, ::-1])
    assert_close(kernel(other, forest[picked]), reference[::-1][:, picked])
    assert_close(kernel(forest[start:]), reference[start:, start:])
    assert_close(kernel.diag(forest[picked]), reference.diagonal()[picked])


# Bulk

TWO_LABELS = Alphabet(("a", "b"), ("a", "b"))


@pytest.mark.product
@each_kind
@pytest.mark.parametrize("alphabet", [TWO_LABELS, DISJOINT], ids=["two-labels", "disjoint"])
def test_five_thousand_pairs(case: Case, alphabet: Alphabet) -> None:
    trees = random_trees(seed=2012, n=142, max_nodes=14, alphabet=alphabet)
    a, b = trees[::2], trees[1::2]  # near-duplicates fall on both sides
    reference = case.matrix(a, b)
    assert reference.size >= 5_000
    assert np.count_nonzero(reference) > 250
    assert_close(case.kernel()(build(a), build(b)), reference)


# Extremes


@pytest.mark.product
@each_kind
def test_long_chains_and_wide_stars(case: Case) -> None:
    def tree(shape: str, n: int, labels: str) -> Node:
        children: list[list[Node]] = [[] for _ in range(n)]
        for i in reversed(range(1, n)):
            node = Node(labels[i % len(labels)], tuple(children[i]))
            children[0 if shape == "star" else i - 1].insert(0, node)
        return Node(labels[0], tuple(children[0]))

    trees = [
        tree(shape, n, labels)
        for shape, n in [("chain", 30), ("chain", 60), ("star", 24), ("star", 40)]
        for labels in ("a", "ab", "aab")
    ]
    assert_close(case.kernel()(build(trees)), case.matrix(trees, trees))


@each_kind
@pytest.mark.parametrize("normalize", [False, True], ids=["raw", "normalised"])
def test_single_nodes(case: Case, normalize: bool) -> None:
    """They have no fragment but themselves, and under ST and STK none at all: 0, never 0 / 0."""
    trees = [Node("a"), Node("b"), Node("a", (Node("b"),)), Node("a")]
    reference = case.matrix(trees, trees, normalize)
    forest, kernel = build(trees), case.kernel(normalize)
    assert_close(kernel(forest), reference)
    assert_close(kernel.diag(forest), reference.diagonal())
    assert_close(kernel(forest, build(trees[:1])), reference[:, :1])


def test_values_beyond_float_normalise() -> None:
    """Without decay a star of n pre-terminals has over 2^n fragments: too many for a float."""
    n = 1100
    a = Node("S", n * (Node("T", (Node("x"),)),))
    b = Node("S", (*a.children[1:], Node("T", (Node("y"),))))
    # (T x) n times against n - 1 times; and below S each child is left open or, if alike, grown
    k_ab = n * (n - 1) + 2 ** (n - 1)
    k_aa = n * n + 2**n
    k_bb = (n - 1) ** 2 + 1 + 2**n
    expected = math.sqrt(Fraction(k_ab**2, k_aa * k_bb))
    native = SubsetTree(decay=1.0, normalize=True)(build([a, b]))
    assert_close(native, np.array([[1.0, expected], [expected, 1.0]]))


# Positive semi-definiteness: what an SVM needs of a kernel, and some programs' ST lacks


@each_kind
@pytest.mark.parametrize("seed", range(3))
def test_positive_semi_definite(case: Case, seed: int) -> None:
    """On trees in which leaves and inner nodes share their labels."""
    forest = build(random_trees(seed, n=80, max_nodes=10, alphabet=MIXED))
    matrix = case.kernel(normalize=True)(forest)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12, atol=0)
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]


# Values of SVM-Light-TK 1.5


@pytest.mark.shared
@pytest.mark.parametrize(
    ("array", "kernel"),
    [
        ("st", Subtree(decay=0.4, normalize=False)),
        ("sst", SubsetTree(decay=0.4, normalize=False)),
        ("sst_leaves", SubsetTree(decay=0.4, include_leaves=True, normalize=False)),
        ("ptk_gaps", PartialTree(decay=0.4, depth_decay=0.4, penalty="gaps", normalize=False)),
    ],
)
def test_golden_values(shared_dir: Path, array: str, kernel: Kernel) -> None:
    data = shared_dir / "data/srl-5000/dataset_5000.dat.xz"
    values = shared_dir / "golden/srl5000_first100.npz"
    if not data.is_file() or not values.is_file():
        pytest.skip(f"{data} or {values} is missing")
    with lzma.open(data, "rt", encoding="utf-8") as lines:
        brackets = [line.split("|BT|")[1].split("|ET|")[0] for line in islice(lines, 100)]
    with np.load(values) as golden:
        assert_close(kernel(Forest.from_brackets(brackets)), golden[array], 1e-12)
