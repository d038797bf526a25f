"""Forests and trees: made from text in every form, indexed, joined, compared, stored."""

import gzip
import io
import lzma
import operator
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from filbert import Forest, Tree
from filbert.errors import (
    CapacityError,
    CorruptForestError,
    FilbertError,
    InputTypeError,
    InvalidParameterError,
    ParseError,
)
from filbert.kernels import PartialTree, SubsetTree
from tests.reference.trees import Node, depth, nodes, parse, size, tokens, write
from tests.strategies import forests, random_trees, unicode_labels, unicode_trees

Arrays = dict[str, np.ndarray[Any, Any]]

TEXTS = [
    "(S (NP (D a) (N dog)) (VP ran))",
    "(S (NP (D a) (N dog)) (VP (V ran) away))",
    "(é (ネコ 犬) 🐿)",
    r"(f\(x\)\ =\ \\y (\n\t b) 1\/2)",
    "(a)",
]


class Pieces:
    """An open file that gives a few bytes (or characters) at a time, as pipes and sockets do."""

    def __init__(self, data: Any, n: int) -> None:
        self._data, self._n = data, n

    def read(self, size: int = -1) -> Any:
        n = self._n if size < 0 else min(size, self._n)
        piece, self._data = self._data[:n], self._data[n:]
        return piece


def to_node(tree: Tree) -> Node:
    return Node(tree.label, tuple(map(to_node, tree.children)))


def to_nodes(forest: Forest) -> list[Node]:
    return list(map(to_node, forest))


@pytest.fixture
def forest() -> Forest:
    return Forest.from_brackets(TEXTS)


# ---------------------------------------------------------------- where text comes from


@pytest.mark.parametrize(
    "wrapped",
    [
        list,
        tuple,
        iter,
        lambda texts: (text for text in texts),
        lambda texts: np.array(texts, dtype=object),
        np.array,
        pd.Series,
        lambda texts: pd.Series(texts, index=range(7, 7 + len(texts))),
        lambda texts: [text.encode() for text in texts],
    ],
    ids=[
        "list", "tuple", "iterator", "generator", "object-array", "str-array", "series",
        "series-other-index", "bytes",
    ],
)  # fmt: skip
def test_from_a_collection_of_strings(wrapped: Callable[[list[str]], Any]) -> None:
    assert to_nodes(Forest.from_brackets(wrapped(TEXTS))) == list(map(parse, TEXTS))


def test_from_a_generator_longer_than_one_batch() -> None:
    n = 40_000
    forest = Forest.from_brackets(f"(S {i % 7} {i})" for i in range(n))
    assert len(forest) == n
    assert str(forest[n - 1]) == f"(S {(n - 1) % 7} {n - 1})"


@pytest.mark.parametrize(
    ("suffix", "opened"), [("", open), (".mrg", open), (".gz", gzip.open), (".xz", lzma.open)]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_from_a_path(tmp_path: Path, suffix: str, opened: Any, kind: type) -> None:
    path = tmp_path / f"trees{suffix}"
    with opened(path, "wb") as file:
        file.write("\n".join(TEXTS).encode())
    assert Forest.from_brackets(kind(path)) == Forest.from_brackets(TEXTS)


def test_from_open_files(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    expected = Forest.from_brackets(TEXTS)
    with path.open(encoding="utf-8") as text:
        assert Forest.from_brackets(text) == expected
    with path.open("rb") as binary:
        assert Forest.from_brackets(binary) == expected
    with path.open("rb", buffering=0) as raw:
        assert Forest.from_brackets(raw) == expected
    assert Forest.from_brackets(io.StringIO("\n".join(TEXTS))) == expected
    assert Forest.from_brackets(io.BytesIO("\n".join(TEXTS).encode())) == expected


@pytest.mark.parametrize("start", ["", " ", "\n\n\t"])
def test_from_text_that_begins_with_a_bracket(start: str) -> None:
    assert Forest.from_brackets(start + "(a b) (a\n c)\n(d)") == Forest(["(a b)", "(a c)", "(d)"])


def test_a_file_larger_than_the_reading_buffer(tmp_path: Path) -> None:
    """The cuts between pieces fall wherever they fall: within labels, escapes and characters."""
    lines = [f"(S (ネコ {i}) (\\(犬\\) {i % 11}) (V run\\ {i % 5}))" for i in range(60_000)]
    path = tmp_path / "many.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert path.stat().st_size > 2 * 2**20
    assert Forest.from_brackets(path) == Forest.from_brackets(lines)


@pytest.mark.parametrize("empty", [[], (), iter([]), io.StringIO(""), io.BytesIO(b" \n\n\t ")])
def test_from_nothing(empty: Any) -> None:
    forest = Forest.from_brackets(empty)
    assert len(forest) == 0
    assert forest == Forest()


# ---------------------------------------------------------------- pieces cut anywhere


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 64])
@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\n  \n"])
def test_pieces_of_n_bytes(n: int, end: str) -> None:
    text = end.join(TEXTS) + end
    expected = Forest.from_brackets(TEXTS)
    assert Forest.from_brackets(Pieces(text.encode(), n)) == expected
    assert Forest.from_brackets(Pieces(text, n)) == expected


