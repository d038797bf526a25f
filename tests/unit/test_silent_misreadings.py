"""What a user might pass by mistake is named with the way out, and not read as something else."""

import gzip
import io
import json
import pickle
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import filbert
from filbert import Forest, TreeSVC, read_examples, read_trees
from filbert.errors import FilbertError, InputTypeError, InvalidParameterError, ParseError

A, B = "(S (NP (D the) (N dog)) (VP runs))", "(S (VP go) (NP (N home)))"


def put(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pipes.csv", f"label|tree\na|{A}\nb|{B}\n"),
        ("pipes.csv", f"a|{A}\nb|{B}\n"),
        ("pipes.txt", f"label|tree\na|{A}\nb|{B}\n"),
        ("excel.csv", f"\ufeffsep=;\r\nlabel;tree\r\na;{A}\r\nb;{B}\r\n"),
        ("excel.csv", f'"sep=|"\na|{A}\nb|{B}\n'),
        ("quoted.csv", f'label,tree\n"a","(S (NP (D the)\n (N dog)) (VP runs))"\nb,{B}\n'),
        ("carriage.csv", f'label,tree\na,"(S (NP (D the)\r(N dog)) (VP runs))"\nb,{B}\n'),
    ],
)
def test_separators_and_quotes_of_csv(tmp_path: Path, name: str, text: str) -> None:
    X, y = read_examples(put(tmp_path, name, text))
    assert ([str(tree) for tree in X], y.tolist()) == ([A, B], ["a", "b"])


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("t.tsv", f"a;{A}\n", "seem to be separated by ';': pass format='csv'"),
        ("t.tsv", f"label,tree\na,{A}\n", "seem to be separated by ',': pass format='csv'"),
        ("t.tsv", f"a|{A}\n", r"seem to be separated by '\|': pass format='csv'"),
        ("t.tsv", f"a {A}\n", "separated by blanks: write a tab between them"),
        ("t.txt", f"a|{A}\n", r"separated by '\|': pass format='csv'"),
        ("t.txt", f"a {A}\n", "separated by blanks: write a tab between them"),
        ("t.tsv", f"a\t{A}\rb\t{B}\r", "carriage return alone, as in files of old Macs"),
        ("t.csv", f"label,tree\ra,{A}\rb,{B}\r", "carriage return alone.*convert the line ends"),
        ("t.jsonl", '{"label":"a","tree":"(S)"}\r{"label":"b","tree":"(S)"}\r', "old Macs"),
        ("t.tsv", f"id\ttree\n1\t{A}\n2\t{B}\n", "column of the label is not certain: pass label="),
        ("t.csv", f",tree\n0,{A}\n1,{B}\n", "column of the label is not certain: pass label="),
        ("t.tsv", "y\ttree\n1\t((a:1,b:2),c);\n", "pass tree_format='newick'"),
        ("t.tsv", "y\ttree\n1\t(((...)))..\n", "pass tree_format='dot-bracket'"),
        ("t.csv", "glycan,binds\nGal(b1-4)Glc,no\n", "in another column, tree="),
        ("t.tsv", f"a\t{A}\na \t{B}\n", "'a' and 'a ' differ only in blanks"),
        ("t.csv", f"label,tree\na,{A}\n a,{B}\n", "'a' and ' a' differ only in blanks"),
        (
            "t.tsv",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            r"this is a pointer of Git LFS in the place of the file \(fetch the file",
        ),
    ],
)
def test_tables_that_would_be_misread(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(FilbertError, match=told):
        read_examples(put(tmp_path, name, text))


def test_a_chosen_column_may_be_called_id(tmp_path: Path) -> None:
    path = put(tmp_path, "t.tsv", f"id\ttree\n1\t{A}\n2\t{B}\n")
    assert read_examples(path, label="id")[1].tolist() == ["1", "2"]
    X, _ = read_examples(path, label=False)
    assert X["id"].tolist() == ["1", "2"]
    path = put(tmp_path, "genres.tsv", f"genre\ttree\nnews\t{A}\ntales\t{B}\n")
    assert read_examples(path)[1].tolist() == ["news", "tales"]


def test_a_header_called_label_beside_an_id_stays_one(tmp_path: Path) -> None:
    assert read_examples(put(tmp_path, "t.tsv", f"y\ttree\n1\t{A}\n"))[1].tolist() == ["1"]


# ---------------------------------------------------------------- documents

PAGE = "<!DOCTYPE html>\n<html><body>404</body></html>"


@pytest.mark.parametrize(
    "name", ["a.mrg", "a.json", "a.nwk", "a.iupac", "a.conllu", "a.py", "a.dbn", "a.go"]
)
def test_an_error_page_is_no_document_of_another_format(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, name, PAGE)
    with pytest.raises(ParseError, match=r"this is an HTML page .*download the file again"):
        read_trees(path)
    put(tmp_path, f"b{Path(name).suffix}", "")  # an empty file is no such page
    if Path(name).suffix in (".mrg", ".nwk"):
        with pytest.warns(filbert.errors.SkippedInputWarning):
            X = read_trees(str(tmp_path), on_error="skip")
        assert len(X) == 0
        assert "HTML page" in str(X.skipped[0])


@pytest.mark.parametrize("text", ["404: Not Found", '{"error": "Not Found"}', "\ufeffnot a page"])
def test_a_page_without_any_tag(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParseError, match=r"this is a text without any tag \(check the file"):
        read_trees(put(tmp_path, "a.html", text))
    assert len(Forest.from_texts([text], format="html")) == 1  # in memory, any text is a page


@pytest.mark.parametrize("name", ["a.html", "a.mrg", "a.nwk", "a.xml", "a"])
def test_files_that_are_no_documents(tmp_path: Path, name: str) -> None:
    def told(content: bytes) -> str:
        with pytest.raises(ParseError) as caught:
            read_trees(put(tmp_path, name, content))
        return str(caught.value)

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("t.mrg", A)
    assert "this is a zip archive" in told(archive.getvalue())
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("t.mrg"), io.BytesIO(b""))
    assert "this is a tar archive (unpack it first)" in told(archive.getvalue())
    assert "this is a tar archive" in told(gzip.compress(archive.getvalue()))
    assert "this is a pickle" in told(pickle.dumps([A, B]))
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    assert "this is a pointer of Git LFS" in told(pointer)


