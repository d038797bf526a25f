"""The reference itself: recursions against enumerated fragments, exactly, and against hand counts.

If both sides of `native = reference` came from one misreading, they would agree. Here the reference
meets an independent definition (list the fragments, take dot products) in exact fractions.
"""

import lzma
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.kernels import PartialTree, SubsetTree, Subtree
from tests.profiles import n_examples
from tests.reference import fragments, kernels, mining
from tests.reference.matrix import reference_matrix
from tests.reference.trees import Node, depth, nodes, parse, size, write
from tests.strategies import Alphabet, near_duplicate, random_trees, trees, unicode_trees

SMALL = trees(max_nodes=8)
# Feature maps need square roots: decays in (0, 1] that are squares of fractions. Both sides are
# polynomials in the decays, so agreement at enough squares is agreement everywhere.
SQUARES = st.sampled_from([Fraction(p * p, q * q) for q in range(1, 6) for p in range(1, q + 1)])
PENALTIES = st.sampled_from(["span", "gaps"])
LENGTHS = st.none() | st.integers(1, 4)


@st.composite
def similar_pairs(draw: st.DrawFn) -> tuple[Node, Node]:
    """Two trees that often share much: unrelated pairs hardly exercise a kernel."""
    a = draw(SMALL)
    letters = tuple(sorted({node.label for node in nodes(a)}))
    edited = st.builds(
        near_duplicate,
        st.randoms(use_true_random=False),
        st.just(a),
        st.just(Alphabet(letters, letters)),
    )
    return a, draw(edited | SMALL)


# Recursion = enumeration


@given(similar_pairs(), SQUARES)
def test_subtree_is_its_feature_map(pair: tuple[Node, Node], decay: Fraction) -> None:
    a, b = (fragments.subtree_features(tree, decay) for tree in pair)
    assert kernels.subtree(*pair, decay) == fragments.dot(a, b)


@given(similar_pairs(), SQUARES, st.booleans())
def test_subset_tree_is_its_feature_map(
    pair: tuple[Node, Node], decay: Fraction, include_leaves: bool
) -> None:
    a, b = (fragments.subset_tree_features(tree, decay, include_leaves) for tree in pair)
    assert kernels.subset_tree(*pair, decay, include_leaves) == fragments.dot(a, b)


@given(similar_pairs(), SQUARES, SQUARES, PENALTIES, LENGTHS)
def test_partial_tree_is_its_feature_map(
    pair: tuple[Node, Node],
    decay: Fraction,
    depth_decay: Fraction,
    penalty: str,
    max_subsequence: int | None,
) -> None:
    a, b = (
        fragments.partial_tree_features(tree, decay, depth_decay, penalty, max_subsequence)
        for tree in pair
    )
    value = kernels.partial_tree(*pair, decay, depth_decay, penalty, max_subsequence)
    assert value == fragments.dot(a, b)


# The example of Severyn & Moschitti 2012, section 3.1


def test_fragments_of_the_papers_example() -> None:
    """Its Fig. 2 is a picture we do not have, but this tree gives the numbers of its text.

    "10 STFs (out of total 17) of the subtree rooted in VP": 17 are rooted anywhere in it (D, N and
    V one each, NP 4, VP 10), none of them a single node; the 10 are all that have VP as their root.
    "30 PTs": that is the number rooted at VP, the single node VP among them. Anywhere it is 48
    (3 words, 2 each for D, N and V, 9 for NP), so the paper's 17 and 30 count different things.
    All are distinct fragments.
    """
    vp = parse("(VP (V brought) (NP (D a) (N cat)))")

    subset = fragments.subset_trees(vp)
    assert (len(subset), subset.total()) == (17, 17)
    assert sum(1 for f in subset if f.label == "VP") == 10
    assert min(map(size, subset)) == 2
    assert parse("(VP V NP)") in subset
    assert parse("(VP V)") not in subset

    partial_ = fragments.partial_trees(vp)
    assert (len(partial_), partial_.total()) == (48, 48)
    assert sum(1 for f in partial_ if f.label == "VP") == 30
    assert {Node("VP"), parse("(VP V)"), parse("(VP NP)")} <= partial_.keys()

    # Without decay a tree's kernel with itself counts its fragments, if they are all distinct.
    assert kernels.subset_tree(vp, vp, 1) == 17
    assert kernels.partial_tree(vp, vp, 1, 1) == 48


