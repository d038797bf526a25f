"""Each step of `filbert.transform` does what its slow reference does, and can be undone."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Examples, Forest
from filbert.errors import CapacityError, NotATreeError
from filbert.transform import (
    Binarise,
    CollapseUnary,
    CutBelow,
    CutDepth,
    DropLabels,
    DropWords,
    ExpandUnary,
    LowerCaseLeaves,
    MapLabels,
    MapLeaves,
    MarkNodes,
    MarkPath,
    SortChildren,
    StripEmpties,
    StripFunctionTags,
    Unbinarise,
)
from tests.profiles import n_examples
from tests.reference import transform as reference
from tests.reference.trees import Node, nodes, parse, write
from tests.strategies import forests, trees, unicode_trees

LABELS = st.lists(st.sampled_from("abcABCxyz"), max_size=3)
KINDS = st.sampled_from(["inner", "leaves", "all"])


def transformed(step: Any, given_trees: list[Node]) -> list[str]:
    return list(map(str, step.transform(Forest(map(write, given_trees)))))


def agrees(step: Any, given_trees: list[Node], expected: Callable[[Node], Node]) -> None:
    assert transformed(step, given_trees) == [write(expected(tree)) for tree in given_trees]


def is_of(kind: str, node: Node) -> bool:
    return kind == "all" or (kind == "leaves") == (not node.children)


def chooser(labels: list[str], kind: str) -> Callable[[Node], bool]:
    return lambda node: node.label in labels and is_of(kind, node)


# ---------------------------------------------------------------- against the references


@n_examples(60)
@given(forests(), KINDS)
def test_map_labels(some: list[Node], kind: Any) -> None:
    mapping = {"a": "b", "A": "a a", "x": "("}

    def new_label(node: Node) -> str:
        return mapping.get(node.label, node.label) if is_of(kind, node) else node.label

    agrees(MapLabels(mapping, nodes=kind), some, lambda tree: reference.relabel(tree, new_label))
    agrees(
        MapLabels(mapping, nodes=kind, unknown="?"),
        some,
        lambda tree: reference.relabel(
            tree, lambda n: mapping.get(n.label, "?") if is_of(kind, n) else n.label
        ),
    )


@n_examples(60)
@given(forests())
def test_map_leaves(some: list[Node]) -> None:
    def doubled(node: Node) -> str:
        return node.label if node.children else 2 * node.label

    agrees(MapLeaves(lambda leaf: 2 * leaf), some, lambda tree: reference.relabel(tree, doubled))
    agrees(
        MapLeaves(lambda leaf, parent: f"{leaf}/{parent}", by_parent=True),
        some,
        lambda tree: reference.relabel_leaves_by_parent(tree, lambda leaf, up: f"{leaf}/{up}"),
    )
    pairs = {("a", "a"): "1", ("x", "A"): "2"}
    agrees(
        MapLeaves(pairs, by_parent=True),
        some,
        lambda tree: reference.relabel_leaves_by_parent(
            tree, lambda leaf, up: pairs.get((leaf, up), leaf)
        ),
    )


@n_examples(60)
@given(st.lists(unicode_trees(), max_size=3))
def test_lower_case_leaves(some: list[Node]) -> None:
    agrees(
        LowerCaseLeaves(),
        some,
        lambda tree: reference.relabel(tree, lambda n: n.label if n.children else n.label.lower()),
    )


@n_examples(60)
@given(forests(), LABELS, st.sampled_from(["keep", "drop"]), KINDS)
def test_drop_labels(some: list[Node], labels: list[str], children: Any, kind: Any) -> None:
    step = DropLabels(labels, children=children, nodes=kind, placeholder="none left")

    def expected(tree: Node) -> Node:
        chosen = chooser(labels, kind)
        left = reference.drop(tree, chosen, keep_children=children == "keep")
        return left[0] if len(left) == 1 else Node("none left", tuple(left))

    agrees(step, some, expected)


@n_examples(60)
@given(forests(), LABELS)
def test_strip_empties(some: list[Node], labels: list[str]) -> None:
    def expected(tree: Node) -> Node:
        left = reference.drop(tree, chooser(labels, "all"), keep_children=False)
        return left[0] if left else Node("none left")

    agrees(StripEmpties(labels, placeholder="none left"), some, expected)


@n_examples(60)
@given(forests(), st.booleans())
def test_collapse_unary_and_back(some: list[Node], preterminals: bool) -> None:
    step = CollapseUnary("+", preterminals=preterminals)
    agrees(step, some, lambda tree: reference.collapse(tree, "+", preterminals=preterminals))
    forest = Forest(map(write, some))
    assert step.inverse_transform(step.transform(forest)) == forest


@n_examples(60)
@given(forests())
def test_expand_unary(some: list[Node]) -> None:
    joined = [reference.relabel(tree, lambda n: f"{n.label}+b+{n.label}") for tree in some]
    agrees(ExpandUnary(), joined, lambda tree: reference.expand(tree, "+"))


@n_examples(60)
@given(forests(), st.sampled_from(["right", "left"]), st.integers(0, 3))
def test_binarise_and_back(some: list[Node], direction: Any, n_siblings: int) -> None:
    step = Binarise(direction, n_siblings=n_siblings)
    agrees(step, some, lambda tree: reference.binarise(tree, direction, n_siblings, "@"))
    forest = Forest(map(write, some))
    binary = step.transform(forest)
    assert all(len(node) <= 2 for tree in binary for node in tree.nodes())
    assert step.inverse_transform(binary) == Unbinarise().transform(binary) == forest


@n_examples(60)
@given(forests(), st.integers(1, 6))
def test_cut_depth(some: list[Node], max_depth: int) -> None:
    agrees(CutDepth(max_depth), some, lambda tree: reference.cut_depth(tree, max_depth))


@n_examples(60)
@given(forests(), LABELS)
def test_cut_below_and_drop_words(some: list[Node], labels: list[str]) -> None:
    agrees(CutBelow(labels), some, lambda tree: reference.cut_below(tree, labels))
    agrees(DropWords(), some, reference.drop_words)


@n_examples(60)
@given(forests(), LABELS, KINDS)
def test_mark_nodes(some: list[Node], labels: list[str], kind: Any) -> None:
    chosen = chooser(labels, kind)

    def expected(tree: Node) -> Node:
        return reference.relabel(tree, lambda n: n.label + "-M" if chosen(n) else n.label)

    agrees(MarkNodes(labels, "-M", nodes=kind), some, expected)
    agrees(
        MarkNodes(labels, "-M", where="paths", nodes=kind),
        some,
        lambda tree: reference.mark_paths(tree, chosen, "-M"),
    )


@n_examples(60)
@given(forests(), st.randoms(use_true_random=False), st.sampled_from(["path", "parent", "leaf"]))
def test_mark_path(some: list[Node], rng: Random, where: Any) -> None:
    leaves = [rng.randrange(sum(not n.children for n in nodes(tree))) for tree in some]
    X = Examples(tree=[write(tree) for tree in some], leaf=[[leaf] for leaf in leaves])
    marked = MarkPath("leaf", "-M", where=where).transform(X)["tree"]
    expected = [
        write(reference.mark_path(*pair, "-M", where)) for pair in zip(some, leaves, strict=True)
    ]
    assert list(map(str, marked)) == expected


@n_examples(60)
@given(forests())
def test_sort_children(some: list[Node]) -> None:
    agrees(SortChildren(), some, reference.sort_children)


def shuffled(tree: Node, rng: Random) -> Node:
    children = [shuffled(child, rng) for child in tree.children]
    rng.shuffle(children)
    return Node(tree.label, tuple(children))


@n_examples(60)
@given(trees(), trees(), st.randoms(use_true_random=False))
def test_sorted_trees_are_equal_exactly_if_they_are_without_order(
    a: Node, b: Node, rng: Random
) -> None:
    """Also if they are sorted in separate forests."""
    for other in (b, shuffled(a, rng)):
        (one,), (two,) = transformed(SortChildren(), [a]), transformed(SortChildren(), [other])
        assert (one == two) == (reference.as_unordered(a) == reference.as_unordered(other))


# ---------------------------------------------------------------- trees of the Penn Treebank's kind

KIM = """( (S (NP-SBJ-1 (NNP Kim) (-LRB- -LRB-) (NN-XY so-called) (-RRB- -RRB-))
           (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go)
           (ADVP-DIR=2 (-NONE- *T*-3))))) (ADVP|PRT (RB up))) (: --) (. .)) )"""


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            StripEmpties(),
            "(S (NP-SBJ-1 (NNP Kim) (-LRB- -LRB-) (NN-XY so-called) (-RRB- -RRB-)) (VP (VBZ wants)"
            " (S (VP (TO to) (VP (VB go)))) (ADVP|PRT (RB up))) (: --) (. .))",
        ),
        (
            StripFunctionTags(),
            "(S (NP (NNP Kim) (-LRB- -LRB-) (NN so-called) (-RRB- -RRB-)) (VP (VBZ wants) (S (NP"
            " (-NONE- *-1)) (VP (TO to) (VP (VB go) (ADVP (-NONE- *T*-3))))) (ADVP|PRT (RB up)))"
            " (: --) (. .))",
        ),
        (
            StripFunctionTags("-=|"),
            "(S (NP (NNP Kim) (-LRB- -LRB-) (NN so-called) (-RRB- -RRB-)) (VP (VBZ wants) (S (NP"
            " (-NONE- *-1)) (VP (TO to) (VP (VB go) (ADVP (-NONE- *T*-3))))) (ADVP (RB up)))"
            " (: --) (. .))",
        ),
        (
            DropLabels({".", ":", "-LRB-", "-RRB-"}, children="drop"),
            "(S (NP-SBJ-1 (NNP Kim) (NN-XY so-called)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1))"
            " (VP (TO to) (VP (VB go) (ADVP-DIR=2 (-NONE- *T*-3))))) (ADVP|PRT (RB up))))",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_penn_tree(step: Any, expected: str) -> None:
    assert str(step.transform([KIM])[0]) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("-LRB-", "-LRB-"), ("-NONE-", "-NONE-"), ("--", "--"),
     ("-", "-"), ("=", "="), ("-X", "-X"), ("PRP$", "PRP$"), ("-LRB--1", "-LRB-"), (":", ":")],
)  # fmt: skip
def test_function_tags(label: str, expected: str) -> None:
    assert StripFunctionTags().transform([f"({label} w)"])[0].label == expected


def test_words_are_no_labels() -> None:
    """Steps for inner nodes leave words alone that look like labels."""
    tree = "(S (NP (NP NP)) (X (@NP @NP) (A-B A-B)))"
    assert str(DropLabels("NP").transform([tree])[0]) == "(S NP (X (@NP @NP) (A-B A-B)))"
    assert str(Unbinarise().transform([tree])[0]) == "(S (NP (NP NP)) (X @NP (A-B A-B)))"
    assert str(StripFunctionTags().transform([tree])[0]) == "(S (NP (NP NP)) (X (@NP @NP) (A A-B)))"
    assert Binarise().transform(["(S @a @b @c)"])[0] == Forest(["(S @a (@S @b @c))"])[0]


# ---------------------------------------------------------------- huge trees

N = 100_000  # nodes; deeper than Python's stack


def chain_steps() -> list[tuple[Any, int]]:
    """Each step with the depth of its result on a chain of N nodes: a b a b ... a b x."""
    return [
        (LowerCaseLeaves(), N),
        (MapLeaves(lambda leaf, parent: leaf + parent, by_parent=True), N),
        (DropLabels("b"), N // 2 + 1),
        (DropLabels("b", children="drop", placeholder="none"), 1),
        (Binarise(), N),
        (CutDepth(N // 2), N // 2),
        (CutBelow("b"), 2),
        (DropWords(), N - 1),
        (MarkNodes("x", "!", where="paths", nodes="leaves"), N),
        (SortChildren(), N),
    ]


@pytest.fixture(scope="module")
def chain() -> Forest:
    labels = ["a", "b"] * (N // 2)
    return Forest(["(" + " (".join(labels[: N - 1]) + " x" + ")" * (N - 1)])


@pytest.mark.parametrize(("step", "expected"), chain_steps())
def test_a_deep_chain(chain: Forest, step: Any, expected: int) -> None:
    assert chain[0].depth == N
    assert step.transform(chain)[0].depth == expected


def test_a_deep_chain_as_one_node_and_back(chain: Forest) -> None:
    collapsed = CollapseUnary(preterminals=True).transform(chain)
    assert collapsed[0].n_nodes == 2
    assert ExpandUnary().transform(collapsed) == chain


def test_a_deep_chain_with_a_marked_path(chain: Forest) -> None:
    marked = MarkPath("leaf", "!").transform(Examples(tree=chain, leaf=[[0]]))["tree"]
    assert marked[0].depth == N
    assert set(marked.describe().label_counts) == {"a!", "b!"}


def test_a_wide_node() -> None:
    n = 15_000
    wide = Forest(["(S " + "b a " * n + ")"])
    assert SortChildren().transform(wide)[0].text == " ".join(["a"] * n + ["b"] * n)
    for direction in ("left", "right"):
        binary = Binarise(direction).transform(wide)  # type: ignore[arg-type]
        assert binary[0].depth == 2 * n
        assert Unbinarise().transform(binary) == wide


def test_a_million_leaves() -> None:
    wide = Forest(["(S " + "b a " * 500_000 + ")"])
    assert len(StripEmpties("a").transform(wide)[0]) == 500_000
    assert str(DropWords().transform(wide)[0]) == "(S)"


def test_dropped_nodes_do_not_copy_what_is_below_them_at_each_level() -> None:
    """All inner nodes of a comb go: their leaves are collected once, at the root."""
    comb = Forest(["(S (A " + "a (A " * 30_000 + "a" + ")" * 30_001 + ")"])
    assert len(DropLabels("A").transform(comb)[0]) == 30_001


def doubling(n: int, root: str) -> Forest:
    """A tree of 2^n nodes: a root over n levels of binary nodes `a`."""
    return Forest.from_arrays(
        {
            "label_bytes": np.frombuffer(f"a{root}".encode(), dtype=np.uint8),
            "label_ends": np.array([1, 2], dtype=np.uint64),
            "node_labels": np.array([0] * n + [1], dtype=np.uint32),
            "child_ends": np.array([*range(0, 2 * n, 2), 2 * n - 1], dtype=np.uint64),
            "children": np.array([*np.repeat(np.arange(n - 1), 2), n - 1], dtype=np.uint32),
            "roots": np.array([n], dtype=np.uint32),
        }
    )


@pytest.mark.parametrize(
    ("step", "depth"),
    [(MapLabels({"a": "b"}), 61), (MapLeaves(lambda w, p: w + p, by_parent=True), 61),
     (DropLabels("S"), 60), (StripEmpties("b"), 61), (CollapseUnary(), 60), (ExpandUnary(), 61),
     (Binarise(), 61), (Unbinarise(), 61), (CutDepth(30), 30), (DropWords(), 60),
     (MarkNodes("S", "-M", where="paths"), 61), (SortChildren(), 61)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_each_distinct_subtree_is_rewritten_once(step: Any, depth: int) -> None:
    """There is no time for 2^60 nodes, but for 61 distinct ones."""
    assert step.transform(doubling(60, "S"))[0].depth == depth


def test_a_path_is_marked_in_a_tree_beyond_reading() -> None:
    X = Examples(tree=doubling(60, "S"), leaf=[[2**59 - 1]])
    marked = MarkPath("leaf", "!").transform(X)["tree"][0]
    assert marked[(0, *[-1] * 59)].label == "a!"
    assert marked[0, 0].label == "a"


def test_trees_that_would_become_too_wide() -> None:
    with pytest.raises(CapacityError, match="drop fewer nodes"):
        DropLabels("a").transform(doubling(60, "S"))
    with pytest.raises(NotATreeError, match="1,152,921,504,606,846,976 trees"):
        DropLabels("a").transform(doubling(61, "a"))


def test_the_order_of_equal_parses_is_kept() -> None:
    given_trees = [parse("(S (A a) (B b))"), parse("(S (B b) (A a))"), parse("(S (A a) (B b))")]
    assert transformed(SortChildren(), given_trees) == ["(S (A a) (B b))"] * 3
