"""Counts of fragments in trees are those of an enumeration; and how fragments are written."""

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.errors import FilbertError
from filbert.fragments import Fragment, Fragments, mine
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.model import SupportVectorModel
from tests.fragments import forest_of, models, native, node_of, nodes_of
from tests.profiles import n_examples
from tests.reference.mining import Model, matches, occurrences
from tests.reference.trees import Node, nodes, parse, write
from tests.strategies import forests, random_trees, unicode_trees


def all_fragments(kernel: TreeKernel, trees: Sequence[Node]) -> Fragments:
    """Of some trees: with all coefficients 1 nothing cancels."""
    model = native(Model(kernel, list(trees), [1.0] * len(trees)))
    return mine(model, max_ratio=1e300, min_frequency=1, search="complete").fragments


def counts_of(kernel: TreeKernel, fragments: Fragments, trees: Sequence[Node]) -> list[list[int]]:
    """By enumeration."""
    wanted = nodes_of(fragments)
    found = [occurrences(kernel, tree) for tree in trees]
    return [[counter[fragment] for fragment in wanted] for counter in found]


# ---------------------------------------------------------------- counts


@given(models(max_size=4), forests(1, 6, 7))
@n_examples(80)
def test_counts_are_those_of_an_enumeration(model: Model, others: list[Node]) -> None:
    """In the trees that the fragments are of, and in others with other labels."""
    fragments = all_fragments(model.kernel, model.trees)
    trees = [*model.trees, *others]
    counts = fragments.count(forest_of(trees))
    assert counts.shape == (len(trees), len(fragments))
    assert counts.toarray().tolist() == counts_of(model.kernel, fragments, trees)


@given(models(max_size=4), st.data())
@n_examples(40)
def test_some_of_the_fragments(model: Model, data: st.DataObject) -> None:
    """Counts of a few do not need the others, such as those that they have grown from."""
    fragments = all_fragments(model.kernel, model.trees)
    picked = (
        data.draw(st.lists(st.integers(0, len(fragments) - 1), unique=True))
        if len(fragments)
        else []
    )
    some = fragments[picked]
    assert [str(f) for f in some] == [str(fragments[i]) for i in picked]
    whole = fragments.count(forest_of(model.trees)).toarray()
    np.testing.assert_array_equal(some.count(forest_of(model.trees)).toarray(), whole[:, picked])


@given(models(max_size=4), forests(1, 4, 7))
@n_examples(30)
def test_repeated_trees_and_parts_of_forests(model: Model, others: list[Node]) -> None:
    fragments = all_fragments(model.kernel, model.trees)
    together = forest_of([*others, *model.trees, *model.trees])
    n, m = len(others), len(model.trees)
    counts = fragments.count(together).toarray()
    np.testing.assert_array_equal(counts[n : n + m], counts[n + m :])
    np.testing.assert_array_equal(counts[n:], fragments.count(together[n:]).toarray())


