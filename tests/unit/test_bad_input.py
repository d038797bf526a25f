"""Text that is no tree: a typed error that names the place and the way out, or left out."""

import copy
import gzip
import io
import lzma
import os
import pickle
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest, TreeSVC
from filbert.errors import (
    CapacityError,
    CorruptForestError,
    FilbertError,
    InputTypeError,
    InvalidParameterError,
    KernelOverflowError,
    MatrixTooLargeError,
    MissingFileError,
    ParseError,
    SkippedInputWarning,
    TooExpensiveError,
)
from filbert.given import is_file_name
from filbert.kernels import SubsetTree


class Bad(NamedTuple):
    """A text, where it goes wrong, and what has to be said about it."""

    text: str | bytes
    line: int
    column: int
    reason: str
    hint: str

    @property
    def as_bytes(self) -> bytes:
        return self.text if isinstance(self.text, bytes) else self.text.encode()

    def check(self, error: ParseError, line_offset: int = 0) -> None:
        assert self.reason in error.reason
        assert self.hint in error.hint
        assert (error.line, error.column) == (self.line + line_offset, self.column)
        assert self.reason in str(error)
        assert self.hint in str(error)


NEVER_CLOSED = ("never closed", "add the missing closing brackets")
STRAY = ("a closing bracket without an opening one", "remove it")
OUTSIDE = ("text outside the brackets", "one tree a line")
NO_LABEL = ("a bracket without a label inside a tree", "write (label ...)")
EMPTY = ("an empty tree", "write (label ...)")
SEVERAL = ("holds more than one tree", "give it a label")
NUL = ("a NUL character", "UTF-16")
NOT_UTF8 = ("not valid UTF-8", "convert the file from its encoding")

# Bad wherever it stands: as a string of a list, as a text, in a file.
BAD = {
    "never closed": Bad("(S (NP a)", 1, 1, *NEVER_CLOSED),
    "never closed, deep": Bad("  (S (NP (D a", 1, 3, "3 brackets are open", "closing brackets"),
    "never closed, lines": Bad("(S\n  (NP a)\n  (VP b)\n", 1, 1, *NEVER_CLOSED),
    "only an opening bracket": Bad("(", 1, 1, *NEVER_CLOSED),
    "stray after a tree": Bad("(S a))", 1, 6, *STRAY),
    "stray on a later line": Bad("(S\n  (NP a)\n  b))", 3, 5, *STRAY),
    "stray alone": Bad("(S a)\n )", 2, 2, *STRAY),
    "stray after characters": Bad("(é ネコ 🐿))", 1, 9, *STRAY),
    "stray after escapes": Bad(r"(a\) \\))", 1, 9, *STRAY),
    "trailing text": Bad("(a b) c", 1, 7, *OUTSIDE),
    "two labels": Bad("a b", 1, 3, *OUTSIDE),
    "text before the bracket": Bad("a (b c)", 1, 3, "text after the end", "one tree"),
    "empty": Bad("()", 1, 2, *EMPTY),
    "empty with blanks": Bad("( \n )", 2, 2, *EMPTY),
    "no label": Bad("(S ((a) b))", 1, 5, *NO_LABEL),
    "no label, empty": Bad("(S (NP a) ())", 1, 12, *NO_LABEL),
    "no label below Penn's": Bad("( ( (S a) ) )", 1, 5, *NO_LABEL),
    "nothing below Penn's": Bad("(())", 1, 3, *NO_LABEL),
    "two trees below Penn's": Bad("( (a b) (c d) )", 1, 9, *SEVERAL),
    "text below Penn's": Bad("( (a b) c)", 1, 9, *SEVERAL),
    "NUL in a label": Bad("(a b\0c)", 1, 5, *NUL),
    "NUL between labels": Bad("(a\n \0)", 2, 2, *NUL),
    "NUL after a backslash": Bad("(a b\\\0)", 1, 6, *NUL),
    "UTF-16": Bad("(a b)".encode("utf-16-le"), 1, 2, *NUL),
    "UTF-16 with its mark": Bad("(a b)".encode("utf-16"), 1, 1, *NOT_UTF8),
    "Latin-1": Bad("(a (b \u00e9t\u00e9) c)".encode("latin-1"), 1, 7, *NOT_UTF8),
    "a character cut short": Bad(b"(a \xc3)", 1, 4, *NOT_UTF8),
    "an overlong form": Bad(b"(a \xc0\xaf)", 1, 4, *NOT_UTF8),
    "an encoded surrogate": Bad(b"(\xed\xa0\x80)", 1, 2, *NOT_UTF8),
    "beyond Unicode": Bad(b"(a\n  \xf4\x90\x80\x80)", 2, 3, *NOT_UTF8),
    "broken label outside": Bad(b"\x80", 1, 1, *NOT_UTF8),
}
each_bad = pytest.mark.parametrize("bad", BAD.values(), ids=BAD)


