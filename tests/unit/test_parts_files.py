"""A corpus in parts of files: every division gives the examples of the whole."""

import gzip
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import filbert
from filbert import Examples, Forest, read_examples, read_trees
from filbert.corpus.plan import _groups
from filbert.errors import (
    ChangedFileError,
    InvalidParameterError,
    MissingFileError,
    ParseError,
    SkippedInputWarning,
)
from tests.profiles import n_examples

ROWS = range(40)
FILES = {
    "plain.tsv": "".join(f"{i % 3}\t(S (A a{i}) b)\n" for i in ROWS),
    "header.tsv": "id\tlabel\ttree\n" + "".join(f"q{i}\t{i % 3}\t(S a{i})\n" for i in ROWS),
    "lines.dat": "# made up\n\n" + "".join(f"{i % 2} |BT| (S a{i}) |ET| {i + 1}:1\n" for i in ROWS),
    "two.klp": "".join(f"c{i % 2} |BT:p| (a b{i}) |ET| |BT:q| (c) |ET|\n" for i in ROWS),
    "lines.jsonl": "".join(f'{{"label": {i % 2}, "tree": "(a b{i})"}}\n' for i in ROWS),
    "quoted.csv": "label,tree,note\n" + "".join(f'{i % 3},(a b{i}),"a\nb"\n' for i in ROWS),
}
OPTIONS: dict[str, dict[str, Any]] = {"lines.dat": {"n_features": 50}}


def as_examples(X: Any) -> Examples:
    return X if isinstance(X, Examples) else Examples(tree=X)