@given(st.lists(unicode_trees(), max_size=5), st.sampled_from([1, 2, 3, 4, 5, 7, 11]))
def test_pieces_of_any_text(trees: list[Node], n: int) -> None:
    text = "\n".join(map(write, trees)).encode()
    assert to_nodes(Forest.from_brackets(Pieces(text, n))) == trees


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_byte_order_mark_in_pieces(n: int) -> None:
    assert Forest.from_brackets(Pieces(b"\xef\xbb\xbf(a b)\n(c)", n)) == Forest(["(a b)", "(c)"])


BROKEN = "(a b)\n(é )) (\n  (c d)\n(S (x\n   (y z)\n(ok é)\n\\( b\nok\n(a (()) é)\n (é\n  b\n)\n(q"


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_errors_in_pieces_are_those_of_the_whole(n: int) -> None:
    with pytest.raises(ParseError) as whole:
        Forest.from_brackets(io.BytesIO(BROKEN.encode()))
    with pytest.raises(ParseError) as cut:
        Forest.from_brackets(Pieces(BROKEN.encode(), n))
    assert cut.value.__dict__ == whole.value.__dict__


@pytest.mark.filterwarnings("ignore::filbert.errors.SkippedInputWarning")
@given(st.text("()ab \\\n\té", max_size=40) | st.just(BROKEN), st.sampled_from([1, 2, 3, 5, 8]))
def test_what_is_skipped_in_pieces_is_what_is_skipped_in_the_whole(text: str, n: int) -> None:
    whole = Forest.from_brackets(io.BytesIO(text.encode()), on_error="skip")
    cut = Forest.from_brackets(Pieces(text.encode(), n), on_error="skip")
    assert cut == whole
    assert list(map(str, cut.skipped)) == list(map(str, whole.skipped))


# ---------------------------------------------------------------- notation


def test_a_bare_label_and_a_bracketed_one_are_the_same_tree() -> None:
    bare, bracketed, blanks = Forest.from_brackets(["a", "(a)", " ( a ) "], bare_words=True)
    assert bare == bracketed == blanks
    assert Forest.from_brackets(["(S a)"]) == Forest.from_brackets(["(S (a))"])
    lines = Forest.from_brackets(io.StringIO("a\n(a)\nb"), bare_words=True)
    assert lines == Forest(["(a)", "(a)", "(b)"])


@pytest.mark.parametrize("text", ["( (S (NP a)) )", "((S (NP a)))", "(\n  (S\n    (NP a) )\n)"])
def test_the_outer_bracket_of_penn_files(text: str) -> None:
    expected = Forest(["(S (NP a))"])
    assert Forest.from_brackets([text]) == expected
    assert Forest.from_brackets(io.StringIO(text)) == expected


def test_kelp_brackets_every_leaf_and_writes_no_blanks() -> None:
    assert Forest.from_brackets(["(S(NP(a))(VP(b)(c)))"]) == Forest(["(S (NP a) (VP b c))"])


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\r", "\v", "\f", "\r\n", " \t\r\n\v\f "])
def test_ascii_white_space_separates(blank: str) -> None:
    text = "( S ( NP a ) b )".replace(" ", blank)
    assert Forest.from_brackets([blank + text + blank]) == Forest(["(S (NP a) b)"])
    assert Forest.from_brackets(io.StringIO(text + blank + text)) == Forest(2 * ["(S (NP a) b)"])


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u2028", "\u3000", "\x1c", "\x85"])
def test_other_white_space_is_part_of_a_label(blank: str) -> None:
    tree = Forest.from_brackets([f"(S a{blank}b)"])[0]
    assert tree.children[0].label == f"a{blank}b"


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbf(a b)\r\n(a\r\n  c)\r\nd\r\n")
    assert Forest.from_brackets(path, bare_words=True) == Forest(["(a b)", "(a c)", "(d)"])


