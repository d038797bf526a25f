"""Dot-bracket notation: what files contain, round trips, and where errors are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.errors import InvalidParameterError, ParseError
from tests.profiles import n_examples
from tests.tree_formats import CHAIN, read, read_forest, read_skipping, read_texts, write


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("((..).)\n()", ["(RNA (pair (pair . .) .))", "(RNA (pair))"]),
        ("GGAAUCC\n((..).)\n", ["(RNA (GC (GU A A) C))"]),
        ("GGA\nAUCC\n((.\n.).)\n", ["(RNA (GC (GU A A) C))"]),
        ("GC&A\n()&.", ["(RNA (GC) & A)"]),
        ("AC\n..\n()\n\n(..)", ["(RNA A C)", "(RNA (AC))", "(RNA (pair . .))"]),
        ("# made by hand\n\n; and\n...", ["(RNA . . .)"]),
        ("", []),
    ],
)
def test_what_files_contain(text: str, expected: list[str]) -> None:
    assert read_forest("dot-bracket", text) == Forest.from_brackets(expected)


def test_names_and_energies_are_columns() -> None:
    text = ">one two\nGGC\n(.) (-1.20)\n(.) [ 0.5 ]\n>\nAC\n..\n"
    assert [dict(record.columns) for record in read("dot-bracket", text)] == [
        {"name": "one two", "energy": "-1.20"},
        {"name": "one two", "energy": "0.5"},
        {},
    ]


def test_pseudoknots_can_be_dropped() -> None:
    for text in ("(.[[.).]]", "(.AA.).aa"):
        assert read_texts("dot-bracket", text, pseudoknots="drop") == ["(RNA (pair . . . .) . . .)"]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("..\n  ((.)", 2, 3, r"'\(' is not closed"),
        ("(.))", 1, 4, r"unexpected '\)'"),
        (">a\n((.[)).]", 2, 4, r"a pseudoknot: '\['"),
        ("ACGU\n(.\n-)", 3, 1, "unexpected '-'"),
        ("AC\n...", 2, None, "2 bases and its structure 3"),
        ("AC\n.\n", 2, None, "2 bases and its structure 1"),
        ("AC\n>b\n", 2, None, "2 bases and its structure 0"),
        (">a\n", 1, None, "the name 'a' has no structure"),
        (">a\n# none\n>b\n(.)\n", 3, None, "the name 'a' has no structure"),
        (">a\rAC\r()\r", 1, None, "has no structure"),
        ("A&C\n...", 2, 2, "strand break"),
        (".. x", 1, None, "unexpected 'x'"),
        ("1 2", 1, None, "neither a structure nor a sequence"),
    ],
)
def test_bad_text_has_a_place(text: str, line: int, column: int | None, message: str) -> None:
    with pytest.raises(ParseError, match=message) as error:
        read("dot-bracket", text)
    assert (error.value.source, error.value.line, error.value.column) == ("file", line, column)


def test_bad_structures_can_be_skipped() -> None:
    text = "AC\n)(\n..\n>b\nACG\n>c\nAC\nG\n(.)\n12\nA\n..\n\n(.).\nU\n"
    trees, skipped = read_skipping("dot-bracket", text)
    assert trees == ["(RNA A C)", "(RNA (AG C))", "(RNA (pair .) .)"]
    assert [error.line for error in skipped] == [2, 6, 10, 12, 15]


@st.composite
def structures(draw: st.DrawFn) -> str:
    """A structure in brackets and dots, with a sequence or without."""
    marks = "".join(draw(st.lists(st.sampled_from("(.&"), max_size=8)))
    made = ""
    for mark in marks:
        made = f"({made})" if mark == "(" else draw(st.sampled_from([made + mark, mark + made]))
    made += "."
    if draw(st.booleans()):
        return made
    bases = "".join(mark if mark == "&" else draw(st.sampled_from("ACGUP")) for mark in made)
    return f"{bases}\n{made}\n"


@n_examples(60)
@given(st.lists(structures(), max_size=4))
def test_round_trip(texts: list[str]) -> None:
    text = "".join(f"{text}\n" for text in texts)
    assert write("dot-bracket", read_forest("dot-bracket", text)) == text


@pytest.mark.parametrize(
    "tree", ["(S a)", "(RNA)", "(RNA (A C))", "(RNA ACG)", "(RNA (. .))", "(RNA . A)", "(RNA &)"]
)
def test_other_trees_are_not_written(tree: str) -> None:
    with pytest.raises(InvalidParameterError, match="cannot be written in dot-bracket"):
        write("dot-bracket", Forest.from_brackets([tree]))


def test_a_chain() -> None:
    text = "(" * CHAIN + "." + ")" * CHAIN + "\n"
    forest = read_forest("dot-bracket", text)
    assert forest[0].depth == CHAIN + 2
    assert write("dot-bracket", forest) == text


def test_bad_options() -> None:
    with pytest.raises(InvalidParameterError, match="pseudoknots"):
        read("dot-bracket", "", pseudoknots=True)
