"""Source code of other languages as trees: units, label policies, tokens and errors."""

import importlib.util
import sys
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import filbert
from filbert import Examples, Forest
from filbert.errors import (
    FilbertError,
    InvalidParameterError,
    MissingLibraryError,
    ParseError,
    SkippedInputWarning,
)
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.documents import Document, TreeRecord, trees_of
from filbert.read.grammar import grammar_of
from filbert.read.languages import LANGUAGES
from tests.profiles import n_examples

DEEP = 50_000

SOURCES = {
    "java": """\
package p;
class A<T> {
    A() {}
    @Override
    public int f(int x) { return x; }
    interface I { void g(); }
    void h() { new Thread() { public void run() {} }; list.map(x -> x); }
    record R(int a) { R {} }
    enum E { ONE; int e() { return 1; } }
}
""",
    "javascript": """\
function a() { function b() {} }
const c = async (x) => x, d = function () {};
o = { e: function () {}, f() {}, get g() { return 1 } };
class K extends L { h = () => 1; static #i() {} }
module.exports.j = function* () {};
[1].map(x => x); (function () {})();
let M = class { k() {} };
""",
    "c": """\
int prototype(void);
static const char **f(struct s *p) { return 0; }
typedef struct { int a; } T;
struct q { int z; };
struct q *g(void) { return 0; }
enum e { ONE };
""",
    "go": """\
package m
type T struct { a int }
type I interface { M() }
func F[K any](k K) { go func() {}() }
func (t *T) G() {}
func (T) H() {}
""",
    "cpp": """\
namespace n {
template <class T> class A : B {
  A() {}
  ~A() {}
  A operator+(const A& o) const { return o; }
};
}
int n::A::f() { auto l = [](int x) { return x; }; return 1; }
struct S { int a; };
""",
    "rust": """\
mod m {
    struct S { a: i32 }
    impl Tr for S { fn f(&self) { let g = |x| x; } }
    trait Q { fn q(&self); }
}
enum E { One }
fn main() { fn inner() {} }
""",
    "ruby": """\
module M
  class A < B
    def f(a) = a
    def self.g; [1].each { |x| x } end
    def h=(v); end
    def +(other); end
  end
end
class E; end
""",
}

FUNCTIONS = {
    "java": "A.A A.f A.I.g A.h A.h.run A.R.R A.E.e",
    "javascript": "a a.b c d e f g K.h K.#i module.exports.j M.k",
    "c": "f g",
    "go": "F T.G T.H",
    "cpp": "n::A::A n::A::~A n::A::operator+ n::A::f",
    "rust": "m::S::f m::Q::q main main::inner",
    "ruby": "M::A::f M::A::g M::A::h= M::A::+",
}

CLASSES = {
    "java": "A A.I A.R A.E",
    "javascript": "K M",
    "c": "<anonymous> q e",
    "go": "T I",
    "cpp": "n::A S",
    "rust": "m::S m::Q E",
    "ruby": "M M::A E",
}

# Wheels of the extra are there wherever tests run; the others where they are installed.
INSTALLED = [
    name
    for name, language in LANGUAGES.items()
    if language.extra or importlib.util.find_spec(f"tree_sitter_{name}")
]


def records(language: str, source: str | bytes, **options: object) -> list[TreeRecord]:
    data = source.encode() if isinstance(source, str) else source
    format = TREE_FORMATS[language]
    document = Document("a", BytesIO(data))
    return list(trees_of(format.read, document, format.options(options)))


def names(language: str, source: str, **options: object) -> list[str]:
    return [record.columns["name"] for record in records(language, source, **options)]


def function(language: str, source: str, **options: object) -> str:
    [record] = records(language, source, unit="function", **options)
    return record.text


@pytest.mark.parametrize("language", INSTALLED)
class TestLanguages:
    def test_functions(self, language: str) -> None:
        assert names(language, SOURCES[language], unit="function") == FUNCTIONS[language].split()

    def test_classes(self, language: str) -> None:
        assert names(language, SOURCES[language], unit="class") == CLASSES[language].split()

    def test_the_types_of_units_are_in_the_grammar(self, language: str) -> None:
        one = LANGUAGES[language]
        types = {*one.functions, *one.classes, *dict(one.scopes), *dict(one.binders)}
        assert types <= set(grammar_of(language).types)

    def test_units_are_parts_of_the_file(self, language: str) -> None:
        [module] = records(language, SOURCES[language])
        assert module.columns == {}
        for record in records(language, SOURCES[language], unit="function"):
            assert record.text in module.text
        assert len(Forest([module.text])) == 1

    def test_empty_files_and_comments(self, language: str) -> None:
        mark = "#" if language == "ruby" else "//"
        [empty] = records(language, "")
        [comment] = records(language, f"{mark} nothing\n")
        assert empty.text == comment.text
        assert records(language, "", unit="function") == []