@pytest.mark.parametrize(
    ("written", "label"),
    [
        (r"\(", "("),
        (r"\)", ")"),
        (r"\ ", " "),
        (r"\\", "\\"),
        (r"\n", "\n"),
        (r"\t", "\t"),
        (r"\r", "\r"),
        (r"\v", "\v"),
        (r"\f", "\f"),
        (r"1\/2", r"1\/2"),
        (r"\a", r"\a"),
        (r"\\n", r"\n"),
        (r"\\\n", "\\\n"),
        (r"a\(b\)\ c", "a(b) c"),
        ("\\é", "\\é"),
    ],
)
def test_escapes(written: str, label: str) -> None:
    forest = Forest.from_brackets([f"(S {written})", f"({written} a)", written], bare_words=True)
    assert forest[0].children[0].label == label
    assert forest[1].label == label
    assert forest[2].label == label
    assert Forest.from_brackets(map(str, forest)) == forest


def test_a_backslash_before_a_bracket_that_ends_the_text_is_itself() -> None:
    for source in (["a\\"], io.StringIO("a\\\n(b)")):
        assert Forest.from_brackets(source, bare_words=True)[0].label == "a\\"


def test_a_backslash_before_a_tab_is_itself() -> None:
    """Only a blank is escaped by a backslash; a tab in a label is written with the letter t."""
    assert to_node(Forest.from_brackets(["(S a\\\tb)"])[0]) == parse("(S a\\\tb)")


@given(st.lists(unicode_trees(), max_size=4))
def test_writing_and_reading_again_gives_the_same_trees(trees: list[Node]) -> None:
    forest = Forest.from_brackets(map(write, trees))
    assert to_nodes(forest) == trees
    assert [parse(str(tree)) for tree in forest] == trees
    assert Forest.from_brackets(map(str, forest)) == forest
    assert Forest.from_brackets(io.StringIO("\n".join(map(str, forest)))) == forest


@given(unicode_labels())
def test_any_label_comes_back(label: str) -> None:
    tree = Forest.from_brackets([write(Node(label))])[0]
    assert tree.label == label
    assert parse(str(tree)) == Node(label)


@given(st.text("()ab \\\n\trné", max_size=14))
def test_reads_what_the_reference_reads_and_refuses_what_it_refuses(text: str) -> None:
    assume("\\\t" not in text)  # has a test of its own
    found = list(tokens(text))
    expected: Node | None
    try:
        expected = Node(found[0][1]) if [k for k, _ in found] == ["label"] else parse(text)
    except ValueError:
        expected = None
    try:
        tree = to_node(Forest.from_brackets([text], bare_words=True)[0])
    except ParseError:
        tree = None
    assert tree == expected


# ---------------------------------------------------------------- the constructor and single trees


def test_a_forest_of_what_there_is(forest: Forest) -> None:
    assert Forest(TEXTS) == forest
    assert Forest(forest) == forest
    assert Forest(list(forest)) == forest
    assert Forest(forest[1]) == forest[1:2]
    assert len(Forest()) == 0


@pytest.mark.parametrize("bad", ["(a b)", b"(a b)", 5, None])
def test_a_forest_is_not_made_of_a_string_or_a_number(bad: Any) -> None:
    with pytest.raises(InputTypeError, match="from_brackets"):
        Forest(bad)


@pytest.mark.parametrize("bad", [None, 5, 1.5, object()])
def test_from_brackets_says_what_it_cannot_read(bad: Any) -> None:
    with pytest.raises(InputTypeError):
        Forest.from_brackets(bad)


def test_from_trees_keeps_the_order_across_forests(forest: Forest) -> None:
    other = Forest(["(x y)", "(é (ネコ 犬) 🐿)"])
    mixed = [other[1], forest[0], other[0], forest[2], forest[0]]
    assert list(Forest.from_trees(mixed)) == mixed
    assert Forest.from_trees(iter(mixed)) == Forest(mixed)
    assert Forest.from_trees(list(forest))._dag is forest._dag
    with pytest.raises(InputTypeError, match="sample 1 is not a Tree but str"):
        Forest.from_trees([forest[0], "(a b)"])


# ---------------------------------------------------------------- trees


@given(unicode_trees())
def test_a_tree_is_what_was_written(node: Node) -> None:
    tree = Forest.from_brackets([write(node)])[0]
    assert tree.label == node.label
    assert tree.n_nodes == size(node)
    assert tree.depth == depth(node)
    assert tree.is_leaf == (not node.children)
    assert [to_node(child) for child in tree.children] == list(node.children)
    assert [to_node(below) for below in tree.nodes()] == list(nodes(node))
    assert str(tree) == write(node)


def test_trees_are_equal_and_hash_alike_across_forests(forest: Forest) -> None:
    other = Forest(["(x y)", *TEXTS[::-1]])
    for i, tree in enumerate(forest):
        twin = other[len(TEXTS) - i]
        assert tree == twin
        assert twin == tree
        assert hash(tree) == hash(twin)
    assert forest[0] != forest[1]
    assert forest[0] != other[0]
    assert other[0] != forest[0]
    assert forest[0] != TEXTS[0]
    assert len({*forest, *other}) == len(TEXTS) + 1