def assert_same(corpus: Any, path: Any, **options: Any) -> None:
    """Check that a corpus has the examples of files in one piece."""
    X, y = read_examples(path, **options)
    whole = as_examples(X)
    np.testing.assert_array_equal(corpus.labels(), y)
    assert corpus.labels().dtype.kind == y.dtype.kind
    parts = [as_examples(part) for part in corpus.map(lambda X: X)]
    for name, part in whole.parts.items():
        if isinstance(part, Forest):
            assert Forest.concat(own[name] for own in parts) == part
        else:
            rows = np.concatenate([own[name].toarray() for own in parts])
            np.testing.assert_array_equal(rows, part.toarray())
    for name, column in whole.columns.items():
        if name != "file":
            own = np.concatenate([own.columns[name] for own in parts])
            np.testing.assert_array_equal(own, column)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_a_file_is_split_at_line_ends(name: str, n: int, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    options = OPTIONS.get(name, {})
    corpus = filbert.parts(tmp_path / name, n_parts=n, **options)
    assert_same(corpus, tmp_path / name, **options)
    if name == "quoted.csv":
        assert corpus.n_parts == 1
    else:
        assert corpus.n_parts == n if n < 10 else corpus.n_parts <= len(ROWS) + 1
    assert corpus.sizes.max() <= max(1, 2 * len(ROWS) // corpus.n_parts)


LINES = st.lists(
    st.sampled_from(
        ["x\t(a b)", "y\t(a (c d))", "", "  ", "é\t(ü ß)", "z\t(S " + "(A a)" * 9 + ")"]
    ),
    max_size=12,
)


@n_examples(40)
@given(
    files=st.lists(LINES, min_size=1, max_size=3),
    mark=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    header=st.booleans(),
    n=st.integers(1, 9),
)
def test_any_files_in_any_number_of_parts(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[str]],
    mark: bool,
    end: str,
    header: bool,
    n: int,
) -> None:
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for i, lines in enumerate(files):
        head = ["label\ttree"] if header else []
        text = end.join([*head, "x\t(first)", *lines]) + (end if i % 2 else "")
        paths.append(folder / f"{i}.tsv")
        paths[-1].write_bytes((b"\xef\xbb\xbf" if mark else b"") + text.encode())
    corpus = filbert.parts(paths, n_parts=n)
    assert corpus.n_parts <= n
    assert_same(corpus, paths)


@pytest.mark.parametrize("weights", [[1], [5, 1, 1, 1], [1, 1, 1, 9], [3] * 10, [1, 50, 1, 1, 50]])
@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_groups_are_neighbours_and_none_is_empty(weights: list[int], n: int) -> None:
    groups = _groups(weights, n)
    assert len(groups) == min(n, len(weights))
    assert [a for a, _ in groups] == [0, *(b for _, b in groups[:-1])]
    assert groups[-1][1] == len(weights)
    assert all(a < b for a, b in groups)


def test_loading_a_part_leaves_the_filters_of_warnings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are those of the whole process, and other threads may load parts at the same time."""

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("the filters of the process would change")

    path = tmp_path / "a.tsv"
    path.write_text("1\t(S a)\n1\t(S\n0\t(S b)\n")
    corpus = filbert.parts(path, n_parts=1, on_error="skip")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with monkeypatch.context() as patched:
            patched.setattr(warnings, "catch_warnings", refuse)
            X, _ = corpus.pieces[0].load()
    assert (len(X), len(X.skipped)) == (2, 1)
    assert caught == []
    with pytest.warns(SkippedInputWarning):  # as soon as nobody else reports it
        read_examples(path, on_error="skip")


def test_errors_have_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    lines = FILES["header.tsv"].splitlines()
    lines[30] = "no tabs"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ParseError, match=r"bad\.tsv, line 31, .*3 columns") as caught:
        filbert.parts(path, n_parts=6).labels()
    assert (caught.value.line, caught.value.sample) == (31, None)
    corpus = filbert.parts(path, n_parts=6, on_error="skip")
    with pytest.warns(SkippedInputWarning, match="skipped 1, read 39.*line 31"):
        assert len(corpus) == 39
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(corpus.map(len))) == 6


def test_brackets_without_labels_are_split_before_trees(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text("".join(f"(S (NP a)\n  (VP b{i}))\n" for i in ROWS), encoding="utf-8")
    corpus = filbert.parts(path, n_parts=4, label=False)
    assert corpus.sizes.tolist() == [11, 10, 10, 9]
    assert Forest.concat(corpus.map(lambda X: X)) == read_trees(path)
    with pytest.raises(InvalidParameterError, match="label=False"):
        filbert.parts(path)
    other = tmp_path / "trees.txt"
    other.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert filbert.parts(other, n_parts=4, label=False).sizes.tolist() == corpus.sizes.tolist()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("b35))", "b35)"), encoding="utf-8")
    with pytest.raises(ParseError, match=r"trees\.mrg, line 7[0-9]"):
        len(filbert.parts(path, n_parts=4, label=False))
    path.write_text("(S (A a)\n(B b))\n" * 20, encoding="utf-8")
    assert len(filbert.parts(path, label=False)) == 20
    with pytest.raises(ParseError, match="indent the other lines"):
        len(filbert.parts(path, n_parts=3, label=False))


def test_folders_are_labels(tmp_path: Path) -> None:
    for name in ("a/1.mrg", "a/2.mrg", "b/1.mrg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("(S (A a))\n(S b)\n", encoding="utf-8")
    corpus = filbert.parts(tmp_path, label="folder", n_parts=2)
    assert corpus.n_parts == 2
    assert corpus.labels().tolist() == list("aaaabb")
    (tmp_path / "3.mrg").write_text("(S (A a))", encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="has no label"):
        filbert.parts(tmp_path, label="folder")


def test_compressed_files_are_whole_parts(tmp_path: Path) -> None:
    for i in range(5):
        text = "".join(f"{'xy'[(i + j) % 2]}\t(S a{i}{j})\n" for j in range(1 + 3 * i))
        with gzip.open(tmp_path / f"{i}.tsv.gz", "wt", encoding="utf-8") as stream:
            stream.write(text)
    pattern = str(tmp_path / "*.tsv.gz")
    assert [filbert.parts(pattern, n_parts=n).n_parts for n in (1, 3, 5, 9)] == [1, 3, 5, 5]
    assert_same(filbert.parts(pattern, n_parts=3), pattern)
    assert_same(filbert.parts(tmp_path, n_parts=3), pattern)
    assert filbert.parts(pattern).n_parts == 1  # they are small


def test_the_first_examples_decide_about_all_parts(tmp_path: Path) -> None:
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_text('{"label": "x", "tree": "(a b)", "id": 1}\n', encoding="utf-8")
    b.write_text('{"label": 7, "tree": "(a c)"}\n', encoding="utf-8")
    corpus = filbert.parts([a, b], n_parts=2)
    assert corpus.labels().tolist() == ["x", "7"]
    assert [X.columns["id"].tolist() for X in corpus.map(lambda X: X)] == [["1"], [""]]
    with pytest.raises(ParseError, match=r"a\.jsonl, line 1.*not a number"):
        filbert.parts([b, a], n_parts=2).labels()
    b.write_text('{"label": 7, "trees": {"p": "(a)", "q": "(b c)"}}\n', encoding="utf-8")
    with pytest.raises(InvalidParameterError, match=r"b\.jsonl has the trees p, q.*tree="):
        filbert.parts([a, b], n_parts=2).labels()


def test_features_need_their_width_or_names(tmp_path: Path) -> None:
    path = tmp_path / "lines.dat"
    path.write_text(FILES["lines.dat"], encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="pass n_features"):
        filbert.parts(path)
    late = tmp_path / "late.dat"
    late.write_text("1 |BT| (a b) |ET|\n" * 100 + "1 |BT| (a b) |ET| 3:1\n", encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="the beginning of the corpus has none"):
        filbert.parts(late, n_parts=2).labels()
    with pytest.raises(InvalidParameterError, match="feature 3, but n_features is 2"):
        filbert.parts(late, n_parts=2, n_features=2).labels()
    corpus = filbert.parts(late, n_parts=2, n_features=3)
    widths = [X["features"].shape[1] for X in corpus.map(lambda X: X)]
    assert widths == [3, 3]
    assert all(isinstance(X, Forest) for X in filbert.parts(late, features=[]).map(lambda X: X))
    named = tmp_path / "named.jsonl"
    named.write_text('{"label": 1, "tree": "(a b)", "features": {"x": 2}}\n', encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="vocabulary"):
        filbert.parts(named)
    [X] = filbert.parts(named, vocabulary={"features": ["w", "x"]}).map(lambda X: X)
    assert X["features"].toarray().tolist() == [[0.0, 2.0]]


def test_empty_files_hold_no_examples(tmp_path: Path) -> None:
    for name in ("a.tsv", "b.tsv", "c.tsv"):
        (tmp_path / name).touch()
    with pytest.raises(InvalidParameterError, match="no examples"):
        filbert.parts(tmp_path / "*.tsv")
    (tmp_path / "b.tsv").write_text("x\t(a b)\n", encoding="utf-8")
    assert len(filbert.parts(tmp_path / "*.tsv")) == 1
    (tmp_path / "b.tsv").write_text("\n\n", encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="no examples"):
        filbert.parts(tmp_path / "*.tsv")


def test_files_that_cannot_be_read_several_times(tmp_path: Path) -> None:
    for source in ("-", ["-"]):
        with pytest.raises(InvalidParameterError, match="write it to a file first"):
            filbert.parts(source)
    os.mkfifo(tmp_path / "pipe.tsv")
    with pytest.raises(InvalidParameterError, match="pipe or a device"):
        filbert.parts(tmp_path / "pipe.tsv")
    with pytest.raises(MissingFileError):
        filbert.parts(tmp_path / "none.tsv")
    with pytest.raises(MissingFileError):
        filbert.parts(str(tmp_path / "*.jsonl"))
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="no files of labelled trees"):
        filbert.parts(tmp_path)


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "plain.tsv"
    path.write_text(FILES["plain.tsv"], encoding="utf-8")
    corpus = filbert.parts(path, n_parts=3)
    token = corpus.pieces[0].token
    assert token == filbert.parts(path, n_parts=3).pieces[0].token
    assert token != filbert.parts(path, n_parts=2).pieces[0].token
    assert token != filbert.parts(path, n_parts=3, labels="numbers").pieces[0].token
    path.write_text(FILES["plain.tsv"] + "x\t(a)\n", encoding="utf-8")
    with pytest.raises(ChangedFileError, match=r"call filbert\.parts again"):
        corpus.labels()
    assert token != filbert.parts(path, n_parts=3).pieces[0].token


def test_paths_travel_and_the_folder_may_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain.tsv").write_text(FILES["plain.tsv"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(filbert.parts("plain.tsv", n_parts=3))
    monkeypatch.chdir("/")
    assert len(pickle.loads(sent)) == len(ROWS)
    assert len(sent) < 5000


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.tsv"
    path.write_text(FILES["plain.tsv"], encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="'colour'"):
        filbert.parts(path, colour="red")
    with pytest.raises(InvalidParameterError, match="on_error"):
        filbert.parts(path, on_error="ignore")  # type: ignore[arg-type]
