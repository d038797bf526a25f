"""A perceptron in a file: it predicts the same, and goes on learning, to the last bit."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from filbert import Examples, TreePerceptron, load, save
from filbert.errors import ModelFileError
from filbert.kernels import RBF, Linear, PartialTree, Polynomial, SubsetTree
from filbert.persist.archive import open_archive, write_archive
from filbert.testing.tools import sentences

TREE = SubsetTree().on("tree")


def data(kernel: Any, n: int = 60, n_classes: int = 3) -> tuple[Any, Any]:
    X, y = sentences(n, n_classes)
    if kernel in (None, PartialTree()):
        return X, y
    rng = np.random.default_rng(0)
    features = sp.csr_array(rng.integers(0, 2, (n, 5)) * rng.random((n, 5)))
    return Examples(tree=X, features=features), y


def content(clf: TreePerceptron, path: Path) -> bytes:
    save(clf, path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "kernel",
    [
        None,
        PartialTree(),
        TREE + Linear().on("features"),
        (TREE + Polynomial(3).on("features") + 0.5).normalized(),
        TREE + 0.5 * RBF(0.5).on("features"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("engine", ["online", "auto"])
def test_learning_goes_on(kernel: Any, engine: Any, tmp_path: Path) -> None:
    X, y = data(kernel)
    clf = TreePerceptron(
        kernel, fit_intercept=True, n_epochs=2, engine=engine, n_jobs=1, shuffle=False
    )
    clf.fit(X[:40], y[:40])
    before = content(clf, tmp_path / "a")
    again = load(tmp_path / "a")
    assert content(again, tmp_path / "b") == before
    for vote in (False, True):
        expected = clf.set_params(vote=vote).decision_function(X).tobytes()
        assert again.set_params(vote=vote).decision_function(X).tobytes() == expected
    for copy in (again, pickle.loads(pickle.dumps(clf))):
        copy.partial_fit(X[40:50], y[40:50]).partial_fit(X[50:], y[50:])
    clf.partial_fit(X[40:50], y[40:50]).partial_fit(X[50:], y[50:])
    assert content(again, tmp_path / "c") == content(clf, tmp_path / "d")
    assert again.decision_function(X).tobytes() == clf.decision_function(X).tobytes()


def test_a_bounded_model_goes_on(tmp_path: Path) -> None:
    X, _ = sentences(300)
    y = np.random.default_rng(0).integers(0, 2, 300)
    clf = TreePerceptron(max_nodes=60, shuffle=False).partial_fit(X[:150], y[:150], classes=[0, 1])
    assert clf.n_forgotten_ > 0
    save(clf, tmp_path / "a")
    again = load(tmp_path / "a").partial_fit(X[150:], y[150:])
    assert content(again, tmp_path / "b") == content(
        clf.partial_fit(X[150:], y[150:]), tmp_path / "c"
    )
    assert again.n_forgotten_ == clf.n_forgotten_


def test_classes_and_parameters_are_kept(tmp_path: Path) -> None:
    X, y = sentences(40)
    labels = np.array(["no", "yes"])[y]
    parameters = {"margin": 0.5, "average": False, "class_weight": {"no": 2.0}, "n_epochs": 3}
    clf = TreePerceptron(random_state=3, shuffle=True, **parameters).fit(X, labels)
    save(clf, tmp_path / "a")
    again = load(tmp_path / "a")
    assert again.get_params() == clf.get_params()
    assert again.classes_.tolist() == ["no", "yes"]
    for name in (
        "n_seen_",
        "n_updates_",
        "n_errors_",
        "n_support_vectors_",
        "n_nodes_",
        "n_tree_nodes_",
    ):
        assert getattr(again, name) == getattr(clf, name)
    assert again.error_history_.tolist() == clf.error_history_.tolist()


def damaged(path: Path, change: Any) -> Path:
    """The file with a header and arrays that have been changed."""
    with path.open("rb") as stream, open_archive(stream) as archive:
        header, arrays = dict(archive.header), archive.arrays()
    change(header, header["content"], arrays)
    header.pop("arrays")
    with path.open("wb") as stream:
        write_archive(stream, header, arrays)
    return path


def set_array(name: str, place: int, value: Any) -> Any:
    def change(_: Any, __: Any, arrays: Any) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def set_content(name: str, value: Any) -> Any:
    def change(_: Any, content: Any, __: Any) -> None:
        content[name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_array("updates.support", 0, 1),
        set_array("updates.support", -1, 10**6),
        set_array("updates.problem", 0, 3),
        set_array("updates.amount", 0, np.nan),
        set_array("updates.amount", 0, 0.0),
        set_array("updates.time", 0, 0),
        set_array("updates.time", -1, 10**9),
        set_array("errors", 0, 7),
        set_content("n_seen", 2),
        set_content("n_seen", 10**7),
        set_content("n_seen", -1),
        set_content("n_errors", "many"),
        set_content("n_forgotten", None),
        set_content("intercept", 1),
        set_content("widths", [3]),
        set_content("support", []),
        set_content("kernel", {"name": "os.system"}),
        lambda _, __, arrays: arrays.pop("updates.time"),
    ],
)
def test_damage_is_told(change: Any, tmp_path: Path) -> None:
    X, y = sentences(40, 3)
    save(TreePerceptron(n_epochs=2, shuffle=False).fit(X, y), tmp_path / "a")
    with pytest.raises(ModelFileError):
        load(damaged(tmp_path / "a", change))


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)])
def test_a_seed_that_is_no_number_is_not_kept(random_state: Any, tmp_path: Path) -> None:
    clf = TreePerceptron(random_state=random_state).fit(["(S (A a))", "(S (B b))"], [0, 1])
    save(clf, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.random_state is None
    assert loaded.decision_function(["(S (A a))"]) == clf.decision_function(["(S (A a))"])