def test_labels_and_nodes_stay_apart_whatever_their_hashes() -> None:
    """Of so many, a dozen pairs have the same 32 bits of their hashes, which tables look at first.

    The hashes differ from process to process. No two are alike once in a million runs.
    """
    n = 350_000
    forest = Forest(["(S " + " ".join(f"(A {i})" for i in range(n)) + ")"])
    assert forest.n_subtrees == 2 * n + 1
    assert [child.children[0].label for child in forest[0].children[-3:]] == [
        str(i) for i in range(n - 3, n)
    ]


def test_the_order_of_children_and_the_place_of_a_label_count() -> None:
    trees = ["(a b c)", "(a c b)", "(a (b c))", "(a b (c d))", "(a b)", "(b a)", "(a)", "(a a)"]
    assert len(set(Forest(trees))) == len(trees)
    assert len(set(Forest(trees)) | set(Forest(trees))) == len(trees)


def test_a_trees_repr_is_short() -> None:
    tree, wide, accents = Forest(["(S (NP a) b)", f"(S {'x ' * 10_000})", f"(S {'é' * 500})"])
    assert repr(tree) == "<Tree (S (NP a) b)>"
    for long in (wide, accents):
        assert len(repr(long)) < 90
        assert repr(long).endswith("…>")


def test_drawing() -> None:
    tree = Forest(["(S (NP (D the) (N dog)) , (VP (V ran) (ADV very fast)))"])[0]
    assert tree.draw().splitlines() == [
        "S",
        "├─ NP",
        "│  ├─ D ─ the",
        "│  └─ N ─ dog",
        "├─ ,",
        "└─ VP",
        "   ├─ V ─ ran",
        "   └─ ADV",
        "      ├─ very",
        "      └─ fast",
    ]
    assert Forest(["(a)"])[0].draw() == "a"
    assert Forest(["(a b)"])[0].draw() == "a ─ b"


def test_a_drawing_has_limits() -> None:
    star, chain = Forest(
        [f"(S {' '.join(map(str, range(5000)))})", "(a " * 4999 + "a" + ")" * 4999]
    )
    lines = star.draw(max_lines=7).splitlines()
    assert lines == ["S", "├─ 0", "├─ 1", "├─ 2", "├─ 3", "├─ 4", "├─ 5", "…"]
    assert len(star.draw().splitlines()) == 101
    assert len(star.draw(max_lines=5001).splitlines()) == 5001  # all of it, so no ellipsis
    assert "…" not in star.draw(max_lines=5001)
    assert chain.draw(max_depth=3).splitlines() == ["a", "└─ a", "   └─ a ─ …"]
    assert len(chain.draw().splitlines()) == 30


def test_control_characters_do_not_break_a_drawing() -> None:
    tree = Forest([r"(a\nb (\tc \x) (é ネコ))", "(\x1b[31mred \x07)"])
    lines = tree[0].draw().splitlines()
    assert lines[0] == r"a\nb"
    assert len(lines) == 3
    assert "é ─ ネコ" in lines[2]
    assert tree[1].draw() == r"\x1b[31mred ─ \x07"


# ---------------------------------------------------------------- a sequence of trees


def test_length_shape_and_iteration(forest: Forest) -> None:
    assert len(forest) == len(TEXTS)
    assert forest.shape == (len(TEXTS),)
    assert all(isinstance(tree, Tree) for tree in forest)
    assert [to_node(tree) for tree in forest] == [parse(text) for text in TEXTS]
    assert forest[2] in list(forest)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int32, np.array])
def test_one_tree_by_its_number(forest: Forest, kind: Callable[[int], Any]) -> None:
    tree = forest[kind(1)]
    assert isinstance(tree, Tree)
    assert to_node(tree) == parse(TEXTS[1])
    assert forest[kind(1), ...] == tree


def test_negative_numbers_count_from_the_end(forest: Forest) -> None:
    assert forest[-1] == forest[len(forest) - 1]
    assert forest[-len(forest)] == forest[0]
    assert forest[np.int64(-2)] == forest[len(forest) - 2]
    assert forest[[-1, 0]] == Forest([TEXTS[-1], TEXTS[0]])


N = len(TEXTS)
SELECTIONS: list[Any] = [
    slice(1, 3), slice(None), slice(None, None, -1), slice(None, None, 2), slice(-2, None),
    slice(4, 1, -2), slice(3, 3), slice(2, 100),
    [0], [3, 1, 1, -1], [], (), np.array([2, 0]), np.array([], dtype=int), np.arange(N)[::-2],
    np.array([1, 2], dtype=np.uint64), range(1, 4),
    [True, False, True, False, True], np.arange(N) > 2, np.zeros(N, dtype=bool),
    pd.Series([2, 1]), pd.Series(np.arange(N) % 2 == 0), pd.Index([1, 3]),
]  # fmt: skip


