"""Labelled examples from files, and Examples, which hold several trees and features a row."""

import gzip
import json
import lzma
import os
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from filbert import Examples, Forest, Tree, read_examples, stream
from filbert.errors import (
    FilbertError,
    InputTypeError,
    InvalidParameterError,
    MissingFileError,
    ParseError,
    SkippedInputWarning,
)
from filbert.read import labelled_lines, reader
from tests.profiles import n_examples
from tests.reference.trees import write
from tests.strategies import random_trees

Read = Callable[..., tuple[Any, np.ndarray[Any, Any]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a text to a file with some extension and read it as examples."""

    def read(text: str | bytes, suffix: str = ".dat", **options: Any) -> Any:
        path = tmp_path / f"examples{suffix}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_examples(path, **options)

    return read


def texts(forest: Forest) -> list[str]:
    return list(map(str, forest))


def jsonl(*objects: Any) -> str:
    return "\n".join(json.dumps(item) for item in objects)


def check_target(y: np.ndarray[Any, Any], expected: list[Any], kind: str) -> None:
    assert y.tolist() == expected
    assert y.dtype.kind == kind


# ---------------------------------------------------------------- SVM-light-TK


def test_svmlight_one_tree(read: Read) -> None:
    X, y = read("+1 |BT| (S (NP a)) |ET|\n-1 |BT| (S (VP b)) |ET| |EV|\n")
    assert isinstance(X, Forest)
    assert texts(X) == ["(S (NP a))", "(S (VP b))"]
    check_target(y, [1, -1], "i")
    assert X.skipped == ()


def test_svmlight_without_blanks(read: Read) -> None:
    X, y = read("1|BT|(S(NP a))|BT|(b)|ET|3:1|EV|")
    assert [texts(X["tree_1"]), texts(X["tree_2"])] == [["(S (NP a))"], ["(b)"]]
    assert X["features"].toarray().tolist() == [[0, 0, 1]]
    check_target(y, [1], "i")


def test_svmlight_two_trees(read: Read) -> None:
    X, y = read("1 |BT| (a b) |BT| (c d) |ET|\n-1 |BT| (c d) |BT| e |ET|")
    assert isinstance(X, Examples)
    assert list(X.parts) == ["tree_1", "tree_2"]
    assert texts(X["tree_1"]) == ["(a b)", "(c d)"]
    assert texts(X["tree_2"]) == ["(c d)", "(e)"]
    assert X["tree_1"]._dag is X["tree_2"]._dag, "all trees of a file share their nodes"
    check_target(y, [1, -1], "i")


def test_svmlight_features(read: Read) -> None:
    X, _ = read(
        "1 |BT| (a b) |ET| 2:0.5 7:-1e-3 |EV|\n"
        "1 |BT| (a c) |ET|\n"
        "1 |BT| (a d) |ET| |EV|\n"
        "1 |BT| (a e) |ET| 1:1\n"
    )
    assert isinstance(X, Examples)
    assert list(X.parts) == ["tree", "features"]
    assert sp.issparse(X["features"])
    assert X["features"].dtype == np.float64
    expected = np.zeros((4, 7))
    expected[0, 1], expected[0, 6], expected[3, 0] = 0.5, -0.001, 1
    np.testing.assert_array_equal(X["features"].toarray(), expected)
    assert len(X["tree"]) == len(X) == 4


def test_svmlight_several_vectors(read: Read) -> None:
    X, _ = read(
        "1 |BT| (a b) |ET| 1:1 2:2 |BV| 3:3 |EV|\n"
        "1 |BT| (a b) |ET| |BV| 1:4 |EV|\n"
        "1 |BT| (a b) |ET| 2:5 |BV| |EV|\n"
    )
    assert list(X.parts) == ["tree", "features_1", "features_2"]
    assert X["features_1"].toarray().tolist() == [[1, 2], [0, 0], [0, 5]]
    assert X["features_2"].toarray().tolist() == [[0, 0, 3], [4, 0, 0], [0, 0, 0]]


def test_svmlight_comments_blank_lines_and_windows_line_ends(read: Read) -> None:
    X, y = read(
        "\ufeff# a file of two\r\n\r\n"
        "1 |BT| (a #b) |ET| 1:0.5 # 2:7 |BT| (\r\n"
        "   \r\n# done\r\n"
        "-1 |BT| (a b) |ET|\r\n"
    )
    assert texts(X["tree"]) == ["(a #b)", "(a b)"]
    assert X["features"].toarray().tolist() == [[0.5], [0]]
    check_target(y, [1, -1], "i")


@pytest.mark.parametrize(
    ("labels", "expected", "kind"),
    [
        (["1", "+2", "-3"], [1, 2, -3], "i"),
        (["0.5", "1"], [0.5, 1.0], "f"),
        (["1.0", "2e3"], [1, 2000], "i"),
        (["-1.5e-3", "1e300"], [-0.0015, 1e300], "f"),
        (["1e300", "-1"], [1e300, -1.0], "f"),
        (["1e300"], [1e300], "f"),
    ],
)
def test_svmlight_labels(read: Read, labels: list[str], expected: list[Any], kind: str) -> None:
    _, y = read("\n".join(f"{label}\t|BT| (a) |ET|" for label in labels))
    check_target(y, expected, kind)


GOOD_TK = "1 |BT| (a b) |ET| 1:1 |EV|"
BAD_TK: dict[str, tuple[str, int, str, str]] = {
    # line, column, what is said, what to do
    "no tree": ("1 2:3", 1, "a line without a tree", "write label |BT| (S ...) |ET|"),
    "a bare tree": ("(S a)", 1, "a line without a tree", "|BT|"),
    "no end of trees": ("1 |BT| (a b)", 3, "the trees have no end", "|ET|"),
    "no label": ("|BT| (a b) |ET|", 1, "the label '' is not a finite number", "+1"),
    "a word as label": ("yes |BT| (a b) |ET|", 1, "the label 'yes' is not", "+1"),
    "a label that is nan": ("nan |BT| (a b) |ET|", 1, "the label 'nan' is not", "+1"),
    "a label out of range": ("1e400 |BT| (a b) |ET|", 1, "the label '1e400' is not", "+1"),
    "a label with an underscore": ("1_0 |BT| (a b) |ET|", 1, "the label '1_0' is not", "+1"),
    "never closed": ("1 |BT| (a (b c) |ET|", 8, "never closed", "closing brackets"),
    "stray bracket": ("1 |BT| (a b)) |ET|", 13, "a closing bracket", "remove it"),
    "two trees in one": ("1 |BT| (a b) (c d) |ET|", 14, "text after the end", "one tree"),
    "a NUL": ("1 |BT| (a \0b) |ET|", 11, "a NUL character", "UTF-8"),
    "a word as feature": ("1 |BT| (a) |ET| 1:1 x |EV|", 21, "'x' is not a feature", "7:0.5"),
    "a feature by name": ("1 |BT| (a) |ET| x:4 |EV|", 1, "have names, but those before", "7:0.5"),
    "a negative feature": ("1 |BT| (a) |ET| -1:4", 17, "'-1:4' is not a feature", "7:0.5"),
    "a fraction of a feature": ("1 |BT| (a) |ET| 1.5:4", 17, "is not a feature", "7:0.5"),
    "feature 0": ("1 |BT| (a) |ET| 0:1", 17, "feature number 0 is out of range", "from 1 to"),
    "feature 2^31": ("1 |BT| (a) |ET| 2147483648:1", 17, "is out of range", "from 1 to"),
    "a huge feature": (f"1 |BT| (a) |ET| 1{'0' * 50}:1", 17, "is out of range", "from 1 to"),
    "descending": ("1 |BT| (a) |ET| 3:1 2:1", 21, "feature 2 after feature 3", "ascend"),
    "descending, alike": ("1 |BT| (a) |ET| 11:1 1:1", 22, "feature 1 after feature 11", "ascend"),
    "twice": ("1 |BT| (a) |ET| 3:1 3:1", 21, "feature 3 after feature 3", "ascend"),
    "no value": ("1 |BT| (a) |ET| 3: 4:1", 17, "the value '' is not", "0.5"),
    "a value that is nan": ("1 |BT| (a) |ET| 3:nan", 17, "the value 'nan' is not", "0.5"),
    "a value that is inf": ("1 |BT| (a) |ET| 3:-inf", 17, "the value '-inf' is not", "0.5"),
    "a value out of range": ("1 |BT| (a) |ET| 3:1e999", 17, "the value '1e999' is not", "0.5"),
    "a bad second vector": ("1 |BT| (a) |ET| 1:1 |BV| x |EV|", 26, "is not a feature", "7:0.5"),
    "another number of trees": (
        "1 |BT| (a) |BT| (b) |ET|", 1, "has the trees tree_1, tree_2", "the same parts",
    ),
    "not UTF-8": ("1 |BT| (a \udcff) |ET|", 11, "not valid UTF-8", "encoding"),
}  # fmt: skip
each_bad_tk = pytest.mark.parametrize(
    ("line", "column", "reason", "hint"), BAD_TK.values(), ids=BAD_TK
)


@each_bad_tk
def test_svmlight_bad_lines(
    read: Read, tmp_path: Path, line: str, column: int, reason: str, hint: str
) -> None:
    data = f"{GOOD_TK}\n# comment\n{line}\n{GOOD_TK}".encode(errors="surrogateescape")
    with pytest.raises(ParseError) as caught:
        read(data)
    error = caught.value
    assert reason in error.reason
    assert hint in error.hint
    assert (error.line, error.column, error.sample) == (3, column, 1)
    assert error.source == str(tmp_path / "examples.dat")
    assert str(error).startswith(f"{error.source}, line 3, column {column}: ")


@each_bad_tk
def test_svmlight_bad_lines_are_skipped(
    read: Read, line: str, column: int, reason: str, hint: str
) -> None:
    data = f"{GOOD_TK}\n{line}\n-1 |BT| (c d) |ET| 2:2".encode(errors="surrogateescape")
    with pytest.warns(SkippedInputWarning, match="skipped 1, read 2"):
        X, y = read(data, on_error="skip")
    assert texts(X["tree"]) == ["(a b)", "(c d)"]
    assert X["features"].toarray().tolist() == [[1, 0], [0, 2]]
    check_target(y, [1, -1], "i")
    assert [(error.line, error.column) for error in X.skipped] == [(2, column)]
    assert reason in X.skipped[0].reason


# ---------------------------------------------------------------- TSV


def test_tsv_of_two_columns(read: Read) -> None:
    X, y = read("LOC\t(S (NP a))\n\n\u00c9\t (S (VP b)) \r\n", ".tsv")
    assert isinstance(X, Forest)
    assert texts(X) == ["(S (NP a))", "(S (VP b))"]
    check_target(y, ["LOC", "\u00c9"], "U")


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({"label": 0, "tree": 2}, ["id1", "id2"]),
        ({"label": 1, "tree": 2}, ["x", "y"]),
        ({"label": 1}, ["x", "y"]),  # the tree is in the last column
        ({"label": -2, "tree": -1}, ["x", "y"]),
        ({"tree": 2}, ["id1", "id2"]),  # the label is in the first
    ],
)
def test_tsv_with_chosen_columns(read: Read, options: dict[str, int], labels: list[str]) -> None:
    X, y = read("id1\tx\t(a b)\nid2\ty\t(c d)\n", ".tsv", **options)
    assert texts(X["tree"]) == ["(a b)", "(c d)"]
    assert y.tolist() == labels


def test_tsv_with_the_tree_before_the_label(read: Read) -> None:
    X, y = read("(a b)\tx\n(c d)\ty", ".tsv", label=1, tree=0)
    assert texts(X) == ["(a b)", "(c d)"]
    assert y.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("labels", "expected", "kind"),
    [
        (["1", "-2", "+3"], ["1", "-2", "+3"], "U"),
        (["007", "7"], ["007", "7"], "U"),
        (["01", "1", "1.0"], ["01", "1", "1.0"], "U"),
        (["1", "x"], ["1", "x"], "U"),
        (["nan", "nan"], ["nan", "nan"], "U"),
        (["1", "nan"], ["1", "nan"], "U"),
        (["inf", "-inf"], ["inf", "-inf"], "U"),
        (["Infinity", "1"], ["Infinity", "1"], "U"),
        (["1e999", "1"], ["1e999", "1"], "U"),
        (["1_1", "11"], ["1_1", "11"], "U"),  # two labels, and not twice the number 11
        (["1_5", "2_5"], ["1_5", "2_5"], "U"),
        (["True", "False"], ["True", "False"], "U"),
    ],
    ids=repr,
)
def test_tsv_labels(read: Read, labels: list[str], expected: list[Any], kind: str) -> None:
    _, y = read("\n".join(f"{label}\t(a)" for label in labels), ".tsv")
    check_target(y, expected, kind)


# An empty label was a class of its own. It is nearly always a label that is missing, which pandas
# writes as nothing, and null in JSON Lines and Parquet is an error too.
@pytest.mark.parametrize(
    ("content", "suffix", "options"),
    [
        ("a\t(a)\n\t(b)\nc\t(c)", ".tsv", {}),
        ("a\t(a)\r\n\t(b)\r\nc\t(c)", ".tsv", {}),
        ("(a)\ta\n(b)\t\n(c)\tc", ".tsv", {"label": 1, "tree": 0}),
        ("(a)\ta\r\n(b)\t\r\n(c)\tc\r\n", ".tsv", {"label": 1, "tree": 0}),
        ("i\ta\t(a)\ni\t\t(b)\n\tc\t(c)", ".tsv", {"label": 1, "tree": 2}),
        ("a,(a)\n,(b)\nc,(c)", ".csv", {}),
        ('{"label": "a", "tree": "(a)"}\n{"label": "", "tree": "(b)"}\n'
         '{"label": "c", "tree": "(c)"}', ".jsonl", {}),
    ],
)  # fmt: skip
def test_empty_labels(read: Read, content: str, suffix: str, options: dict[str, Any]) -> None:
    with pytest.raises(ParseError, match=r"line 2: the label is empty .*on_error='skip'"):
        read(content, suffix, **options)
    with pytest.warns(SkippedInputWarning, match="the label is empty"):
        X, y = read(content, suffix, on_error="skip", **options)
    trees = X if isinstance(X, Forest) else X["tree"]
    assert (texts(trees), y.tolist()) == (["(a)", "(c)"], ["a", "c"])
    options = {"tree": 1} | options | {"label": False}
    if suffix != ".jsonl":
        assert len(read(content, suffix, **options)[0]) == 3


def test_empty_labels_in_a_stream() -> None:
    batches = stream([b"a\t(a)", b"b\t(b)", b"\t(c)"], 2)
    assert next(batches)[1].tolist() == ["a", "b"]
    with pytest.raises(ParseError, match="line 3: the label is empty"):
        next(batches)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["1", '"1"'], "'1' is a number in one example and a text in another"),
        (["true", "1"], "'1' is a bool in one example and a number in another"),
        (["1.0", "true"], "'1' is a number in one example and a bool in another"),
        (['"True"', "true"], "'True' is a text in one example and a bool in another"),
        (["2.0", '"2.0"'], "'2.0' is a number in one example and a text in another"),
    ],
)
def test_labels_of_json_do_not_merge(read: Read, labels: list[str], message: str) -> None:
    lines = "\n".join(f'{{"label": {label}, "tree": "(a)"}}' for label in labels)
    with pytest.raises(ParseError, match=f"{message} .*labels='text'"):
        read(lines, ".jsonl")
    read(lines, ".jsonl", labels="text")


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("LOC", 1, "expected label<TAB>tree, found 1 column"),
        ("LOC (a b)", 1, "found 1 column"),
        ("x\tLOC\t(a b)", 1, "found 3 columns"),
        ("LOC\t", 5, "a line without a tree"),
        ("LOC\t  ", 5, "a line without a tree"),
        ("LOC\t(a (b c)", 5, "never closed"),
        ("LOC\t(a b))", 10, "a closing bracket"),
        ("LOC\t()", 6, "an empty tree"),
        ("(a\t(a", 4, "never closed"),  # the label looks like the tree
        ("LOC\t(ééé b) )", 13, "a closing bracket"),
        ("é\t(a b) )", 9, "a closing bracket"),
        ("éé\t(ネコ (犬 b) ))", 15, "a closing bracket"),
    ],
)
def test_tsv_bad_lines(read: Read, line: str, column: int, reason: str) -> None:
    for end in ("", "\n", "\r\n"):
        with pytest.raises(ParseError) as caught:
            read(f"A\t(x y)\n\n{line}{end}", ".tsv")
        assert reason in caught.value.reason
        assert (caught.value.line, caught.value.column) == (3, column)
        assert caught.value.hint


def test_tsv_broken_utf8_in_a_label(read: Read) -> None:
    with pytest.raises(ParseError, match="the label is not valid UTF-8"):
        read(b"\xe9t\xe9\t(a b)", ".tsv")


@pytest.mark.parametrize("options", [{"label": 5}, {"tree": 2}, {"label": -3, "tree": 1}])
def test_tsv_columns_that_are_not_there(read: Read, options: dict[str, int]) -> None:
    with pytest.raises(InvalidParameterError, match=r"there is no column .*; the columns are 0 "):
        read("LOC\t(a b)", ".tsv", **options)


# ---------------------------------------------------------------- JSON Lines


def test_jsonl(read: Read) -> None:
    X, y = read(
        jsonl({"label": "LOC", "tree": "(a b)"}, {"tree": "(c \u00e9)", "label": "HUM"}) + "\n\n",
        ".jsonl",
    )
    assert isinstance(X, Forest)
    assert texts(X) == ["(a b)", "(c \u00e9)"]
    check_target(y, ["LOC", "HUM"], "U")


def test_jsonl_chosen_and_nested_keys(read: Read) -> None:
    line = jsonl({"meta": {"y": 3}, "parses": {"a": {"b": "(x y)"}}, "label": 0, "tree": "(z)"})
    X, y = read(line, ".jsonl", label="meta.y", tree="parses.a.b")
    assert texts(X["b"]) == ["(x y)"], "the other entry is called tree"
    assert X["tree"].tolist() == ["(z)"]
    check_target(y, [3], "i")


def test_jsonl_several_trees(read: Read) -> None:
    lines = jsonl(
        {"label": 1, "trees": {"grct": "(a b)", "lct": "(c d)"}, "text": "(e f)"},
        {"label": 2, "trees": {"grct": "(g h)", "lct": "(a b)"}, "text": "(i j)"},
    )
    X, _ = read(lines, ".jsonl")
    assert list(X.parts) == ["grct", "lct"]
    assert texts(X["grct"]) == ["(a b)", "(g h)"]
    assert texts(X["lct"]) == ["(c d)", "(a b)"]
    X, _ = read(lines, ".jsonl", tree=["text", "trees.lct"])
    assert list(X.parts) == ["text", "lct"]
    assert texts(X["text"]) == ["(e f)", "(i j)"]
    X, _ = read(lines, ".jsonl", tree=["text"])
    assert list(X.parts) == ["text"]


def test_jsonl_objects_have_no_order(read: Read) -> None:
    X, _ = read(
        jsonl(
            {"label": 1, "trees": {"left": "(a b)", "right": "(c d)"}},
            {"trees": {"right": "(e f)", "left": "(g h)"}, "label": 2},
        ),
        ".jsonl",
    )
    assert texts(X["left"]) == ["(a b)", "(g h)"]
    assert texts(X["right"]) == ["(c d)", "(e f)"]


def test_jsonl_part_of_any_name(read: Read) -> None:
    X, _ = read(jsonl({"label": 1, "trees": {"self": "(a b)", "a tree": "(c d)"}}), ".jsonl")
    assert texts(X["self"]) == ["(a b)"]
    assert texts(X["a tree"]) == ["(c d)"]


def test_jsonl_keys_that_end_alike_are_not_mixed_up(read: Read) -> None:
    """Both trees are there, or an error says that their names clash; none is lost in silence."""
    line = jsonl({"label": 1, "text": {"tree": "(a b)"}, "question": {"tree": "(c d)"}})
    try:
        X, _ = read(line, ".jsonl", tree=["text.tree", "question.tree"])
    except InvalidParameterError:
        return
    assert sorted(texts(forest)[0] for forest in X.parts.values()) == ["(a b)", "(c d)"]


def test_jsonl_without_any_tree_asked_for(read: Read) -> None:
    with pytest.raises(InvalidParameterError):
        read(jsonl({"label": 1, "tree": "(a b)"}), ".jsonl", tree=[])


def test_jsonl_features_with_names_that_end_alike_are_not_mixed_up(read: Read) -> None:
    line = jsonl({"label": 1, "tree": "(a)", "words": {"n": [1]}, "tags": {"n": [2]}})
    try:
        X, _ = read(line, ".jsonl", features=["words.n", "tags.n"])
    except InvalidParameterError:
        return
    found = [part.toarray().tolist() for part in X.parts.values() if sp.issparse(part)]
    assert sorted(found) == [[[1]], [[2]]]


def test_jsonl_a_tree_and_features_of_the_same_name_are_not_mixed_up(read: Read) -> None:
    line = jsonl({"label": 1, "trees": {"features": "(a b)", "x": "(c d)"}, "features": [1, 2]})
    try:
        X, _ = read(line, ".jsonl")
    except (InvalidParameterError, ParseError):
        return
    assert len(X.parts) == 3


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ([1, 0, 2.5], [1, 0, 2.5]),
        ([1, 2.5, 0], [1, 2.5, 0]),  # as many columns as the lists are long
        ([0, 0], [0, 0]),
        ({"1": 1, "3": 2.5}, [1, 0, 2.5]),
        ({"3": 2.5, "1": 1}, [1, 0, 2.5]),
        (0.75, [0.75]),
        (3, [3]),
        ([1e-320, -1e308], [1e-320, -1e308]),
    ],
)
def test_jsonl_features(read: Read, features: Any, expected: list[float]) -> None:
    line = {"label": 1, "tree": "(a b)", "features": features}
    X, _ = read(jsonl(line, line), ".jsonl")
    assert X["features"].toarray().tolist() == [expected, expected]
    X, _ = read(jsonl({**line, "lex": {"v": features}}), ".jsonl", features=["features", "lex.v"])
    assert list(X.parts) == ["tree", "features", "v"]
    assert X["v"].toarray().tolist() == [expected]


def test_jsonl_a_row_without_features_among_others(read: Read) -> None:
    lines = [{"label": 1, "tree": "(a)"}, {"label": 2, "tree": "(b)", "features": [1, 2]}]
    for order in (lines, lines[::-1]):
        X, y = read(jsonl(*order), ".jsonl")
        rows = dict(zip(y.tolist(), X["features"].toarray().tolist(), strict=True))
        assert rows == {1: [0, 0], 2: [1, 2]}


@pytest.mark.parametrize(
    ("labels", "expected", "kind"),
    [
        ([1, 2], [1, 2], "i"),
        ([1, 0.5], [1.0, 0.5], "f"),
        ([True, False], [True, False], "b"),
        (["1", "02"], ["1", "02"], "U"),
        (["a", 1], ["a", "1"], "U"),
        ([10**30, 1], [1e30, 1.0], "f"),
    ],
    ids=repr,
)
def test_jsonl_labels(read: Read, labels: list[Any], expected: list[Any], kind: str) -> None:
    _, y = read(jsonl(*({"label": label, "tree": "(a)"} for label in labels)), ".jsonl")
    check_target(y, expected, kind)


@pytest.mark.parametrize("first", [2**53, 2**60, 2**62])
def test_large_integers_are_not_mixed_up(read: Read, first: int) -> None:
    """As identifiers of 64 bits are: floats would round them to the same number."""
    labels = [first, first + 1]
    _, y = read(jsonl(*({"label": label, "tree": "(a)"} for label in labels)), ".jsonl")
    assert len(set(y.tolist())) == 2
    _, y = read("".join(f"{label}\t(a)\n" for label in labels), ".tsv")
    assert len(set(y.tolist())) == 2


DEEP = "[" * 100_000 + "]" * 100_000
BAD_JSON = {
    "not JSON": ("{'label': 1}", "not JSON"),
    "cut short": ('{"label": 1, "tree": "(a b)"', "not JSON"),
    "a key twice": ('{"label": 1, "tree": "(a)", "label": 2}', "the key 'label' occurs twice"),
    "an inner key twice": (
        '{"label": 1, "trees": {"a": "(a)", "a": "(b)"}}', "the key 'a' occurs twice",
    ),
    "no object": ("[1, 2]", "not a JSON object"),
    "a string": ('"(a b)"', "not a JSON object"),
    "no tree": ('{"label": 1, "text": "(a b)"}', "a line without a tree"),
    "no trees": ('{"label": 1, "trees": {}}', "a line without a tree"),
    "no label": ('{"tree": "(a b)"}', "there is no 'label'"),
    "null as label": ('{"label": null, "tree": "(a b)"}', "the label 'label' is null"),
    "a list as label": ('{"label": ["x"], "tree": "(a b)"}', 'the label \'label\' is ["x"]'),
    "NaN as label": ('{"label": NaN, "tree": "(a b)"}', "the label 'label' is NaN"),
    "Infinity as label": ('{"label": Infinity, "tree": "(a b)"}', "the label 'label' is Infinity"),
    "a label out of range": ('{"label": -1e999, "tree": "(a b)"}', "the label 'label' is -Inf"),
    "null as tree": ('{"label": 1, "tree": null}', "the tree 'tree' is not a string"),
    "a list as tree": ('{"label": 1, "tree": ["S", "a"]}', "the tree 'tree' is not a string"),
    "an empty tree": ('{"label": 1, "tree": ""}', "there is no tree"),
    "a bad tree": ('{"label": 1, "tree": "(a b"}', "never closed"),
    "a lone surrogate": ('{"label": 1, "tree": "(a \\ud800)"}', "not valid UTF-8"),
    "a NUL": ('{"label": 1, "tree": "(a \\u0000)"}', "a NUL character"),
    "a word as feature": ('{"label": 1, "tree": "(a)", "features": "x"}', '"x", not a number'),
    "null as feature": ('{"label": 1, "tree": "(a)", "features": [null]}', "null, not a number"),
    "a truth value": ('{"label": 1, "tree": "(a)", "features": [true]}', "true, not a number"),
    "NaN as feature": ('{"label": 1, "tree": "(a)", "features": [1, NaN]}', "NaN, not a number"),
    "a feature out of range": ('{"label": 1, "tree": "(a)", "features": [1e999]}', "Infinity"),
    "an integer out of range": (
        f'{{"label": 1, "tree": "(a)", "features": [1{"0" * 400}]}}', "features",
    ),
    "feature 0": ('{"label": 1, "tree": "(a)", "features": {"0": 1}}', "the feature '0'"),
    "a huge feature": (
        f'{{"label": 1, "tree": "(a)", "features": {{"{"9" * 40}": 1}}}}', "the feature '999",
    ),
    "a feature twice": (
        '{"label": 1, "tree": "(a)", "features": {"1": 1, "01": null}}', "features",
    ),
    "deep": (DEEP, "this JSON cannot be read"),
    "a deep label": (f'{{"label": {DEEP}, "tree": "(a)"}}', "this JSON cannot be read"),
    "a long number": (f'{{"label": {"1" * 5000}, "tree": "(a)"}}', "this JSON cannot be read"),
    "not UTF-8": (b'{"label": "\xe9", "tree": "(a)"}', "this JSON cannot be read"),
}  # fmt: skip
each_bad_json = pytest.mark.parametrize(("line", "reason"), BAD_JSON.values(), ids=BAD_JSON)
GOOD_JSON = '{"label": 1, "tree": "(a b)"}'


def as_bytes(line: str | bytes) -> bytes:
    return line if isinstance(line, bytes) else line.encode()


@each_bad_json
def test_jsonl_bad_lines(read: Read, line: str | bytes, reason: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(b"\n".join([GOOD_JSON.encode(), b"", as_bytes(line)]), ".jsonl")
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.sample) == (3, 1)


@each_bad_json
def test_jsonl_bad_lines_are_skipped(read: Read, line: str | bytes, reason: str) -> None:
    data = b"\n".join([as_bytes(line), GOOD_JSON.encode(), as_bytes(line)])
    with pytest.warns(SkippedInputWarning, match="skipped 2, read 1"):
        X, y = read(data, ".jsonl", on_error="skip")
    assert texts(X) == ["(a b)"]
    check_target(y, [1], "i")
    assert [error.line for error in X.skipped] == [1, 3]


def test_jsonl_features_given_twice_do_not_add_up(read: Read) -> None:
    with pytest.raises(ParseError):
        read('{"label": 1, "tree": "(a)", "features": {"1": 1, "01": 2}}', ".jsonl")


def test_jsonl_says_which_keys_there_are(read: Read) -> None:
    with pytest.raises(ParseError, match="'fine', 'parse'"):
        read(jsonl({"fine": 1, "parse": "(a b)"}), ".jsonl")


def test_jsonl_the_column_of_a_fault_in_the_json_counts_characters(read: Read) -> None:
    with pytest.raises(ParseError, match="not JSON") as caught:
        read('{"label": "éé", x}', ".jsonl")
    assert caught.value.column == 17


def test_jsonl_the_column_of_a_fault_in_a_tree_is_counted_in_the_tree(read: Read) -> None:
    for tree, column in [("(a b) )", 7), ("(é éé) )", 8), (f"(é {'é' * 30}) )", 36)]:
        with pytest.raises(ParseError, match="a closing bracket") as caught:
            read(json.dumps({"label": "ééé", "tree": tree}, ensure_ascii=False), ".jsonl")
        assert caught.value.column == column


# ---------------------------------------------------------------- all formats

SAME = {
    "svmlight-tk": "1 |BT| (a b) |ET|\n-1 |BT| (c d) |ET|\n",
    "tsv": "1\t(a b)\n-1\t(c d)\n",
    "jsonl": '{"label": 1, "tree": "(a b)"}\n{"label": -1, "tree": "(c d)"}\n',
}


@pytest.mark.parametrize("format", SAME)
@pytest.mark.parametrize("start", ["", "\n\n", "# comment\n"])
def test_the_format_is_told_by_the_first_lines(read: Read, format: str, start: str) -> None:
    if start.startswith("#") and format != "svmlight-tk":
        start = ""  # the other formats have no comments
    X, y = read(start + SAME[format], ".txt", labels="numbers")
    assert texts(X) == ["(a b)", "(c d)"]
    check_target(y, [1, -1], "i")


@pytest.mark.parametrize("format", SAME)
def test_the_format_can_be_said(read: Read, format: str) -> None:
    X, _ = read(SAME[format], ".txt", format=format)
    assert texts(X) == ["(a b)", "(c d)"]
    for wrong in SAME.keys() - {format}:
        with pytest.raises(ParseError):
            read(SAME[format], ".txt", format=wrong)


@pytest.mark.parametrize(
    ("suffix", "format"),
    [(".tsv", "tsv"), (".TSV", "tsv"), (".jsonl", "jsonl"), (".ndjson", "jsonl")],
)
@pytest.mark.parametrize(
    ("packed", "compress"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)]
)
def test_extensions_and_compression(
    read: Read, suffix: str, format: str, packed: str, compress: Callable[[bytes], bytes]
) -> None:
    X, y = read(compress(SAME[format].encode()), suffix + packed, labels="numbers")
    assert texts(X) == ["(a b)", "(c d)"]
    check_target(y, [1, -1], "i")
    assert len(read(b"" if not packed else compress(b""), suffix + packed)[0]) == 0


@pytest.mark.parametrize("text", ["(S (NP a) (VP b))\n", "", "\n\n", "label tree\n", "# nothing\n"])
def test_a_format_that_cannot_be_told(read: Read, text: str) -> None:
    with pytest.raises(ParseError, match=r"format='svmlight-tk', .* or 'arrow'; .*read_trees"):
        read(text)


@pytest.mark.parametrize("format", ["kelp", "TSV", "xlsx"])
def test_an_unknown_format(read: Read, format: str) -> None:
    with pytest.raises(InvalidParameterError, match="format must be"):
        read(SAME["tsv"], format=format)


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("svmlight-tk", {"label": 0}),
        ("svmlight-tk", {"tree": "tree"}),
        ("jsonl", {"label": 0}),
        ("jsonl", {"tree": 1}),
    ],
)
def test_options_of_another_format(read: Read, format: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match="label= and tree= are"):
        read(SAME[format], format=format, **options)


@pytest.mark.parametrize("on_error", ["ignore", "", None])
def test_another_on_error(read: Read, on_error: Any) -> None:
    with pytest.raises(InvalidParameterError, match="on_error must be 'raise' or 'skip'"):
        read(SAME["tsv"], on_error=on_error)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("no.tsv", "no.dat.gz", "no.jsonl.xz"):
        with pytest.raises(MissingFileError, match=name):
            read_examples(tmp_path / name)
    with pytest.raises(InvalidParameterError, match="has no files"):
        read_examples(tmp_path)


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".xz", lzma)])
def test_a_compressed_file_that_is_cut_short(read: Read, suffix: str, module: Any) -> None:
    rng = np.random.default_rng(0)
    whole = module.compress("".join(f"1\t(S {i})\n" for i in rng.integers(0, 9**9, 5000)).encode())
    with pytest.raises(ParseError, match="damaged or cut short"):
        read(whole[: len(whole) * 2 // 3], f".tsv{suffix}")


def test_the_number_of_features(read: Read) -> None:
    text = "1 |BT| (a) |ET| 2:1 7:1 |BV| 3:1 |EV|"
    X, _ = read(text, n_features=10)
    assert (X["features_1"].shape, X["features_2"].shape) == ((1, 10), (1, 10))
    X, _ = read(text)
    assert (X["features_1"].shape, X["features_2"].shape) == ((1, 7), (1, 3))
    assert read(text, n_features=7)[0]["features_1"].shape == (1, 7)
    with pytest.raises(InvalidParameterError, match="has feature 7, but n_features is 6"):
        read(text, n_features=6)


def test_labels_and_trees_stay_aligned_where_lines_are_skipped(read: Read) -> None:
    """Also where the first tree of an example is good and its second one is not."""
    lines = [
        "0 |BT| (a 0) |BT| (b 0) |ET| 1:1",
        "1 |BT| (a 1) |BT| (b 1 |ET| 1:2",
        "2 |BT| (a 2) |BT| (b 2) |ET| 1:3",
        "3 |BT| (a 3)) |BT| (b 3) |ET| 1:4",
        "4 |BT| (a 4) |BT| (b 4) |ET| 1:5",
        "5 |BT| (a 5) |BT| (b 5) |ET| 1:x",
        "x |BT| (a 6) |BT| (b 6) |ET| 1:7",
        "7 |BT| (a 7) |BT| (b 7) |ET| 1:8",
    ]
    with pytest.warns(SkippedInputWarning) as caught:
        X, y = read("\n".join(lines), on_error="skip")
    assert y.tolist() == [0, 2, 4, 7]
    assert texts(X["tree_1"]) == [f"(a {i})" for i in y]
    assert texts(X["tree_2"]) == [f"(b {i})" for i in y]
    assert X["features"].toarray().ravel().tolist() == [i + 1 for i in y]
    assert [error.line for error in X.skipped] == [2, 4, 6, 7]
    assert "in 'tree_2'" in X.skipped[0].reason
    message = caught[0].message
    assert isinstance(message, SkippedInputWarning)
    assert message.errors == X.skipped
    assert str(message).startswith("skipped 4, read 4: ")
    assert len(caught) == 1


def test_the_warning_points_at_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("1\t(a b\n")
    with pytest.warns(SkippedInputWarning) as caught:
        read_examples(path, on_error="skip")
    assert caught[0].filename == __file__


def test_a_bad_first_line_does_not_decide_the_parts(read: Read) -> None:
    with pytest.warns(SkippedInputWarning, match="skipped 1, read 2"):
        X, y = read(f"1 |BT| (a |BT| (b) |ET|\n{SAME['svmlight-tk']}", on_error="skip")
    assert texts(X) == ["(a b)", "(c d)"]
    assert y.tolist() == [1, -1]


def test_skipping_everything(read: Read) -> None:
    with pytest.warns(SkippedInputWarning, match="skipped 2, read 0"):
        X, y = read("1\t(a\n2\t)", ".tsv", on_error="skip")
    assert len(X) == len(y) == 0
    assert len(X.skipped) == 2


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("id\tlabel\tleft\tright\n", ".tsv"),
        ("id\tlabel\tleft\tright\nq1\tyes\t(a", ".tsv"),
        ("id,label,left,right", ".csv"),
    ],
)
def test_a_table_without_good_rows_has_its_columns(read: Read, text: str, suffix: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkippedInputWarning)
        one, _ = read(text, suffix, tree="left", on_error="skip")
        two, y = read(text, suffix, tree=["left", "right"], on_error="skip")
    assert len(one) == len(two) == len(y) == 0
    assert list(one.parts) == ["tree"]
    assert list(one.columns) == ["id", "right"]
    assert list(two.parts) == ["left", "right"]
    assert list(two.columns) == ["id"]


def check_place(error: ParseError, text: str) -> None:
    lines = text.split("\n")
    assert error.line is not None
    assert error.column is not None
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1


@given(
    st.text('1+-.0x|BTEV()ab:# \t\n{}"\\é\0', max_size=60)
    | st.lists(
        st.sampled_from(["1", "|BT|", "|ET|", "|BV|", "|EV|", "(a b)", "(", "1:1", "2:x", "\n"]),
        max_size=20,
    ).map(" ".join),
    st.sampled_from(["svmlight-tk", "tsv", "jsonl"]),
)
@example("\t0\t0", "tsv")
@example("0\t\t", "tsv")
@example("\0\0", "svmlight-tk")
@example("1\t(é b)\n2\té\0\0", "tsv")
def test_any_text_is_examples_or_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, text: str, format: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-text"
    path.write_bytes(text.encode())
    try:
        X, y = read_examples(path, format=format)
    except ParseError as error:
        check_place(error, text)
        if "not text" in str(error):  # no line of such a file can be trusted: nothing to skip
            with pytest.raises(ParseError, match="not text"):
                read_examples(path, format=format, on_error="skip")
            return
    except InvalidParameterError as error:  # three columns or more without known names
        message = str(error)
        assert format == "tsv"
        assert "not certain: pass " in message
        with pytest.raises(InvalidParameterError, match=re.escape(message)):
            read_examples(path, format=format, on_error="skip")
        return
    else:
        assert len(X) == len(y)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        X, y = read_examples(path, format=format, on_error="skip")
    assert len(X) == len(y)


# ---------------------------------------------------------------- in the core or line by line


def outcome(path: Path, **options: Any) -> Any:
    """All that reading gives, down to the numbers of nodes, or the error it ends with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            X, y = read_examples(path, **options)
        except FilbertError as error:
            return type(error), str(error), vars(error)
    parts = X.parts if isinstance(X, Examples) else {"": X}
    arrays = [
        (name, [array.tolist() for array in (*part._dag.to_arrays(), part._roots)], part.nbytes)
        if isinstance(part, Forest)
        else (name, part.toarray().tolist())
        for name, part in parts.items()
    ]
    return (
        (type(X), arrays, y.dtype, y.tolist(), y.flags.writeable),
        [str(error) for error in X.skipped],
        [str(warning.message) for warning in caught],
    )


def line_by_line(path: Path, **options: Any) -> Any:
    with patch.object(labelled_lines, "started", return_value=None):
        return outcome(path, **options)


def in_pieces(path: Path, block: int, piece: int, **options: Any) -> Any:
    with patch.object(reader, "_BLOCK", block), patch.object(labelled_lines, "_PIECE", piece):
        return outcome(path, **options)


LABELS = [
    "1",
    "-1",
    "+1",
    " 1",
    "1 ",
    "0.5",
    "1e3",
    "nan",
    "x",
    "x y",
    "é",
    "",
    "1_0",
    "#",
    "9" * 19,
]
TREES = ["(a b)", " (S (NP a) (VP b)) ", "a", "(é (b c))", "( (S a) )", r"(a \()", "(a\v b)"]
BAD_TREES = ["", " ", "(a", "a)", "()", "(a) (b)", "(a \0)", "(\udcff)", "|BT|", "(a |ET| b)"]
TAILS = ["", "", "", " ", " |EV|", " # 1:1", "|EV| x", "\t", " 1:1", " |BV| |EV|", "|BT| (a) |ET|"]
FEATURES = ["", " 1:1", " 2:0.5 7:-3", "3:1e-3\t9:+2 |EV|", " 1:.5 2:0 # 4:1", " 04:1", " 5:-0.0"]
BAD_FEATURES = [" 2:1 1:1", " 1:1 1:2", " 0:1", " -1:1", " x:1", " 1", " 1:", " 1:nan", " 1:1e999"]
BAD_FEATURES += [" 1:1e-999", " 1:1_0", " 1:\x1c1", " 1:1 |BV| 2:1", " 99999999999:1", " 1:1:1"]
ODD_LINES = ["", " ", "\t", "# no example", " #", "x", "\ufeff", "\0", "\udcff\t(a)", "\x1c"]


def tsv_line(label: str, tree: str, tail: str) -> str:
    return f"{label}\t{tree}" + ("\tmore" if tail.strip() else "")


def tk_line(label: str, tree: str, tail: str) -> str:
    return f"{label} |BT| {tree} |ET|{tail}"


@st.composite
def files(draw: st.DrawFn, line: Callable[[str, str, str], str]) -> bytes:
    """Mostly files that are as usual, with something odd in some of them."""
    oddity = draw(st.sampled_from(["none", "features", "trees", "tails", "lines", "bad"]))
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=3))
    trees = TREES + (BAD_TREES if oddity == "trees" else [])
    tails = {"tails": TAILS, "features": FEATURES, "bad": FEATURES + BAD_FEATURES}.get(oddity, [""])
    usual = st.builds(line, st.sampled_from(labels), st.sampled_from(trees), st.sampled_from(tails))
    odd = st.sampled_from(ODD_LINES if oddity == "lines" else ODD_LINES[:2])
    lines = draw(st.lists(usual | usual | odd, max_size=12))
    ends = [draw(st.sampled_from(["\n", "\n", "\r\n", "\r\r\n"])) for _ in lines]
    text = draw(st.sampled_from(["", "", "\ufeff"]))
    text += "".join(a + b for a, b in zip(lines, ends, strict=True))
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return text.encode(errors="surrogateescape")