@pytest.mark.parametrize("kernel", [SubsetTree(), Subtree(), PartialTree()], ids=repr)
def test_many_trees_on_threads(kernel: TreeKernel) -> None:
    trees = random_trees(5, 600, 10)
    fragments = all_fragments(kernel, trees[:25])
    forest = forest_of(trees)
    one, two = (fragments.count(forest, n_jobs=n) for n in (1, 2))
    for name in ("data", "indices", "indptr"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert one.has_sorted_indices
    assert one[:40].toarray().tolist() == counts_of(kernel, fragments, trees[:40])


def test_unseen_labels_count_nothing() -> None:
    fragments = all_fragments(SubsetTree(), [parse("(S (A x) (B y))")])
    counts = fragments.count(["(Q (C z))", "(S (A z) (B z))", "(S (A x) (B y) (C z))"])
    found = [{str(fragments[j]) for j in row.nonzero()[0]} for row in counts.toarray()]
    assert found == [set(), {"(S (A …) (B …))"}, {"(A x)", "(B y)"}]


def test_no_trees_and_no_fragments() -> None:
    fragments = all_fragments(SubsetTree(), [parse("(S (A x))")])
    assert fragments.count([]).shape == (0, len(fragments))
    assert fragments[:0].count(["(S (A x))"]).shape == (1, 0)
    assert sp.issparse(fragments.count(["(S (A x))"]))


def test_a_wide_and_a_deep_tree() -> None:
    """Time goes with the matches, and nothing recurses."""
    fragments = all_fragments(SubsetTree(), [parse("(a (a b))")])
    deep = "(a " * 100_000 + "b" + ")" * 100_000
    wide = "(S" + " (a b)" * 50_000 + ")"
    counts = fragments.count([deep, wide]).toarray()
    columns = {str(f): i for i, f in enumerate(fragments)}
    assert counts[:, columns["(a (a …))"]].tolist() == [99_999, 0]
    assert counts[:, columns["(a b)"]].tolist() == [1, 50_000]


def test_what_is_not_a_tree() -> None:
    fragments = all_fragments(SubsetTree(), [parse("(S (A x))")])
    with pytest.raises(FilbertError, match="sample 1"):
        fragments.count(["(S (A x))", "(S (A x)"])
    with pytest.raises(FilbertError):
        fragments.count([3])


# ---------------------------------------------------------------- as a sequence, and in writing


def test_fragments_are_like_a_list() -> None:
    fragments = all_fragments(SubsetTree(), [parse("(S (A x) (B y))")])
    whole = list(fragments)
    assert len(fragments) == len(whole) == 6
    assert fragments.kernel.get_params() == SubsetTree().get_params()
    assert [fragments[i] for i in range(-6, 6)] == whole * 2
    assert fragments.texts() == [str(f) for f in whole]
    for chosen in (slice(1, 4), [2, 0], np.array([5, 5]), np.arange(6) > 3, []):
        assert fragments[chosen].texts() == np.array(fragments.texts())[chosen].tolist()
    for outside in (6, -7, [6]):
        with pytest.raises(IndexError):
            fragments[outside]


def test_a_fragment_in_writing() -> None:
    fragments = all_fragments(SubsetTree(), [parse("(S (NP she) (VP (V ran)))")])
    assert sorted(map(str, fragments)) == sorted(
        [
            "(NP she)",
            "(V ran)",
            "(VP (V …))",
            "(VP (V ran))",
            "(S (NP …) (VP …))",
            "(S (NP she) (VP …))",
            "(S (NP …) (VP (V …)))",
            "(S (NP …) (VP (V ran)))",
            "(S (NP she) (VP (V …)))",
            "(S (NP she) (VP (V ran)))",
        ]
    )
    shown = next(f for f in fragments if str(f) == "(S (NP …) (VP (V ran)))")
    assert shown.labels == ("S", "NP", "VP", "V", "ran")
    assert shown.parents == (-1, 0, 0, 2, 3)
    assert shown.open == (False, True, False, False, False)
    assert isinstance(shown, Fragment)
    assert len({shown, pickle.loads(pickle.dumps(shown))}) == 1


def test_leaves_are_fragments_where_the_kernel_says_so() -> None:
    tree = parse("(S (A x) (B x))")
    fragments = all_fragments(SubsetTree(include_leaves=True), [tree])
    leaf = next(f for f in fragments if len(f.labels) == 1)
    assert (leaf.labels, leaf.open) == (("x",), (False,))
    assert all(len(f.labels) > 1 for f in all_fragments(SubsetTree(), [tree]))


@given(models(), st.integers(1, 4))
@n_examples(50)
def test_shapes_and_texts(model: Model, min_frequency: int) -> None:
    """Parents come first, in preorder; texts differ; open nodes have children in some tree."""
    mined = mine(
        native(model), max_ratio=1e9, min_frequency=min_frequency, search="complete"
    ).fragments
    assert len({str(f) for f in mined}) == len(mined)
    for fragment in mined:
        assert fragment.parents[0] == -1
        assert all(0 <= p < i for i, p in enumerate(fragment.parents) if i)
        ways_up = [ancestors(fragment, i) for i in range(len(fragment.labels))]
        assert all(p in way for way, p in zip(ways_up, fragment.parents[1:], strict=False))
        assert not any(fragment.open[p] for p in fragment.parents if p >= 0)
        if isinstance(model.kernel, Subtree):
            assert not any(fragment.open)


def ancestors(fragment: Fragment, i: int) -> list[int]:
    """A node with all that are above it."""
    way = [i]
    while fragment.parents[way[-1]] >= 0:
        way.append(fragment.parents[way[-1]])
    return way


@given(models(st.builds(SubsetTree, include_leaves=st.booleans())))
@n_examples(50)
def test_open_nodes_are_those_that_may_grow(model: Model) -> None:
    support = [node for tree, _ in model.support for node in nodes(tree)]
    for fragment in mine(native(model), max_ratio=1e9, min_frequency=1).fragments:
        if len(fragment.labels) == 1:
            assert fragment.open == (False,)
            continue
        whole = node_of(fragment)
        grown = [False] * len(fragment.labels)
        for node in support:
            if matches(whole, node):
                grown = [g or h for g, h in zip(grown, has_more(whole, node), strict=True)]
        assert list(fragment.open) == grown


def has_more(fragment: Node, node: Node) -> list[bool]:
    """For each node of a fragment in preorder: is it a leaf here and has children in the tree."""
    if not fragment.children:
        return [bool(node.children)]
    pairs = zip(fragment.children, node.children, strict=True)
    return [False, *(more for pair in pairs for more in has_more(*pair))]


@given(unicode_trees(), unicode_trees())
@n_examples(40)
def test_any_labels(a: Node, b: Node) -> None:
    fragments = all_fragments(SubsetTree(include_leaves=True), [a, b])
    assert len({str(f) for f in fragments}) == len(fragments)
    assert {label for f in fragments for label in f.labels} <= {n.label for n in nodes(a)} | {
        n.label for n in nodes(b)
    }
    assert fragments.count(forest_of([a, b])).toarray().tolist() == counts_of(
        SubsetTree(include_leaves=True), fragments, [a, b]
    )


def test_a_label_that_looks_like_an_open_node() -> None:
    """The text of a fragment with a leaf "…" differs from that of one with an open node."""
    trees = [Node("S", (Node("A", (Node("…"),)),)), Node("S", (Node("A", (Node("x"),)),))]
    texts = [str(f) for f in all_fragments(SubsetTree(), trees)]
    assert len(set(texts)) == len(texts)
    assert "(S (A …))" in texts  # open, of both
    assert sum("…" in text for text in texts) == 3  # (A …) and (S (A …)) with that leaf as well


def test_complete_subtrees_that_another_kernel_would_leave_open() -> None:
    model = SupportVectorModel(
        Subtree(), Forest(["(S (A x) (B y))"] * 3), np.ones((1, 3)), np.zeros(1)
    )
    assert {str(f) for f in mine(model).fragments} == {"(S (A x) (B y))", "(A x)", "(B y)"}


def test_partial_trees_by_hand() -> None:
    """(a b b) is in (a b c b b) three times, at one node."""
    kernel = PartialTree(1.0, 1.0, normalize=False)
    tree = parse("(a b c b b)")
    model = native(Model(kernel, [tree], [1.0]))
    mined = mine(model, max_ratio=1e9, min_frequency=1, search="complete")
    found = {write(node_of(f)): i for i, f in enumerate(mined.fragments)}
    i = found["(a b b)"]
    assert mined.weight[i] == 3.0
    assert mined.frequency[i] == 1
    assert mined.fragments.count([write(tree)])[0, i] == 3
    assert mined.weight[found["(b)"]] == mined.frequency[found["(b)"]] == 3
