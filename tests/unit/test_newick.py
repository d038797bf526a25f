"""Newick: what files contain, round trips, and where errors are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.errors import InvalidParameterError, ParseError
from filbert.read import newick
from tests.profiles import n_examples
from tests.reference.trees import Node
from tests.reference.trees import write as brackets
from tests.strategies import unicode_trees
from tests.tree_formats import CHAIN, read, read_forest, read_skipping, read_texts, write


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("(a:0.1,(b,c)inner:1e-5)root;", {}, ["(root a (inner b c))"]),
        ("(a:0.1,(b,c)inner:1e-5)root;", {"lengths": "label"}, ["(root a:0.1 (inner:1e-5 b c))"]),
        ("((a,b)95,c);", {"inner_labels": "drop"}, ["(_ (_ a b) c)"]),
        ("(,(:1,));\n x ;", {"placeholder": "?"}, ["(? ? (? ? ?))", "(x)"]),
        ("('it''s (a) tree',\"b c\",O'Neil);", {}, [r"(_ it's\ \(a\)\ tree b\ c O'Neil)"]),
        ("[&R] (a[&&NHX:S=x[1]],b_c)[top]'':2;", {}, ["(_ a b_c)"]),
        ("\ufeff(a\r\n,\tb)\r\n;\r\n", {}, ["(_ a b)"]),
        ("", {}, []),
    ],
)
def test_what_files_contain(text: str, options: dict[str, str], expected: list[str]) -> None:
    assert read_texts("newick", text, **options) == expected


@n_examples(60)
@given(st.lists(unicode_trees(), max_size=3), st.sampled_from(["drop", "label"]))
def test_round_trip(trees: list[Node], lengths: str) -> None:
    forest = Forest.from_brackets([brackets(tree) for tree in trees])
    text = write("newick", forest, lengths=lengths)
    assert read_forest("newick", text, lengths=lengths) == forest


def test_lengths_come_back() -> None:
    text = "((a:0.1,'b c':2)x:-1e-5,_:3)_;\n"
    assert write("newick", read_forest("newick", text, lengths="label"), lengths="label") == text


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("(a,b)", 1, 6, "does not end"),
        ("(a,b", 1, 5, "does not end"),
        ("(a,b;", 1, 5, "1 brackets are not closed"),
        ("(a));", 1, 4, r"unexpected '\)'"),
        ("(a b);", 1, 4, "unexpected label 'b'"),
        ("(a\n:x);", 2, 2, "'x' is not a branch length"),
        ("(a:);", 1, 4, "no branch length"),
        ("(a:1:2);", 1, 5, "second branch length"),
        ("a,b;", 1, 2, "comma outside"),
        ("a;;", 1, 3, "no tree before"),
        ("3\n(a,b);", 2, 1, r"unexpected '\('"),
        ("(a,\n  'b);", 2, 3, "quote is not closed"),
        ("(a,[b);", 1, 4, "comment is not closed"),
        ("(a{1},b);", 1, 3, "unexpected '{'"),
        ("#NEXUS\nbegin trees;", 1, None, "NEXUS"),
    ],
)
def test_bad_text_has_a_place(text: str, line: int, column: int | None, message: str) -> None:
    with pytest.raises(ParseError, match=message) as error:
        read("newick", text)
    assert (error.value.source, error.value.line, error.value.column) == ("file", line, column)


def test_bad_trees_can_be_skipped() -> None:
    trees, skipped = read_skipping("newick", "(a,b);\n(a b);(c;\nx;\n;(d)'e")
    assert trees == ["(_ a b)", "(x)"]
    assert [(error.line, error.column) for error in skipped] == [(2, 4), (2, 9), (4, 1), (4, 5)]


def test_a_chain() -> None:
    text = "(" * CHAIN + "a" + ")b" * CHAIN + ";"
    assert read_forest("newick", text)[0].depth == CHAIN + 1
    labels, parents = ["b"] * CHAIN + ["a"], list(range(-1, CHAIN))
    assert newick.write(labels, parents, newick.Options()) == text


@pytest.mark.parametrize(
    "options", [{"lengths": "keep"}, {"inner_labels": True}, {"placeholder": ""}]
)
def test_bad_options(options: dict[str, object]) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(options))):
        read("newick", "", **options)