COLUMNS = st.sampled_from([None, None, None, 0, 1, 2, -1, -2, True, 2**40])
ANY_FILE = st.one_of(
    st.tuples(
        files(tsv_line),
        st.fixed_dictionaries({"format": st.just("tsv"), "label": COLUMNS, "tree": COLUMNS}),
    ),
    st.tuples(files(tsv_line), st.just({"format": "tsv"})),
    st.tuples(files(tk_line), st.just({"format": "svmlight-tk"})),
)


@n_examples(400)
@given(
    ANY_FILE,
    st.sampled_from([1, 10, 60, 10**6]),
    st.sampled_from([1, 10, 40, 10**6]),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["raise", "skip"]),
)
@example((b"1\ta\n", {"format": "tsv", "label": 0, "tree": 0}), 1, 1, 1, "raise")
def test_files_read_in_the_core_are_as_if_read_line_by_line(
    tmp_path_factory: pytest.TempPathFactory,
    file: tuple[bytes, dict[str, Any]],
    block: int,
    piece: int,
    n_jobs: int,
    on_error: str,
) -> None:
    data, options = file
    path = tmp_path_factory.getbasetemp() / "in-the-core"
    path.write_bytes(data)
    expected = line_by_line(path, on_error=on_error, **options)
    assert in_pieces(path, block, piece, n_jobs=n_jobs, on_error=on_error, **options) == expected


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize(("packed", "compress"), [("", bytes), (".gz", gzip.compress)])
@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("tsv", "{}\t{}"),
        ("svmlight-tk", "{} |BT| {} |ET| |EV| # comment"),
        ("svmlight-tk", "{} |BT| {} |ET| 3:0.25 17:-2e-3 |EV| # comment"),
    ],
)
def test_the_core_reads_what_is_usual(
    tmp_path: Path,
    format: Any,
    line: str,
    packed: str,
    compress: Callable[[bytes], bytes],
    n_jobs: int,
) -> None:
    """Without going through Python line by line; pieces of whatever size give the same nodes."""
    trees = list(map(write, random_trees(5, 300)))
    lines = [line.format(i % 7 / 2, tree) + "\r\n" * (1 + i % 2) for i, tree in enumerate(trees)]
    path = tmp_path / f"examples.dat{packed}"
    path.write_bytes(compress(("\ufeff" + "".join(lines)).encode()))
    expected = line_by_line(path, format=format)
    with patch.object(reader, "Gathered", side_effect=AssertionError("line by line")):
        for block, piece in [(10**6, 10**6), (10**6, 1000), (10**6, 1), (5000, 700), (1, 1)]:
            assert in_pieces(path, block, piece, format=format, n_jobs=n_jobs) == expected


