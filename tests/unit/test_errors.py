"""Every kind of error can happen to users, and says what to do."""

import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from filbert import (
    Forest,
    TreeFeatures,
    TreeIndex,
    TreePerceptron,
    TreeSVC,
    errors,
    explain,
    load,
    parts,
    read_examples,
)
from filbert.fragments import mine
from filbert.kernels import Linear, PartialTree, Polynomial, SubsetTree
from filbert.transform import StripEmpties

X = ["(S (A a))", "(S (B b))", "(S (A b))", "(S (B a))"]
Y = [0, 1, 0, 1]


def doubling(n: int) -> Forest:
    """Return a tree that has each of n subtrees twice: 2^n - 1 nodes."""
    arrays = {
        "label_bytes": np.frombuffer(b"a", dtype=np.uint8),
        "label_ends": np.array([1], np.uint64),
        "node_labels": np.zeros(n, np.uint32),
        "child_ends": np.arange(0, 2 * n, 2, dtype=np.uint64),
        "children": np.repeat(np.arange(n - 1, dtype=np.uint32), 2),
        "roots": np.array([n - 1], np.uint32),
    }
    return Forest.from_arrays(arrays)


def corrupt() -> Forest:
    arrays = Forest(X).to_arrays()
    return Forest.from_arrays({**arrays, "roots": np.array([10**6], np.uint32)})


class OwnScores(TreeSVC):
    """A learner whose scores are not the sum of what the nodes add."""

    def decision_function(self, X: Any) -> Any:
        return super().decision_function(X) + 1.0


def learn_while_learning() -> Any:
    clf = TreePerceptron()

    def trees() -> Iterator[str]:
        yield from X
        clf.partial_fit(X, Y)

    return clf.partial_fit(trees(), Y, classes=[0, 1])


def skipping(folder: Path) -> Any:
    (folder / "data.tsv").write_text("1\t(S (A a))\n0\t(S (B\n", encoding="utf-8")
    return read_examples(folder / "data.tsv", on_error="skip")


def damaged(folder: Path) -> Any:
    (folder / "model").write_bytes(b"no zip")
    return load(folder / "model")


def without_library() -> Any:
    with patch.dict(sys.modules, {"lxml": None}):
        sys.modules.pop("filbert.read.xml", None)
        return Forest.from_texts(["<a/>"], format="xml")


def changing(folder: Path) -> Any:
    path = folder / "data.tsv"
    path.write_text("1\t(S (A a))\n", encoding="utf-8")
    corpus = parts(path)
    path.write_text("0\t(S (A a) (B b))\n", encoding="utf-8")
    return corpus.labels()


def saving_over(folder: Path) -> None:
    index = TreeIndex().fit(X)
    index.save(folder / "index")
    TreeIndex().fit(X).remove([0]).save(folder / "index")
    index.save(folder / "index")