# Values worked out by hand

L, M = Fraction(1, 3), Fraction(2, 5)
LEAF = M * L**2  # PTK's Delta of two equal leaves


def test_noun_phrases_by_hand() -> None:
    a, b = parse("(NP (D a) (N cat))"), parse("(NP (D a) (N dog))")
    assert kernels.subtree(a, b, L) == L  # (D a)
    # (D a): L; NP -> D N: L, and L^2 with (D a) in it
    assert kernels.subset_tree(a, b, L) == 2 * L + L**2
    assert kernels.subset_tree(a, b, L, include_leaves=True) == 3 * L + L**2
    assert kernels.subtree(a, a, L) == 2 * L + L**3  # (D a), (N cat), all of it


def test_child_subsequences_by_hand() -> None:
    a, b = parse("(S x y z)"), parse("(S x z)")
    leaves = 2 * LEAF
    # single children span 1 + 1, "x z" spans 3 + 2; only "x z" passes over a child, and over one
    span = M * (L**2 + leaves * L**2 + LEAF**2 * L**5)
    gaps = M * (L**2 + leaves + LEAF**2 * L)
    assert kernels.partial_tree(a, b, L, M) == leaves + span
    assert kernels.partial_tree(a, b, L, M, "gaps") == leaves + gaps
    singles = M * (L**2 + leaves * L**2)
    assert kernels.partial_tree(a, b, L, M, max_subsequence=1) == leaves + singles


def test_a_leaf_and_an_inner_node_of_one_label() -> None:
    a, b = parse("(S (x y))"), parse("(S x)")
    assert kernels.subtree(a, b, L) == 0  # no complete subtree in common
    assert kernels.subset_tree(a, b, L) == L  # S -> x, left open in `a`
    assert kernels.subset_tree(a, b, L, include_leaves=True) == L  # the leaves are y and x
    assert kernels.partial_tree(a, b, L, M) == LEAF + M * (L**2 + L**2 * LEAF)  # x matches x


def test_trees_of_one_node() -> None:
    x, y = Node("x"), Node("y")
    assert kernels.subtree(x, x, L) == kernels.subset_tree(x, x, L) == 0
    assert kernels.subset_tree(x, x, L, include_leaves=True) == L
    assert kernels.partial_tree(x, x, L, M) == LEAF
    assert kernels.partial_tree(x, y, L, M) == 0


# Normalisation and rounding


def test_normalized() -> None:
    kernel = partial(kernels.subset_tree, decay=Fraction(1, 4))
    a, b = parse("(S x)"), parse("(S (T x) (T x) (T x) (T x))")
    assert kernels.normalized(kernel, a, a) == 1
    assert kernels.normalized(kernel, a, b) == 0
    # (T x) against (S (T x)): 1/4; norms 1/4 and 1/4 + 1/4 (1 + 1/4)
    value = kernels.normalized(kernel, parse("(T x)"), parse("(S (T x))"))
    assert value == pytest.approx(0.25 / math.sqrt(0.25 * 0.5625), rel=1e-15)
    assert kernels.normalized(kernel, Node("x"), a) == 0  # no fragment: 0, not 0 / 0
    assert kernels.normalized(kernel, Node("x"), Node("x")) == 0


@pytest.mark.parametrize("penalty", ["span", "gaps"])
def test_floats_are_as_good_as_fractions(penalty: str) -> None:
    decay, depth_decay = 0.7, 0.9
    exact = (Fraction(decay), Fraction(depth_decay))  # the floats' own values, not 7/10 and 9/10
    forest = random_trees(seed=5, n=20, max_nodes=30)
    for a, b in pairwise(forest):
        value = kernels.partial_tree(a, b, decay, depth_decay, penalty)
        assert value == pytest.approx(
            float(kernels.partial_tree(a, b, *exact, penalty)), rel=1e-13, abs=0
        )
        value = kernels.subset_tree(a, b, decay)
        assert value == pytest.approx(float(kernels.subset_tree(a, b, exact[0])), rel=1e-13, abs=0)


