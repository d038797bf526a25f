"""Labelled files as people have them: KeLP, SVM-light-TK, tables and compressed files."""

import bz2
import gzip
import io
import lzma
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import zstandard

from filbert import Examples, Forest, TreePerceptron, TreeSVC, load, read_examples, save, stream
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    MissingFileError,
    MissingLibraryError,
    ParseError,
    SkippedInputWarning,
)
from filbert.kernels import Linear, SubsetTree


def lines(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


def texts(forest: Any) -> list[str]:
    return list(map(str, forest))


# ---------------------------------------------------------------- SVM-light-TK

EMPTY = lines("1 |BT| (a b) |BT| |ET|", "-1 |BT||BT| (c d) |ET|")


def test_empty_trees_are_a_placeholder() -> None:
    X, _ = read_examples(EMPTY)
    assert texts(X["tree_1"]) == ["(a b)", "(∅)"]
    assert texts(X["tree_2"]) == ["(∅)", "(c d)"]
    kernel = SubsetTree(normalize=False)
    assert kernel(X["tree_2"][:1], X["tree_2"][:1])[0, 0] == 0, "as in SVM-light-TK"
    with pytest.raises(ParseError, match=r"line 1, column 19: an empty tree .*'placeholder'"):
        read_examples(EMPTY, empty="error")


def test_empty_trees_of_other_formats_are_errors_by_default() -> None:
    for data in (lines("label\ttree", "x\t"), lines('{"label": 1, "tree": ""}')):
        with pytest.raises(ParseError, match=r"without a tree|no tree"):
            read_examples(data)
        assert texts(read_examples(data, empty="placeholder")[0]) == ["(∅)"]
    with pytest.raises(InvalidParameterError, match="empty must be"):
        read_examples(EMPTY, empty="none")  # type: ignore[arg-type]


def test_an_empty_tree_in_the_first_line_is_no_header() -> None:
    X, y = read_examples(lines("x\t", "y\t(a)"), format="tsv", empty="placeholder")
    assert (texts(X), y.tolist()) == (["(∅)", "(a)"], ["x", "y"])
    X, y = read_examples(lines(",label,tree", "0,x,(a)"), format="csv")
    assert (texts(X["tree"]), y.tolist(), X["column_0"].tolist()) == (["(a)"], ["x"], ["0"])


@pytest.mark.parametrize("place", ["2 qid:7 |BT| (a) |ET| 1:1", "2 |BT| (a) |ET| qid:7 1:1 |EV|"])
def test_query_ids_are_a_column(place: str) -> None:
    X, y = read_examples(lines(place, "1 |BT| (b) |ET| 1:2"))
    assert X.columns["qid"].tolist() == ["7", ""]
    assert X["features"].toarray().tolist() == [[1], [2]]
    assert y.tolist() == [2, 1]


def test_features_with_names() -> None:
    data = lines("1 |BT| (a) |ET| dog:1 a:b:2 |EV|", "1 |BT| (b) |ET| cat:0.5 7:3")
    X, _ = read_examples(data)
    assert X.feature_names["features"].tolist() == ["7", "a:b", "cat", "dog"]
    assert X["features"].toarray().tolist() == [[0, 2, 0, 1], [3, 0, 0.5, 0]]
    Z, _ = read_examples(lines("1 |BT| (a) |ET| cow:1 dog:4"), vocabulary=X.feature_names)
    assert Z["features"].toarray().tolist() == [[0, 0, 0, 4]]
    with pytest.raises(ParseError, match="feature 'x' is there twice"):
        read_examples(lines("1 |BT| (a) |ET| x:1 x:2"))
    with pytest.raises(InvalidParameterError, match=r"pass vocabulary=\{'features'"):
        list(stream(data, 1))
    [(Z, _), _] = stream(data, 1, vocabulary=X.feature_names)
    assert Z["features"].toarray().tolist() == [[0, 2, 0, 1]]


def test_features_that_are_not_wanted() -> None:
    numbered = lines("1 |BT| (a) |ET| 7:1 |EV|", "1 qid:2 |BT| (b) |ET| 9:1")
    named = lines("1 |BT| (a) |ET| x:1 |EV|", "1 |BT| (b) |ET| y:1")
    kelp = lines("x |BT:tree| (a) |ET| |BV:f| x:1 |EV|", "x |BT:tree| (b) |ET|")
    objects = lines('{"label": 1, "tree": "(a)", "features": [1]}', '{"label": 1, "tree": "(b)"}')
    for data in (numbered, numbered[:1] * 2, named, kelp, objects):
        X, _ = read_examples(data, features=[])
        assert isinstance(X, Forest) or list(X.parts) == ["tree"]
        for Z, _ in stream(data, 1, features=[]):
            assert isinstance(Z, Forest) or list(Z.parts) == ["tree"]
    X, _ = read_examples(lines(KLP), features="bow")
    assert list(X.parts) == ["grct", "lct", "bow"]


def test_labels_as_text() -> None:
    data = lines("+1 |BT| (a) |ET|", "01 |BT| (b) |ET|", "1 |BT| (c) |ET|")
    assert read_examples(data)[1].tolist() == [1, 1, 1]
    assert read_examples(data, labels="text")[1].tolist() == ["+1", "01", "1"]
    words = lines("yes |BT| (a) |ET|")
    assert read_examples(words, labels="text")[1].tolist() == ["yes"]
    with pytest.raises(ParseError, match="pass labels='text'"):
        read_examples(words)
    with pytest.raises(InvalidParameterError, match="labels must be"):
        read_examples(data, labels="int")  # type: ignore[arg-type]


# ---------------------------------------------------------------- KeLP

KLP = (
    "NUM |BS:quest| How far ? |ES| |BV:bow| far:1.0 ?:2 7:3 |EV| "
    "|BT:grct| (S(A(a))) |ET| |BT:lct| (b(c)) |ET| |BDV:dense| 1 0,2.5 |EDV| "
)


def test_klp() -> None:
    X, y = read_examples(lines(KLP, "LOC |BT:lct| (d) |ET| |BT:grct| |ET|"), format="klp")
    assert y.tolist() == ["NUM", "LOC"]
    assert list(X.parts) == ["grct", "lct", "bow", "dense"]
    assert texts(X["grct"]) == ["(S (A a))", "(∅)"]
    assert texts(X["lct"]) == ["(b c)", "(d)"]
    assert X.feature_names["bow"].tolist() == ["7", "?", "far"]
    assert X["bow"].toarray().tolist() == [[3, 2, 1], [0, 0, 0]]
    assert X["dense"].toarray().tolist() == [[1, 0, 2.5], [0, 0, 0]]
    assert X["quest"].tolist() == ["How far ?", ""]
    assert texts(read_examples(lines(KLP), tree="lct")[0]["lct"]) == ["(b c)"]


def test_klp_with_several_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.klp.gz"
    path.write_bytes(gzip.compress(b"x y |BT:t| (a) |ET|\nz |BT:t| (b) |ET|\n"))
    with pytest.raises(ParseError, match=r"line 1.* has 2 labels .*label=0"):
        read_examples(path)
    assert read_examples(path, label=0)[1].tolist() == ["x", "z"]
    assert read_examples(path, label="all")[1].tolist() == [("x", "y"), ("z",)]
    assert read_examples(path, label=False)[1] is None
    with pytest.raises(ParseError, match=r"line 2.*there is no label 1: the example has 1"):
        read_examples(path, label=1)


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("x |<| |BT:t| (a) |ET| |,| |BT:t| (b) |ET| |>|", 3, "a pair of examples"),
        ("x |BT:t| (a) |ET| |,| |BT:t| (b) |ET|", 19, "a pair of examples"),
        ("x |BT:t| (a)", 3, r"\|BT:t\| has no end"),
        ("x |BT:t| (a) |ET| rest", 19, "expected .*found 'rest'"),
        ("x |BT:t| (a) |ET| |BT:t| (b) |ET|", 19, "'t' is there twice"),
        ("x |BSQ:t| (a) |ESQ|", 3, r"\|BSQ\| is not read"),
        ("x |BV:t| a:1 |EV|", 3, "a line without a tree"),
        ("x |BV:t| a |EV| |BT:t| (a) |ET|", 10, "'a' is not a feature"),
        ("x |BDV:v| 1 nan |EDV| |BT:t| (a) |ET|", 13, "'nan' is not a finite number"),
        ("|BT:t| (a) |ET|", 1, "has no label"),
        ("x |BT:t| (a (b) |ET|", 10, "never closed"),
        ("x y", 1, "a line without a tree"),
    ],
)
def test_bad_klp_lines(line: str, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        read_examples(lines("x |BT:t| (a) |ET|", line), format="klp")
    assert (caught.value.line, caught.value.column) == (2, column)


# ---------------------------------------------------------------- tables

CSV = 'id,label,tree,note\n1,01,"(S (, ,) a)","two\nlines"\n2,1,(b),"say ""x"""\n'


def check_table(X: Any, y: Any) -> None:
    assert texts(X["tree"]) == ["(S (, ,) a)", "(b)"]
    assert y.tolist() == ["01", "1"]
    assert X["id"].tolist() == ["1", "2"]
    assert X["note"].tolist() == ["two\nlines", 'say "x"']


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for text in (CSV, CSV.replace("\n", "\r\n", 1), "\ufeff" + CSV, CSV.replace("id,", "id , ", 1)):
        path.write_bytes(text.encode())
        check_table(*read_examples(path))
    [(_, y), (Z, z)] = stream(path, 1)
    assert (texts(Z["tree"]), z.tolist(), y.tolist()) == (["(b)"], ["1"], ["01"])
    path.write_text(CSV.replace(',label,tree,', ';label;tree;').replace('1,01,', '1;01;')
                    .replace(',"two', ';"two').replace('2,1,(b),', '2;1;(b);'))  # fmt: skip
    check_table(*read_examples(path))


def test_csv_is_detected_in_a_pipe() -> None:
    check_table(*read_examples(io.BytesIO(CSV.encode())))


def test_csv_lines_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV + "3,x,(c\n4,x,(d),\n")
    with pytest.raises(ParseError, match=r"line 5.* this row has 3 columns, but the first"):
        read_examples(path)
    with pytest.warns(SkippedInputWarning):
        X, _ = read_examples(path, on_error="skip")
    assert texts(X["tree"]) == ["(S (, ,) a)", "(b)", "(d)"]
    path.write_text(CSV + '3,x,"(c)\n')
    with pytest.raises(ParseError, match=r"line 5.*not CSV"):
        read_examples(path)


