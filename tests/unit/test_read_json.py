"""JSON values as trees, and back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest, read_trees, write_trees
from filbert.errors import InvalidParameterError, ParseError
from filbert.read.json_values import Options, write


def tree(value: str | bytes, **options: Any) -> str:
    return str(Forest.from_texts([value], format="json", **options)[0])


@pytest.mark.parametrize(
    ("value", "types", "values"),
    [
        ("{}", "(object)", "(object)"),
        ("[]", "(array)", "(array)"),
        ('{"a": {}, "b": [[]]}', "(object (.a object) (.b (array array)))", None),
        ('[1, "x", true, false, null]', "(array number string true false null)",
         "(array (number 1) (string x) true false null)"),
        ('""', "(string)", "(string)"),
        ('"a (b)\\n"', "(string)", r"(string a\ \(b\)\n)"),
        ('{"": 1, ".": 2, "a b": 3, "object": 4}',
         r"(object (. number) (.. number) (.a\ b number) (.object number))", None),
        ('{"b": 1, "a": 2, "b": 3}', "(object (.b number) (.a number) (.b number))", None),
        ("-0.50e+10", "(number)", "(number -0.50e+10)"),
        ("1e999", "(number)", "(number 1e999)"),
        ("9" * 5000, "(number)", f"(number {'9' * 5000})"),
        ("[NaN, -Infinity]", "(array number number)", "(array (number NaN) (number -Infinity))"),
        (b"\xef\xbb\xbf[]", "(array)", "(array)"),
        (" 7\n", "(number)", "(number 7)"),
    ],
)  # fmt: skip
def test_values(value: str | bytes, types: str, values: str | None) -> None:
    assert tree(value) == types
    assert values is None or tree(value, values=True) == values


def test_keys_can_be_sorted() -> None:
    value = '{"b": 1, "a": {"d": "x", "c": 2}, "b": null}'
    assert tree(value, sort_keys=True) == (
        "(object (.a (object (.c number) (.d string))) (.b number) (.b null))"
    )


def test_items(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"x": 1}, [], "y"]')
    X: Any = read_trees(tmp_path / "a.json", items=True)
    assert [str(t) for t in X["tree"]] == ["(object (.x number))", "(array)", "(string)"]
    assert X.columns["item"].tolist() == ["0", "1", "2"]
    with pytest.raises(ParseError, match="not an array"):
        tree("{}", items=True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "the document is empty"),
        (" \n", "the document is empty"),
        ("[1,]", "column [34]: not JSON"),
        ("{'a': 1}", "column 2: not JSON"),
        ('[\n1,\n"x]', "line 3, column 1: not JSON"),
        ('{"a": 1}\n{"a": 2}', "line 2, column 1: .*JSON Lines, use read_examples"),
        ("[01]", "column 3"),
        ('"\t"', "column 2"),
        ("hello", "column 1"),
        (b"\xff", "column 1: the text is not UTF-8"),
        ('["\\ud800"]', "not valid UTF-8"),
        ('["\\u0000"]', "NUL"),
    ],
)
def test_what_is_not_json(value: str | bytes, message: str) -> None:
    with pytest.raises(ParseError, match=f"sample 0.*{message}"):
        tree(value, values=True)


def test_depth_has_a_limit() -> None:
    for value in ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000):
        with pytest.raises(ParseError, match="nested too deeply"):
            tree(value)
    assert Forest.from_texts(["[" * 500 + "]" * 500], format="json")[0].depth == 500


@pytest.mark.parametrize("options", [{"values": "type"}, {"sort_keys": 1}, {"keys": True}])
def test_bad_options(options: Any) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(options))):
        tree("[]", **options)


# ---------------------------------------------------------------- there and back

STRINGS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 1]))
def test_values_there_and_back(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    [node] = Forest.from_texts([text], format="json", values=True)
    written = write(*node.to_parents(), Options())
    assert json.dumps(json.loads(written)) == json.dumps(value)
    assert tree(written, values=True) == str(node)


def test_files_there_and_back(tmp_path: Path) -> None:
    forest = Forest.from_texts(['{"a": 1.50, "a": ["x"]}'], format="json", values=True)
    write_trees(forest, tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == '{"a": 1.50, "a": ["x"]}\n'
    assert read_trees(tmp_path / "a.json", values=True) == forest


def test_no_limit_on_the_depth_of_writing() -> None:
    n = 100_000
    assert write(["array"] * n, list(range(-1, n - 1)), Options()) == "[" * n + "]" * n


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S a)", "'S' with 1 children is no JSON value"),
        ("(object a)", "below 'object'.*got 'a'"),
        ("(object (.a))", "'.a' with 0"),
        ("(object (.a true false))", "'.a' with 2"),
        ("(array (.a true))", "'.a' with 1 children is no JSON value"),
        ("(number)", "'number' with 0 children"),
        ("(number x)", "'number' with 1"),
        ("(number 01)", "'number'"),
        ("(number ١)", "'number'"),
        ("(string a b)", "'string' with 2"),
        ("(string (a b))", "'string' with 1"),
        ("(true a)", "'true' with 1"),
    ],
)
def test_trees_that_are_no_values(text: str, message: str) -> None:
    [node] = Forest([text])
    with pytest.raises(InvalidParameterError, match=message):
        write(*node.to_parents(), Options())
