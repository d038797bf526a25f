"""Sources of documents, the detection of their format, and what reading does with bad ones."""

import gzip
import io
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Examples, Forest, read_examples, read_trees, write_trees
from filbert.errors import (
    FilbertError,
    InputTypeError,
    InvalidParameterError,
    MissingFileError,
    ParseError,
    SkippedInputWarning,
)
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.detection import format_by_content
from filbert.read.sources import expand

TREES = "( (S (NP a)\n     (VP b)) )\n(S c)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Penn files, and a file beside it; the working folder is the one around."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "wsj/01/b.mrg": "(S b)",
        "wsj/01/a.mrg": "(S a1) (S a2)",
        "wsj/00/c.mrg": "(S c)",
        "wsj/README": "read me",
        "wsj/.hidden.mrg": "(S hidden)",
        "wsj/.git/x.mrg": "(S hidden)",
        "one.mrg": TREES,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def files_of(X: Any) -> list[str]:
    assert isinstance(X, Examples)
    return list(dict.fromkeys(X.columns["file"].tolist()))


# ---------------------------------------------------------------- sources


def test_a_file_is_a_forest_as_from_brackets_reads_it(folder: Path) -> None:
    forest = read_trees("one.mrg")
    assert isinstance(forest, Forest)
    assert forest == Forest.from_brackets("one.mrg")
    assert [str(tree) for tree in forest] == ["(S (NP a) (VP b))", "(S c)"]


ALL = ["wsj/00/c.mrg", "wsj/01/a.mrg", "wsj/01/b.mrg"]


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("wsj", ALL),
        (Path("wsj"), ALL),
        ("wsj/", ALL),
        ("wsj/**/*.mrg", ALL),
        ("**/*.mrg", ["one.mrg", *ALL]),
        ("wsj/*/[ac].mrg", ALL[:2]),
        ("wsj/01/*.mrg", ALL[1:]),
        (["wsj/01/b.mrg", "one.mrg"], ["wsj/01/b.mrg", "one.mrg"]),
        ([Path("one.mrg"), "wsj/00"], ["one.mrg", ALL[0]]),
        (("one.mrg",), ["one.mrg"]),
        (np.array(["one.mrg", "wsj/01/b.mrg"]), ["one.mrg", "wsj/01/b.mrg"]),
    ],
)
def test_sources_of_several_files_have_a_column(
    source: Any, files: list[str], folder: Path
) -> None:
    X: Any = read_trees(source)
    assert files_of(X) == files
    texts = [str(tree) for file in files for tree in Forest.from_brackets(folder / file)]
    assert [str(tree) for tree in X["tree"]] == texts


def test_a_generator_of_paths(folder: Path) -> None:
    assert len(read_trees(sorted((folder / "wsj" / "01").glob("*.mrg")))) == 3
    assert len(read_trees(path for path in [Path("one.mrg")])) == 2


def test_open_files_stay_open(folder: Path) -> None:
    with open("one.mrg", "rb") as file:
        assert len(read_trees(file)) == 2
        assert not file.closed
    stream = io.BytesIO(TREES.encode())
    assert len(read_trees(stream, format="brackets")) == 2
    assert not stream.closed
    with open("one.mrg", "rb", buffering=0) as raw:
        assert len(read_trees(raw)) == 2
        assert not raw.closed


def test_any_object_with_read(folder: Path) -> None:
    class Response:
        def read(self) -> bytes:
            return TREES.encode()

    assert len(read_trees(Response())) == 2  # type: ignore[arg-type]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(TREES.encode()))))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", packed)
    forest = read_trees("-")
    assert isinstance(forest, Forest)
    assert len(forest) == 2


def test_compressed_files_have_the_format_of_their_inner_name(tmp_path: Path) -> None:
    (tmp_path / "a.mrg.gz").write_bytes(gzip.compress(b"(S a)"))
    assert files_of(read_trees(tmp_path)) == [str(tmp_path / "a.mrg.gz")]


def test_a_loop_of_links_ends(folder: Path) -> None:
    for name in ("loop", "other"):
        (folder / "wsj" / "01" / name).symlink_to(folder / "wsj", target_is_directory=True)
    assert len(read_trees("wsj")) == 4
    assert len(read_trees("wsj/**/*.mrg")) == 4


