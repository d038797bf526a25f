"""The standard library's functions as a data set, on a small library written for the purpose."""

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest

from filbert.datasets import load_stdlib_functions, python_function_to_brackets
from filbert.errors import ParseError
from filbert.read.escape import escape_label
from filbert.read.python_ast import ast_to_brackets

SHAPES = '''
import os


def get_area(shape):
    """Say how large it is."""
    return shape.width * 2.5


def getArea(shape):
    return shape.width * 0.5  # the tree of get_area: only the constant differs


class Shape:
    def set_width(self, width=None, *rest, unit="mm", **more):
        if width is not None:
            self.width = width
        else:
            self._set_width(b"")

    @property
    def is_flat(self):
        def get_inner():
            return 1
        return not get_inner()

    def get(self):
        ...

    def __get__(self, owner, kind):
        return owner

    class Inner:
        async def _read(self):
            return await super()._read()

    def readline(self):
        return self.line
'''


def write_library(root: Path) -> Path:
    files = {
        "shapes.py": SHAPES,
        "pack/__init__.py": "def get_nothing():\n    return None\n",
        "pack/deep.py": "if True:\n    def set_all(xs):\n        for x in xs: x.set_all('\\d')\n",
        "pack/test/shapes.py": "def get_test():\n    return 'no test is read'\n",
        "site-packages/other.py": "def get_other():\n    return 'nor what is installed'\n",
        "broken.py": "def get_broken(:\n",
        "template.py": "def get_null():\n    return 1\0\n",
        "notes.txt": "def get_note(): return 1\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "latin.py").write_bytes(b"def get_latin():\n    return '\xe9'\n")
    return root


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return write_library(tmp_path)


def only_function(source: str) -> ast.FunctionDef:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


class TestLoading:
    def test_finds_functions_in_order_and_labels_them(self, library: Path) -> None:
        bunch = load_stdlib_functions(root=library)
        assert bunch.names == [
            "shapes.get_area:5",
            "shapes.Shape.set_width:15",
            "shapes.Shape.is_flat:22",
            "shapes.Shape.Inner._read:34",
            "pack.get_nothing:1",
            "pack.deep.set_all:2",
        ]
        assert bunch.target.tolist() == ["get", "set", "is", "read", "get", "set"]
        assert bunch.target_names.tolist() == ["get", "is", "read", "set"]
        assert len(bunch.data) == len(bunch.target)
        assert "get 2, is 1, read 1, set 2" in bunch.DESCR

    def test_trees(self, library: Path) -> None:
        bunch = load_stdlib_functions(root=library)
        assert str(bunch.data[0]) == (
            "(FunctionDef <name> (arguments (arg shape)) (body"
            " (Return (BinOp (Attribute (Name shape) width) Mult (Constant float)))))"
        )
        assert str(bunch.data[3]) == (
            "(AsyncFunctionDef <name> (arguments (arg self)) (body"
            " (Return (Await (Call (Attribute (Call (Name super)) <name>))))))"
        )

    def test_reads_quietly(self, library: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # pack/deep.py holds an invalid escape
            load_stdlib_functions(root=library)

    def test_limits(self, library: Path) -> None:
        full = load_stdlib_functions(root=library, max_per_verb=None, max_nodes=None)
        small = load_stdlib_functions(root=library, max_nodes=12)
        assert set(small.names) < set(full.names)
        assert {"pack.get_nothing:1"} <= set(small.names)
        one_each = load_stdlib_functions(root=library, max_per_verb=1)
        assert sorted(one_each.target) == ["get", "is", "read", "set"]

    def test_the_seed_decides_the_choice(self, tmp_path: Path) -> None:
        lines = [f"def get_{i}(): return x{i}\n" for i in range(50)]
        (tmp_path / "many.py").write_text("".join(lines), encoding="utf-8")

        def names(seed: int) -> list[str]:
            bunch = load_stdlib_functions(root=tmp_path, max_per_verb=10, random_state=seed)
            return list(bunch.names)

        assert names(0) == names(0)
        assert names(0) != names(1)
        assert len(names(0)) == 10

    def test_other_verbs(self, library: Path) -> None:
        bunch = load_stdlib_functions(["readline"], root=library)
        assert bunch.names == ["shapes.Shape.readline:37"]

    def test_nothing_found(self, tmp_path: Path) -> None:
        with pytest.raises(ParseError, match="verbs"):
            load_stdlib_functions(root=tmp_path)

    @pytest.mark.product
    def test_the_running_python(self) -> None:
        bunch = load_stdlib_functions(("get", "set", "is"), max_per_verb=40)
        _, counts = np.unique(bunch.target, return_counts=True)
        assert counts.tolist() == [40, 40, 40]
        assert len(set(bunch.names)) == len(bunch.data) == 120


class TestHiding:
    def test_name_docstring_and_decorators_disappear(self) -> None:
        function = only_function(
            "@fetch.setter\n"
            "def fetch(self, fetch=1):\n"
            "    '''fetch it'''\n"
            "    from a.fetch import fetch as _fetch\n"
            "    return self.__fetch(fetch) or other.prefetch(fetch=fetch)\n"
        )
        text = python_function_to_brackets(function, "fetch")
        assert "fetch" not in text.replace("prefetch", "")
        assert "setter" not in text
        assert "(Expr" not in text
        assert len(function.decorator_list) == 1, "the function itself stays as it is"
        assert len(function.body) == 3

    def test_a_function_of_a_docstring_alone(self) -> None:
        function = only_function("def f(x): 'nothing'")
        assert python_function_to_brackets(function, "f") == (
            "(FunctionDef <name> (arguments (arg x)))"
        )


class TestConversion:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("x", "(Name x)"),
            ("f(1, k='')", "(Call (Name f) (Constant int) (keyword k (Constant str)))"),
            ("f(*a, **k)", "(Call (Name f) (Starred (Name a)) (keyword (Name k)))"),
            ("a[1:]", "(Subscript (Name a) (Slice (lower (Constant int))))"),
            ("a[:1]", "(Subscript (Name a) (Slice (upper (Constant int))))"),
            ("[True, None]", "(List (Constant True) (Constant None))"),
            ("[..., b'']", "(List (Constant Ellipsis) (Constant bytes))"),
            ("{**x, 1: y}", "(Dict _ (Constant int) (Name x) (Name y))"),
            ("x if y else z", "(IfExp (Name y) (body (Name x)) (orelse (Name z)))"),
            ("0 < x <= 9", "(Compare (Constant int) Lt LtE (Name x) (Constant int))"),
        ],
    )
    def test_expressions(self, source: str, expected: str) -> None:
        assert ast_to_brackets(ast.parse(source, mode="eval").body) == expected

    def test_statements(self) -> None:
        source = "def f(a, *b, c, d=1, **e) -> int:\n  pass\n"
        assert ast_to_brackets(ast.parse(source).body[0]) == (
            "(FunctionDef f (arguments (arg a) (vararg (arg b)) (kwonlyargs (arg c) (arg d))"
            " (kw_defaults _ (Constant int)) (kwarg (arg e))) (body Pass) (returns (Name int)))"
        )

    def test_a_single_node_has_brackets(self) -> None:
        assert ast_to_brackets(ast.Pass()) == "(Pass)"

    def test_rename_sees_every_identifier(self) -> None:
        tree = ast.parse("import a.b as c\nd.e(f=g)")
        assert ast_to_brackets(tree, rename=str.upper) == (
            "(Module (body (Import (alias A B (asname C)))"
            " (Expr (Call (Attribute (Name D) E) (keyword F (Name G))))))"
        )

    def test_deep_expressions_do_not_recurse(self) -> None:
        depth = 5_000
        deep: ast.expr = ast.Name("x", ast.Load())
        for _ in range(depth):
            deep = ast.UnaryOp(ast.Not(), deep)
        text = ast_to_brackets(deep)
        assert text == "(UnaryOp Not " * depth + "(Name x)" + ")" * depth


class TestEscape:
    @pytest.mark.parametrize(
        ("label", "written"),
        [
            ("NP", "NP"),
            ("-LRB-", "-LRB-"),
            ("(", r"\("),
            ("a)", r"a\)"),
            ("a b", r"a\ b"),
            ("\\n", r"\\n"),
            ("\n\t\r\v\f", r"\n\t\r\v\f"),
            ("non\u00a0breaking", "non\u00a0breaking"),
        ],
    )
    def test_escapes(self, label: str, written: str) -> None:
        assert escape_label(label) == written

    def test_an_empty_label_cannot_be_written(self) -> None:
        with pytest.raises(ValueError, match="at least one character"):
            escape_label("")
