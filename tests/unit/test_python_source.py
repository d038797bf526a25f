"""Python source as trees: units, label policies, and sources that cannot be parsed."""

import ast
import signal
import sys
import warnings
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import filbert
from filbert import Examples, Forest
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    ParseError,
    SkippedInputWarning,
)
from filbert.read import python_units
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.documents import Document, TreeRecord
from filbert.read.python_ast import ast_to_brackets
from filbert.read.python_source import Options, read
from tests.profiles import n_examples

SOURCE = """\
import os

@wrap
def outer(x):
    class Local:
        def method(self): ...
    def inner(y): return y
    return lambda z: z

class A(B):
    async def f(self): pass
    class C:
        def g(self): pass

try:
    def first(): pass
except E:
    def second(): pass
else:
    def third(): pass
finally:
    def fourth(): pass
match x:
    case 1:
        def in_case(): pass
while 0:
    with y:
        def in_with(): pass
"""

HARD_TO_DIVIDE = '''\
x = """
def f(
class A:
@
"""
@first
# between
@second(
1)
def g(a=(
2, """
def not_one(): pass
""")): return [
a,
]
if x:
    pass
else:
    pass
async  def h(): return "é"; y = 1
z = y \\
@ x
class  B: "def"
'''


def records(source: str | bytes, **options: object) -> list[TreeRecord]:
    data = source.encode() if isinstance(source, str) else source
    format = TREE_FORMATS["python"]
    return list(format.read(Document("a.py", BytesIO(data)), format.options(options)))


def names(source: str, **options: object) -> list[str]:
    return [record.columns["name"] for record in records(source, **options)]


class TestUnits:
    def test_every_function(self) -> None:
        assert names(SOURCE, unit="function") == [
            "outer",
            "outer.<locals>.Local.method",
            "outer.<locals>.inner",
            "A.f",
            "A.C.g",
            "first",
            "second",
            "third",
            "fourth",
            "in_case",
            "in_with",
        ]

    def test_outermost_functions(self) -> None:
        found = names(SOURCE, unit="function", nested=False)
        assert found[:3] == ["outer", "A.f", "A.C.g"]

    def test_classes(self) -> None:
        assert names(SOURCE, unit="class") == ["outer.<locals>.Local", "A", "A.C"]
        assert names(SOURCE, unit="class", nested=False) == ["outer.<locals>.Local", "A"]

    def test_lines(self) -> None:
        outer = records(SOURCE, unit="function")[0]
        assert outer.columns == {"name": "outer", "line": "4", "end_line": "8"}

    def test_a_module_is_the_default(self) -> None:
        [record] = records("x = 1")
        assert record.text == "(Module (body (Assign (Name x) (Constant int))))"
        assert record.columns == {}

    def test_an_empty_file(self) -> None:
        assert records("")[0].text == "(Module)"
        assert records("# nothing\n", unit="function") == []


class TestLabels:
    SOURCE = "def f(x, y):\n    return f(y.x, True, 'x y', 0x10, z=None) + x"

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (
                {},
                "(FunctionDef f (arguments (arg x) (arg y)) (body (Return (BinOp (Call (Name f)"
                " (Attribute (Name y) x) (Constant True) (Constant str) (Constant int)"
                " (keyword z (Constant None))) Add (Name x)))))",
            ),
            (
                {"labels": "types"},
                "(FunctionDef (arguments arg arg) (body (Return (BinOp (Call Name"
                " (Attribute Name) (Constant True) (Constant str) (Constant int)"
                " (keyword (Constant None))) Add Name))))",
            ),
            (
                {"labels": "abstract"},
                "(FunctionDef v0 (arguments (arg v1) (arg v2)) (body (Return (BinOp (Call (Name v0)"
                " (Attribute (Name v2) v1) (Constant True) (Constant str) (Constant int)"
                " (keyword v3 (Constant None))) Add (Name v1)))))",
            ),
            (
                {"labels": "types", "constants": "values"},
                "(FunctionDef (arguments arg arg) (body (Return (BinOp (Call Name"
                r" (Attribute Name) (Constant True) (Constant 'x\ y') (Constant 16)"
                " (keyword (Constant None))) Add Name))))",
            ),
        ],
    )
    def test_policies(self, options: dict[str, object], expected: str) -> None:
        [record] = records(self.SOURCE, unit="function", **options)
        assert record.text == expected

    def test_numbers_follow_the_order_of_the_tree(self) -> None:
        [record] = records("f(g(a), b)", labels="abstract")
        assert "(Call (Name v0) (Call (Name v1) (Name v2)) (Name v3))" in record.text

    def test_numbers_begin_anew_in_each_unit(self) -> None:
        one, two = records("def f(a): return a\ndef g(b): return b", labels="abstract",
                           unit="function")  # fmt: skip
        assert one.text == two.text

    def test_dotted_names_have_parts(self) -> None:
        [record] = records("import a.b as c")
        assert record.text == "(Module (body (Import (alias a b (asname c)))))"

    def test_types_leave_out_import_names(self) -> None:
        [record] = records("import a.b as c\nglobal x", labels="types")
        assert record.text == "(Module (body (Import alias) Global))"

    def test_long_integers_have_values(self) -> None:
        [record] = records("0x1" + "0" * 5_000, constants="values")
        assert f"(Constant 0x1{'0' * 5_000})" in record.text

    @pytest.mark.parametrize(
        "options",
        [{"unit": "method"}, {"labels": "all"}, {"constants": None}, {"nested": 1}, {"unit": []}],
    )
    def test_options_are_checked(self, options: dict[str, object]) -> None:
        with pytest.raises(InvalidParameterError, match=next(iter(options))):
            TREE_FORMATS["python"].options(options)


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b.c", "1", "'s'", "None", "x[1:]", "f(*y)"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda e: f"(not {e})"),
        st.lists(inner, max_size=3).map(lambda es: f"[{', '.join(es)}]"),
        st.tuples(inner, inner).map(lambda t: f"g({t[0]}, k={t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"(lambda v: {t[0]} if {t[1]} else v)"),
    ),
    max_leaves=12,
)