CASES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "CapacityError": (lambda _: SubsetTree()(doubling(40)), "tree 0"),
    "ChangedFileError": (changing, "call filbert.parts again"),
    "ConcurrentLearningError": (lambda _: learn_while_learning(), "hold a lock"),
    "ConcurrentSaveError": (saving_over, "save to another folder"),
    "CorruptForestError": (lambda _: corrupt(), "root"),
    "FewFragmentsWarning": (
        lambda _: mine(
            TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(X, Y), n_fragments=1000, min_frequency=1
        ),
        "raise max_fragments",
    ),
    "InexactExplanationError": (lambda _: explain(OwnScores().fit(X, Y), X), "example 0"),
    "InputTypeError": (lambda _: Forest.from_trees([7]), "7|int"),
    "InvalidParameterError": (
        lambda _: TreeSVC(SubsetTree(), C=-1, loss="hinge").fit(X, Y),
        "C must be",
    ),
    "KernelOverflowError": (
        lambda _: SubsetTree(1.0, normalize=False)([f"(S {'(A a)' * 3000})"]),
        "use normalize=True",
    ),
    "MatrixTooLargeError": (
        lambda _: SubsetTree()(Forest(X)[np.zeros(10**7, dtype=int)]),
        "compute it in parts",
    ),
    "MissingFileError": (lambda folder: load(folder / "none"), "check the path"),
    "MissingLibraryError": (lambda _: without_library(), 'pip install "filbert'),
    "ModelFileError": (damaged, "save the model again"),
    "NoFragmentsWarning": (
        lambda _: TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(["(a)", "(b)"], [0, 1]),
        "column of trees",
    ),
    "NotATreeError": (lambda _: StripEmpties("S").transform(X), "sample 0.*set placeholder"),
    "OutOfMemoryError": (
        lambda _: TreeSVC(SubsetTree(), max_memory=1, engine="factors", C=1.0, loss="hinge").fit(
            X, Y
        ),
        "raise max",
    ),
    "ParseError": (lambda _: Forest(["(S (A a)"]), "sample 0"),
    "SkippedInputWarning": (skipping, "skipped 1, read 1"),
    "TooExpensiveError": (
        lambda _: PartialTree(max_steps=10)([f"(S {'a ' * 30})", f"(S {'a ' * 31})"]),
        "max_subsequence=1",
    ),
    "TooManyFragmentsError": (
        lambda _: mine(
            TreeSVC(SubsetTree(1.0), C=1.0, loss="hinge").fit(
                [f"(S {'(A a)' * 20})", "(B b)"], [0, 1]
            ),
            max_ratio=1e9,
            min_frequency=1,
            max_fragments=10,
        ),
        "smaller max_ratio",
    ),
    "WorkLimitError": (
        lambda _: TreeFeatures(max_work=1).fit(X),
        "Raise max_work, or use KernelMatrix",
    ),
}
# The base of all; what needs a cluster, see tests/dask; and what needs a checkpoint, see
# test_checkpoints.py.
NOT_HERE = {
    *("FilbertError", "ClusterError", "ClusterWarning"),
    *("CheckpointError", "CheckpointWarning"),
}


def test_none_is_left_out() -> None:
    assert set(CASES) | NOT_HERE == set(errors.__all__)


@pytest.mark.parametrize("name", CASES)
def test_it_happens(name: str, tmp_path: Path) -> None:
    case, text = CASES[name]
    kind = getattr(errors, name)
    if issubclass(kind, Warning):
        with pytest.warns(kind, match=text) as warned:
            case(tmp_path)
        happened = warned[0].message
    else:
        with pytest.raises(kind, match=text) as raised:
            case(tmp_path)
        happened = raised.value
        assert isinstance(happened, errors.FilbertError)
    assert str(pickle.loads(pickle.dumps(happened))) == str(happened)


@pytest.mark.parametrize("max_memory", [512, 2000, 3 << 20])
def test_memory_is_told_in_units_that_fit(max_memory: int) -> None:
    shown = {512: "512 bytes", 2000: "2.0 KiB", 3 << 20: "3.0 MiB"}[max_memory]
    trees = Forest(f"(S (A a{i}) (B b{i % 7}) (C (A a{i // 2})))" for i in range(20_000))
    y = np.arange(len(trees)) % 2
    with pytest.raises(errors.OutOfMemoryError) as raised:
        TreeSVC(SubsetTree(), max_memory=max_memory, engine="factors", C=1.0, loss="hinge").fit(
            trees, y
        )
    assert f"at most {shown} are allowed" in str(raised.value)
    assert "more than 0 " not in str(raised.value)


def test_memory_of_vectors_and_rows_is_told_in_units_that_fit() -> None:
    rng = np.random.default_rng(0)
    vectors, y = rng.normal(size=(10, 30)), np.arange(10) % 2
    with pytest.raises(errors.OutOfMemoryError, match="at most 1000 bytes are allowed"):
        TreeSVC(
            Linear() + Polynomial(2), max_memory=1000, engine="factors", C=1.0, loss="hinge"
        ).fit(vectors, y)
    trees = Forest(f"(S (A a{i}))" for i in range(3000))
    with pytest.raises(errors.OutOfMemoryError, match=r"at most \d\.\d KiB are allowed"):
        TreeSVC(PartialTree(), engine="rows", max_memory=2000, C=1.0, loss="hinge").fit(
            trees, np.arange(3000) % 2
        )