@pytest.mark.parametrize("index", [s for s in SELECTIONS if not isinstance(s, tuple)], ids=repr)
def test_selections_are_those_of_numpy(forest: Forest, index: Any) -> None:
    plain = index if isinstance(index, slice) else np.asarray(index)
    if not isinstance(index, slice) and plain.size == 0:
        plain = plain.astype(bool if plain.dtype == bool else int)
    expected = [TEXTS[i] for i in np.arange(N)[plain]]
    for view in (forest[index], forest[index, ...]):
        assert isinstance(view, Forest)
        assert view == Forest(expected)
        assert view.shape == (len(expected),)
        assert view._dag is forest._dag, "a view shares its nodes"


@pytest.mark.parametrize("index", [N, -N - 1, [0, N], [-N - 1], np.array([99])])
def test_numbers_out_of_range(forest: Forest, index: Any) -> None:
    with pytest.raises(IndexError):
        forest[index]


@pytest.mark.parametrize(
    "index",
    [
        1.0, [0.0, 1.0], np.array([1.5]), "a", ["a"], None, ..., True, [None],
        [[0, 1]], np.zeros((2, 2), dtype=int), np.zeros((0, 2), dtype=int),
        [True, False], np.ones((N, 2), dtype=bool),
        (0, 1), ([0], [1]), (..., 0), (0, ..., 0), (), (slice(None), 0),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_index_of_a_forest(forest: Forest, index: Any) -> None:
    with pytest.raises(IndexError):
        forest[index]


def test_views_of_views(forest: Forest) -> None:
    view = forest[1:][::-1][[0, 2]]
    assert view == Forest([TEXTS[4], TEXTS[2]])
    assert view._dag is forest._dag


def test_counts_of_a_forest_and_of_its_views() -> None:
    forest = Forest(["(S (A a) (B b))", "(S (A a) (B c))", "(S (A a) (B b))", "(z)"])
    assert forest.n_nodes == 16
    assert forest.n_subtrees == 9  # a b c z (A a) (B b) (B c) and two S
    assert forest[:1].n_nodes == 5
    assert forest[:1].n_subtrees == 5
    assert forest[[0, 2]].n_nodes == 10
    assert forest[[0, 2]].n_subtrees == 5
    assert forest[3:].n_subtrees == 1
    assert forest[[]].n_nodes == forest[[]].n_subtrees == 0


@given(forests())
def test_counts_are_those_of_the_reference(trees: list[Node]) -> None:
    forest = Forest(map(write, trees))
    assert forest.n_nodes == sum(map(size, trees))
    assert forest.n_subtrees == len({node for tree in trees for node in nodes(tree)})


def test_a_forest_cannot_be_changed(forest: Forest) -> None:
    for part in (forest, forest[1:], forest[[0]], pickle.loads(pickle.dumps(forest))):
        with pytest.raises(ValueError, match="read-only"):
            part._roots[0] = 1
    before = list(map(str, forest))
    forest.to_arrays()["roots"][:] = 0
    index = np.array([0, 1])
    view = forest[index]
    index[:] = 3
    assert list(map(str, view)) == before[:2]
    assert list(map(str, forest)) == before
    with pytest.raises(TypeError):
        forest[0] = forest[1]
    with pytest.raises(AttributeError):
        forest[0].label = "x"
    with pytest.raises(TypeError, match="unhashable"):
        hash(forest)


def test_repr(forest: Forest) -> None:
    lines = repr(forest).splitlines()
    assert (
        lines[0]
        == f"Forest of 5 trees: {forest.n_nodes} nodes, {forest.n_subtrees} distinct subtrees"
    )
    assert lines[1] == f"  0  {TEXTS[0]}"
    assert lines[4] == "  …"
    assert len(lines) == 5
    assert repr(forest[:1]).startswith("Forest of 1 tree: ")
    assert repr(Forest()) == "Forest of 0 trees: 0 nodes, 0 distinct subtrees"
    wide = Forest(["(S " + "(NP a) " * 50_000 + ")"])
    assert "100,001 nodes" in repr(wide)
    assert max(map(len, repr(wide).splitlines())) < 90


# ---------------------------------------------------------------- equality and concat


def test_equality(forest: Forest) -> None:
    assert forest == Forest(TEXTS)
    assert forest[::-1] == Forest(TEXTS[::-1])
    assert forest[::-1] != forest
    assert forest != forest[:-1]
    assert forest[:2] != Forest(["(x y)", TEXTS[1]])
    assert Forest(["(x y)", TEXTS[1]]) != forest[:2]
    assert forest[:0] == Forest()
    assert forest != TEXTS
    assert Forest(["(a b)"]) != Forest(["(a c)"])  # the label c is known to only one of them


def test_concat_of_parts_of_one_forest_shares_its_nodes(forest: Forest) -> None:
    joined = Forest.concat([forest[2:], forest[:2], forest[[0, 0]]])
    assert joined == forest[[2, 3, 4, 0, 1, 0, 0]]
    assert joined._dag is forest._dag


def test_concat_of_forests_built_apart(forest: Forest) -> None:
    texts = ["(S (NP (D a) (N dog)) (VP sat))", "(new (x y))"]
    for parts, expected in [
        ([forest, Forest(texts)], TEXTS + texts),
        ([Forest(texts), forest], texts + TEXTS),  # the larger one comes second
        ([Forest(texts)[1:], forest[:1], Forest(texts)[:1]], [texts[1], TEXTS[0], texts[0]]),
        (iter([Forest(texts), Forest(texts)]), texts + texts),
    ]:
        joined = Forest.concat(parts)
        assert joined == Forest(expected)
        assert joined.n_subtrees == Forest(expected).n_subtrees, "equal subtrees are stored once"
    assert forest == Forest(TEXTS)


def test_concat_with_nothing(forest: Forest) -> None:
    assert Forest.concat([]) == Forest()
    assert Forest.concat([Forest(), forest, Forest([])]) == forest
    assert Forest.concat([forest[:0], forest[:0]]) == Forest()
    assert Forest.concat([forest]) == forest


@pytest.mark.parametrize("n", [2, 3, 7, 64, 501])
def test_concat_of_many(n: int) -> None:
    texts = [f"(S (A {i % 13}) (B {i}))" for i in range(n)]
    joined = Forest.concat(Forest([text]) for text in texts)
    assert joined == Forest(texts)
    assert joined.n_subtrees == Forest(texts).n_subtrees


@given(st.lists(st.lists(unicode_trees(5), max_size=3), max_size=5))
def test_concat_of_anything(parts: list[list[Node]]) -> None:
    joined = Forest.concat(Forest(map(write, part)) for part in parts)
    assert to_nodes(joined) == [tree for part in parts for tree in part]


@pytest.mark.parametrize("bad", ["(a b)", None, [["(a b)"]]])
def test_concat_wants_forests(forest: Forest, bad: Any) -> None:
    with pytest.raises(InputTypeError):
        Forest.concat([bad])
    with pytest.raises(InputTypeError):
        Forest.concat([forest, bad])


# ---------------------------------------------------------------- pickling


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling(forest: Forest, protocol: int) -> None:
    for part in (forest, forest[[3, 0, 3]], forest[:0], Forest()):
        again = pickle.loads(pickle.dumps(part, protocol))
        assert isinstance(again, Forest)
        assert again == part
        assert again.n_subtrees == part.n_subtrees
    for tree in forest:
        again = pickle.loads(pickle.dumps(tree, protocol))
        assert isinstance(again, Tree)
        assert again == tree
        assert hash(again) == hash(tree)


@given(st.lists(unicode_trees(), max_size=4))
def test_pickling_anything(trees: list[Node]) -> None:
    forest = Forest(map(write, trees))
    assert to_nodes(pickle.loads(pickle.dumps(forest))) == trees


def test_the_pickle_of_a_small_part_is_small() -> None:
    large = Forest(f"(S (A {i}) (B {i + 1}))" for i in range(20_000))
    small = pickle.dumps(large[7:9])
    assert len(small) < 3000 < len(pickle.dumps(large)) / 100
    assert len(pickle.dumps(large[7])) < 3000
    assert pickle.loads(small) == Forest(["(S (A 7) (B 8))", "(S (A 8) (B 9))"])
    assert pickle.loads(small).n_subtrees == 9  # the leaf 8 is shared


def test_pickled_kernels_values_are_the_same() -> None:
    forest = Forest(map(write, random_trees(seed=3, n=60)))
    again = pickle.loads(pickle.dumps(forest[10:]))
    for kernel in (SubsetTree(), PartialTree()):
        np.testing.assert_array_equal(kernel(again), kernel(forest[10:]))


def test_joblib_writes_and_sends_forests(forest: Forest, tmp_path: Path) -> None:
    path = tmp_path / "forest.joblib"
    joblib.dump({"X": forest, "first": forest[0]}, path)
    loaded = joblib.load(path)
    assert loaded["X"] == forest
    assert loaded["first"] == forest[0]
    reverse = operator.itemgetter(slice(None, None, -1))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        sent = joblib.Parallel()(joblib.delayed(reverse)(part) for part in (forest, forest[:2]))
    assert sent == [forest[::-1], forest[:2][::-1]]


# ---------------------------------------------------------------- flat arrays


def test_to_arrays_and_back(forest: Forest, tmp_path: Path) -> None:
    for part in (forest, forest[[2, 2]], Forest()):
        arrays = part.to_arrays()
        assert {name: array.dtype.name for name, array in arrays.items()} == {
            "label_bytes": "uint8",
            "label_ends": "uint64",
            "node_labels": "uint32",
            "child_ends": "uint64",
            "children": "uint32",
            "roots": "uint32",
        }
        assert Forest.from_arrays(arrays) == part
        np.savez(tmp_path / "forest.npz", **arrays)
        with np.load(tmp_path / "forest.npz") as stored:
            assert Forest.from_arrays(dict(stored)) == part


def test_a_view_is_stored_without_the_rest_of_its_forest() -> None:
    forest = Forest(["(S (A a) (B b))", "(S (A a) (C c))", "(T t)"])
    arrays = forest[1:2].to_arrays()
    assert len(arrays["node_labels"]) == 5
    assert bytes(arrays["label_bytes"]).decode() == "aAcCS"
    assert arrays["roots"].tolist() == [4]


def test_arrays_in_another_order_of_nodes_are_the_same_forest() -> None:
    """And subtrees or labels that are listed twice are merged: equal trees are one node."""
    arrays = Forest(["(S (A a) (B b))"]).to_arrays()  # a A b B S
    twice = {
        "label_bytes": np.frombuffer(b"SABabA", dtype=np.uint8),
        "label_ends": np.arange(1, 7, dtype=np.uint64),
        "node_labels": np.array([4, 3, 3, 5, 1, 2, 0, 0], dtype=np.uint32),
        "child_ends": np.array([0, 0, 0, 1, 2, 3, 5, 7], dtype=np.uint64),
        "children": np.array([2, 1, 0, 3, 5, 4, 5], dtype=np.uint32),
        "roots": np.array([6, 7], dtype=np.uint32),
    }
    forest = Forest.from_arrays(twice)
    assert forest == Forest.from_arrays(arrays)[[0, 0]]
    assert forest.n_subtrees == 5
    assert forest[0] == forest[1]


@pytest.mark.parametrize("arity", [2, 3])
def test_a_small_graph_may_stand_for_a_tree_beyond_counting(arity: int) -> None:
    """Each node has the one before it twice as a child: 2^81 - 1 nodes in all. Or three times."""
    n = 81
    forest = Forest.from_arrays(
        {
            "label_bytes": np.frombuffer(b"a", dtype=np.uint8),
            "label_ends": np.array([1], dtype=np.uint64),
            "node_labels": np.zeros(n, dtype=np.uint32),
            "child_ends": arity * np.arange(n, dtype=np.uint64),
            "children": np.repeat(np.arange(n - 1, dtype=np.uint32), arity),
            "roots": np.array([n - 1], dtype=np.uint32),
        }
    )
    tree = forest[0]
    assert tree.depth == forest.n_subtrees == n
    assert tree.n_nodes >= 2**64 - 1  # as large as it can be told
    assert tree != tree.children[0]
    assert tree.children[0] == tree.children[1]
    assert pickle.loads(pickle.dumps(forest)) == forest
    assert len(repr(forest)) < 200
    assert len(tree.draw().splitlines()) == 101
    with pytest.raises(CapacityError, match="tree 0"):
        SubsetTree()(forest)


def arrays_of(*texts: str) -> Arrays:
    return Forest(texts).to_arrays()


def put(name: str, index: int, value: int) -> Callable[[Arrays], None]:
    def damage(arrays: Arrays) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][index] = value

    return damage


def changed(name: str, change: Callable[[Any], Any]) -> Callable[[Arrays], None]:
    def damage(arrays: Arrays) -> None:
        arrays[name] = change(arrays[name])

    return damage


CORRUPT = {
    "a child that is its own parent": put("children", 0, 1),
    "a child after its parent": put("children", 1, 4),
    "a child that is not there": put("children", -1, 2**32 - 1),
    "a label that is not there": put("node_labels", 2, 5),
    "a label far out of range": put("node_labels", 0, 2**32 - 1),
    "label ends that descend": put("label_ends", 0, 3),
    "a label end beyond the bytes": put("label_ends", -1, 6),
    "a label end far beyond the bytes": put("label_ends", -1, 2**64 - 1),
    "an empty label": put("label_ends", 1, 1),
    "child ends that descend": put("child_ends", 1, 3),
    "a child end beyond the children": put("child_ends", -1, 5),
    "a child end far beyond the children": put("child_ends", -1, 2**64 - 1),
    "a label that is not UTF-8": put("label_bytes", 0, 0xFF),
    "a label with half a character": put("label_bytes", 4, 0xC3),
    "a label with a NUL": put("label_bytes", 0, 0),
    "a root that is not there": put("roots", 0, 5),
    "a root far out of range": put("roots", 0, 2**32 - 1),
    "too few child ends": changed("child_ends", lambda a: a[:-1]),
    "too few node labels": changed("node_labels", lambda a: a[:-1]),
    "no labels": changed("label_ends", lambda a: a[:0]),
    "no children": changed("children", lambda a: a[:0]),
    "a child too many": changed("children", lambda a: np.append(a, a[:1])),
    "a byte too many": changed("label_bytes", lambda a: np.append(a, a[:1])),
}
WRONG = {
    "a type that is too wide": changed("children", lambda a: a.astype(np.uint64)),
    "a type that is too narrow": changed("child_ends", lambda a: a.astype(np.uint32)),
    "signed numbers": changed("node_labels", lambda a: a.astype(np.int32)),
    "floats": changed("roots", lambda a: a.astype(float)),
    "the other byte order": changed("roots", lambda a: a.astype(">u4")),
    "two dimensions": changed("roots", lambda a: a.reshape(1, -1)),
    "a list": changed("roots", lambda a: a.tolist()),
    "bytes": changed("label_bytes", bytes),
    "objects": changed("children", lambda a: a.astype(object)),
}


@pytest.mark.parametrize("damage", CORRUPT.values(), ids=CORRUPT)
def test_arrays_that_describe_no_forest(damage: Callable[[Arrays], None]) -> None:
    arrays = arrays_of("(S (A a) (B b))")
    damage(arrays)
    with pytest.raises(CorruptForestError):
        Forest.from_arrays(arrays)


@pytest.mark.parametrize("damage", WRONG.values(), ids=WRONG)
def test_arrays_of_another_kind(damage: Callable[[Arrays], None]) -> None:
    arrays = arrays_of("(S (A a) (B b))")
    damage(arrays)
    with pytest.raises(InvalidParameterError, match="one-dimensional"):
        Forest.from_arrays(arrays)


@pytest.mark.parametrize("name", arrays_of("(a b)"))
def test_an_array_that_is_missing(name: str) -> None:
    arrays = arrays_of("(a b)")
    del arrays[name]
    with pytest.raises(InvalidParameterError, match=f"'{name}' is missing"):
        Forest.from_arrays(arrays)


def a_number(data: st.DataObject, dtype: np.dtype[Any]) -> int:
    largest = int(np.iinfo(dtype).max)
    edge = st.sampled_from([largest, largest - 1, 0x80 % (largest + 1)])
    return data.draw(st.integers(0, 8) | edge)


def corruptions(data: st.DataObject, arrays: Arrays) -> Iterator[str]:
    """Damage one array after another; yield the name of each."""
    for _ in range(data.draw(st.integers(1, 3), label="how many")):
        name = data.draw(st.sampled_from(sorted(arrays)), label="array")
        array = arrays[name]
        at = data.draw(st.integers(0, max(0, len(array) - 1)), label="at")
        value = a_number(data, array.dtype)
        kind = data.draw(st.sampled_from(["put", "insert", "delete", "cut", "reverse", "swap"]))
        if kind == "insert":
            arrays[name] = np.insert(array, at, np.array(value, dtype=array.dtype))
        elif kind == "cut":
            arrays[name] = array[:at]
        elif kind == "reverse":
            arrays[name] = array[::-1]
        elif len(array) == 0:
            continue
        elif kind == "delete":
            arrays[name] = np.delete(array, at)
        else:
            arrays[name] = array.copy()
            arrays[name][at] = value if kind == "put" else array[-1 - at]
        yield name


@given(st.lists(unicode_trees(6), min_size=1, max_size=3), st.data())
def test_damaged_arrays_never_crash(trees: list[Node], data: st.DataObject) -> None:
    """They give an error, or a forest in order, which can be used as any other."""
    arrays = Forest(map(write, trees)).to_arrays()
    for _ in corruptions(data, arrays):
        pass
    try:
        forest = Forest.from_arrays(arrays)
    except FilbertError:
        return
    assert len(forest) == len(arrays["roots"])
    assert Forest.from_arrays(forest.to_arrays()) == forest
    assert Forest.from_brackets(map(str, forest)) == forest
    assert forest.n_nodes == sum(1 for tree in forest for _ in tree.nodes())
    assert np.isfinite(SubsetTree()(forest)).all()
