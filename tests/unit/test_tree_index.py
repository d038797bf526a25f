"""TreeIndex against comparing every query with every tree."""

import copy
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors

import filbert
from filbert import Forest, TreeIndex
from filbert.errors import (
    FilbertError,
    InputTypeError,
    InvalidParameterError,
    KernelOverflowError,
    ModelFileError,
    NoFragmentsWarning,
    TooExpensiveError,
)
from filbert.kernels import (
    ApproximateTree,
    Linear,
    LocalPatterns,
    PartialTree,
    SubsetTree,
    Subtree,
    TreeKernel,
)
from filbert.search import files
from filbert.search.segments import Segments
from filbert.testing.tools import sentences
from tests.fragments import DECAYS, forest_of
from tests.profiles import n_examples
from tests.reference.matrix import reference_matrix
from tests.reference.trees import Node
from tests.strategies import forests, local_patterns, random_trees, tree_kernels

KERNELS = tree_kernels(DECAYS, 3) | local_patterns()
ALL = [
    Subtree(),
    SubsetTree(),
    SubsetTree(include_leaves=True),
    PartialTree(),
    LocalPatterns(),
    LocalPatterns(paths=4, subtree_depth=3, siblings=3, decay=0.7, family_norms=True),
]
X, _ = sentences(200, 1)
Q, _ = sentences(30, 2)