class TestUnits:
    def test_outermost_units(self) -> None:
        found = names("java", SOURCES["java"], unit="function", nested=False)
        assert found == ["A.A", "A.f", "A.I.g", "A.h", "A.R.R", "A.E.e"]
        assert names("java", SOURCES["java"], unit="class", nested=False) == ["A"]

    def test_lines(self) -> None:
        f = records("java", SOURCES["java"], unit="function")[1]
        assert f.columns == {"name": "A.f", "line": "4", "end_line": "5"}


class TestLabels:
    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (
                {},
                "(method_declaration (modifiers public) (integral_type int) (identifier f)"
                " (formal_parameters (formal_parameter (integral_type int) (identifier x)))"
                " (block (return_statement (binary_expression (identifier x) +"
                " decimal_integer_literal))))",
            ),
            (
                {"labels": "types"},
                "(method_declaration (modifiers public) (integral_type int) identifier"
                " (formal_parameters (formal_parameter (integral_type int) identifier))"
                " (block (return_statement (binary_expression identifier +"
                " decimal_integer_literal))))",
            ),
            (
                {"labels": "abstract", "constants": "values"},
                "(method_declaration (modifiers public) (integral_type int) (identifier v0)"
                " (formal_parameters (formal_parameter (integral_type int) (identifier v1)))"
                " (block (return_statement (binary_expression (identifier v1) +"
                " (decimal_integer_literal 1)))))",
            ),
            (
                {"tokens": "none", "labels": "types"},
                "(method_declaration modifiers integral_type identifier (formal_parameters"
                " (formal_parameter integral_type identifier)) (block (return_statement"
                " (binary_expression identifier decimal_integer_literal))))",
            ),
            (
                {"tokens": "all", "labels": "types"},
                "(method_declaration (modifiers public) (integral_type int) identifier"
                r" (formal_parameters \( (formal_parameter (integral_type int) identifier) \))"
                " (block { (return_statement return (binary_expression identifier +"
                " decimal_integer_literal) ;) }))",
            ),
        ],
    )
    def test_policies(self, options: dict[str, object], expected: str) -> None:
        source = "class A { public int f(int x) { return /* more */ x + 1; // less\n } }"
        assert function("java", source, **options) == expected

    def test_numbers_begin_anew_in_each_unit(self) -> None:
        source = "function f(a) { return a } function g(b) { return b }"
        one, two = records("javascript", source, unit="function", labels="abstract")
        assert one.text == two.text
        assert "(identifier v0)" in one.text

    @pytest.mark.parametrize(
        ("language", "one", "other"),
        [
            ("java", "class A { void f() { i++; } }", "class A { void f() { i--; } }"),
            ("java", "class A { int f() {} }", "class A { long f() {} }"),
            ("java", "class A { void f() { if (a) b(); else c(); } }",
             "class A { void f() { if (a) b(); c(); } }"),
            ("c", "void f(void) { a->b; }", "void f(void) { a.b; }"),
            ("c", "void f(int a) {}", "void f(char a) {}"),
            ("javascript", "let f = async () => 1", "let f = () => 1"),
            ("javascript", "function f() { let x }", "function f() { const x }"),
            ("go", "package m\nfunc f() { a += b }", "package m\nfunc f() { a -= b }"),
        ],
    )  # fmt: skip
    def test_operators_distinguish_programs(self, language: str, one: str, other: str) -> None:
        assert function(language, one, labels="types") != function(language, other, labels="types")

    def test_values(self) -> None:
        [record] = records("javascript", r"f('a b\n', /c(d)/g, this, true)", constants="values")
        assert record.text == (
            r"(program (expression_statement (call_expression (identifier f) (arguments"
            r" (string (string_fragment a\ b) (escape_sequence \\n))"
            r" (regex (regex_pattern c\(d\)) (regex_flags g)) this true))))"
        )

    @pytest.mark.parametrize(
        "options",
        [{"tokens": "named"}, {"encoding": "nonsense"}, {"encoding": 8}, {"encoding": "hex"},
         {"language": "java"}, {"labels": "all"}],
    )  # fmt: skip
    def test_options_are_checked(self, options: dict[str, object]) -> None:
        with pytest.raises(InvalidParameterError, match=next(iter(options))):
            TREE_FORMATS["java"].options(options)


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b.c", "1", '"s"', "x[1]"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda e: f"-({e})"),
        st.lists(inner, max_size=3).map(lambda es: f"f({', '.join(es)})"),
    ),
    max_leaves=10,
)


@n_examples(40)
@given(EXPRESSIONS)
def test_any_expression_in_four_languages(expression: str) -> None:
    sources = {
        "java": f"class A {{ int f() {{ return {expression}; }} }}",
        "javascript": f"function f() {{ return {expression}; }}",
        "c": f"int f(void) {{ return {expression}; }}",
        "go": f"package m\nfunc f() int {{ return {expression} }}",
    }
    for language, source in sources.items():
        named = Forest([function(language, source)])
        assert Forest([function(language, source, labels="abstract")]).n_nodes == named.n_nodes
        assert Forest([function(language, source, labels="types")]).n_nodes <= named.n_nodes
        longer = source.replace("b.c", "bb.cc")
        assert function(language, longer, labels="abstract") == function(
            language, source, labels="abstract"
        )


