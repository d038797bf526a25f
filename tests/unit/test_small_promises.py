"""What functions promise at their edges: first and last places, empty input, limits of messages."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import Examples, Forest, TreeFeatures, TreeRanker, TreeSVC, load, save
from filbert.cli import predictor
from filbert.cli.measures import of_regression
from filbert.cli.unread import Unread
from filbert.corpus.pieces import Rows, hash_of_rows
from filbert.datasets import OneHotColumns
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    MissingLibraryError,
    ModelFileError,
    OutOfMemoryError,
    ParseError,
)
from filbert.fragments import mine
from filbert.kernels import LocalPatterns, SubsetTree
from filbert.learners.certificate import _usable
from filbert.learners.pauses import Curves
from filbert.learners.perceptron_model import PerceptronModel
from filbert.learners.problems import Convergence
from filbert.persist.checked import storable_classes
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.ranges import range_ends
from filbert.read.record import SparseVector
from filbert.read.sparse_rows import sparse_rows
from filbert.read.tree_column import TreeColumn
from filbert.report.wording import plain
from filbert.search import files
from tests.unit.test_save_others import change

TREES = ["(S (A a) (B b))", "(S (A b) (B b))", "(T (A a))", "(T (B b))"]


# ---------------------------------------------------------------- messages and small texts


def test_what_to_install() -> None:
    assert "pip install lxml" in str(MissingLibraryError("the format xml", "lxml"))
    assert 'pip install "filbert[xml]"' in str(MissingLibraryError("the format xml", "lxml", "xml"))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-2.0, "\u22122"), (0.25, "0.25"), (999_999_999_999, "999,999,999,999"),
     (1e12, "1e+12")],
)  # fmt: skip
def test_numbers_of_the_report(value: float, text: str) -> None:
    assert plain(value) == text


def test_the_number_of_rows_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    with Unread() as unread:
        for number in range(12):
            unread.n_rows += 1
            unread.add(ValueError(f"row {number}"))
    assert "12 of 12 could not be read: check the columns" in capsys.readouterr().err


def test_the_line_of_an_error_within_a_cell() -> None:
    column = TreeColumn(TREE_FORMATS["python"], {})
    with pytest.raises(ParseError, match=r"^(?!.*line 1, column .* of the tree)"):
        column.converted("x = = 1")
    with pytest.raises(ParseError, match=r"line 2, column \d+ of the tree"):
        column.converted("x = 1\ny = = 1")


# ---------------------------------------------------------------- reading


def test_a_file_is_cut_into_all_its_ranges(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"x\t(a)\n" * 30)
    ends = range_ends(str(path), 180, 3)
    assert ends == [60, 120, 180]
    # A cut after the first byte of a line: the line belongs to the range before it.
    assert range_ends(str(path), 182, 2) == [96, 182]


def test_the_width_of_sparse_rows() -> None:
    assert sparse_rows([]).width == 0
    assert sparse_rows([SparseVector([0, 4], [1.0, 2.0]), SparseVector([1], [1.0])]).width == 5
    assert sparse_rows([SparseVector([0], [1.0], width=7)]).width == 7


# ---------------------------------------------------------------- learners


def test_limits_of_parameters() -> None:
    with pytest.raises(OutOfMemoryError):
        TreeFeatures(SubsetTree(), max_memory=1).fit(TREES)
    with pytest.raises(InvalidParameterError, match="max_iter"):
        TreeSVC(max_iter=2**32).fit(TREES, [0, 0, 1, 1])
    TreeSVC(max_iter=2**32 - 1).fit(TREES, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("kernel_tol", "used"),
    [(1e-3, 1e-3), (1e-300, 0.0), (float("nan"), 0.0), (float("inf"), 0.0)],
)
def test_errors_that_pruning_may_make(kernel_tol: float, used: float) -> None:
    assert _usable(kernel_tol) == used


def test_curves_are_packed_and_unpacked() -> None:
    curves = [
        Convergence(np.arange(n), np.arange(n) / 2.0, np.arange(n) / 4.0) for n in (3, 0, 2, 1)
    ]
    again = Curves.packed(curves).unpacked()
    for name in ("steps", "objective", "gap"):
        before, after = ([getattr(one, name).tolist() for one in each] for each in (curves, again))
        assert after == before
    assert Curves.packed([]).unpacked() == []


def test_a_perceptron_has_seen_nothing_at_first() -> None:
    assert PerceptronModel(SubsetTree(), np.array([0, 1]), intercept=False).n_seen == 0


# ---------------------------------------------------------------- files of models


def test_classes_that_cannot_be_saved() -> None:
    others = [
        np.array([0, 1], dtype=np.longdouble),
        np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"),
        np.array([1, "x"], dtype=object),
    ]
    for classes in others:
        with pytest.raises(InputTypeError, match="cannot be saved"):
            storable_classes(classes)
    for classes in (np.array([0.5, 1.5]), np.array(["a", "b"]), np.array([False, True])):
        assert storable_classes(classes)[0].tolist() == classes.tolist()


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_weights_of_classes_that_cannot_be_saved(weight: float, tmp_path: Path) -> None:
    clf = TreeSVC(random_state=0).fit(TREES, [0, 0, 1, 1]).set_params(class_weight={0: weight})
    with pytest.raises(InvalidParameterError, match="class_weight"):
        save(clf, tmp_path / "a")


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("ranker", "n_pairs", 0),
        ("ranker", "n_pairs", True),
        ("features", "private", "yes"),
        ("columns", "features", ["a", 1]),
    ],
)
def test_headers_of_other_kinds(kind: str, key: str, value: Any, tmp_path: Path) -> None:
    models = {
        "ranker": lambda: TreeRanker(random_state=0).fit(TREES, [0, 1, 0, 1], group=[0, 0, 1, 1]),
        "features": lambda: TreeFeatures(SubsetTree()).fit(TREES),
        "columns": lambda: OneHotColumns(["a", "b"]),
    }
    path = tmp_path / "a"
    save(models[kind](), path)
    load(path)
    change(path, lambda header, _: header.update({key: value}))
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.parametrize(
    "removed", [np.zeros(5, np.uint8), np.zeros(4, np.int8), np.zeros((4, 1), np.uint8)]
)
def test_lists_of_removed_trees(
    removed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = {"file": {"positions": np.zeros(4)}, "removed": {"removed": removed}}
    monkeypatch.setattr(files, "_read", lambda folder, name: (name, dict(stored[name])))
    monkeypatch.setattr(files, "ids_of", lambda ranges, n: np.arange(n))
    monkeypatch.setattr(files.Segment, "of", lambda *_, **more: more["removed"])
    entry = {"file": "file", "removed": "removed"}
    with pytest.raises(ModelFileError, match="list of removed trees is damaged"):
        files._segment(str(tmp_path), SubsetTree(), entry)
    stored["removed"]["removed"] = np.zeros(4, np.uint8)
    assert files._segment(str(tmp_path), SubsetTree(), entry).tolist() == [0] * 4


def test_columns_that_are_not_text(tmp_path: Path) -> None:
    X = Examples(tree=TREES).with_columns(id=["a", "b", "c", "d"])
    X._columns["id"] = ["a", 1, "c", "d"]  # type: ignore[assignment]
    with pytest.raises(InputTypeError, match="column 'id' has values that are not text"):
        save(X, tmp_path / "a")


# ---------------------------------------------------------------- others


def test_slices_of_fragments() -> None:
    found = mine(TreeSVC(SubsetTree(), random_state=0).fit(TREES, [0, 1, 0, 1]), min_frequency=1)
    fragments = found.fragments
    texts = fragments.texts()
    assert len(texts) > 3
    for chosen in (slice(0, 2), slice(1, 3), slice(2, None), slice(0, 0), slice(None, None, 2)):
        assert fragments[chosen].texts() == texts[chosen]


def test_objects_with_equal_texts_have_the_same_hash() -> None:
    X = Forest(TREES[:2])
    first, second = (np.array(["".join(["a", "b"]), "c"], dtype=object) for _ in range(2))
    assert first[0] is not second[0]
    assert hash_of_rows(Rows(X, first)) == hash_of_rows(Rows(X, second))
    assert hash_of_rows(Rows(X, first)) != hash_of_rows(Rows(X, first[::-1].copy()))


def test_measures_of_two_different_numbers() -> None:
    found = of_regression(np.array([0.0, 1.0, 1.0]), np.array([0.5, 2.0, 2.0]))
    assert found["spearman"] == pytest.approx(1.0)
    assert found["r2"] is not None
    same = of_regression(np.array([0.0, 1.0]), np.array([2.0, 2.0]))
    assert same["spearman"] is None


def test_predictions_of_large_trees_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictor, "_LARGEST_TREE", 4)
    clf = TreeSVC(random_state=0).fit(TREES, ["x", "x", "y", "y"])
    model = predictor.Predictor(clf, scores=False, proba=False, as_json=False)
    assert model.predict(Forest(["(T (B b))", TREES[0]])) == ["y", "x"]
    assert model._known == {}
    assert model.predict(Forest(["(T (B b))"])) == ["y"]
    assert len(model._known) == 1


def test_columns_of_patterns_in_new_trees() -> None:
    """A pattern that training trees have not is in no column."""
    features = TreeFeatures(LocalPatterns()).fit(TREES)
    rows = features.transform([TREES[0], "(U (V v) (W w))"]).toarray()
    np.testing.assert_array_equal(rows[0], features.transform(TREES[:1]).toarray()[0])
    assert rows[1].max() == 0.0