def assert_best(values: Any, ids: Any, row: Any, known: Any, k: int | None, least: float) -> None:
    """The results of one query are the best of `row`, the similarities of trees `known`.

    Sums in another order may round differently, and equal trees never do: ties are in order.
    """
    near = 1e-10 * max(1.0, np.abs(row).max(initial=0.0))
    place = {int(i): n for n, i in enumerate(known)}
    own = np.array([row[place[int(i)]] for i in ids])
    np.testing.assert_allclose(values, own, rtol=1e-10, atol=near)
    best = np.sort(row[row >= least - near])[::-1][:k]
    sure = np.sort(row[row >= least + near])[::-1][:k]
    assert len(sure) <= len(values) <= len(best)
    np.testing.assert_allclose(values, best[: len(values)], rtol=1e-10, atol=near)
    pairs = list(zip((-values).tolist(), ids.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert len(set(ids.tolist())) == len(ids)


def assert_exact(index: TreeIndex, queries: Any, K: Any, known: Any, k: int, least: float) -> None:
    k = min(k, len(known))
    values, ids = index.kneighbors(queries, k)
    for row, v, i in zip(K, values, ids, strict=True):
        assert_best(v, i, row, known, k, -np.inf)
    found = index.radius_neighbors(queries, least)
    for row, v, i in zip(K, *found, strict=True):
        assert_best(v, i, row, known, None, least)


@given(
    forests(2, 14, 9), forests(1, 4, 9), KERNELS, st.integers(1, 14), st.integers(1, 6), st.data()
)
@n_examples(120)
def test_results_are_those_of_all_pairs(
    trees: list[Node], queries: list[Node], kernel: TreeKernel, cut: int, k: int, data: Any
) -> None:
    """After fit, partial_fit and remove, by the reference."""
    forest, asked = forest_of(trees), forest_of([*queries, trees[-1]])
    K = reference_matrix(kernel, [*queries, trees[-1]], trees)
    least = float(data.draw(st.sampled_from(np.unique(K).tolist()))) if K.max() < 1e100 else 0.5
    index = TreeIndex(kernel).fit(forest[:cut]).partial_fit(forest[cut:])
    assert_exact(index, asked, K, np.arange(len(trees)), k, least)
    gone = data.draw(st.lists(st.integers(0, len(trees) - 1), max_size=len(trees) - 1, unique=True))
    index.remove(gone)
    left = np.setdiff1d(np.arange(len(trees)), gone)
    assert index.ids_.tolist() == left.tolist()
    assert_exact(index, asked, K[:, left], left, k, least)
    index.partial_fit(asked)
    new = np.arange(len(trees), len(trees) + len(asked))
    more = np.hstack([K[:, left], reference_matrix(kernel, *[[*queries, trees[-1]]] * 2)])
    assert_exact(index, asked, more, np.concatenate([left, new]), k, least)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@pytest.mark.parametrize("normalize", [True, False])
def test_results_are_those_of_the_kernel_matrix(kernel: TreeKernel, normalize: bool) -> None:
    kernel = kernel.with_params(normalize=normalize)
    K = kernel(Q, X)
    index = TreeIndex(kernel).fit(X)
    assert_exact(index, Q, K, np.arange(len(X)), 10, float(np.quantile(K, 0.95)))
    assert 0 < index.share_skipped_ < 1


def test_approximate_kernels_are_searched() -> None:
    kernel = ApproximateTree(SubsetTree(), ["NP", "VP"])
    index = TreeIndex(kernel).fit(X)
    assert_exact(index, Q, kernel(Q, X), np.arange(len(X)), 10, 0.2)
    assert index.share_skipped_ == 0


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_bytes_do_not_depend_on_threads_or_segments(kernel: TreeKernel) -> None:
    whole = TreeIndex(kernel, n_jobs=1).fit(X).kneighbors(Q, 20)
    parts = TreeIndex(kernel, n_jobs=3).fit(X[:150]).partial_fit(X[150:180]).partial_fit(X[180:])
    assert len(parts._segments.segments) > 1
    for a, b in zip(whole, parts.kneighbors(Q, 20), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kernel", [ALL[0], *ALL[2:5]], ids=repr)
def test_arrays_do_not_depend_on_threads(kernel: TreeKernel) -> None:
    """With so many nodes that each step of indexing is divided among threads."""
    rng = np.random.default_rng(0)
    words = [f"(P{word % 7} w{word})" for word in rng.integers(0, 40_000, 120_000).tolist()]
    phrases = [f"(T{i % 9} {' '.join(words[3 * i : 3 * i + 3])})" for i in range(40_000)]
    trees = Forest([f"(S {' '.join(phrases[10 * i : 10 * i + 10])})" for i in range(4000)])
    one, *others = (
        TreeIndex(kernel, n_jobs=n).fit(trees)._segments.segments[0].arrays for n in (1, 2, 5)
    )
    for arrays in others:
        assert {name: array.tobytes() for name, array in arrays.items()} == {
            name: array.tobytes() for name, array in one.items()
        }


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_bytes_do_not_depend_on_the_forests(kernel: TreeKernel) -> None:
    """Nodes have other numbers in a forest that was built from the trees in reverse order."""
    turned = Forest([str(tree) for tree in reversed(list(X))])[::-1]
    queries = Forest([str(tree) for tree in [*reversed(list(X)), *Q]])[-len(Q) :]
    found = TreeIndex(kernel).fit(X).kneighbors(Q, 20)
    for a, b in zip(found, TreeIndex(kernel).fit(turned).kneighbors(queries, 20), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_arrays_do_not_depend_on_the_forests(kernel: TreeKernel) -> None:
    """Not even if nodes differ in their third child only, and labels in their last letter."""
    trees = [f"(S (A a) (B b) (C very-long-{i % 7}) (D d{i % 5}))" for i in range(35)]
    turned = Forest(trees[::-1])[::-1]
    one, other = (
        TreeIndex(kernel).fit(some)._segments.segments[0].arrays for some in (Forest(trees), turned)
    )
    assert {name: array.tobytes() for name, array in one.items()} == {
        name: array.tobytes() for name, array in other.items()
    }


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_equal_trees_have_similarity_one_and_are_in_order(kernel: TreeKernel) -> None:
    index = TreeIndex(kernel).fit(X[:50]).partial_fit(X[:7])
    values, ids = index.kneighbors(X[:7], 2)
    same = [np.flatnonzero([str(t) == str(tree) for t in [*X[:50], *X[:7]]])[:2] for tree in X[:7]]
    assert (values == 1.0).all()
    assert ids.tolist() == [s.tolist() for s in same]


def test_only_equal_trees_have_similarity_one() -> None:
    many = "(X x) " * 100_000  # the rest is a share of 1e-10
    index = TreeIndex(Subtree()).fit([f"(S {many}(A a))", f"(S {many}(A b))", f"(S {many}(A a))"])
    values, ids = index.kneighbors([0], 3, exclude_self=False)
    assert ids.tolist() == [[0, 2, 1]]
    assert values[0, 1] == 1.0 > values[0, 2] > 1.0 - 1e-9
    [found] = index.radius_neighbors([0], 1.0, exclude_self=False)[1]
    assert found.tolist() == [0, 2]


@pytest.mark.parametrize("kernel", [SubsetTree(1.0), PartialTree(1.0, 1.0), Subtree(1.0)], ids=repr)
def test_values_beyond_doubles(kernel: TreeKernel) -> None:
    """Trees whose kernels overflow are compared by rows; normalised values are the same."""
    deep = ["(A " * n + "(B b)" + ")" * n for n in (3, 600)]
    wide = [f"(S {' '.join(f'(A (B b{i % 7}) (C c))' for i in range(n))})" for n in (3, 300, 301)]
    trees = Forest([*deep, *wide, "(x)"])
    index = TreeIndex(kernel).fit(trees)
    assert_exact(index, trees, kernel(trees, trees), np.arange(len(trees)), 4, 0.5)


@pytest.mark.parametrize("n", [660, 1020])
def test_a_very_large_kernel_is_found_before_trees_that_are_less_similar(n: int) -> None:
    """The tree's own kernel is 2^(n + 10), and that with the query 2^n.

    From 1e200 on, trees are not searched by lists. For n = 660, the query is, and the tree is not.
    """
    large, small = f"(S {'(A a) ' * (n + 10)})", "(Z (A a))"
    query = f"(S {'(A a) ' * n}{'A ' * 10})"
    kernel = SubsetTree(1.0)
    index = TreeIndex(kernel).fit([small, large])
    values, ids = index.kneighbors([query], 1)
    assert ids.tolist() == [[1]]
    assert values[0] == pytest.approx(kernel([query], [large])[0])
    assert values[0] == pytest.approx(2.0**-5)


def test_overflow_is_an_error_as_in_the_matrix() -> None:
    wide = [f"(S {' '.join('(A (B b) (C c))' for _ in range(n))})" for n in (3, 1500)]
    kernel = SubsetTree(1.0, normalize=False)
    with pytest.raises(KernelOverflowError):
        kernel(wide)
    with pytest.raises(KernelOverflowError):
        TreeIndex(kernel).fit(wide).kneighbors(wide, 1)


def test_expensive_pairs_are_refused_as_in_the_matrix() -> None:
    kernel = PartialTree(max_steps=50)
    few, many = "(S a b c)", f"(S {' '.join('abcdefghijklmnopqr')})"
    with pytest.raises(TooExpensiveError):
        TreeIndex(kernel).fit([many])
    index = TreeIndex(kernel.with_params(max_steps=400)).fit([many, few])
    with pytest.raises(TooExpensiveError):
        index.kneighbors([f"(S {' '.join(['a'] * 30)})"], 1)


def test_follows_nearest_neighbors_of_scikit_learn() -> None:
    """With distances, and with the trees of the index as queries."""
    kernel = PartialTree()
    D = np.sqrt(np.maximum(0, 2 - 2 * kernel(X)))
    np.fill_diagonal(D, 0)
    theirs = NearestNeighbors(metric="precomputed").fit(D)
    index = TreeIndex(kernel, metric="distance").fit(X)
    distance, ids = index.kneighbors(n_neighbors=4)
    expected, _ = theirs.kneighbors(n_neighbors=4)
    np.testing.assert_allclose(distance, expected, atol=1e-7)
    assert not (ids == np.arange(len(X))[:, None]).any()
    graph = index.kneighbors_graph(n_neighbors=4, mode="distance")
    assert graph.shape == (len(X), len(X))
    np.testing.assert_allclose(np.sort(graph.toarray(), axis=1)[:, -4:], np.sort(distance, axis=1))
    assert index.kneighbors_graph(n_neighbors=4).sum() == 4 * len(X)
    own, _ = index.kneighbors([5, 6], 1, exclude_self=False)
    assert (own == 0).all()


def test_ids_stand_for_trees_of_the_index() -> None:
    index = TreeIndex().fit(X)
    by_id = index.kneighbors([3, 8], 6, exclude_self=False)
    by_tree = index.kneighbors(X[[3, 8]], 6)
    for a, b in zip(by_id, by_tree, strict=True):
        assert a.tolist() == b.tolist()
    assert [str(t) for t in index.trees([8, 3])] == [str(X[8]), str(X[3])]
    found = index.radius_neighbors([3], 1.0)[1][0]
    assert 3 not in found


def test_streams_give_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("filbert.search.segments.Segments.at_a_time", 7)
    index = TreeIndex(n_neighbors=3).fit(X)
    values, ids = index.kneighbors(Q)
    taken = []

    def texts() -> Any:
        for tree in Q:
            taken.append(tree)
            yield str(tree)

    stream = index.stream(texts())
    first = next(stream)
    assert len(taken) <= 7
    streamed = [first, *stream]
    assert [list(one.ids) for one in streamed] == ids.tolist()
    assert np.array([one.values for one in streamed]).tobytes() == values.tobytes()
    near = index.radius_neighbors(Q, 0.4)
    for one, v, i in zip(index.stream(Q, min_similarity=0.4), *near, strict=True):
        assert one.values.tolist() == v.tolist()
        assert one.ids.tolist() == i.tolist()


def test_progress_goes_on_from_some_queries_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    @contextmanager
    def bar(title: str, *, show: bool) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: told.append((done, total))

    search = Segments.search

    def told_search(self: Segments, queries: Forest, **options: Any) -> Any:
        options["progress"](2, len(queries))
        options["progress"](len(queries), len(queries))
        return search(self, queries, **{**options, "progress": None})

    index = TreeIndex(n_neighbors=1).fit(X)
    monkeypatch.setattr("filbert.search.index.progress_bar", bar)
    monkeypatch.setattr(Segments, "search", told_search)
    monkeypatch.setattr(Segments, "at_a_time", 5)
    index.kneighbors(Q[:12])
    assert told == [(done, 12) for done in (2, 5, 7, 10, 12, 12)]


def test_parameters_and_bad_input() -> None:
    assert clone(TreeIndex(PartialTree(), n_neighbors=2)).n_neighbors == 2
    assert TreeIndex().set_params(kernel__decay=0.2).kernel == SubsetTree(0.2)
    with pytest.raises(NotFittedError):
        TreeIndex().kneighbors(Q)
    index = TreeIndex().fit(X)
    for k in (0, -1, 1.5, True, "3", 201):
        with pytest.raises(InvalidParameterError, match="n_neighbors"):
            index.kneighbors(Q, k)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="at most 199"):
        index.kneighbors(n_neighbors=200)
    with pytest.raises(InvalidParameterError, match="min_similarity"):
        index.radius_neighbors(Q, float("nan"))
    with pytest.raises(InvalidParameterError, match="exclude_self"):
        index.kneighbors(Q, 3, exclude_self=True)
    with pytest.raises(InvalidParameterError, match="tree 200"):
        index.remove([3, 200])
    assert index.n_trees_ == 200
    with pytest.raises(InvalidParameterError, match="tree -1"):
        index.kneighbors([-1], 3)
    with pytest.raises(InputTypeError, match="ids"):
        index.remove([0.5])
    with pytest.raises(InputTypeError):
        next(index.stream("(S a)"))
    with pytest.raises(FilbertError):
        index.kneighbors(["(S (NP a"], 3)
    with pytest.raises(InvalidParameterError, match="mode"):
        index.kneighbors_graph(Q, 3, "distances")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="metric"):
        index.set_params(metric="cosine").kneighbors(Q, 3)
    with pytest.raises(InvalidParameterError, match="tree kernel"):
        TreeIndex(Linear()).fit(X)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="normalised"):
        TreeIndex(Subtree(normalize=False), metric="distance").fit(X).kneighbors(Q, 3)


def test_empty_indexes_and_queries() -> None:
    index = TreeIndex().fit(Forest([]))
    assert index.n_trees_ == 0
    assert [len(ids) for ids in index.radius_neighbors(Q, 0)[1]] == [0] * len(Q)
    with pytest.raises(InvalidParameterError, match="at most 0"):
        index.kneighbors(Q, 1)
    index.partial_fit(["(S a)"])
    assert index.kneighbors(["(S a)"], 1)[1].tolist() == [[0]]
    assert index.kneighbors(Forest([]), 1)[1].shape == (0, 1)
    assert index.remove([0]).n_trees_ == 0
    assert index.partial_fit(["(S a)"]).ids_.tolist() == [1]


def test_many_small_additions_make_few_segments() -> None:
    index = TreeIndex(PartialTree())
    for n in range(len(X)):
        index.partial_fit(X[n : n + 1])
    assert len(index._segments.segments) < 10
    together = TreeIndex(PartialTree()).fit(X)
    for a, b in zip(index.kneighbors(Q, 9), together.kneighbors(Q, 9), strict=True):
        assert a.tobytes() == b.tobytes()


# Files


@pytest.mark.parametrize("kernel", [*ALL, PartialTree(max_subsequence=1)], ids=repr)
def test_saved_indexes_give_the_same_bytes(kernel: TreeKernel, tmp_path: Path) -> None:
    index = TreeIndex(kernel).fit(X[:150]).partial_fit(X[150:]).remove([4, 160])
    index.save(tmp_path / "a.index")
    loaded = TreeIndex.load(tmp_path / "a.index")
    assert loaded.kernel == kernel
    for a, b in zip(index.kneighbors(Q, 9), loaded.kneighbors(Q, 9), strict=True):
        assert a.tobytes() == b.tobytes()
    loaded.partial_fit(Q).remove([5])
    loaded.save(tmp_path / "b.index")
    again = TreeIndex.load(tmp_path / "b.index")
    assert again.ids_.tolist() == loaded.ids_.tolist()
    for a, b in zip(again.kneighbors(Q, 9), loaded.kneighbors(Q, 9), strict=True):
        assert a.tobytes() == b.tobytes()


def test_additions_go_to_a_new_file(tmp_path: Path) -> None:
    folder = tmp_path / "a.index"
    TreeIndex().fit(X).save(folder)
    [first] = [name for name in os.listdir(folder) if name.startswith("segment")]
    before = (folder / first).stat()
    loaded = TreeIndex.load(folder).partial_fit(Q)
    loaded.save(folder)
    assert (folder / first).stat().st_ino == before.st_ino
    assert len([name for name in os.listdir(folder) if name.startswith("segment")]) == 2
    loaded.remove([0]).save(folder)
    loaded.remove([1]).save(folder)
    assert len([name for name in os.listdir(folder) if name.startswith("removed")]) == 1
    assert TreeIndex.load(folder).ids_.tolist() == list(range(2, len(X) + len(Q)))


@pytest.mark.parametrize("fails_at", range(4))
def test_a_crash_leaves_the_index_as_it_was(
    fails_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever file is being written or renamed."""
    folder = tmp_path / "a.index"
    TreeIndex().fit(X).save(folder)
    before = TreeIndex.load(folder).kneighbors(Q, 5)
    changed = TreeIndex.load(folder).partial_fit(Q).remove([0])
    calls = 0
    replace = os.replace

    def crash(*names: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > fails_at:
            raise KeyboardInterrupt
        replace(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", crash)
        if fails_at < 3:
            with pytest.raises(KeyboardInterrupt):
                changed.save(folder)
        else:
            changed.save(folder)
    after = TreeIndex.load(folder)
    assert after.n_trees_ == (len(X) if fails_at < 3 else len(X) + len(Q) - 1)
    if fails_at < 3:
        for a, b in zip(before, after.kneighbors(Q, 5), strict=True):
            assert a.tobytes() == b.tobytes()
    changed.save(folder)
    assert TreeIndex.load(folder).n_trees_ == len(X) + len(Q) - 1


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidParameterError, match="other files"):
        TreeIndex().fit(X).save(tmp_path)
    with pytest.raises(InvalidParameterError, match="is a file"):
        TreeIndex().fit(X).save(tmp_path / "thesis.tex")
    with pytest.raises(FilbertError):
        TreeIndex().fit(X).save(tmp_path / "no" / "folder")
    with pytest.raises(FilbertError):
        TreeIndex.load(tmp_path / "nothing")
    with pytest.raises(FilbertError):
        TreeIndex.load(tmp_path / "thesis.tex")


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@given(st.randoms(use_true_random=False))
@n_examples(40)
def test_damaged_files_give_errors_or_results(
    kernel: TreeKernel, tmp_path_factory: pytest.TempPathFactory, rng: Any
) -> None:
    """Mapped arrays are checked where they are used: never a crash."""
    folder = tmp_path_factory.mktemp("damaged") / "a.index"
    TreeIndex(kernel).fit(X[:20]).save(folder)
    [file] = folder.glob("segment-*")
    content = bytearray(file.read_bytes())
    for _ in range(rng.choice([1, 4, 40])):
        place = rng.randrange(len(content))
        content[place] = rng.randrange(256)
    file.write_bytes(content)
    try:
        index = TreeIndex.load(folder)
        index.kneighbors(Q[:3], 3)
        index.radius_neighbors(Q[:3], 0.0)
        index.trees([0, 19])
    except FilbertError:
        pass


@pytest.mark.parametrize("kernel", [PartialTree(), ALL[-1]], ids=repr)
def test_arrays_of_the_wrong_type_are_refused(kernel: TreeKernel) -> None:
    from filbert import _core  # noqa: PLC0415

    index = TreeIndex(kernel).fit(X[:9])
    arrays = index._segments.segments[0].arrays
    spec = kernel._spec()

    for name, array in arrays.items():
        wrong = {**arrays, name: array.astype(np.int16)}
        with pytest.raises(FilbertError, match=name):
            _core.SegmentSearcher(spec, wrong, True)
        if len(array) > 1:
            shorter = {**arrays, name: array[:-1].copy()}
            with pytest.raises(FilbertError, match="damaged"):
                _core.SegmentSearcher(spec, shorter, True)
        missing = {key: value for key, value in arrays.items() if key != name}
        with pytest.raises(FilbertError, match=name):
            _core.SegmentSearcher(spec, missing, True)


def test_large_random_forests_agree_with_the_matrix() -> None:
    trees, queries = forest_of(random_trees(1, 400, 25)), forest_of(random_trees(2, 20, 25))
    for kernel in ALL:
        index = TreeIndex(kernel).fit(trees)
        assert_exact(index, queries, kernel(queries, trees), np.arange(400), 15, 0.7)


def test_save_and_load_of_models_say_how_an_index_is_saved(tmp_path: Path) -> None:
    index = TreeIndex().fit(["(S (A a))"])
    with pytest.raises(InputTypeError, match=r"saved by its own method, save\(path\)"):
        filbert.save(index, tmp_path / "a")
    index.save(tmp_path / "b")
    with pytest.raises(ModelFileError, match=r"is a folder.*TreeIndex\.load"):
        filbert.load(tmp_path / "b")
    assert files.is_index(tmp_path / "b")
    (tmp_path / "c").mkdir()
    assert not files.is_index(tmp_path / "c")
    (tmp_path / "c" / "index.json").write_text("{}")
    assert not files.is_index(tmp_path / "c")


def test_the_summary_of_an_index(tmp_path: Path) -> None:
    index = TreeIndex(Subtree()).fit(["(S (A a))", "(S (B b))", "(S (C c))"]).remove([1])
    index.save(tmp_path / "index")
    summary = files.index_summary(tmp_path / "index")
    assert (summary["trees"], summary["removed"], summary["segments"]) == (2, 1, 1)
    assert summary["kernel"] == repr(Subtree())


# Ties, copies and input that is easily mistaken


def test_ties_are_in_order_and_no_more_are_kept_than_asked_for() -> None:
    """Queries that share nothing with the index: all trees tie, and the first are the results."""
    trees = [f"(S (A a{i % 40}) (B b{i}))" for i in range(300)]
    index = TreeIndex().fit(trees).remove([0, 2])
    values, ids = index.kneighbors(["(Z z)", "(Z y)"], 4)
    assert (values == 0).all()
    assert ids.tolist() == [[1, 3, 4, 5]] * 2
    assert index.share_skipped_ > 0.9  # later trees of the same value are not looked at
    found = index.kneighbors([4, 1], 3)[1]
    assert 4 not in found[0]
    assert 1 not in found[1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 8), st.data())
@n_examples(60)
def test_equal_trees_among_ties(labels: list[int], k: int, data: Any) -> None:
    gone = data.draw(
        st.lists(st.integers(0, len(labels) - 1), max_size=len(labels) - 1, unique=True)
    )
    index = TreeIndex().fit([f"(S (A a{label}) (B b))" for label in labels]).remove(gone)
    left = [i for i in range(len(labels)) if i not in gone]
    query = "(S (A a0) (B b))"
    own = TreeIndex().fit([f"(S (A a{label}) (B b))" for label in (0, 1)]).kneighbors([query], 2)[0]
    order = sorted(left, key=lambda i: (labels[i] != 0, i))[: min(k, len(left))]
    values, ids = index.kneighbors([query], len(order))
    assert ids[0].tolist() == order
    assert values[0].tolist() == [own[0][int(labels[i] != 0)] for i in order]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda i: pickle.loads(pickle.dumps(i))])
def test_indexes_can_be_copied_and_pickled(copied: Any, tmp_path: Path) -> None:
    index = TreeIndex(PartialTree(), n_neighbors=3).fit(X).remove([4, 7])
    index.save(tmp_path / "a.index")
    for one in (index, TreeIndex.load(tmp_path / "a.index").set_params(n_neighbors=3)):
        other = copied(one)
        for a, b in zip(index.kneighbors(Q), other.kneighbors(Q), strict=True):
            assert a.tobytes() == b.tobytes()
        other.partial_fit(Q).remove([1])
        assert one.ids_.tolist() == index.ids_.tolist()
        other.save(tmp_path / "b.index")
        assert TreeIndex.load(tmp_path / "b.index").n_trees_ == len(X) + len(Q) - 3


def test_similarities_above_that_of_equal_trees_are_refused() -> None:
    index = TreeIndex().fit(X)
    for call in (index.radius_neighbors, lambda *a: list(index.stream(a[0], min_similarity=a[1]))):
        with pytest.raises(InvalidParameterError, match=r"at most 1.*0\.8 for 80"):
            call(Q, 80)
    assert len(index.radius_neighbors(X[:1], 1.0)[1][0]) >= 1
    raw = TreeIndex(SubsetTree(normalize=False)).fit(X)
    assert len(raw.radius_neighbors(X[:1], 2)[1][0]) > 1  # raw values have no such limit


def test_ids_may_be_a_range_or_a_series() -> None:
    pandas = pytest.importorskip("pandas")
    index = TreeIndex().fit(X)
    wanted = index.kneighbors([0, 1, 2], 4)[1].tolist()
    assert index.kneighbors(range(3), 4)[1].tolist() == wanted
    assert index.kneighbors(pandas.Series([0, 1, 2], index=[9, 8, 7]), 4)[1].tolist() == wanted


def test_streams_take_any_number_of_neighbours() -> None:
    index = TreeIndex().fit(X[:5])
    assert [len(one.ids) for one in index.stream(Q[:2], 10**30)] == [5, 5]


def test_graphs_have_a_column_for_each_id() -> None:
    index = TreeIndex().fit(X[:4]).remove([3])
    graph = index.kneighbors_graph(n_neighbors=1)
    assert graph.shape == (3, 4)
    assert graph[:, [3]].sum() == 0


def test_trees_without_fragments_are_warned_of() -> None:
    with pytest.warns(NoFragmentsWarning):
        index = TreeIndex().fit(["(a)", "(a)"])
    assert index.kneighbors(["(a)"], 2)[0].tolist() == [[0.0, 0.0]]