def test_large_fields_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    tree = f"(a {'(b c) ' * 50_000})"
    path.write_text(f"label,tree\nx,{tree}\n")
    assert len(list(read_examples(path)[0][0].children)) == 50_000


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
def test_typed_tables(tmp_path: Path, suffix: str) -> None:
    frame = pd.read_csv(io.StringIO(CSV), dtype={"label": str})
    frame["score"] = [0.5, 1.5]
    path = tmp_path / f"a.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_feather(path)
    check_table(*read_examples(path))
    assert read_examples(path, label="id")[1].tolist() == [1, 2]
    assert read_examples(path, label="id", labels="text")[1].tolist() == ["1", "2"]
    X, _ = read_examples(path, features=["score", "id"])
    assert X["features"].toarray().tolist() == [[0.5, 1], [1.5, 2]]
    assert X.feature_names["features"].tolist() == ["score", "id"]
    (tmp_path / "b").write_bytes(path.read_bytes())
    check_table(*read_examples(tmp_path / "b"))
    with pytest.raises(ParseError, match=r"this is an? (Parquet|Arrow) table, not text .*format="):
        read_examples(path, format="tsv")


def test_bad_typed_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame({"label": ["x", None], "tree": ["(a)", "(b)"]}).to_parquet(path)
    with pytest.raises(ParseError, match=r"a\.parquet, row 2: the label is missing"):
        read_examples(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ParseError, match="the Parquet table is damaged"):
        read_examples(path)
    path.write_text("label\ttree")
    with pytest.raises(ParseError, match="the Parquet table is damaged"):
        read_examples(path)


