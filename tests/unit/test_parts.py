"""A corpus in parts: its examples, labels and order."""

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

import filbert
from filbert import Examples, Forest, Parts, TreeRanker, TreeSVC
from filbert.corpus.pieces import Given, Rows
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.kernels import SubsetTree
from tests.profiles import n_examples

X = Forest([f"(S (A a{i % 4}) (B b{i}))" for i in range(12)])
Y = np.array(["no", "yes", "yes"] * 4)


def pieces(*ends: int) -> list[tuple[Forest, NDArray[Any]]]:
    bounds = [0, *ends, 12]
    return [(X[a:b], Y[a:b]) for a, b in pairwise(bounds)]


def texts(trees: Any) -> NDArray[Any]:
    return np.array([str(tree) for tree in trees], dtype=object)


def test_examples_and_labels_are_in_order() -> None:
    corpus = filbert.parts(pieces(3, 3, 8))
    assert corpus.sizes.tolist() == [3, 0, 5, 4]
    assert (len(corpus), corpus.shape, corpus.n_parts) == (12, (12,), 4)
    np.testing.assert_array_equal(corpus.labels(), Y)
    np.testing.assert_array_equal(corpus.gather(texts), texts(X))
    assert [len(part) for part in corpus.map(texts)] == [3, 0, 5, 4]


@n_examples(30)
@given(st.lists(st.integers(-12, 11)), st.lists(st.integers(0, 12), max_size=4).map(sorted))
def test_a_choice_of_examples_is_that_of_one_piece(index: list[int], ends: list[int]) -> None:
    corpus = filbert.parts(pieces(*ends))[index]
    numbers = np.array(index, dtype=int)
    assert len(corpus) == len(index)
    np.testing.assert_array_equal(corpus.labels(), Y[numbers])
    if index:
        np.testing.assert_array_equal(corpus.gather(texts), texts(X[numbers]))
        again = corpus[::-2]
        np.testing.assert_array_equal(again.gather(texts), texts(X[numbers][::-2]))
        np.testing.assert_array_equal(again.labels(), Y[numbers][::-2])