def test_a_table_is_no_file_of_brackets(tmp_path: Path) -> None:
    path = put(tmp_path, "a.mrg", f"a\t{A}\nb\t{B}\n")
    with pytest.raises(ParseError, match=r"a table of labels and trees .use read_examples"):
        read_trees(path)
    assert read_examples(path)[1].tolist() == ["a", "b"]


def test_names_of_residues_have_capital_letters(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"'glcnac' is no monosaccharide .*capital letters"):
        read_trees(put(tmp_path, "a.iupac", "gal(b1-4)glcnac\n"))


# ---------------------------------------------------------------- objects


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan"), pd.NA, pd.NaT])
def test_a_missing_tree_says_what_to_do(missing: Any) -> None:
    with pytest.raises(InputTypeError, match=r"sample 1 is not a string.*: leave out rows"):
        Forest(np.array([A, missing], dtype=object))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<html><body>x</body></html>", "format='html'"),
        ('<?xml version="1.0"?><a/>', "format='xml'"),
        (json.dumps({"a": [1]}), "format='json'"),
        ("((a:0.1,b:0.2):0.5,c);", "format='newick'"),
        ("..((...))..", "format='dot-bracket'"),
        ("Gal(b1-4)[Fuc(a1-3)]GlcNAc", "format='iupac'"),
        (f"a\t{A}", "pass the trees without their labels"),
        (f'"{A}"', "remove the quotes around the tree"),
        ("dog", r"write \(word\) for a tree of one node"),
    ],
)
def test_texts_in_another_notation(text: str, told: str) -> None:
    clf = TreeSVC(random_state=0).fit([A, B], ["a", "b"])
    for use in (lambda: Forest([A, text]), lambda: clf.predict([A, text])):
        with pytest.raises(ParseError, match=f"sample 1, .*{told}"):
            use()


def test_the_name_of_a_file_in_the_place_of_trees(tmp_path: Path) -> None:
    path = put(tmp_path, "t.tsv", f"a\t{A}\n")
    for given in (path, Path(path)):
        with pytest.raises(InputTypeError, match=r"to read the file, use filbert\.read_examples"):
            TreeSVC().fit(given, ["a"])
    with pytest.raises(InputTypeError, match="pass a list for a single tree"):
        TreeSVC().fit(A, ["a"])
    with open(path, "rb") as file:  # its number is no name
        for number in (3, file.fileno()):
            with pytest.raises(InputTypeError, match="pass a list of trees"):
                Forest(number)  # type: ignore[arg-type]


def test_sources_that_are_no_files() -> None:
    given: Any = pd.DataFrame({"label": ["a"], "tree": [A]})
    with pytest.raises(InputTypeError, match=r"not from a pandas\.DataFrame.*Examples\.from_frame"):
        read_examples(given)
    with pytest.raises(InputTypeError, match="not from bytes"):
        read_examples(b"train.tsv")
    for read in (read_examples, read_trees):
        with pytest.raises(filbert.errors.MissingFileError, match="download it first"):
            read("https://example.org/train.mrg")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ("ab", "y must be a list or an array of one dimension, got str"),
        ({"a", "b"}, "y must be a list or an array of one dimension, got set"),
        ({0: "a", 1: "b"}, "y must be a list or an array of one dimension, got dict"),
        ([0.5, 1.5], r"numbers that are no classes, such as 0\.5: use TreeSVR"),
    ],
)
def test_labels_of_another_shape(y: Any, told: str) -> None:
    with pytest.raises(InvalidParameterError, match=told):
        TreeSVC().fit([A, B], y)


def test_printed_tuples_are_no_trees() -> None:
    tree = ("S", ("NP", "a"), ("VP", "b"))
    with pytest.raises(ParseError, match=r"sample 0: .*printed \(pass the tuples themselves"):
        Forest([str(tree), str(tree)])
    assert str(Forest.from_nested([tree])[0]) == "(S (NP a) (VP b))"
    assert len(Forest(["('' '')", "(`` (`` ``) x)", "(' a)"])) == 3  # tokens of the Penn Treebank


def test_a_missing_text_says_what_to_do() -> None:
    with pytest.raises(InputTypeError, match="sample 1 is not a text but float: leave out rows"):
        Forest.from_texts(pd.Series(["Gal(b1-4)Glc", np.nan]), format="iupac")


def test_an_explanation_needs_labels_of_the_model() -> None:
    clf = TreeSVC(random_state=0).fit([A, B], ["a", "b"])
    with pytest.raises(InvalidParameterError, match="no label in y is a class of the model: y has"):
        filbert.explain(clf, [A, B], [0, 1])
    assert len(filbert.explain(clf, [A, B], ["a", "new"]).examples) == 2