def test_columns_by_name_and_by_number() -> None:
    data = lines("id\tkind\tparse\tother", "1\tx\t(a b)\t(c d)")
    X, y = read_examples(data, label="kind")
    assert (texts(X["tree"]), y.tolist()) == (["(a b)"], ["x"])
    X, y = read_examples(data, label="kind", tree="other")
    assert texts(X["tree"]) == ["(c d)"]
    assert X["parse"].tolist() == ["(a b)"]
    X, y = read_examples(data, label=1, tree=["parse", "other"])
    assert {name: texts(part) for name, part in X.parts.items()} == {
        "parse": ["(a b)"], "other": ["(c d)"],
    }  # fmt: skip
    X, y = read_examples(data, label=False)
    assert (y, list(X.columns)) == (None, ["id", "kind", "other"])
    X, y = read_examples(lines("1\tx\t(a b)"), label=1)
    assert X["column_0"].tolist() == ["1"]
    renamed = lines("label\ttree\tsimple", "x\t(a b)\t(c)")
    X, _ = read_examples(renamed, tree="simple")
    assert texts(X["simple"]) == ["(c)"]
    assert X["tree"].tolist() == ["(a b)"], "a column of this name is kept"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (["a\tb\ttree", "1\t2\t(c)"], {}, "label is not certain: pass label=.*'a', 'b', 'tree'"),
        (["label\ta\tb", "1\t2\t(c)"], {}, "trees is not certain: pass tree=.*'label', 'a', 'b'"),
        (["label\tclass\ttree", "1\t2\t(c)"], {}, "label is not certain"),
        (["1\t2\t(c)"], {}, r"pass label= and tree=; the columns are 0 \('1' first\)"),
        (["label\ttree", "1\t(c)"], {"label": "kind"}, "no column 'kind'; the columns are 'label'"),
        (["1\t(c)"], {"label": "kind"}, "no column 'kind', because there is no header"),
        (["label\ttree", "1\t(c)"], {"label": 2}, "there is no column 2"),
        (["label\ttree", "1\t(c)"], {"tree": []}, "tree= needs a column"),
        (["label\ttree", "1\t(c)"], {"label": True}, "label must be"),
    ],
)
def test_columns_that_are_not_certain(data: list[str], options: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        read_examples(lines(*data), **options)


@pytest.mark.parametrize("suffix", ["tsv", "csv"])
def test_swapped_columns_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    tab = "\t" if suffix == "tsv" else ","
    path.write_text(f"(a b){tab}x\n(c d){tab}y\n")
    with pytest.raises(ParseError, match=r"line 1.*column 0 is a tree, .*label=1, tree=0"):
        read_examples(path)
    X, y = read_examples(path, label=1, tree=0)
    assert (texts(X), y.tolist()) == (["(a b)", "(c d)"], ["x", "y"])
    path.write_text(f"tree{tab}label\n(a b){tab}x\n")
    assert read_examples(path)[1].tolist() == ["x"], "the names of the columns decide"


def test_a_quoted_tree_in_tsv_is_named() -> None:
    data = lines("label\ttree", 'x\t"(a ""b"")"')
    with pytest.raises(ParseError, match=r"the tree is in quotes .*format='csv'"):
        read_examples(data)
    assert texts(read_examples(data, format="csv")[0]) == ['(a "b")']


def test_labels_with_nul_are_refused() -> None:
    with pytest.raises(ParseError, match="a label has a NUL character"):
        read_examples(lines("x\0\t(a)", "x\t(b)"))


def test_numbers_are_asked_for() -> None:
    data = lines("1\t(a)", "-2\t(b)")
    assert read_examples(data, labels="numbers")[1].dtype == np.int64
    data = lines("1\t(a)", "x\t(b)", "0.5\t(c)")
    with pytest.raises(ParseError, match=r"line 2.*the label 'x' is not a number"):
        read_examples(data, labels="numbers")
    with pytest.warns(SkippedInputWarning):
        assert read_examples(data, labels="numbers", on_error="skip")[1].tolist() == [1.0, 0.5]


def test_json_keeps_other_entries() -> None:
    data = lines(
        '{"id": 7, "label": "x", "tree": "(a)", "ok": true, "props": [1], "none": null}',
        '{"id": "8", "label": "y", "tree": "(b)", "late": "z"}',
    )
    X, _ = read_examples(data)
    assert {name: column.tolist() for name, column in X.columns.items()} == {
        "id": ["7", "8"], "ok": ["true", ""], "late": ["", "z"],
    }  # fmt: skip
    [(_, _), (Z, _)] = stream(data, 1)
    assert list(Z.columns) == ["id", "late", "ok"], "columns of earlier batches stay"


def test_json_features_with_names() -> None:
    data = lines('{"label": 1, "tree": "(a)", "bow": {"_how__w": 1, "x": 2}}')
    X, _ = read_examples(data, features="bow")
    assert X.feature_names["bow"].tolist() == ["_how__w", "x"]
    assert X["bow"].toarray().tolist() == [[1, 2]]


# ---------------------------------------------------------------- compression, binary files

TSV = b"".join(b"%d\t(S (A a%d) (B b))\n" % (i % 2, i) for i in range(2000))


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress), (".zst", zst)],
)
def test_compression(tmp_path: Path, suffix: str, pack: Any) -> None:
    expected = Forest(line.split(b"\t")[1] for line in TSV.splitlines())
    for name, data in [
        (f"a.tsv{suffix}", pack(TSV)),
        ("a.tsv", pack(TSV)),  # by its first bytes
        (f"b.tsv{suffix}", pack(TSV[:20]) + pack(TSV[20:])),  # two files one after the other
    ]:
        (tmp_path / name).write_bytes(data)
        assert read_examples(tmp_path / name)[0] == expected
    with pytest.raises(ParseError, match=r"this is data that \w+ has compressed.*pass the path"):
        read_examples(io.BytesIO(pack(TSV)))
    (tmp_path / "c.tsv").write_bytes(pack(TSV)[:-20])
    with pytest.raises(ParseError, match="damaged or cut short"):
        read_examples(tmp_path / "c.tsv")
    for format in ("tsv", "csv"):
        batches = []
        with pytest.raises(ParseError, match="damaged or cut short"):
            batches.extend(stream(tmp_path / "c.tsv", 7, format=format))
        trees = [str(tree) for X, _ in batches for tree in X]
        assert trees == texts(expected)[: len(trees)], "all before the damage"
    (tmp_path / f"d.tsv{suffix}").write_bytes(b"this is not compressed")
    with pytest.raises(ParseError, match="damaged or cut short"):
        read_examples(tmp_path / f"d.tsv{suffix}")