@n_examples(60)
@given(EXPRESSIONS)
def test_policies_agree_on_any_expression(expression: str) -> None:
    node = ast.parse(expression, mode="eval").body
    named = Forest.from_ast(node).n_nodes
    assert Forest.from_ast(node, labels="abstract").n_nodes == named
    assert Forest.from_ast(node, labels="types").n_nodes <= named
    # Renaming all identifiers changes the names, but neither the types nor the numbers.
    renamed = ast.parse(expression, mode="eval").body
    for part in ast.walk(renamed):
        for field in ("id", "attr", "arg"):
            if isinstance(getattr(part, field, None), str):
                setattr(part, field, getattr(part, field) + "_")
    assert ast_to_brackets(renamed, labels="types") == ast_to_brackets(node, labels="types")
    assert ast_to_brackets(renamed, labels="abstract") == ast_to_brackets(node, labels="abstract")


class TestErrors:
    @pytest.mark.parametrize(
        ("source", "line", "column", "message"),
        [
            (b"x = 1\ndef f(:\n", 2, 7, "invalid syntax"),
            (b"print 'two'\n", 1, 1, "valid for Python 3"),
            (b"if x:\ny = 1\n", 2, 1, "expected an indented block"),
            ("'é' é é".encode(), 1, None, "invalid syntax"),
            (b"a = 1\nb = '\xe9'\n", 2, None, "declare its encoding"),
            (b"# coding: nonsense\n", None, None, "unknown encoding"),
            (b"a = 1\nb\0", 2, 2, "null byte"),
            ("x = 1".encode("utf-16"), 1, 4, "UTF-16"),
            (b"-" * 50_000 + b"1", None, None, "nested too deeply"),
            (b"x = " + b"(" * 50_000 + b")" * 50_000, 1, None, "too many nested"),
            (b"if x: y\n" + b"elif x: y\n" * 50_000, None, None, "nested too deeply"),
        ],
    )
    def test_what_cannot_be_parsed(
        self, source: bytes, line: int | None, column: int | None, message: str
    ) -> None:
        with pytest.raises(ParseError, match=message) as caught:
            records(source)
        assert caught.value.source == "a.py"
        assert caught.value.line == line
        if column is not None:  # beside other letters than ASCII, it depends on Python's version
            assert caught.value.column == column

    def test_long_chains(self) -> None:
        source = b"x" + b".a" * 50_000
        if sys.version_info < (3, 14):
            with pytest.raises(ParseError, match="nested too deeply"):
                records(source)
        else:
            assert records(source)[0].text.count("(Attribute ") == 50_000

    def test_declared_encodings(self) -> None:
        [record] = records(b"# coding: latin-1\n\xe9 = 1")
        assert "(Name é)" in record.text
        assert records(b"\xef\xbb\xbfx") == records("x")

    def test_text_is_text_whatever_it_declares(self) -> None:
        assert "é" in str(Forest.from_texts(["# coding: ascii\né"], format="python")[0])
        with pytest.raises(ParseError, match=r"sample 1.*surrogate"):
            Forest.from_texts(["x", "'\ud800'"], format="python")

    def test_no_warnings_about_old_escapes(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            records(r"x = '\d'")


class TestLargeFiles:
    """A large file is parsed in parts, so that Ctrl-C does not wait for all of it."""

    @pytest.mark.parametrize("part", [1, 10, 100, 300])
    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("is_utf8", [True, False])
    def test_the_tree_is_the_same(
        self, monkeypatch: pytest.MonkeyPatch, part: int, line_end: str, is_utf8: bool
    ) -> None:
        source = ("" if is_utf8 else "\ufeff") + SOURCE + HARD_TO_DIVIDE + SOURCE
        data = source.replace("\n", line_end).encode()
        text = data.decode() if is_utf8 else data
        whole = ast.dump(ast.parse(text), include_attributes=True)
        monkeypatch.setattr(python_units, "_PART", part)
        calls = self.count_calls(monkeypatch)
        module = python_units.parse_module(data, is_utf8=is_utf8)
        assert ast.dump(module, include_attributes=True) == whole
        assert len(calls) > 3 or part == 300

    def test_errors_and_encodings_are_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        bad = SOURCE.encode() * 3 + b"def f(:\n"
        encoded = b"# coding: latin-1\n" + b"def f(): return '\xe9'\n" * 9
        with pytest.raises(ParseError) as before:
            records(bad)
        expected = records(encoded)
        monkeypatch.setattr(python_units, "_PART", 20)
        with pytest.raises(ParseError) as after:
            records(bad)
        assert str(after.value) == str(before.value)
        assert records(encoded) == expected

    def test_an_interrupt_ends_it_after_a_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        source = b"def f(x):\n    return [x, 1]\n" * 20_000
        calls = self.count_calls(monkeypatch, interrupted=3)
        with pytest.raises(KeyboardInterrupt):
            python_units.parse_module(source)
        assert len(calls) == 3
        assert max(calls) < len(source) / 5

    def count_calls(self, monkeypatch: pytest.MonkeyPatch, interrupted: int = 0) -> list[int]:
        """Return the lengths of what the parser gets, and interrupt one of its calls."""
        calls: list[int] = []
        parse = ast.parse

        def counted(source: str | bytes) -> ast.Module:
            calls.append(len(source.strip()))
            if len(calls) == interrupted:
                signal.raise_signal(signal.SIGINT)
            return parse(source)

        monkeypatch.setattr(python_units.ast, "parse", counted)
        return calls


class TestFolders:
    def test_functions_of_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "pack").mkdir()
        (tmp_path / "a.py").write_text("def f(x): return x\n")
        (tmp_path / "pack" / "b.py").write_text("class B:\n    def g(self): return self\n")
        (tmp_path / "notes.txt").write_text("def h(): pass")
        X = filbert.read_trees(tmp_path, unit="function", labels="abstract")
        assert isinstance(X, Examples)
        assert list(X.columns["name"]) == ["f", "B.g"]
        assert list(X.columns["line"]) == ["1", "2"]
        assert [Path(file).name for file in X.columns["file"]] == ["a.py", "b.py"]
        assert X["tree"][0] == X["tree"][1]

    def test_bad_files_are_skipped_on_demand(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("def f(:\n")
        (tmp_path / "b.py").write_text("def g(): pass\n")
        with pytest.raises(ParseError, match=r"a\.py, line 1, column 7"):
            filbert.read_trees(tmp_path)
        with pytest.warns(SkippedInputWarning):
            X = filbert.read_trees(tmp_path, on_error="skip", unit="function")
        assert isinstance(X, Examples)
        assert list(X.columns["name"]) == ["g"]
        assert len(X.skipped) == 1


class TestFromAst:
    def test_nodes(self) -> None:
        nodes = ast.parse("x + 1\ny").body
        forest = Forest.from_ast(nodes, labels="types", constants="values")
        assert [str(tree) for tree in forest] == [
            "(Expr (BinOp Name Add (Constant 1)))",
            "(Expr Name)",
        ]
        assert len(Forest.from_ast(ast.parse("x"))) == 1

    def test_the_same_trees_as_from_source(self) -> None:
        [record] = read(Document("a.py", BytesIO(SOURCE.encode())), Options())
        assert Forest.from_ast([ast.parse(SOURCE)]) == Forest([record.text])

    def test_no_nesting_is_too_deep(self) -> None:
        negation = ast.Not()
        node: ast.expr = ast.Name("x")
        for _ in range(100_000):
            node = ast.UnaryOp(negation, node)
        forest = Forest.from_ast(node)
        assert forest.n_nodes == 200_002

    def test_what_is_no_node(self) -> None:
        with pytest.raises(InputTypeError, match=r"sample 1: .*ast\.parse"):
            Forest.from_ast([ast.parse("x"), "y"])
        with pytest.raises(InputTypeError, match="expected ast nodes"):
            Forest.from_ast("x = 1")
        with pytest.raises(InvalidParameterError, match="labels"):
            Forest.from_ast(ast.parse("x"), labels="all")  # type: ignore[arg-type]
        with pytest.raises(ParseError, match="sample 0"):
            Forest.from_ast(ast.Global([""]))

    def test_incomplete_nodes(self) -> None:
        node = ast.Name("x")
        del node.id
        assert str(Forest.from_ast(node)[0]) == "(Name)"
        assert str(Forest.from_ast(ast.Name("a b"))[0]) == r"(Name a\ b)"
