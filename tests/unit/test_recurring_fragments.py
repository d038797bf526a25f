"""Recurring fragments are exactly the closed ones that an enumeration finds."""

import pickle
from collections import Counter
from itertools import combinations, islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.errors import FilbertError, InvalidParameterError, TooManyFragmentsError
from filbert.fragments import iter_recurring_fragments, recurring_fragments
from filbert.kernels import PartialTree, SubsetTree, Subtree
from tests.fragments import filled, forest_of, node_of, nodes_of
from tests.profiles import n_examples
from tests.reference.fragments import complete_subtrees
from tests.reference.recurring import closed_subset_trees, common
from tests.reference.trees import Node, nodes, parse, size
from tests.strategies import forests, random_trees

SMALL = forests(1, 6, 9)
ALIKE = st.builds(lambda rng, n: [filled(rng) for _ in range(n)], st.randoms(), st.integers(2, 8))


def listed(trees: list[Node], **rules: object) -> dict[Node, int]:
    found = recurring_fragments(forest_of(trees), n_jobs=1, **rules)  # type: ignore[arg-type]
    return dict(zip(nodes_of(found.fragments), found.count.tolist(), strict=True))


# ---------------------------------------------------------------- equal to an enumeration


@given(SMALL | ALIKE, st.integers(1, 4))
@n_examples(300)
def test_they_are_those_of_an_enumeration(trees: list[Node], min_count: int) -> None:
    assert listed(trees, min_count=min_count) == closed_subset_trees(trees, min_count)


def binarised(tree: Node) -> Node:
    """Nodes of several children as chains of pairs, to the right."""
    below = [binarised(child) for child in tree.children]
    while len(below) > 2:
        below[-2:] = [Node(f"{tree.label}|", tuple(below[-2:]))]
    return Node(tree.label, tuple(below))


@given(SMALL | SMALL.map(lambda trees: [binarised(tree) for tree in trees]))
@n_examples(120)
def test_the_largest_common_fragment_of_two_places_is_listed(trees: list[Node]) -> None:
    found = listed(trees)
    for a, b in combinations([node for tree in trees for node in nodes(tree)], 2):
        shared = common(a, b)
        assert shared is None or shared in found


@given(SMALL | ALIKE)
@n_examples(60)
def test_counts_are_those_of_the_matcher(trees: list[Node]) -> None:
    """Which finds the fragments in another way; and each of them is in as many subtrees."""
    forest = forest_of(trees)
    found = recurring_fragments(forest)
    np.testing.assert_array_equal(found.fragments.count(forest).sum(axis=0), found.count)
    distinct = forest_of({node for tree in trees for node in nodes(tree)})
    at_roots = [
        sum(common(node_of(fragment), node) == node_of(fragment) for node in _nodes(distinct))
        for fragment in found.fragments
    ]
    assert at_roots == found.n_distinct.tolist()


def _nodes(forest: Forest) -> list[Node]:
    return [parse(str(tree)) for tree in forest]


@given(SMALL, st.integers(1, 3))
@n_examples(60)
def test_complete_subtrees(trees: list[Node], min_count: int) -> None:
    counts: Counter[Node] = sum((complete_subtrees(tree) for tree in trees), Counter())
    wanted = {tree: n for tree, n in counts.items() if n >= min_count}
    assert listed(trees, kernel=Subtree(), min_count=min_count) == wanted


@given(SMALL)
@n_examples(40)
def test_leaves(trees: list[Node]) -> None:
    leaves = Counter(node for tree in trees for node in nodes(tree) if not node.children)
    wanted = closed_subset_trees(trees, 2) | {leaf: n for leaf, n in leaves.items() if n >= 2}
    assert listed(trees, kernel=SubsetTree(include_leaves=True)) == wanted


@given(SMALL | ALIKE, st.data())
@n_examples(60)
def test_filters(trees: list[Node], data: st.DataObject) -> None:
    """A filter leaves out fragments, and does not change those that stay."""
    everything = listed(trees)
    low, high = sorted(data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9))))
    few, many = sorted(data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6))))
    root = data.draw(st.none() | st.sampled_from("aAS"))
    found = listed(trees, min_size=low, max_size=high, min_count=few, max_count=many, root=root)
    if few == 1:
        everything = listed(trees, min_count=1)
    assert found == {
        fragment: n
        for fragment, n in everything.items()
        if low <= size(fragment) <= high and few <= n <= many and root in (None, fragment.label)
    }


@pytest.mark.shared
def test_real_sentences(shared_dir: Path) -> None:
    """Counts are those of the matcher, and what two nodes share is listed."""
    datasets = pytest.importorskip("benchmarks.datasets")
    texts = list(islice(datasets.DATASETS["srl-ewt sentences"](shared_dir / "data"), 300))
    forest = Forest(texts)
    found = recurring_fragments(forest)
    np.testing.assert_array_equal(found.fragments.count(forest).sum(axis=0), found.count)
    fragments = set(nodes_of(found.fragments))
    alike: dict[tuple[str, ...], list[Node]] = {}
    for node in (node for text in texts for node in nodes(parse(text)) if node.children):
        production = (node.label, *(child.label for child in node.children))
        alike.setdefault(production, []).append(node)
    for group in alike.values():
        for a, b in combinations(group[:40], 2):
            assert common(a, b) in fragments