def test_a_linked_folder_is_read(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "link").symlink_to(folder / "wsj")
    assert files_of(read_trees("other"))[0] == "other/link/00/c.mrg"


def test_progress_over_files(folder: Path, capfd: Any) -> None:
    read_trees("wsj", verbose=1)
    assert "reading" in capfd.readouterr().err
    read_trees("wsj")
    assert capfd.readouterr().err == ""


def test_a_broken_link_is_no_silent_loss(folder: Path) -> None:
    (folder / "wsj" / "z.mrg").symlink_to(folder / "nowhere.mrg")
    with pytest.raises(MissingFileError, match=r"z\.mrg"):
        read_trees("wsj")


def test_a_name_with_pattern_characters_is_a_name_if_it_exists(folder: Path) -> None:
    (folder / "a[1].mrg").write_text("(S x)")
    assert isinstance(read_trees("a[1].mrg"), Forest)


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("none.mrg", MissingFileError, "there is no file 'none.mrg'"),
        (["one.mrg", "none.mrg"], MissingFileError, "none.mrg"),
        ("wsj/*.xml", MissingFileError, "no file matches the pattern"),
        ("none/**/*.mrg", MissingFileError, "no file matches the pattern"),
        ("(S (NP a))", InvalidParameterError, r"Forest\.from_texts"),
        ("<a/>", InvalidParameterError, r"Forest\.from_texts"),
        ([], InvalidParameterError, "empty"),
        (7, InputTypeError, "not from int"),
        (None, InputTypeError, "not from NoneType"),
        (b"one.mrg", InputTypeError, "not from bytes"),
        ([7], InputTypeError, "not from int"),
        (io.StringIO("(a b)"), InputTypeError, "text mode"),
    ],
)
def test_bad_sources(source: Any, kind: Any, message: str, folder: Path) -> None:
    with pytest.raises(kind, match=message) as raised:
        read_trees(source)
    assert isinstance(raised.value, FilbertError)


# ---------------------------------------------------------------- formats


def test_a_folder_of_several_formats_needs_a_name(folder: Path) -> None:
    (folder / "wsj" / "x.json").write_text("[]")
    with pytest.raises(InvalidParameterError, match=r"brackets \(3, such as .*json \(1,"):
        read_trees("wsj")
    assert len(read_trees("wsj", format="brackets")) == 4
    assert len(read_trees("wsj", format="json")) == 1


def test_a_folder_without_files_of_the_format(folder: Path) -> None:
    with pytest.raises(InvalidParameterError, match=r"no files of the format json \(\.json\)"):
        read_trees("wsj", format="json")
    (folder / "empty").mkdir()
    with pytest.raises(InvalidParameterError, match="no files"):
        read_trees("empty")
    (folder / "empty" / "notes.txt").write_text("(S a)")
    with pytest.raises(InvalidParameterError, match="show no tree format"):
        read_trees("empty")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_files_of_labelled_trees_are_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'{"label": 1, "tree": "(a b)"}\n')
    with pytest.raises(ParseError, match=r"file has labelled trees \(use read_examples"):
        read_trees(tmp_path / name)


def test_unknown_formats_and_options_list_the_known_ones(folder: Path) -> None:
    with pytest.raises(InvalidParameterError, match="brackets, xml, html, json"):
        read_trees("one.mrg", format="tsv")
    with pytest.raises(InvalidParameterError, match="no option 'bare': it has bare_words"):
        read_trees("one.mrg", bare=True)
    with pytest.raises(InvalidParameterError, match="on_error"):
        read_trees("one.mrg", on_error="ignore")  # type: ignore[arg-type]


BEGINNINGS = {
    "brackets": ["(S (NP a))", "\n( (S (NP a) ) )", "( \n(TOP (S", "(a b)"],
    "xml": ["<?xml version='1.0'?><a/>", "\ufeff<?xml version='1.0'?>"],
    "html": ["<!DOCTYPE html>", "<!doctype HTML PUBLIC", "<html lang=en>", "<HTML>"],
    "json": ['{"a": 1}', "{}", "[1, 2]", "[]", '[\n  {"a"', '["x"]'],
    "conllu": ["# sent_id = 1\n1\tA\ta\tX\t_\t_\t0\troot\t_\t_\n", "1-2\ta" + "\t_" * 8 + "\n"],
    None: ["(A,B);", "((A:1,B:2):3,C);", "((..))", "<p>", "hello", "", "a\tb", "[a", "(a)", "1\t2"],
}


