"""Examples that are written and read again."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from filbert import Examples, Forest, read_examples, write_examples
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.read.record import EMPTY_TREE
from tests.profiles import n_examples
from tests.reference.trees import write
from tests.strategies import unicode_trees

TREES = unicode_trees().map(write)
UNMARKED = TREES.filter(lambda tree: "|BT|" not in tree and "|ET|" not in tree)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r"), max_size=6)
WORD = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="|#"), min_size=1, max_size=5
)
NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=32)


def there_and_back(X: Any, y: Any, kind: Any, **options: Any) -> tuple[Any, Any]:
    stream = io.BytesIO()
    write_examples(X, y, stream, format=kind)
    return read_examples(io.BytesIO(stream.getvalue()), format=kind, **options)


def contents(X: Any) -> dict[str, Any]:
    """All that examples hold."""
    parts = X.parts if isinstance(X, Examples) else {"tree": X}
    columns = X.columns if isinstance(X, Examples) else {}
    plain = {
        name: list(map(str, part)) if isinstance(part, Forest) else sp.csr_array(part).todok()
        for name, part in parts.items()
    }
    return {
        **{n: dict(p) if not isinstance(p, list) else p for n, p in plain.items()},
        **{name: column.tolist() for name, column in columns.items()},
    }


def rows(*values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    return st.lists(st.tuples(*values), min_size=1, max_size=4)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
@n_examples(25)
@given(rows(TREES, TEXT.filter(bool), TEXT))
def test_any_text_comes_back(kind: str, data: list[tuple[str, str, str]]) -> None:
    trees, labels, ids = zip(*data, strict=True)
    X = Examples(tree=trees).with_columns(id=ids)
    again, y = there_and_back(X, labels, kind)
    assert contents(again) == contents(X)
    assert y.tolist() == list(labels)


@n_examples(25)
@given(rows(TREES, LINE.filter(bool), LINE))
def test_tsv_comes_back(data: list[tuple[str, str, str]]) -> None:
    trees, labels, ids = zip(*data, strict=True)
    X = Examples(tree=trees).with_columns(id=ids)
    again, y = there_and_back(X, labels, "tsv")
    assert contents(again) == contents(X)
    assert y.tolist() == list(labels)
    again, y = there_and_back(Forest(trees), labels, "tsv")
    assert isinstance(again, Forest)
    assert again == Forest(trees)
    assert y.tolist() == list(labels)


@n_examples(25)
@given(
    rows(
        UNMARKED | st.just(EMPTY_TREE),
        UNMARKED,
        WORD,
        st.dictionaries(WORD, NUMBER, max_size=3),
        LINE,
    )
)
def test_klp_comes_back(data: list[tuple[str, str, str, dict[str, float], str]]) -> None:
    one, two, labels, bags, texts = zip(*data, strict=True)
    names = sorted({name for bag in bags for name in bag})
    matrix = np.array([[bag.get(name, 0.0) for name in names] for bag in bags])
    X = Examples(one=one, two=two, bow=sp.csr_array(matrix.reshape(len(data), len(names))))
    X = X.with_columns(text=texts).with_feature_names(bow=names)
    again, y = there_and_back(X, labels, "klp", vocabulary=X.feature_names)
    assert contents(again) == contents(X)
    assert again.feature_names["bow"].tolist() == names
    assert y.tolist() == list(labels)


@n_examples(25)
@given(
    rows(
        UNMARKED | st.just(EMPTY_TREE),
        UNMARKED,
        st.integers(-5, 5) | NUMBER,
        st.lists(NUMBER, min_size=3, max_size=3),
        WORD,
    )
)
def test_svmlight_tk_comes_back(data: list[tuple[str, str, float, list[float], str]]) -> None:
    one, two, labels, vectors, queries = zip(*data, strict=True)
    X = Examples(tree_1=one, tree_2=two, features=np.array(vectors)).with_columns(qid=queries)
    again, y = there_and_back(X, labels, "svmlight-tk", n_features=3)
    kept = {"features": {}, **contents(again)}  # without any feature, there is no matrix
    assert kept == contents(X)
    assert y.tolist() == list(labels)
    named = Examples(tree=one, features=np.array(vectors))
    named = named.with_feature_names(features=["a", "b:c", "d"])
    again, _ = there_and_back(named, labels, "svmlight-tk", vocabulary=named.feature_names)
    assert {"features": {}, **contents(again)} == contents(named)


@n_examples(25)
@given(rows(TREES, TREES, st.integers() | st.floats(allow_nan=False, allow_infinity=False)))
def test_jsonl_keeps_the_names_of_parts_and_numbers(data: list[tuple[str, str, float]]) -> None:
    one, two, labels = zip(*data, strict=True)
    X = Examples(one=one, two=two, features=np.eye(len(data)))
    again, y = there_and_back(X, labels, "jsonl", n_features=len(data))
    assert contents(again) == contents(X)
    assert y.tolist() == [float(label) if y.dtype.kind == "f" else label for label in labels]


def test_files_are_compressed_by_their_names(tmp_path: Path) -> None:
    for name in ("a.tsv", "a.csv.gz", "a.klp.xz", "a.jsonl.bz2", "a.parquet", "a.tsv.zst"):
        write_examples(["(a b)", "(a c)"], ["01", "1"], tmp_path / name)
        X, y = read_examples(tmp_path / name)
        assert list(map(str, X)) == ["(a b)", "(a c)"]
        assert y.tolist() == ["01", "1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.csv.gz", "a.jsonl.bz2", "a.klp.xz", "a.parquet", "a.tsv", "a.tsv.zst",
    ]  # fmt: skip


def test_examples_without_labels() -> None:
    X = Examples(tree=["(a b)"]).with_columns(id=["7"])
    for kind in ("klp", "tsv", "csv", "jsonl", "parquet", "arrow"):
        again, y = there_and_back(X, None, kind, label=False)
        assert contents(again) == contents(X)
        assert y is None


def test_several_labels() -> None:
    X, y = there_and_back(["(a b)", "(c)"], [("x", "y"), ("z",)], "klp", label="all")
    assert y.tolist() == [("x", "y"), ("z",)]
    for kind in ("tsv", "csv", "jsonl", "parquet"):
        with pytest.raises(InvalidParameterError, match="several labels need a KeLP file"):
            write_examples(X, y, io.BytesIO(), format=kind)


TREE = ["(a b)"]


@pytest.mark.parametrize(
    ("X", "y", "kind", "message"),
    [
        (TREE, ["yes"], "svmlight-tk", "sample 0 .*'yes' is not a number: pass label_map="),
        (TREE, [True], "svmlight-tk", "is not a number"),
        (TREE, None, "svmlight-tk", "is not a number"),
        (["(a |ET|)"], [1], "svmlight-tk", r"a tree has the label \|BT\| or \|ET\|"),
        (Examples(tree=TREE).with_columns(id=["7"]), [1], "svmlight-tk", "pass columns="),
        (Examples(tree=TREE).with_columns(qid=["a b"]), [1], "svmlight-tk", "the qid 'a b'"),
        (Examples(tree=TREE, f=[[1.0]]).with_feature_names(f=["7"]), [1], "svmlight-tk", "as a"),
        (Examples(tree=TREE, f=[[1.0]]).with_feature_names(f=["#"]), [1], "svmlight-tk", "or #"),
        (Examples(tree=TREE, f=[[1.0]]).with_feature_names(f=["7"]), [1], "jsonl", "as a number"),
        (Examples(tree=TREE, f=[[np.nan]]), [1], "jsonl", "not finite"),
        (Examples(tree=TREE, f=[[1.0]]), [1], "csv", "no place for the matrix 'f'"),
        (Examples(tree=TREE, f=[[1.0]]), [1], "parquet", "no place for the matrix 'f'"),
        (Examples(f=[[1.0]]), [1], "jsonl", "there are no trees to write"),
        (TREE, ["New York"], "klp", "the label 'New York' is empty or has white space"),
        (["(a |ET|)"], ["x"], "klp", r"a line end or \|ET\|"),
        (Examples(tree=TREE).with_columns(text=["a\nb"]), ["x"], "klp", "a line end"),
        (TREE, ["a\tb"], "tsv", "a tab or a line end: write a csv file"),
        (Examples(tree=TREE).with_columns(label=["x"]), ["x"], "tsv", "'label' cannot be the name"),
        (Examples(tree=TREE).with_columns(**{"a(b": ["x"]}), ["x"], "csv", "cannot be the name"),
        (Examples(tree=TREE).with_columns(trees=["x"]), ["x"], "jsonl", "has the name of another"),
        (TREE, ["x", "y"], "tsv", "y has 2 labels for 1 examples"),
        (TREE, [np.nan], "tsv", "the label of sample 0 is nan"),
        (TREE, ["a\0"], "csv", "texts that are not empty and have no NUL"),
        (TREE, [""], "csv", "the label of sample 0 is ''"),
        (TREE, ["\ud800"], "tsv", "not valid Unicode"),
        (TREE, ["x"], "xml", "format must be one of"),
        (TREE, ["x"], None, "the name does not show the format"),
    ],
)  # fmt: skip
def test_what_a_format_cannot_hold(X: Any, y: Any, kind: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        write_examples(X, y, io.BytesIO(), format=kind)


def test_label_maps() -> None:
    stream = io.BytesIO()
    labels = {"yes": 1, "no": -1}
    write_examples(["(a)", "(b)"], ["no", "yes"], stream, format="svmlight-tk", label_map=labels)
    assert stream.getvalue() == b"-1 |BT| (a) |ET|\n1 |BT| (b) |ET|\n"
    with pytest.raises(InvalidParameterError, match="no entry for the label 'maybe'"):
        write_examples(["(a)"], ["maybe"], stream, format="svmlight-tk", label_map=labels)


def test_columns_are_chosen() -> None:
    X = Examples(tree=["(a)"]).with_columns(id=["7"], note=["x"])
    stream = io.BytesIO()
    write_examples(X, ["y"], stream, format="jsonl", columns=["id"])
    assert json.loads(stream.getvalue()) == {"label": "y", "tree": "(a)", "id": "7"}
    with pytest.raises(InvalidParameterError, match="no column 'no'; there are 'id', 'note'"):
        write_examples(X, ["y"], stream, format="jsonl", columns=["no"])


def test_a_file_is_complete_or_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("before")
    with pytest.raises(InvalidParameterError):
        write_examples(["(a)", "(b)"], ["x", "a\tb"], path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_text_files_are_refused() -> None:
    with pytest.raises(InputTypeError, match="open in binary mode"):
        write_examples(["(a)"], ["x"], io.StringIO(), format="tsv")  # type: ignore[arg-type]


def test_deep_trees_come_back() -> None:
    deep = "(a " * 100_000 + "b" + ")" * 100_000
    for kind in ("svmlight-tk", "klp", "tsv", "csv", "jsonl"):
        X, _ = there_and_back([deep], [1], kind)
        assert str(X[0]) == deep


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("qc/TREC_10.coarse.klp.gz", "klp"),
        ("qc/train_5500.coarse.klp.gz", "klp"),
        ("srl-5000/dataset_5000.dat.xz", "svmlight-tk"),
    ],
)
def test_shared_files_come_back(shared_dir: Path, name: str, kind: str) -> None:
    path = shared_dir / "data" / name
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    X, y = read_examples(path)
    again, labels = there_and_back(X, y, kind)
    assert labels.tolist() == y.tolist()
    assert again.feature_names.keys() == X.feature_names.keys()
    for part, names in X.feature_names.items():
        assert again.feature_names[part].tolist() == names.tolist()
    assert all((again[name] == X[name]).all() for name in X.columns)
    assert X.parts.keys() == again.parts.keys()
    for key, part in X.parts.items():
        same = again[key] == part if isinstance(part, Forest) else (again[key] != part).nnz == 0
        assert same
