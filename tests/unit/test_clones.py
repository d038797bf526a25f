"""Clone classes against plain definitions; repeated subtrees against an enumeration."""

from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.clones import clone_classes, repeated_subtrees, shared_fragment, similar_pairs
from filbert.errors import InvalidParameterError
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from tests.fragments import forest_of, node_of
from tests.profiles import n_examples
from tests.reference.fragments import subset_trees_at
from tests.reference.trees import Node, nodes, parse, size
from tests.strategies import forests, random_trees

KERNELS = st.sampled_from([SubsetTree(), Subtree(), PartialTree()])
LIMITS = st.sampled_from([0.3, 0.6, 0.9])


def components(K: Any, limit: float) -> set[tuple[int, ...]]:
    """By repeated merging of sets that have a similar pair."""
    groups = [{i} for i in range(len(K))]
    merged = True
    while merged:
        merged = False
        for a, b in combinations(groups, 2):
            if any(K[i, j] >= limit for i in a for j in b):
                groups.remove(b)
                a.update(b)
                merged = True
                break
    return {tuple(sorted(group)) for group in groups if len(group) > 1}


def matrix_of(kernel: Any, trees: list[Node]) -> Any:
    """Equal trees are similar, whether they have fragments or not."""
    equal = np.array([[a == b for b in trees] for a in trees])
    return np.where(equal, 1.0, kernel(forest_of(trees)))


@given(forests(2, 10, 9), KERNELS, LIMITS)
@n_examples(60)
def test_single_linkage_gives_components(trees: list[Node], kernel: Any, limit: float) -> None:
    found = clone_classes(forest_of(trees), kernel=kernel, min_similarity=limit)
    K = matrix_of(kernel, trees)
    assert {c.members for c in found} == components(K, limit)
    for c in found:
        assert c.n_distinct == len({trees[i] for i in c.members})
        assert c.size == size(trees[c.members[0]])
        lowest = min(K[i, j] for i, j in combinations(c.members, 2))
        assert c.similarity == pytest.approx(lowest, rel=1e-10, abs=1e-12)


@given(forests(2, 10, 9), KERNELS, LIMITS)
@n_examples(60)
def test_complete_linkage(trees: list[Node], kernel: Any, limit: float) -> None:
    """All pairs of a class are similar, and no two classes could be merged."""
    found = clone_classes(forest_of(trees), kernel=kernel, min_similarity=limit, linkage="complete")
    K = matrix_of(kernel, trees)
    members = [i for c in found for i in c.members]
    assert len(set(members)) == len(members)
    groups = [c.members for c in found] + [(i,) for i in range(len(trees)) if i not in members]
    for c in found:
        assert all(K[i, j] >= limit for i, j in combinations(c.members, 2))
    for a, b in combinations(groups, 2):
        assert any(K[i, j] < limit for i in a for j in b)


@given(forests(1, 8, 10), st.integers(1, 5))
@n_examples(60)
def test_only_equal_trees(trees: list[Node], min_size: int) -> None:
    found = clone_classes(forest_of(trees), min_similarity=1, min_size=min_size)
    wanted = defaultdict(list)
    for i, tree in enumerate(trees):
        if size(tree) >= min_size:
            wanted[tree].append(i)
    assert {c.members for c in found} == {tuple(own) for own in wanted.values() if len(own) > 1}
    assert all(c.is_exact and c.similarity == 1.0 for c in found)


@given(forests(1, 6, 12), st.integers(1, 5))
@n_examples(80)
def test_repeated_subtrees(trees: list[Node], min_size: int) -> None:
    """Those whose places are not all at one child of one other subtree."""
    places = defaultdict(list)
    above = defaultdict(set)
    for t, tree in enumerate(trees):
        above[tree].add(None)
        for position, node in enumerate(nodes(tree)):
            places[node].append((t, position))
            for slot, child in enumerate(node.children):
                above[child].add((node, slot))
    wanted = {
        node: tuple(own)
        for node, own in places.items()
        if len(own) > 1
        and size(node) >= min_size
        and (_is_root(node, trees) or len(above[node] - {None}) > 1)
    }
    found = repeated_subtrees(forest_of(trees), min_size=min_size)
    assert {parse(str(one.tree)): one.places for one in found} == wanted
    saved = [one.tree.n_nodes * (len(one.places) - 1) for one in found]
    assert saved == sorted(saved, reverse=True)


def _is_root(node: Node, trees: list[Node]) -> bool:
    return node in trees


@pytest.mark.parametrize("kernel", [SubsetTree(), Subtree(), PartialTree()], ids=repr)
def test_pairs_in_blocks_are_those_of_the_matrix(
    kernel: TreeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = forest_of(set(random_trees(3, 120, 9)))
    K = kernel(trees)
    monkeypatch.setattr("filbert.clones.pairs._BLOCK", 1000)
    monkeypatch.setattr("filbert.clones.pairs._QUERIES", 7)
    done = []
    i, j, values = similar_pairs(kernel, trees, 0.4, progress=lambda *of: done.append(of))
    assert done[-1] == (len(trees), len(trees))
    wanted = np.argwhere(np.triu(K >= 0.4, 1))
    np.testing.assert_array_equal(np.stack([i, j], axis=1), wanted)
    np.testing.assert_allclose(values, K[i, j], rtol=1e-12)


@given(forests(1, 4, 8))
@n_examples(60)
def test_the_shared_fragment_is_the_largest(trees: list[Node]) -> None:
    in_all = set.intersection(
        *({f for node in nodes(tree) for f in subset_trees_at(node)} for tree in trees)
    )
    found = shared_fragment(forest_of(trees))
    if not in_all:
        assert found is None
    else:
        assert found is not None
        assert node_of(found) in in_all
        assert len(found.labels) == max(map(size, in_all))


@pytest.mark.parametrize(
    "rules",
    [
        {"min_similarity": 0},
        {"min_similarity": 1.5},
        {"min_similarity": "0.8"},
        {"linkage": "average"},
        {"min_size": 0},
        {"kernel": SubsetTree(normalize=False)},
    ],
    ids=repr,
)
def test_bad_parameters(rules: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(rules))):
        clone_classes(["(S a)"], **rules)


def test_what_saves_most_nodes_comes_first() -> None:
    two, four = "(S (A a b c d e f) (B b))", "(Q (A a) b)"  # 10 nodes, and 4 nodes
    trees = [two, four, four, two, four, four]
    assert [c.members for c in clone_classes(trees, min_similarity=1)] == [(1, 2, 4, 5), (0, 3)]
    found = repeated_subtrees(trees, min_size=4)
    assert [str(one.tree) for one in found][:2] == [four, two]


def test_a_tree_that_is_inside_another_once() -> None:
    found = repeated_subtrees(["(B c d)", "(A (B c d) e)"], min_size=2)
    assert [(str(one.tree), one.places) for one in found] == [("(B c d)", ((0, 0), (1, 1)))]


def test_no_trees() -> None:
    assert clone_classes([]) == []
    assert repeated_subtrees([]) == []
    with pytest.raises(InvalidParameterError, match="min_size"):
        repeated_subtrees([], min_size=0)
