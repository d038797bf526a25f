"""TreeIndex over a corpus in parts gives what it gives over the same trees in one piece."""

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import filbert
from filbert import Forest, Parts, TreeIndex
from filbert.errors import InputTypeError, InvalidParameterError, SkippedInputWarning
from filbert.kernels import LocalPatterns, PartialTree, SubsetTree, Subtree
from filbert.search.over_parts import TreesInParts
from filbert.testing.tools import sentences
from tests.profiles import n_examples

X, _ = sentences(90, 1)
X = Forest.concat([X, X[10:20]])  # equal trees, in other parts
Q, _ = sentences(12, 2)
Q = Forest.concat([Q, X[::9]])
KERNELS = [Subtree(), SubsetTree(), PartialTree(), LocalPatterns(), SubsetTree(normalize=False)]


def corpus(*ends: int) -> Parts:
    bounds = [0, *ends, len(X)]
    return filbert.parts([X[a:b] for a, b in pairwise(bounds)])


def assert_same(found: Any, expected: Any) -> None:
    """Arrays are equal to the last bit, and so are arrays of arrays."""
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        if other.dtype == object:
            assert_same(one, other)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("ends", [(), (30, 60), (0, 15, 15, 100)])
def test_results_are_those_of_one_piece(kernel: Any, ends: Any) -> None:
    whole = TreeIndex(kernel, n_neighbors=7).fit(X)
    by_parts = TreeIndex(kernel, n_neighbors=7).fit(corpus(*ends))
    assert len(by_parts) == by_parts.n_trees_ == 100
    assert_same([by_parts.ids_], [whole.ids_])
    assert_same(by_parts.kneighbors(Q), whole.kneighbors(Q))
    assert_same(by_parts.radius_neighbors(Q, 0.3), whole.radius_neighbors(Q, 0.3))
    for queries in (None, [99, 0, 15, 15]):
        assert_same(by_parts.kneighbors(queries, 3), whole.kneighbors(queries, 3))
        found = by_parts.kneighbors(queries, 3, exclude_self=False)
        assert_same(found, whole.kneighbors(queries, 3, exclude_self=False))
        graphs = [index.kneighbors_graph(queries, 2, "similarity") for index in (by_parts, whole)]
        assert_same([graphs[0].toarray()], [graphs[1].toarray()])
    for one, other in zip(by_parts.stream(iter(Q), 4), whole.stream(iter(Q), 4), strict=True):
        assert_same(one, other)
    assert 0.0 <= by_parts.share_skipped_ <= 1.0


@n_examples(20)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=40), st.integers(1, 9))
def test_ids_are_the_numbers_in_the_corpus(index: list[int], k: int) -> None:
    """Also after a choice in any order, with repetitions."""
    chosen = corpus(20, 70)[index]
    by_parts, whole = TreeIndex().fit(chosen), TreeIndex().fit(X[np.array(index)])
    assert_same(by_parts.kneighbors(Q, min(k, len(index))), whole.kneighbors(Q, min(k, len(index))))
    ids = np.arange(len(index))[::-1]
    assert by_parts.trees(ids) == whole.trees(ids)


@pytest.mark.parametrize("trees", [X, corpus(30)], ids=["in memory", "in parts"])
@pytest.mark.parametrize("metric", ["similarity", "distance"])
def test_queries_in_parts(trees: Any, metric: Any) -> None:
    index = TreeIndex(metric=metric, n_neighbors=3).fit(trees)
    expected = TreeIndex(metric=metric, n_neighbors=3).fit(X)
    order = [len(Q) - 1, 0, 5, 0]
    for queries, same in (
        (filbert.parts([Q[:5], Q[5:5], Q[5:]]), Q),
        (filbert.parts([Q[:5], Q[5:]])[order], Q[np.array(order)]),
    ):
        assert_same(index.kneighbors(queries), expected.kneighbors(same))
        assert_same(index.radius_neighbors(queries, 0.5), expected.radius_neighbors(same, 0.5))
        graph = index.kneighbors_graph(queries).toarray()
        np.testing.assert_array_equal(graph, expected.kneighbors_graph(same).toarray())
    with pytest.raises(InvalidParameterError, match="exclude_self is for trees of the index"):
        index.kneighbors(filbert.parts([Q]), exclude_self=True)
    with pytest.raises(InvalidParameterError, match="at most 100"):
        index.kneighbors(filbert.parts([Q]), 101)


def test_removed_trees_are_not_found_for_queries_in_parts() -> None:
    index = TreeIndex(n_neighbors=2).fit(X).remove(range(50)).partial_fit(X[:3])
    assert_same(index.kneighbors(filbert.parts([Q])), index.kneighbors(Q))


def test_many_queries_take_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TreesInParts, "at_a_time", 5)
    found = TreeIndex().fit(corpus(30)).kneighbors(Q)
    assert_same(found, TreeIndex().fit(X).kneighbors(Q))


def test_files_with_labels_and_bad_lines(tmp_path: Path) -> None:
    lines = [f"{i % 3}\t{tree}\n" for i, tree in enumerate(X)]
    (tmp_path / "a.tsv").write_text("".join([*lines[:50], "bad line\n", *lines[50:]]))
    trees = filbert.parts(tmp_path / "a.tsv", n_parts=3, on_error="skip")
    with pytest.warns(SkippedInputWarning, match="skipped 1, read 100"):
        index = TreeIndex().fit(trees)
    assert_same(index.kneighbors(Q), TreeIndex().fit(X).kneighbors(Q))


def test_what_needs_an_index_in_memory_is_refused(tmp_path: Path) -> None:
    index = TreeIndex().fit(corpus(30))
    for use in (
        lambda: index.partial_fit(Q),
        lambda: index.partial_fit(corpus(30)),
        lambda: index.remove([0]),
        lambda: index.save(tmp_path / "i"),
    ):
        with pytest.raises(InputTypeError, match=r"in corpus\.each\(\): index\.partial_fit"):
            use()
    assert len(index) == 100
    with pytest.raises(InputTypeError, match="all examples in one piece"):
        TreeIndex().fit(X).partial_fit(corpus(30))
    with pytest.raises(InvalidParameterError, match="there is no tree 100 in the index"):
        index.trees([3, 100])
    with pytest.raises(InvalidParameterError, match="there is no tree -1 in the index"):
        index.kneighbors([-1])
    with pytest.raises(InvalidParameterError, match="at most 100, the number of trees"):
        index.kneighbors(Q, 101)


def test_an_index_that_is_kept_is_built_part_by_part() -> None:
    index = TreeIndex()
    for part, _ in corpus(30, 60).each():
        index.partial_fit(part)
    assert_same(index.kneighbors(Q), TreeIndex().fit(X).kneighbors(Q))


def test_it_pickles() -> None:
    index = TreeIndex().fit(corpus(30))
    assert_same(pickle.loads(pickle.dumps(index)).kneighbors(Q), index.kneighbors(Q))