class TestErrors:
    @pytest.mark.parametrize(
        ("language", "source", "line", "column", "message"),
        [
            ("java", "\n\nclass A { int é = é é; }", 3, 19, "invalid java syntax"),
            ("java", "class A { int x = 1 }", 1, 20, "; is missing"),
            ("c", "int f() { return 1; }\nint g( {", 2, 1, "macros are not expanded"),
            ("go", "package m\nfunc f() {", None, None, 'on_error="skip"'),
            ("javascript", b"let a\nlet b = '\xe9'", 2, 10, "encoding='latin-1'"),
            ("java", "class A {\n}\0", 2, 2, "null character"),
            ("java", "class A {}".encode("utf-16"), 1, 1, "not utf-8"),
        ],
    )
    def test_what_cannot_be_parsed(
        self, language: str, source: str | bytes, line: int, column: int, message: str
    ) -> None:
        with pytest.raises(ParseError, match=message) as caught:
            records(language, source, unit="function")
        assert caught.value.source == "a"
        if line is not None:
            assert (caught.value.line, caught.value.column) == (line, column)

    def test_encodings(self) -> None:
        expected = records("java", "class É {}")
        assert records("java", "class É {}".encode("latin-1"), encoding="latin-1") == expected
        assert records("java", "class É {}".encode("utf-16"), encoding="utf-16") == expected
        assert records("java", b"\xef\xbb\xbf" + "class É {}".encode()) == expected

    def test_a_missing_wheel_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        grammar_of.cache_clear()
        for language, message in [
            ("java", r'java needs tree-sitter-java: pip install "filbert\[code\]"'),
            ("cpp", r"cpp needs tree-sitter-cpp: pip install tree-sitter-cpp"),
        ]:
            monkeypatch.setitem(sys.modules, f"tree_sitter_{language}", None)
            with pytest.raises(MissingLibraryError, match=message):
                TREE_FORMATS[language].options({})

    def test_an_old_parser_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(pointer: object) -> None:
            raise ValueError("Incompatible Language version 15. Must be between 13 and 14")

        grammar_of.cache_clear()
        monkeypatch.setattr("tree_sitter.Language", refuse)
        with pytest.raises(FilbertError, match="--upgrade tree-sitter tree-sitter-go"):
            TREE_FORMATS["go"].options({})


class TestDepth:
    @pytest.mark.parametrize(
        ("language", "source"),
        [
            ("java", f"class A {{ void f() {{ x = {'(' * DEEP}1{')' * DEEP}; }} }}"),
            ("javascript", f"f = {'() => ' * DEEP}1"),
            ("c", f"int {'*' * DEEP}f() {{ }}"),
            ("go", f"package m\nfunc f() {{ x({'-' * DEEP}1) }}"),
        ],
    )
    def test_no_nesting_is_too_deep(self, language: str, source: str) -> None:
        assert Forest([function(language, source)]).n_nodes > DEEP

    def test_deep_errors(self) -> None:
        with pytest.raises(ParseError):
            records("java", "{" * DEEP)

    def test_deep_classes(self) -> None:
        source = "class A {" * 5_000 + "}" * 5_000
        assert names("java", source, unit="class", nested=False) == ["A"]


class TestFolders:
    def test_methods_of_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "p").mkdir()
        (tmp_path / "A.java").write_text("class A {\n int f(int x) { return x; }\n}")
        (tmp_path / "p" / "B.java").write_text("class B {\n\n int g(int y) { return y; } }")
        X = filbert.read_trees(tmp_path, unit="function", labels="abstract")
        assert isinstance(X, Examples)
        assert list(X.columns["name"]) == ["A.f", "B.g"]
        assert list(X.columns["line"]) == ["2", "3"]
        assert [Path(file).name for file in X.columns["file"]] == ["A.java", "B.java"]
        assert X["tree"][0] == X["tree"][1]

    def test_functions_without_errors_are_kept_on_demand(self, tmp_path: Path) -> None:
        path = tmp_path / "a.c"
        path.write_text("int f() { return 1; }\nint g() { MACRO x y }\nint h() { return 2; }\n")
        with pytest.raises(ParseError, match="line 2"):
            filbert.read_trees(path, unit="function")
        left_out = "line 2.*1 of the 3 in this file"
        with pytest.warns(SkippedInputWarning, match=left_out):
            X = filbert.read_trees(path, unit="function", on_error="skip")
        assert isinstance(X, Examples)
        assert list(X.columns["name"]) == ["f", "h"]
        with pytest.warns(SkippedInputWarning):
            assert len(filbert.read_trees(path, on_error="skip")) == 0

    def test_texts(self) -> None:
        forest = Forest.from_texts(["class A {}", "class B {}"], format="java", labels="types")
        assert forest[0] == forest[1]