def test_a_byte_order_mark_is_one_only_at_the_start_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "marks.tsv"
    path.write_text("\ufeffx\t(a)\n" * 4, encoding="utf-8")
    expected = line_by_line(path)
    assert expected[0][3] == ["x", "\ufeffx", "\ufeffx", "\ufeffx"]
    for block, piece in [(1, 1), (12, 5), (100, 1), (100, 100)]:
        assert in_pieces(path, block, piece, n_jobs=2) == expected


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_read_only_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe.tsv"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(b"1\t(a b)\n2\t(c d)\n",))
    writer.start()
    X, y = read_examples(path)
    writer.join()
    assert texts(X) == ["(a b)", "(c d)"]
    check_target(y, ["1", "2"], "U")


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "2"])
def test_a_bad_number_of_threads(read: Read, n_jobs: Any) -> None:
    with pytest.raises(InvalidParameterError, match="n_jobs must be"):
        read(SAME["tsv"], ".tsv", n_jobs=n_jobs)


# ---------------------------------------------------------------- Examples


def test_features_with_names_in_several_files(tmp_path: Path) -> None:
    """The columns are those of both files together, in alphabetical order."""
    texts = {
        "a": '{"label": "x", "tree": "(S a)", "bow": {"p": 1, "q": 2}}',
        "b": '{"label": "y", "tree": "(S b)", "bow": {"r": 3, "q": 4}}',
    }
    paths = [tmp_path / f"{name}.jsonl" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    X, y = read_examples(paths, features="bow")
    assert X.feature_names["bow"].tolist() == ["p", "q", "r"]
    assert X["bow"].toarray().tolist() == [[1, 2, 0], [0, 4, 3]]
    assert y.tolist() == ["x", "y"]


@pytest.fixture
def examples() -> Examples:
    forest = Forest(["(a b)", "(a c)", "(d (e f))", "(g)"])
    return Examples(
        tree=forest,
        other=forest[::-1],
        features=sp.csr_array(np.diag([1.0, 2.0, 3.0, 4.0])),
        dense=np.arange(8).reshape(4, 2),
    )


def test_examples_parts(examples: Examples) -> None:
    assert len(examples) == 4
    assert examples.shape == (4,)
    assert list(examples.parts) == ["tree", "other", "features", "dense"]
    assert texts(examples["other"]) == ["(g)", "(d (e f))", "(a c)", "(a b)"]
    with pytest.raises(KeyError, match="no part 'words'; there are tree, other, features, dense"):
        examples["words"]


def test_examples_repr(examples: Examples) -> None:
    assert repr(examples).splitlines() == [
        "Examples of 4 rows",
        "  tree      Forest of 4 trees",
        "  other     Forest of 4 trees",
        "  features  sparse matrix of 4 columns",
        "  dense     array of 2 columns",
    ]
    assert repr(examples[:1]).startswith("Examples of 1 row\n")


SELECTIONS: list[Any] = [
    slice(1, 3), slice(None, None, -1), slice(0, 0), [2, 0, 0], [], np.array([-1, 1]),
    np.array([], dtype=int), [True, False, False, True], np.array([False, True, True, False]),
    np.zeros(4, dtype=bool), range(1, 3),
]  # fmt: skip


@pytest.mark.parametrize("index", SELECTIONS, ids=repr)
def test_examples_are_selected_in_all_parts(examples: Examples, index: Any) -> None:
    rows = np.arange(4)[index if isinstance(index, slice) else list(index)]
    for picked in (examples[index], examples[index, ...]):
        assert isinstance(picked, Examples)
        assert picked.shape == (len(rows),)
        assert list(picked.parts) == list(examples.parts)
        assert picked["tree"] == examples["tree"][rows]
        assert picked["other"] == examples["other"][rows]
        assert picked["tree"]._dag is examples["tree"]._dag
        np.testing.assert_array_equal(
            picked["features"].toarray(), examples["features"].toarray()[rows]
        )
        np.testing.assert_array_equal(picked["dense"], examples["dense"][rows])


@pytest.mark.parametrize("index", [1, np.int64(1), -3])
def test_one_example_is_a_dictionary(examples: Examples, index: int) -> None:
    row = examples[index]
    assert list(row) == ["tree", "other", "features", "dense"]
    assert isinstance(row["tree"], Tree)
    assert str(row["tree"]) == "(a c)"
    assert str(row["other"]) == "(d (e f))"
    assert row["dense"].tolist() == [2, 3]
    assert len(list(examples)) == 4


@pytest.mark.parametrize(
    "index", [4, -5, [0, 4], 1.5, [1.5], None, ..., (0, 1), ([0], [1]), (..., 0), [True], [[0, 1]]]
)
def test_what_is_no_index_of_examples(examples: Examples, index: Any) -> None:
    with pytest.raises(IndexError):
        examples[index]


def test_examples_must_be_aligned() -> None:
    forest = Forest(["(a b)", "(c d)"])
    with pytest.raises(InvalidParameterError, match="tree has 2, features has 3"):
        Examples(tree=forest, features=np.eye(3))
    with pytest.raises(InvalidParameterError, match="at least one part"):
        Examples()
    with pytest.raises(InputTypeError, match="part 'y' must be trees or a two-dimensional"):
        Examples(tree=forest, y=np.array([0, 1]))
    with pytest.raises(InputTypeError, match="part 'words' must be"):
        Examples(tree=forest, words="ab")
    with pytest.raises(InputTypeError, match="got list of 1 dimensions"):
        Examples(tree=forest, y=[0, 1])
    with pytest.raises(InputTypeError, match="got list with rows of different lengths"):
        Examples(tree=forest, features=[[1.0], [1.0, 2.0]])
    assert Examples(tree=forest, features=[[1, 2], [3, 4]])["features"].shape == (2, 2)


@pytest.mark.parametrize("form", ["csc", "coo", "dok", "lil", "bsr", "dia", "csr"])
def test_every_sparse_matrix_is_sliced(form: Any) -> None:
    dense = np.diag([1.0, 2.0, 3.0, 4.0])
    X = Examples(features=sp.csr_array(dense).asformat(form))
    for rows in (slice(1, 3), [3, 0], np.array([True, False, True, False])):
        np.testing.assert_array_equal(X[rows]["features"].toarray(), dense[rows])
    for row in (2, -1, np.int64(0)):
        one = X[row]["features"].toarray()  # of shape (1, 4) before SciPy 1.15
        np.testing.assert_array_equal(one.reshape(4), dense[row])


def test_a_damaged_sparse_matrix_is_no_part() -> None:
    damaged = sp.csc_array(np.eye(3))
    damaged.indices[1] = 7
    with pytest.raises(InvalidParameterError, match="part 'f' is a damaged sparse matrix"):
        Examples(f=damaged)


def test_examples_are_pickled(examples: Examples) -> None:
    again = pickle.loads(pickle.dumps(examples[1:]))
    assert again["tree"] == examples["tree"][1:]
    assert again.shape == (3,)
    np.testing.assert_array_equal(again["dense"], examples["dense"][1:])


# ---------------------------------------------------------------- data sets beside the repository

# The table of shared/data/README.md: file, how to read it, examples, nodes of each forest.
DATA_SETS: list[tuple[str, dict[str, Any], int, int | dict[str, int]]] = [
    ("srl-5000/dataset_5000.dat.xz", {}, 5_000, {"tree": 82_265}),
    ("qc/train.jsonl.xz", {}, 5_452,
     {"grct": 129_483, "lct": 129_483, "loct": 43_161, "const": 161_850}),
    ("qc/test.jsonl.xz", {}, 500, {"grct": 8_781, "lct": 8_781, "loct": 2_927, "const": 11_076}),
    ("qc/test.jsonl.xz", {"label": "fine", "tree": "trees.grct"}, 500, 8_781),
    ("qc/train_5500.coarse.klp.gz", {"tree": ["grct", "lct", "loct"]}, 5_452,
     {"grct": 129_483, "lct": 129_483, "loct": 43_161}),
    ("qc/reltextrank_sv.tsv.xz", {"label": 0, "tree": 3}, 4_280, 136_448),
    ("qc/constituency_train.tsv.xz", {}, 5_483, 164_743),
    ("qc/constituency_test.tsv.xz", {}, 500, 11_431),
    ("clones-bcb/methods.tsv.xz", {"label": 1, "tree": 2}, 8_791, 1_902_744),
    ("clones-bcb/rest.tsv.xz", {"label": 1, "tree": 2}, 48_559, 11_193_161),
    ("inex/inex2005.train.tsv.xz", {}, 4_820, 124_359),
    ("inex/inex2005.test.tsv.xz", {}, 4_811, 122_780),
    ("inex/inex2006.train.tsv.xz", {}, 6_053, 108_523),
    ("inex/inex2006.test.tsv.xz", {}, 6_054, 110_014),
    ("cslogs/cslog1.tsv.xz", {}, 8_074, 64_863),
    ("cslogs/cslog2.tsv.xz", {}, 7_409, 59_611),
    ("cslogs/cslog3.tsv.xz", {}, 7_628, 60_903),
    ("cslogs/cslog12.tsv.xz", {}, 13_934, 114_215),
    ("glycan/train.jsonl.xz", {"label": "id"}, 15_650, 111_108),
    ("glycan/test.jsonl.xz", {"label": "id"}, 3_942, 28_053),
    ("srl-ewt/train.jsonl.xz", {"label": "id"}, 12_543, 599_241),
    ("srl-ewt/dev.jsonl.xz", {"label": "id"}, 1_974, 73_491),
    ("srl-ewt/test.jsonl.xz", {"label": "id"}, 2_062, 73_373),
    ("srl-onto-unlex/wsj.train.jsonl.xz", {"label": "id"}, 30_060, 1_340_336),
    ("srl-onto-unlex/wsj.dev.jsonl.xz", {"label": "id"}, 1_083, 48_635),
    ("srl-onto-unlex/wsj.test.jsonl.xz", {"label": "id"}, 1_640, 72_346),
    ("srl-onto-unlex/wsj.rest.jsonl.xz", {"label": "id"}, 4_232, 189_407),
    ("srl-onto-unlex/other.train.jsonl.xz", {"label": "id"}, 81_044, 2_634_608),
    ("srl-onto-unlex/other.dev.jsonl.xz", {"label": "id"}, 9_769, 311_195),
    ("srl-onto-unlex/other.test.jsonl.xz", {"label": "id"}, 9_983, 338_539),
    *(
        (f"rte/{name}.jsonl.xz",
         {"label": "entails", "tree": ["text_tree", "hypothesis_tree"], "features": "lex"},
         n, {"text_tree": text, "hypothesis_tree": hypothesis})
        for name, n, text, hypothesis in [
            ("rte1.dev", 567, 43_263, 18_215), ("rte1.test", 800, 64_173, 27_436),
            ("rte2.dev", 400, 32_867, 12_773), ("rte2.test", 800, 69_234, 21_646),
            ("rte3.dev", 800, 86_631, 21_614), ("rte3.test", 800, 73_722, 20_263),
        ]
    ),
]  # fmt: skip


def shared_file(shared_dir: Path, name: str) -> Path:
    path = shared_dir / "data" / name
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    return path


@pytest.mark.shared
@pytest.mark.parametrize(("name", "options", "n", "n_nodes"), DATA_SETS, ids=lambda v: str(v)[:40])
def test_shared_data_sets(
    shared_dir: Path, name: str, options: dict[str, Any], n: int, n_nodes: int | dict[str, int]
) -> None:
    X, y = read_examples(shared_file(shared_dir, name), **options)
    assert len(X) == len(y) == n
    parts = X.parts if isinstance(X, Examples) else {"tree": X}
    forests = {name: part for name, part in parts.items() if isinstance(part, Forest)}
    expected = n_nodes if isinstance(n_nodes, dict) else {"tree": n_nodes}
    assert {name: forest.n_nodes for name, forest in forests.items()} == expected


@pytest.mark.shared
def test_the_features_and_labels_of_srl_5000(shared_dir: Path) -> None:
    X, y = read_examples(shared_file(shared_dir, "srl-5000/dataset_5000.dat.xz"))
    assert np.unique(y, return_counts=True)[1].tolist() == [4_754, 246]
    features = X["features"]
    assert features.shape == (5_000, 125_155)
    assert np.unique(np.diff(features.indptr)).tolist() == [24]
    assert np.unique(features.data).tolist() == [1.0]
    assert len(set(X["tree"])) == 4_904


@pytest.mark.shared
def test_the_labels_of_shared_data_sets(shared_dir: Path) -> None:
    y = read_examples(shared_file(shared_dir, "inex/inex2005.test.tsv.xz"), labels="numbers")[1]
    assert y.dtype.kind == "i"
    assert len(np.unique(y)) == 11
    y = read_examples(shared_file(shared_dir, "qc/test.jsonl.xz"))[1]
    assert len(set(y)) == 6
    assert {"DESC", "HUM", "LOC"} < set(y)
    X, y = read_examples(
        shared_file(shared_dir, "rte/rte3.test.jsonl.xz"),
        label="entails", tree=["text_tree", "hypothesis_tree"], features="lex",
    )  # fmt: skip
    assert y.dtype == bool
    assert y.sum() == 410
    assert X["lex"].shape == (800, 1)
    assert 0 <= X["lex"].toarray().min() < X["lex"].toarray().max() <= 1


@pytest.mark.shared
def test_labels_that_some_glycans_lack_are_skipped(shared_dir: Path) -> None:
    path = shared_file(shared_dir, "glycan/test.jsonl.xz")
    with pytest.warns(SkippedInputWarning, match="read 328"):
        X, y = read_examples(path, label="link", on_error="skip")
    assert dict(zip(*np.unique(y, return_counts=True), strict=True)) == {
        "N": 180, "O": 128, "free": 20,
    }  # fmt: skip
    assert len(X) + len(X.skipped) == 3_942
    with pytest.raises(ParseError, match="the label 'domain' is "):
        read_examples(path, label="domain")  # a list of domains


@pytest.mark.shared
def test_kelps_own_files_are_the_questions(shared_dir: Path) -> None:
    """Trees, words and classes, as in the JSON Lines that were made from them."""
    X, y = read_examples(shared_file(shared_dir, "qc/TREC_10.coarse.klp.gz"))
    Z, z = read_examples(shared_file(shared_dir, "qc/test.jsonl.xz"), features="bow")
    assert y.tolist() == z.tolist()
    for name in ("grct", "lct", "loct"):
        assert X[name] == Z[name]
    assert X.feature_names["bow"].tolist() == Z.feature_names["bow"].tolist()
    assert (X["bow"] != Z["bow"]).nnz == 0
    assert X["quest"].tolist() == Z["question"].tolist()