# Another program's values


@pytest.mark.shared
@pytest.mark.parametrize(
    ("array", "kernel"),
    [
        ("st", partial(kernels.subtree, decay=0.4)),
        ("sst", partial(kernels.subset_tree, decay=0.4)),
        ("sst_leaves", partial(kernels.subset_tree, decay=0.4, include_leaves=True)),
        ("ptk_gaps", partial(kernels.partial_tree, decay=0.4, depth_decay=0.4, penalty="gaps")),
    ],
)
def test_svm_light_tk_gives_the_same(
    shared_dir: Path, array: str, kernel: Callable[[Node, Node], float]
) -> None:
    n = 25  # all 100 take a minute
    with lzma.open(shared_dir / "data/srl-5000/dataset_5000.dat.xz", "rt") as lines:
        forest = [
            parse(line.split("|BT|")[1].split("|ET|")[0])
            for line, _ in zip(lines, range(n), strict=False)
        ]
    golden = np.load(shared_dir / "golden/srl5000_first100.npz")[array][:n, :n]
    values = [[kernel(a, b) for b in forest] for a in forest]
    np.testing.assert_allclose(values, golden, rtol=1e-12, atol=0)


# Mining


@given(st.lists(SMALL, min_size=1, max_size=4), st.randoms(use_true_random=False))
@n_examples(40)
def test_a_model_written_out_is_the_model(trees: list[Node], rng: Random) -> None:
    """The squares of its weights add up to coef K coef, and the searches find what they should."""
    coef = [rng.uniform(-1, 1) for _ in trees]
    for kernel in (SubsetTree(0.4), SubsetTree(include_leaves=True), Subtree(), PartialTree()):
        model = mining.Model(kernel, trees, coef)
        square = coef @ reference_matrix(kernel, trees, trees) @ coef
        assert math.isclose(model.norm**2, square, rel_tol=1e-9, abs_tol=1e-12)
        search = mining.Search(model, "gradient", 10.0, 1)
        assert search.greedy() <= search.complete() <= model.weights.keys()
        assert mining.Search(model, "gradient", math.inf, 1).greedy() == model.weights.keys()


# Reading and writing


@given(unicode_trees())
def test_what_is_written_is_read(tree: Node) -> None:
    assert parse(write(tree)) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(a)", Node("a")),
        ("(S(T\tx )\n(U y))", Node("S", (Node("T", (Node("x"),)), Node("U", (Node("y"),))))),
        ("( (S (a) b) )", Node("S", (Node("a"), Node("b")))),
        (r"(a\(\)\\ \ \n\t\r\v\f)", Node("a()\\", (Node(" \n\t\r\v\f"),))),
        (r"(CD 1\/2 \x \\n)", Node("CD", (Node(r"1\/2"), Node(r"\x"), Node(r"\n")))),
        ("(a \u00a0\u2028 b\u3000c)", Node("a", (Node("\u00a0\u2028"), Node("b\u3000c")))),
    ],
)
def test_brackets(text: str, tree: Node) -> None:
    assert parse(text) == tree
    assert parse(write(tree)) == tree


@pytest.mark.parametrize("text", ["", "a", "()", "(a", "(a))", "(a) (b)", "(a ())", "((a) (b))"])
def test_what_is_not_a_tree(text: str) -> None:
    with pytest.raises(ValueError, match=r"bracket|tree"):
        parse(text)


def test_written_form_and_measures() -> None:
    tree = Node("S", (Node("a b"), Node("T", (Node("x"), Node("(")))))
    assert write(tree) == r"(S a\ b (T x \())"
    assert write(Node("a")) == "(a)"
    assert [node.label for node in nodes(tree)] == ["S", "a b", "T", "x", "("]
    assert (size(tree), depth(tree), depth(Node("a"))) == (5, 3, 1)