def test_without_zstandard_the_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.tsv.zst").write_bytes(zst(TSV))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingLibraryError, match=r"a \.zst file needs zstandard: pip install"):
        read_examples(tmp_path / "a.tsv.zst")


def archive() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("a.tsv", TSV)
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (archive(), "a zip archive"),
        (pickle.dumps(TSV), "a pickle"),
        (b"%PDF-1.7\n%\xe2\xe3\n", "a PDF document"),
        (b"SQLite format 3\0", "an SQLite database"),
        ("x\t(a)".encode("utf-16"), "text in UTF-16"),
        (b"\0\0\0\1\0\0", "a binary file"),
    ],
)
@pytest.mark.parametrize("name", ["a.tsv", "a"])
def test_binary_files_are_named(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ParseError, match=f"this is {what}"):
        read_examples(tmp_path / name)


# ---------------------------------------------------------------- several files


def test_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("label\ttree\tid\n01\t(a b)\t7\n")
    Path("b.tsv").write_text("1\t(c d)\n")
    Path("c.txt").write_text("no trees")
    for source in (["a.tsv", "b.tsv"], "*.tsv", ".", Path()):
        X, y = read_examples(source)
        assert texts(X["tree"]) == ["(a b)", "(c d)"]
        assert y.tolist() == ["01", "1"]
        assert X["id"].tolist() == ["7", ""]
        assert [Path(name).name for name in X["file"]] == ["a.tsv", "b.tsv"]
    with pytest.raises(MissingFileError, match="matches the pattern"):
        read_examples("*.csv")
    with pytest.raises(InvalidParameterError, match="has no files of klp"):
        read_examples(".", format="klp")
    Path("b.tsv").write_text("1\t(c d\n")
    with pytest.raises(ParseError, match=r"b\.tsv, line 1"):
        read_examples("*.tsv")
    with pytest.warns(SkippedInputWarning, match="skipped 1, read 1"):
        assert len(read_examples("*.tsv", on_error="skip")[0].skipped) == 1