def test_values_of_examples_are_split_by_parts() -> None:
    corpus = filbert.parts(pieces(5))[[11, 0, 6, 0]]
    values = [1.5, 2.5, 3.5, 4.5]
    by_part = corpus.split(values, "sample_weight")
    assert [part.tolist() for part in by_part] == [[2.5, 4.5], [1.5, 3.5]]
    assert corpus.in_order(by_part).tolist() == values
    assert [part.tolist() for part in corpus.numbers()] == [[1, 3], [0, 2]]
    with pytest.raises(InvalidParameterError, match=r"4 examples, but y has shape \(3,\)"):
        corpus.split([1, 2, 3], "y")


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (3, InputTypeError, "corpus.map"),
        ("tree", InputTypeError, "corpus.map"),
        ((1, 2), InputTypeError, "corpus.map"),
        ([1.5], InputTypeError, "integers"),
        ([[1]], InputTypeError, "integers"),
        ([12], IndexError, "from -12 to 11"),
        ([True] * 3, InvalidParameterError, "3 values for 12"),
    ],
)
def test_other_indices_are_refused(index: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        _ = filbert.parts(pieces(5))[index]


def test_masks_and_the_index_of_sklearn() -> None:
    corpus = filbert.parts(pieces(5))
    assert corpus[Y == "no"].labels().tolist() == ["no"] * 4
    assert corpus[np.array([7, 1]), ...].labels().tolist() == ["yes", "yes"]
    assert len(corpus[[]]) == 0
    with pytest.raises(InvalidParameterError, match="no examples"):
        corpus[[]].gather(texts)


def test_it_is_shown_with_sizes_and_names() -> None:
    assert repr(filbert.parts(pieces(11))).split() == (
        ["Corpus", "of", "2", "parts,", "12", "examples", "11", "part", "0", "1", "part", "1"]
    )
    assert repr(filbert.parts(pieces(1, 2, 3, 4, 5))).endswith("…")


def test_sparse_rows_are_joined() -> None:
    corpus = filbert.parts([["(a b)", "(a b c)"], ["(a b c d)"]])
    rows = corpus[[2, 0]].gather(lambda X: sp.csr_array([[tree.n_nodes] for tree in X]))
    assert rows.toarray().tolist() == [[4], [2]]


def test_tokens_tell_contents_apart() -> None:
    token = Given("part 0", Rows(X, Y)).token
    assert token == pickle.loads(pickle.dumps(Given("other name", Rows(X, Y)))).token
    others = [
        Rows(X[::-1], Y),
        Rows(X, Y[::-1]),
        Rows(X, None),
        Rows(X, Y == "no"),
        Rows(Examples(tree=X), Y),
        Rows(Examples(tree=X, features=np.eye(12)), Y),
        Rows(Examples(tree=X, features=sp.eye_array(12).tocsr()), Y),
        Rows(Examples(tree=X).with_columns(id=range(12)), Y),
    ]
    assert len({token, *(Given("part 0", rows).token for rows in others)}) == len(others) + 1
    corpus = filbert.parts(pieces(5))
    chosen = [corpus[index].pieces[0].token for index in ([0, 1], [1, 0], [0])]
    assert len({corpus.pieces[0].token, *chosen}) == 4


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        ([(X[:5], Y[:5]), X[5:]], InvalidParameterError, "part 1 has no labels"),
        ([(X[:5], Y[:5]), (X[5:], range(7))], InvalidParameterError, "part 0 are text.*part 1"),
        ([(X[:5], Y)], InvalidParameterError, "part 0 has 5 examples"),
        ([X, Examples(tree=X, v=np.eye(12))], InvalidParameterError, r"part 1 has tree, v \(12\)"),
        ([X, 7], InputTypeError, "part 1 must be a Forest.*int"),
        ((X, Y), InputTypeError, "list of such pairs"),
        (X, InputTypeError, "in one piece"),
        (np.eye(3), InputTypeError, "in one piece"),
        ([], InvalidParameterError, "at least one"),
        (iter([X]), InputTypeError, "only once"),
        ([b"a\t(a b)"], InputTypeError, "lines and trees"),
        (7, InputTypeError, "not from int"),
        (filbert.parts([X]), InputTypeError, "already"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(parts: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        filbert.parts(parts)


def test_options_of_files_are_refused_for_parts_in_memory() -> None:
    with pytest.raises(InvalidParameterError, match="n_parts="):
        filbert.parts([X], n_parts=2)
    with pytest.raises(InvalidParameterError, match="format="):
        filbert.parts([X], format="tsv")
    with pytest.raises(InvalidParameterError, match="positive integer"):
        filbert.parts([X], n_parts=0)


@pytest.mark.parametrize("empty", [([], []), [], (Forest(()), [])])
def test_parts_may_be_empty(empty: Any) -> None:
    """As those from which a filter leaves nothing. Their labels have no kind."""
    first, last = pieces(5)
    if isinstance(empty, list):
        first, last = first[0], last[0]
    corpus = filbert.parts([empty, first, empty, last])
    assert corpus.sizes.tolist() == [0, 5, 0, 7]
    clf = TreeSVC(SubsetTree(), C=1000.0, loss="hinge", random_state=0)
    fitted = clf.fit(corpus, Y if isinstance(empty, list) else None)
    np.testing.assert_array_equal(fitted.predict(corpus), Y)


def test_all_parts_may_not_be_empty() -> None:
    with pytest.raises(InvalidParameterError, match="no examples"):
        TreeSVC(SubsetTree()).fit(filbert.parts([([], []), ([], [])]))


def test_labels_are_needed_and_parts_may_be_lists_of_trees() -> None:
    corpus = filbert.parts([["(a b)", "(a c)"], X])
    assert len(corpus) == 14
    with pytest.raises(InvalidParameterError, match="pass y"):
        corpus.labels()


def test_what_needs_one_piece_refuses_a_corpus() -> None:
    corpus = filbert.parts(pieces(5))
    for use in (
        Forest,
        SubsetTree(),
        SubsetTree().on("tree"),
        lambda X: SubsetTree()(X[:1], Forest(["(a b)"])),
        lambda X: Examples(tree=X),
        np.asarray,
        list,
        lambda X: LinearSVC().fit(X, Y),
        lambda X: TreeSVC(kernel=lambda A, B: A @ B.T, engine="rows", C=1.0, loss="hinge").fit_path(
            X, Y, [1.0]
        ),
    ):
        with pytest.raises(InputTypeError, match=r"corpus\.map|in one piece"):
            use(corpus)


def test_a_path_over_parts_is_refused_with_the_way_out() -> None:
    with pytest.raises(InputTypeError, match=r"set_params\(C=C\)\.fit\(corpus, checkpoint="):
        TreeSVC(SubsetTree()).fit_path(filbert.parts(pieces(5)), Y, [1.0, 2.0])
    with pytest.raises(InputTypeError, match="TreeRanker trains on examples in one piece"):
        TreeRanker(SubsetTree()).fit_path(filbert.parts(pieces(5)), range(12), [1.0, 2.0])


def test_pickles() -> None:
    corpus: Parts = pickle.loads(pickle.dumps(filbert.parts(pieces(5))[[7, 1]]))
    assert corpus.labels().tolist() == ["yes", "yes"]