@each_bad
def test_in_a_list(bad: Bad) -> None:
    texts = ["(fine (tree))", bad.text, "(fine)"]
    with pytest.raises(ParseError) as caught:
        Forest.from_brackets(texts)
    bad.check(caught.value)
    assert caught.value.sample == 1
    assert caught.value.source == ""
    assert str(caught.value).startswith("sample 1, ")


@each_bad
def test_in_a_file(bad: Bad, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"(fine\n  (tree))\n\n" + bad.as_bytes)
    for source in (path, str(path)):
        with pytest.raises(ParseError) as caught:
            Forest.from_brackets(source)
        bad.check(caught.value, line_offset=3)
        assert caught.value.source == str(path)
        assert str(caught.value).startswith(f"{path}, line {3 + bad.line}, column {bad.column}: ")


@each_bad
def test_in_an_open_file(bad: Bad, tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        Forest.from_brackets(io.BytesIO(bad.as_bytes))
    bad.check(caught.value)
    path = tmp_path / "bad.txt"
    path.write_bytes(bad.as_bytes)
    with path.open("rb") as file, pytest.raises(ParseError) as caught:
        Forest.from_brackets(file)
    assert caught.value.source == str(path)


@pytest.mark.parametrize(
    "bad", [bad for bad in BAD.values() if isinstance(bad.text, str)], ids=lambda bad: bad.reason
)
def test_in_a_text(bad: Bad) -> None:
    with pytest.raises(ParseError) as caught:
        Forest.from_brackets(f"(fine (tree))\n{bad.text}")
    bad.check(caught.value, line_offset=1)
    assert caught.value.sample is None


@pytest.mark.parametrize("first", ["a", "é", "ａ", "ﻀ", "\ufeffa"], ids=ascii)
def test_the_column_counts_the_first_character_of_a_file(first: str) -> None:
    """Also where it begins with the bytes of a byte order mark, which is not counted itself."""
    with pytest.raises(ParseError) as caught:
        Forest.from_brackets(io.BytesIO(f"{first} b".encode()))
    assert (caught.value.line, caught.value.column) == (1, 3)


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", b"", b" "])
def test_a_string_without_a_tree(text: str | bytes) -> None:
    with pytest.raises(ParseError, match=r"sample 2.*there is no tree") as caught:
        Forest.from_brackets(["(a)", "(b)", text])
    assert caught.value.sample == 2


@pytest.mark.parametrize("text", ["(a b) (c d)", "(a b)(c d)", "(a)\n(b)", "a\nb", "a\n(b)"])
def test_a_string_with_two_trees(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        Forest.from_brackets([text])
    assert caught.value.sample == 0
    assert "one tree" in caught.value.hint


@pytest.mark.parametrize("source", ["text", "stream", "list"])
def test_lone_surrogates_are_named_by_their_place(source: str) -> None:
    """They come from files that were opened with errors='surrogateescape'."""
    text = "(é\n  (b \ud8ff))"
    given: Any = {"text": text, "stream": io.StringIO(text), "list": [text]}[source]
    with pytest.raises(ParseError, match="UTF-8") as caught:
        Forest.from_brackets(given)
    assert (caught.value.line, caught.value.column) == (2, 6)


@pytest.mark.filterwarnings("ignore::filbert.errors.SkippedInputWarning")
@pytest.mark.parametrize("source", ["text", "stream", "list"])
def test_lone_surrogates_are_skipped(source: str) -> None:
    lines = ["(a b)", "(a \udc80)", "(c d)"]
    text = "\n".join(lines)
    given: Any = {"text": text, "stream": io.StringIO(text), "list": lines}[source]
    forest = Forest.from_brackets(given, on_error="skip")
    assert forest == Forest(["(a b)", "(c d)"])
    assert len(forest.skipped) == 1


# ---------------------------------------------------------------- leaving it out


def skipping(source: Any, **options: Any) -> tuple[Forest, SkippedInputWarning]:
    with pytest.warns(SkippedInputWarning) as caught:
        forest = Forest.from_brackets(source, on_error="skip", **options)
    assert len(caught) == 1
    assert caught[0].filename == __file__, "the warning points at the caller"
    warning = caught[0].message
    assert isinstance(warning, SkippedInputWarning)
    assert warning.errors == forest.skipped
    return forest, warning


def places(forest: Forest) -> list[tuple[int | None, int | None]]:
    return [(error.line, error.column) for error in forest.skipped]


@each_bad
def test_skipping_in_a_list(bad: Bad) -> None:
    forest, warning = skipping(["(a b)", bad.text, "(c d)", "", "(e f)"])
    assert forest == Forest(["(a b)", "(c d)", "(e f)"])
    assert [error.sample for error in forest.skipped] == [1, 3]
    bad.check(forest.skipped[0])
    assert str(warning).startswith("skipped 2, read 3: sample 1")


def test_nothing_to_skip() -> None:
    for source in (["(a b)"], io.StringIO("(a b)")):
        forest = Forest.from_brackets(source, on_error="skip")  # a warning would be an error here
        assert forest.skipped == ()
        assert len(forest) == 1


def test_skipping_everything() -> None:
    forest, warning = skipping(["(", ")", "()", "", "((a)(b))"])
    assert len(forest) == 0
    assert [error.sample for error in forest.skipped] == [0, 1, 2, 3, 4]
    assert "and 2 more" in str(warning)


def test_skipping_in_a_file_of_one_tree_a_line(tmp_path: Path) -> None:
    lines = [
        "(a b)",
        "(a (b c)",  # never closed: the bracket that opens the next line begins a new tree
        "(c d)",
        "(e (f g)) extra",  # the tree before the extra text is whole
        "bare",
        "two labels",
        "()",
        "",
        "(h i) )",
        "(j (k ()) (l m))",
        "(n\0o)",
        "((p q) (r s))",
        "(t u)",
        "(v w",
    ]
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    forest, warning = skipping(path, bare_words=True)
    assert list(map(str, forest)) == [
        "(a b)", "(c d)", "(e (f g))", "(bare)", "(h i)", "(t u)",
    ]  # fmt: skip
    assert places(forest) == [
        (2, 1), (4, 11), (6, 5), (7, 2), (9, 7), (10, 8), (11, 3), (12, 8), (14, 1),
    ]  # fmt: skip
    assert all(error.source == str(path) for error in forest.skipped)
    assert str(warning).startswith(f"skipped 9, read 6: {path}, line 2, column 1: ")


@pytest.mark.parametrize("encoded", [b"(a \xff)", b"\xff\xfe", b"(a \xc3\n"])
def test_skipping_lines_of_broken_utf8(encoded: bytes) -> None:
    forest, _ = skipping(io.BytesIO(b"(a b)\n" + encoded + b"\n(c d)\n"))
    assert forest == Forest(["(a b)", "(c d)"])
    assert forest.skipped[0].line == 2


PENN = """\
( (S
    (NP (D the) (N dog))
    (VP (V ran)) ) )
( (S
    (NP (D the) ((N cat)))
    (VP (V sat)
        (ADV there)) ) )
( (S
    (NP (N mice))
    (VP (V hid)) ) )

( (S
    (NP (N birds)
    (VP (V sang)) ) )
( (S (NP (N fish)))
  (. .) )
( (S (NP (N bees)) ) )
"""


def test_skipping_in_a_file_of_trees_on_several_lines() -> None:
    forest, _ = skipping(io.StringIO(PENN))
    assert list(map(str, forest)) == [
        "(S (NP (D the) (N dog)) (VP (V ran)))",
        "(S (NP (N mice)) (VP (V hid)))",
        "(S (NP (N bees)))",
    ]
    assert places(forest) == [
        (5, 18),  # ((N cat)): the bracket without a label
        (12, 1),  # never closed: the tree that begins there
        (16, 3),  # a second tree below the outer bracket
    ]


def test_skipping_among_indented_trees() -> None:
    """The lines of a bad tree are those that are indented deeper than its own bracket."""
    text = "  (a\n     b)\n  (c ()\n     (d e)\n     f)\n  (g\n     h)\n"
    forest, _ = skipping(io.StringIO(text))
    assert forest == Forest(["(a b)", "(g h)"])
    assert places(forest) == [(3, 7)]


def test_skipping_keeps_what_stands_before_the_fault_on_its_line() -> None:
    forest, _ = skipping(io.StringIO("(a b) (c d) (e ()) (f g)\n(h i)"))
    assert forest == Forest(["(a b)", "(c d)", "(h i)"])
    assert places(forest) == [(1, 17)]


def test_a_view_has_nothing_skipped() -> None:
    forest, _ = skipping(["(a b)", "("])
    assert forest[:1].skipped == ()
    assert pickle.loads(pickle.dumps(forest)) == forest


# ---------------------------------------------------------------- files and parameters


@pytest.mark.parametrize("suffix", ["", ".txt", ".gz", ".xz"])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_that_is_not_there(tmp_path: Path, suffix: str, kind: type) -> None:
    path = tmp_path / f"nowhere{suffix}"
    with pytest.raises(MissingFileError, match=r"there is no file .*nowhere.*check the path"):
        Forest.from_brackets(kind(path))
    with pytest.raises(FileNotFoundError):
        Forest.from_brackets(kind(path), on_error="skip")


def test_a_path_that_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        Forest.from_brackets(tmp_path)


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".xz", lzma)])
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_compressed_file_that_is_cut_short(
    tmp_path: Path, suffix: str, module: Any, kept: float, on_error: Any
) -> None:
    """Also with on_error="skip": how much is missing nobody knows."""
    rng = np.random.default_rng(0)
    whole = module.compress("\n".join(f"(S {i})" for i in rng.integers(0, 9**9, 5000)).encode())
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ParseError, match="damaged or cut short") as caught:
        Forest.from_brackets(path, on_error=on_error)
    assert caught.value.source == str(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_file_that_only_claims_to_be_compressed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plain{suffix}"
    path.write_text("(a b)\n" * 10)
    with pytest.raises(ParseError, match="damaged or cut short"):
        Forest.from_brackets(path)


@pytest.mark.parametrize("on_error", ["ignore", "RAISE", "", None, True])
def test_another_on_error(on_error: Any) -> None:
    with pytest.raises(InvalidParameterError, match="on_error must be 'raise' or 'skip'"):
        Forest.from_brackets(["(a b)"], on_error=on_error)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("bad", [None, 1, np.nan, ["(a b)"], bytearray(b"(a b)")], ids=repr)
def test_samples_that_are_not_strings(bad: Any, on_error: Any) -> None:
    name = type(bad).__name__
    with pytest.raises(InputTypeError, match=f"sample 2 is not a string .*but {name}"):
        Forest.from_brackets(["(a b)", "(c d)", bad], on_error=on_error)
    with pytest.raises(TypeError):
        Forest.from_brackets(iter([bad]))


def test_a_missing_value_far_down_a_column() -> None:
    column = pd.Series(["(a b)"] * 20_000)
    column[17_500] = None
    with pytest.raises(InputTypeError, match="sample 17500 is not a string"):
        Forest.from_brackets(column)


# ---------------------------------------------------------------- anything at all

# The name of a file gets an error of its own, without a place. Hypothesis tries names that it finds
# in the sources, such as that of a file in the current folder.
TREELIKE = st.text("()ab \\\n\r\t\0é🐿", max_size=30)
ANY_TEXT = TREELIKE | st.text(max_size=30).filter(lambda text: not may_be_file_name(text))
ANY_BYTES = st.binary(max_size=30).filter(lambda text: not may_be_file_name(text)) | ANY_TEXT.map(
    str.encode
)


def may_be_file_name(text: str | bytes) -> bool:
    """Whether a text is the name of a file, or has the ending of one."""
    return is_file_name(text) or os.path.splitext(os.fsencode(text))[1].strip() not in (b"", b".")


def check_place(error: ParseError, text: bytes) -> None:
    """Check that the place is one of the text, or the end of it."""
    assert error.line is not None
    assert error.column is not None
    lines = text.split(b"\n")
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert error.hint


@given(ANY_BYTES)
def test_any_bytes_are_trees_or_a_parse_error(data: bytes) -> None:
    for source in ([data], io.BytesIO(data)):
        try:
            forest = Forest.from_brackets(source)
        except ParseError as error:
            check_place(error, data)
        else:
            assert Forest.from_brackets(map(str, forest)) == forest


@given(ANY_TEXT)
def test_any_text_is_trees_or_a_parse_error(text: str) -> None:
    for source in ([text], io.StringIO(text, newline="")):
        try:
            forest = Forest.from_brackets(source)
        except ParseError as error:
            check_place(error, text.encode())
        else:
            assert Forest.from_brackets(map(str, forest)) == forest


@given(ANY_BYTES)
def test_skipping_in_any_bytes_never_raises(data: bytes) -> None:
    for source in ([data], io.BytesIO(data)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            forest = Forest.from_brackets(source, on_error="skip")
        assert len(caught) == bool(forest.skipped)
        for error in forest.skipped:
            check_place(error, data)
        assert Forest.from_brackets(map(str, forest)) == forest


@pytest.mark.filterwarnings("ignore::filbert.errors.SkippedInputWarning")
@given(st.lists(ANY_TEXT, max_size=6))
def test_in_a_list_every_text_is_read_or_skipped(texts: list[str]) -> None:
    forest = Forest.from_brackets(texts, on_error="skip")
    skipped = [error.sample for error in forest.skipped]
    assert len(forest) + len(skipped) == len(texts)
    rest = [text for i, text in enumerate(texts) if i not in skipped]
    assert Forest.from_brackets(rest) == forest


@pytest.mark.filterwarnings("ignore::filbert.errors.SkippedInputWarning")
@given(ANY_BYTES)
def test_skipping_nothing_of_what_can_be_read(data: bytes) -> None:
    try:
        expected = Forest.from_brackets(io.BytesIO(data))
    except ParseError:
        return
    forest = Forest.from_brackets(io.BytesIO(data), on_error="skip")
    assert forest == expected
    assert forest.skipped == ()


# ---------------------------------------------------------------- errors as values

ERRORS = [
    FilbertError("what"),
    InvalidParameterError("what"),
    InputTypeError("what"),
    ParseError("what", hint="do", source="a.txt", line=3, column=4, sample=5),
    MissingFileError("a/b.txt"),
    MissingFileError(Path("a/b.txt")),
    CorruptForestError("what"),
    CapacityError("what"),
    MatrixTooLargeError("what"),
    KernelOverflowError("what"),
    TooExpensiveError("what", 1e10),
    SkippedInputWarning((ParseError("what", line=1),), 7),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_errors_come_home_whole_from_other_processes(error: Exception, copied: Any) -> None:
    again = copied(error)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert {**again.__dict__, "errors": 0} == {**error.__dict__, "errors": 0}
    assert list(map(str, getattr(again, "errors", ()))) == list(
        map(str, getattr(error, "errors", ()))
    )


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InvalidParameterError, ValueError),
        (InputTypeError, TypeError),
        (ParseError, ValueError),
        (MissingFileError, FileNotFoundError),
        (CorruptForestError, ValueError),
        (CapacityError, ValueError),
        (MatrixTooLargeError, MemoryError),
        (KernelOverflowError, OverflowError),
        (TooExpensiveError, ValueError),
    ],
)
def test_errors_are_also_those_that_python_has(error: type, builtin: type) -> None:
    assert issubclass(error, FilbertError)
    assert issubclass(error, builtin)