def test_features_of_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.klp").write_text("x |BT:t| (a) |ET| |BV:b| dog:1 |EV|\n")
    Path("b.klp").write_text("y |BT:t| (b) |ET| |BV:b| cat:2 dog:3 |EV|\n")
    Path("c.klp").write_text("z |BT:t| (c) |ET|\n")
    X, _ = read_examples("*.klp")
    assert X.feature_names["b"].tolist() == ["cat", "dog"]
    assert X["b"].toarray().tolist() == [[0, 1], [2, 3], [0, 0]]
    Path("d.dat").write_text("1 |BT| (a) |ET| 1:1\n")
    Path("e.dat").write_text("1 |BT| (a) |ET| 3:1\n")
    assert read_examples("*.dat")[0]["features"].toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(InvalidParameterError, match=r"has the trees tree, but a\.klp has t"):
        read_examples(["a.klp", "d.dat"])
    Path("f.tsv").write_text("x\t(a)\n")
    with pytest.raises(InvalidParameterError, match="pass labels='text'"):
        read_examples(["d.dat", "f.tsv"])


def test_labels_by_folder(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.mrg").write_text("(S (A a))\n")
    _, y = read_examples(tmp_path, label="folder")
    assert y.tolist() == ["x", "y"]
    with pytest.raises(InvalidParameterError, match="label='folder'"):
        read_examples(tmp_path)
    with pytest.raises(InvalidParameterError, match=r"xml files have no labels: .*read_trees"):
        read_examples(tmp_path, format="xml")
    with pytest.raises(InvalidParameterError, match="no parameter 'units'"):
        read_examples(tmp_path, units="function")


def test_lines_that_are_not_bytes() -> None:
    for line in ("x\t(a b)", "1 |BT| (a) |ET|", '{"label": 1}'):
        with pytest.raises(InputTypeError, match="pass lines as bytes"):
            read_examples([line])


# ---------------------------------------------------------------- columns


def test_columns_travel_with_rows() -> None:
    X = Examples(tree=["(a)", "(b)", "(c)"])
    X = X.with_columns(id=[7, None, "x"], group=["uvw"] * 3)
    assert X.columns["id"].tolist() == ["7", "", "x"]
    for index in (slice(1, None), [1, 2], np.array([False, True, True])):
        assert X[index]["id"].tolist() == ["", "x"]
    assert X[[]]["id"].tolist() == []
    assert X[2] == {"tree": X["tree"][2], "id": "x", "group": "uvw"}
    assert pickle.loads(pickle.dumps(X))["id"].tolist() == ["7", "", "x"]
    assert repr(X).splitlines()[2:] == [
        "  id     text, such as '7'",
        "  group  text, such as 'uvw'",
    ]
    with pytest.raises(KeyError, match="there are tree, id, group"):
        X["name"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1]}, "column 'id' has 1 values for 2 rows"),
        ({"tree": [1, 2]}, "there is a part 'tree' already"),
        ({"old": [1, 2]}, "there is a column 'old' already"),
    ],
)
def test_bad_columns(columns: Any, message: str) -> None:
    X = Examples(tree=["(a)", "(b)"]).with_columns(old=["x", "y"])
    with pytest.raises(InvalidParameterError, match=message):
        X.with_columns(**columns)


