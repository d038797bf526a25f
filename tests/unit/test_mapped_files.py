"""Files whose arrays are mapped into memory."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from filbert import (
    DistributedTreeEmbedding,
    Examples,
    FragmentVectorizer,
    TreePerceptron,
    TreeSVC,
    load,
    save,
)
from filbert.errors import FilbertError, ModelFileError
from filbert.kernels import RBF, Linear, PartialTree, SubsetTree
from filbert.persist import archive
from filbert.testing.tools import sentences
from tests.profiles import n_examples
from tests.unit.test_golden_files import GOLDEN

X, Y = sentences(30, 3)
ROWS = sp.csr_array(np.arange(60).reshape(30, 2) % 7 * 1.0)


@pytest.fixture(autouse=True)
def small_arrays_are_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALLEST_MAPPED", 0)


def scores(model: Any, data: Any) -> bytes:
    method = getattr(model, "decision_function", None) or model.transform
    output = method(data)
    return (output.toarray() if sp.issparse(output) else np.asarray(output)).tobytes()


MIXED = Examples(tree=X, sparse=ROWS, dense=ROWS.toarray())
MIXED_KERNEL = SubsetTree().on("tree") + RBF(0.1).on("sparse") + Linear().on("dense")
MODELS: dict[str, tuple[Any, Any]] = {
    "subset trees": (TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), X),
    "partial trees": (TreeSVC(PartialTree(), random_state=0, C=1.0, loss="hinge"), X),
    "parts": (TreeSVC(MIXED_KERNEL, engine="rows", random_state=0, C=1.0, loss="hinge"), MIXED),
    "sparse": (TreeSVC(Linear(), random_state=0, C=1.0, loss="hinge"), ROWS),
    "dense": (
        TreeSVC(RBF(0.1), engine="rows", random_state=0, C=1.0, loss="hinge"),
        ROWS.toarray(),
    ),
    "perceptron": (TreePerceptron(SubsetTree().on("tree") + Linear().on("sparse")), MIXED),
    "fragments": (
        FragmentVectorizer(
            TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), n_fragments=9
        ),
        X,
    ),
    "pipeline": (make_pipeline(DistributedTreeEmbedding(32), LogisticRegression()), X),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_mapped_model_predicts_the_same(name: str, tmp_path: Path) -> None:
    model, data = MODELS[name]
    save(model.fit(data, Y), tmp_path / "a")
    again = load(tmp_path / "a", mmap=True)
    assert scores(again, data) == scores(model, data)
    assert scores(again, data[:2]) == scores(model, data[:2])
    save(again, tmp_path / "a")  # replaces the file that is mapped
    assert scores(again, data) == scores(model, data)
    if hasattr(again, "partial_fit"):
        again.partial_fit(data, Y)
    again.fit(data, Y)


def test_arrays_stay_in_the_file(tmp_path: Path) -> None:
    table = np.arange(1000.0).reshape(100, 10)
    save(Examples(table=table), tmp_path / "a")
    mapped = load(tmp_path / "a", mmap=True)["table"]
    assert mapped.tolist() == table.tolist()
    assert not mapped.flags.writeable
    assert not mapped.flags.owndata
    content = bytearray((tmp_path / "a").read_bytes())
    place = content.index(np.float64(999.0).tobytes())
    content[place : place + 8] = np.float64(5.0).tobytes()
    with open(tmp_path / "a", "r+b") as stream:
        stream.write(content)
    assert mapped[-1, -1] == 5.0  # it is the file
    with pytest.raises(ModelFileError, match="CRC"):
        load(tmp_path / "a")
    load(tmp_path / "a", mmap=True)  # checksums of mapped arrays are not checked


def test_small_arrays_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALLEST_MAPPED", 1 << 16)
    save(Examples(small=np.eye(9), large=np.zeros((9, 1000))), tmp_path / "a")
    mapped = load(tmp_path / "a", mmap=True)
    assert mapped["small"].flags.writeable
    assert not mapped["large"].flags.writeable


def test_arrays_are_aligned(tmp_path: Path) -> None:
    save(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y), tmp_path / "a")
    with open(tmp_path / "a", "rb") as stream, archive.open_archive(stream, mapped=True) as opened:
        for name, array in opened.arrays().items():
            assert array.ctypes.data % 64 == 0, name
    with zipfile.ZipFile(tmp_path / "a") as plain:  # other programs can read it
        assert plain.testzip() is None


def test_large_members_are_aligned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_LARGE", 0)
    save(Examples(a=np.eye(3), b=np.eye(3)), tmp_path / "a")
    mapped = load(tmp_path / "a", mmap=True)
    assert all(mapped[name].ctypes.data % 64 == 0 for name in "ab")
    assert mapped["b"].tolist() == np.eye(3).tolist()


def test_files_without_alignment_are_mapped_or_copied() -> None:
    for path in sorted(GOLDEN.glob("v1-svc*.filbert")):
        mapped, read = load(path, mmap=True), load(path)
        assert mapped.dual_coef_.tobytes() == read.dual_coef_.tobytes()
        assert mapped.dual_coef_.flags.aligned


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mapped") / "small"
    save(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y), path)
    return path


@n_examples(100)
@given(data=st.data())
def test_damage_does_no_harm(small: Path, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    first = data.draw(st.sampled_from([0, content.index(b"PK\x01\x02")]))
    places = st.integers(first, len(content) - 1)
    for place in data.draw(st.lists(places, min_size=1, max_size=3)):
        content[place] = data.draw(st.integers(0, 255))
    length = data.draw(st.sampled_from([len(content), len(content) // 2]))
    damaged = small.with_name("damaged")
    damaged.unlink(missing_ok=True)  # an earlier mapping of it stays whole
    damaged.write_bytes(content[:length])
    try:
        model = load(damaged, mmap=True)
    except FilbertError:
        return
    assert np.isfinite(model.decision_function(X[:2])).all()