def test_a_parse_error_says_where_what_and_what_to_do() -> None:
    error = ParseError("bad", hint="do this", source="x.txt", line=3, column=7, sample=2)
    assert str(error) == "x.txt, line 3, column 7: bad (do this)"
    assert str(ParseError("bad", line=1, column=7, sample=2)) == "sample 2, column 7: bad"
    assert str(ParseError("bad", line=4, column=7, sample=2)) == "sample 2, line 4, column 7: bad"
    assert str(ParseError("bad", line=1, column=7)) == "line 1, column 7: bad"
    assert str(ParseError("bad")) == "bad"
    moved = error.located(line=9)
    assert str(moved) == "x.txt, line 9, column 7: bad (do this)"
    assert moved.sample == 2


@pytest.mark.parametrize("use", ["fit", "predict"])
@pytest.mark.parametrize("exist", [True, False])
def test_a_list_of_file_names_is_named_as_such(use: str, exist: bool, tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a.mrg", "b.tsv.gz")]
    if exist:
        for name in names:
            Path(name).write_text("(S a)")
    clf = TreeSVC(SubsetTree(), random_state=0).fit(["(S (A a))", "(S (B b))"], [0, 1])
    what = "is the name of a file, not" if exist else "looks like the name of a file, which does"
    with pytest.raises(ParseError, match=rf"sample 0: .*a\.mrg' {what} .*filbert\.read_trees"):
        clf.fit(names, [0, 1]) if use == "fit" else clf.predict(names)