def test_columns_of_frames() -> None:
    frame = pd.DataFrame({"parse": ["(a)", "(b)"], "id": [1, 2]})
    assert Examples.from_frame(frame, trees="parse", columns=["id"])["id"].tolist() == ["1", "2"]


def test_names_of_features_match() -> None:
    X = Examples(tree=["(a)"], f=[[1.0, 2.0]])
    for names in (["a"], ["a", "a"]):
        with pytest.raises(InvalidParameterError, match="needs as many different names"):
            X.with_feature_names(f=names)
    with pytest.raises(InvalidParameterError, match="there is no matrix 'tree'"):
        X.with_feature_names(tree=["a"])


@pytest.mark.parametrize("learner", [TreeSVC, TreePerceptron])
def test_features_with_other_names_are_not_mixed_up(learner: Any) -> None:
    train, test = (
        [b"x |BT:t| (a b) |ET| |BV:f| %s:1 |EV|" % a, b"y |BT:t| (a c) |ET| |BV:f| %s:1 |EV|" % b]
        for a, b in [(b"dog", b"cat"), (b"ant", b"dog")]
    )
    X, y = read_examples(train, format="klp")
    clf = learner(SubsetTree().on("t") + Linear().on("f")).fit(X, y)
    Z, _ = read_examples(test, format="klp")
    for call in (lambda: clf.predict(Z), lambda: Linear().on("f")(X, Z)):
        with pytest.raises(InvalidParameterError, match=r"vocabulary=X_train\.feature_names"):
            call()
    Z, _ = read_examples(test, format="klp", vocabulary=X.feature_names)
    assert Linear().on("f")(X, Z).tolist() == [[0, 1], [0, 0]]
    clf.predict(Z)


def test_a_saved_model_knows_the_names_of_features(tmp_path: Path) -> None:
    data = [b"x |BT:t| (a b) |ET| |BV:f| dog:1 |EV|", b"y |BT:t| (a c) |ET| |BV:f| cat:1 |EV|"]
    X, y = read_examples(data, format="klp")
    save(
        TreeSVC(SubsetTree().on("t") + Linear().on("f"), C=1.0, loss="hinge").fit(X, y),
        tmp_path / "m",
    )
    clf = load(tmp_path / "m")
    assert clf.model_.support.feature_names["f"].tolist() == ["cat", "dog"]
    assert clf.predict(X).tolist() == ["x", "y"]
    Z, _ = read_examples([data[0].replace(b"dog", b"ant")], format="klp")
    with pytest.raises(InvalidParameterError, match="other names than those of the training"):
        clf.predict(Z)