@pytest.mark.parametrize(
    ("text", "name"), [(text, name) for name, texts in BEGINNINGS.items() for text in texts]
)
def test_the_beginning_of_a_document_shows_its_format(text: str, name: str | None) -> None:
    found = format_by_content(io.BufferedReader(io.BytesIO(text.encode())))  # type: ignore[arg-type]
    assert (found and found.name) == name


def test_content_decides_if_the_name_does_not(folder: Path) -> None:
    (folder / "trees.txt").write_text(TREES)
    (folder / "page.txt").write_text("<!doctype html><p>")
    (folder / "notes.txt").write_text("notes")
    assert len(read_trees("trees.txt")) == 2
    with pytest.raises(ParseError, match=r"notes\.txt: the format cannot be detected.*one of br"):
        read_trees("notes.txt")
    with pytest.raises(ParseError, match=r"page\.txt: this is html, but the files before"):
        read_trees(["trees.txt", "page.txt"])
    with pytest.warns(SkippedInputWarning, match=r"page\.txt"):
        X = read_trees(["trees.txt", "page.txt"], on_error="skip")
    assert len(X) == 2
    with pytest.raises(ParseError, match=r"notes\.txt"):  # nothing is known of any document
        read_trees(["notes.txt"], on_error="skip")


def test_names_of_formats_are_unique_and_suffixes_too() -> None:
    suffixes = [suffix for kind in TREE_FORMATS.values() for suffix in kind.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(name == kind.name for name, kind in TREE_FORMATS.items())


@pytest.mark.parametrize("name", ["xml", "html", "json"])
def test_formats_that_are_written_can_write(name: str) -> None:
    kind = TREE_FORMATS[name]
    assert kind.written == hasattr(kind._module(), "write")


def test_the_page_of_formats_is_complete() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    for kind in TREE_FORMATS.values():
        assert [name for name in (kind.name, *kind.suffixes) if f"`{name}`" not in page] == []


# ---------------------------------------------------------------- bad documents


def test_errors_have_the_name_of_the_file_and_the_place(folder: Path) -> None:
    (folder / "wsj" / "01" / "b.mrg").write_text("(S a)\n(S (b)\n")
    with pytest.raises(ParseError, match=r"wsj/01/b\.mrg, line 2, column 1"):
        read_trees("wsj")
    with pytest.warns(SkippedInputWarning, match=r"skipped 1, read 4.*wsj/01/b\.mrg, line 2"):
        X: Any = read_trees("wsj", on_error="skip")
    assert X["tree"].n_nodes == 8
    [error] = X.skipped
    assert (error.source, error.line) == ("wsj/01/b.mrg", 2)


def test_a_tree_never_reaches_into_the_next_file(folder: Path) -> None:
    (folder / "wsj" / "00" / "c.mrg").write_text("(S (c")
    with pytest.raises(ParseError, match=r"wsj/00/c\.mrg"):
        read_trees("wsj")


def test_skipping_changes_nothing_in_a_file_without_errors(tmp_path: Path) -> None:
    """Not even where a tree goes on in the first column, which opens a new one after an error."""
    (tmp_path / "a.mrg").write_text("(S (A a)\n(B b))\n(S c)\n")
    X = read_trees(tmp_path / "a.mrg", on_error="skip")
    assert list(X) == list(Forest(["(S (A a) (B b))", "(S c)"]))


def test_a_bad_document_is_skipped(tmp_path: Path) -> None:
    for name, text in {"a": "[1]", "b": "[1", "c": '{"x": 2}'}.items():
        (tmp_path / f"{name}.json").write_text(text)
    with pytest.raises(ParseError, match=r"b\.json, line 1, column 3"):
        read_trees(tmp_path)
    with pytest.warns(SkippedInputWarning, match=r"skipped 1, read 2"):
        X: Any = read_trees(tmp_path, on_error="skip")
    assert [Path(file).name for file in X.columns["file"]] == ["a.json", "c.json"]
    assert len(X.skipped) == 1


def test_a_label_that_the_core_refuses_keeps_rows_and_columns_together(tmp_path: Path) -> None:
    for name, text in {"a": '["x", "\\ud800", "y"]', "b": '["\\u0000", "z"]'}.items():
        (tmp_path / f"{name}.json").write_text(text)
    with pytest.raises(ParseError, match=r"a\.json: a label is not valid UTF-8"):
        read_trees(tmp_path, items=True, values=True)
    with pytest.warns(SkippedInputWarning, match="skipped 2, read 3"):
        X: Any = read_trees(tmp_path, items=True, values=True, on_error="skip")
    assert [str(tree) for tree in X["tree"]] == ["(string x)", "(string y)", "(string z)"]
    assert X.columns["item"].tolist() == ["0", "2", "1"]
    assert [Path(file).name[0] for file in X.columns["file"]] == ["a", "a", "b"]


@pytest.mark.parametrize(
    "damage",
    [b"\x1f\x8b\x08\x00 no", gzip.compress(b"(S a)" * 99, mtime=0)[:-9]],
    ids=["not gzip", "cut short"],
)
def test_a_damaged_file_is_named(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.mrg.gz").write_bytes(damage)
    (tmp_path / "b.mrg").write_text("(S b)")
    with pytest.raises(ParseError, match=r"a\.mrg\.gz: the compressed file is damaged"):
        read_trees(tmp_path)
    with pytest.warns(SkippedInputWarning):
        assert len(read_trees(tmp_path, on_error="skip")) == 1


def test_many_files_give_the_same_forest_in_any_order_of_merging(tmp_path: Path) -> None:
    texts = [f"(S (A a{i % 7}) (B b{i % 5}))" for i in range(100)]
    for i, text in enumerate(texts):
        (tmp_path / f"{i:03}.mrg").write_text(f"{text} " * (1 + i % 3))
    X: Any = read_trees(tmp_path)
    assert X["tree"] == Forest([text for i, text in enumerate(texts) for _ in range(1 + i % 3)])
    assert X["tree"].n_subtrees == Forest(texts).n_subtrees


# ---------------------------------------------------------------- texts in memory


def test_texts_are_one_tree_each() -> None:
    assert Forest.from_texts(["(a b)", "(c)"], format="brackets") == Forest(["(a b)", "(c)"])
    assert Forest.from_texts(["word"], format="brackets", bare_words=True)[0].label == "word"
    assert str(Forest.from_texts([b"[1]", "[[]]"], format="json")[1]) == "(array array)"
    assert len(Forest.from_texts([], format="json")) == 0
    assert len(Forest.from_texts(np.array([["[]"]]), format="json")) == 1


@pytest.mark.parametrize(
    ("texts", "kind", "message"),
    [
        ("[1]", InputTypeError, "a list of texts, not str"),
        (7, InputTypeError, "not int"),
        (["[]", None], InputTypeError, "sample 1 is not a text but NoneType"),
        (["[]", float("nan")], InputTypeError, "sample 1 is not a text but float"),
        (["[]", Path("x.json")], InputTypeError, "name of a file.*read_trees"),
        ([__file__], InputTypeError, "name of a file.*read_trees"),
        (["[]", "[1"], ParseError, "sample 1, column 3"),
        (["[]", "[\n1\n"], ParseError, "sample 1, line 3, column 1"),
    ],
)
def test_bad_texts(texts: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        Forest.from_texts(texts, format="json")


@pytest.mark.parametrize(("text", "told"), [("[1, 2]", "2 trees"), ("[]", "no trees")])
def test_a_text_with_another_number_of_trees(text: str, told: str) -> None:
    with pytest.raises(ParseError, match=f"sample 1: this text has {told}"):
        Forest.from_texts(["[1]", text], format="json", items=True)


# ---------------------------------------------------------------- labels from folders


def by_folder(source: Any, **options: Any) -> list[str]:
    X, y = read_examples(source, label="folder", **options)
    assert len(X) == len(y)
    labels: list[str] = y.tolist()
    return labels


def test_labels_from_folders(folder: Path) -> None:
    assert by_folder("wsj") == ["00", "01", "01", "01"]
    assert by_folder("wsj", format="brackets", bare_words=True) == ["00", "01", "01", "01"]
    assert by_folder(["wsj/01", "wsj/00"], format="brackets") == ["01", "01", "01", "00"]
    assert by_folder("wsj/*/a.mrg") == ["01", "01"]
    with pytest.raises(InvalidParameterError, match="no option 'bare'"):
        by_folder("wsj", bare=True)


def test_labels_that_folders_do_not_give(folder: Path) -> None:
    with pytest.raises(InvalidParameterError, match="pass label='folder'"):
        read_examples("wsj")
    with pytest.raises(InvalidParameterError, match="pass label='folder'"):
        read_examples("one.mrg", format="brackets")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="no parameter 'unknown'"):
        read_examples("one.tsv", unknown=1)
    (folder / "wsj" / "top.mrg").write_text("(S a)")
    with pytest.raises(InvalidParameterError, match=r"wsj/top\.mrg has no label"):
        by_folder("wsj")
    with pytest.raises(InvalidParameterError, match="needs a folder"):
        by_folder("one.mrg", format="brackets")
    (folder / "rows.jsonl").write_text('{"folder": "x", "tree": "(S a)"}')
    assert by_folder("rows.jsonl") == ["x"]  # a key of that name


# ---------------------------------------------------------------- writing

LABELS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(LABELS, min_size=1, max_size=5))
def test_brackets_there_and_back(labels: list[str]) -> None:
    forest = Forest.from_texts(['["x"]'] * 2, format="json")  # any trees, then labels of all kinds
    chain = Forest.from_texts([f"[{', '.join(map(quoted, labels))}]"], format="json", values=True)
    both = Forest.concat([forest, chain])
    with TemporaryDirectory() as folder:
        write_trees(both, f"{folder}/trees.mrg")
        assert read_trees(f"{folder}/trees.mrg") == both


def quoted(label: str) -> str:
    return '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in label) + '"'


@pytest.mark.parametrize("name", ["trees.mrg", "trees.brackets.gz", "trees.ptb.xz"])
def test_written_files(name: str, tmp_path: Path) -> None:
    forest = Forest(["(S (a \\( \\)) b)", "(c)", "(d\\ e f)"])
    write_trees(forest, tmp_path / name)
    assert read_trees(tmp_path / name) == forest
    write_trees([str(tree) for tree in forest[:1]], tmp_path / name)
    assert read_trees(tmp_path / name) == forest[:1]


def test_examples_with_one_forest_are_written(tmp_path: Path, folder: Path) -> None:
    X: Any = read_trees("wsj")
    write_trees(X, tmp_path / "all.mrg")
    assert read_trees(tmp_path / "all.mrg") == X["tree"]
    with pytest.raises(InvalidParameterError, match=r"have 2: .*X\['a'\]"):
        write_trees(Examples(a=["(a)"], b=["(b)"]), tmp_path / "two.mrg")


def test_a_folder_of_documents(tmp_path: Path) -> None:
    forest = Forest.from_texts(["[1]", "{}"], format="json", values=True)
    with pytest.raises(InvalidParameterError, match="one tree, got 2: make a folder"):
        write_trees(forest, tmp_path / "two.json")
    write_trees(forest, tmp_path, format="json")
    assert sorted(os.listdir(tmp_path)) == ["000000.json", "000001.json"]
    X: Any = read_trees(tmp_path, values=True)
    assert X["tree"] == forest
    with pytest.raises(InvalidParameterError, match="is a folder"):
        write_trees(forest, tmp_path, format="brackets")


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("before")
    with pytest.raises(InvalidParameterError, match="sample 0: '1' is no name in XML"):
        write_trees(["(1)"], path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.xml"]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="does not show the format"):
        write_trees(["(a)"], tmp_path / "trees")
    with pytest.raises(InvalidParameterError, match=r"as html: choose .*brackets"):
        write_trees(["(a)"], tmp_path / "a.html")


def test_standard_output(capfdbinary: Any) -> None:
    write_trees(["(a b)", "(c)"], "-", format="brackets")
    assert capfdbinary.readouterr().out == b"(a b)\n(c)\n"


def test_expanding_opens_nothing(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert [one.name for one in expand(["pipe", "-", "one.mrg"])] == [
        "pipe",
        "standard input",
        "one.mrg",
    ]