# ---------------------------------------------------------------- what is closed


def test_a_repeated_tree_recurs_as_a_whole() -> None:
    """One distinct subtree in several places: its parts are not closed, because they grow."""
    assert recurring_fragments(["(S (NP (D a)) (VP b))"] * 3).fragments.texts() == [
        "(D a)",
        "(NP (D a))",
        "(VP b)",
        "(S (NP (D a)) (VP b))",
    ]
    assert set(recurring_fragments(["(S (NP (D a)) (VP b))"] * 3).count.tolist()) == {3}


def test_a_leaf_is_also_an_open_node() -> None:
    """A subset tree does not say whether a label has children: the whole tree occurs twice."""
    found = recurring_fragments(["(S a b)", "(S (a c) b)"])
    assert found.fragments.texts() == ["(S (a …) b)"]
    assert found.count.tolist() == [2]


def test_three_places_share_what_no_two_do() -> None:
    """Every pair shares more than all three."""
    trees = ["(S (A a) (B b) (C x) (D y))", "(S (A a) (B c) (C x) (D z))"]
    trees += ["(S (A a) (B b) (C w) (D z))"]
    found = recurring_fragments(trees, root="S")
    assert dict(zip(found.fragments.texts(), found.count.tolist(), strict=True)) == {
        "(S (A a) (B …) (C …) (D …))": 3,
        "(S (A a) (B b) (C …) (D …))": 2,
        "(S (A a) (B …) (C x) (D …))": 2,
        "(S (A a) (B …) (C …) (D z))": 2,
    }


# ---------------------------------------------------------------- order, batches, threads


def test_batches_and_threads_give_the_same() -> None:
    forest = forest_of(random_trees(7, 3000, 24))
    whole = recurring_fragments(forest, n_jobs=1)
    assert len(whole) > 1000
    others = recurring_fragments(forest, n_jobs=2)
    parts = list(iter_recurring_fragments(forest, n_jobs=2))
    assert len(parts) > 1
    for texts, count in [
        (others.fragments.texts(), others.count),
        (
            [t for part in parts for t in part.fragments.texts()],
            np.concatenate([p.count for p in parts]),
        ),
    ]:
        assert texts == whole.fragments.texts()
        np.testing.assert_array_equal(count, whole.count)


def test_a_slice_counts_only_its_trees() -> None:
    trees = random_trees(3, 200, 10)
    part = forest_of(trees)[50:120]
    found = recurring_fragments(part)
    wanted = listed(trees[50:120])
    assert dict(zip(nodes_of(found.fragments), found.count.tolist(), strict=True)) == wanted


def test_parts_of_a_result() -> None:
    found = recurring_fragments(forest_of(random_trees(3, 100, 10)))
    large = found[found.size >= 4]
    assert 0 < len(large) < len(found)
    assert large.fragments.texts() == [
        str(fragment) for fragment in found.fragments if len(fragment.labels) >= 4
    ]
    assert repr(found[:2]).startswith("2 recurring fragments\n")
    with pytest.raises(FilbertError, match=r"\.fragments\[i\]"):
        found[0]  # type: ignore[call-overload]


# ---------------------------------------------------------------- limits


def test_deep_trees() -> None:
    """Two chains that differ at the end, of different labels: they share one fragment of a root."""
    n = 100_000
    labels = ["(" + str(i) for i in range(n)]
    chains = [" ".join(labels) + end + ")" * n for end in (" (b x)", " (b y)")]
    found = recurring_fragments(chains, root="0")
    assert found.count.tolist() == [2]
    assert found.size.tolist() == [n + 1]


def test_chains_of_one_label() -> None:
    """Every length is a fragment, so there are many; the search keeps one at a time."""
    n = 2000
    chains = ["(a " * n + end + ")" * n for end in ("(b x)", "(b y)")]
    found = recurring_fragments(chains, min_size=n)
    assert found.count.tolist() == [2, 2]
    assert sorted(found.size.tolist()) == [n, n + 1]


def test_wide_nodes_stop_at_the_limit() -> None:
    rng = Random(0)
    wide = [
        "(S " + " ".join(f"(A {rng.choice('xy')})" for _ in range(200)) + ")" for _ in range(40)
    ]
    with pytest.raises(TooManyFragmentsError, match="raise min_count") as caught:
        recurring_fragments(wide, max_fragments=1000)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.max_fragments, str(again)) == (1000, str(caught.value))


@pytest.mark.parametrize(
    "rules",
    [
        {"min_count": 0},
        {"min_count": 2.5},
        {"min_size": True},
        {"max_size": 0},
        {"max_count": "3"},
        {"max_fragments": 0},
        {"root": 3},
        {"root": "\ud800"},
    ],
    ids=repr,
)
def test_bad_parameters(rules: dict[str, object]) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(rules))):
        recurring_fragments(["(S a)"], **rules)  # type: ignore[arg-type]


def test_other_kernels_are_refused() -> None:
    with pytest.raises(FilbertError, match="SubsetTree"):
        recurring_fragments(["(S a)"], kernel=PartialTree())


def test_nothing_recurs() -> None:
    assert len(recurring_fragments(["(S a)"])) == 0
    assert len(recurring_fragments([])) == 0
    assert len(recurring_fragments(["(S a)", "(S a)"], root="NP")) == 0
    assert list(iter_recurring_fragments(["(S a)"])) == []
