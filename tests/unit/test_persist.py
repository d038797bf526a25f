"""Models in files: what comes back, and what becomes of files that are damaged."""

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from filbert import Forest, TreeSVC, load, save
from filbert.atomic import replacing
from filbert.errors import (
    FilbertError,
    InputTypeError,
    InvalidParameterError,
    MissingFileError,
    ModelFileError,
)
from filbert.kernels import PartialTree, SubsetTree, Subtree
from tests.profiles import n_examples

TREES = [f"(S (NP {a}) (VP {b} (PP {c})))" for a in "abc" for b in "xyz" for c in "uvwt"]
NEW = [f"(S (VP {b} (PP {a})) (NP {b}))" for a in "abcd" for b in "uvwxyz" for _ in range(2)]
Y3 = np.arange(len(TREES)) % 3
CLASSES: dict[str, np.ndarray] = {
    "strings": np.array(["no", "yes", "perhaps"]),
    "integers": np.array([-5, 0, 7]),
    "small integers": np.array([1, 2, 3], dtype=np.uint8),
    "floats": np.array([0.0, 1.0, 2.0]),
    "objects": np.array(["no", "yes", "perhaps"], dtype=object),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.filbert"


def fitted(**parameters: Any) -> TreeSVC:
    return TreeSVC(
        **{"C": 1.0, "loss": "hinge", "kernel": SubsetTree(), "random_state": 0, **parameters}
    ).fit(TREES, Y3 == 1)


def assert_same_model(a: TreeSVC, b: TreeSVC) -> None:
    assert a.get_params() == b.get_params()
    for X in (NEW, NEW[:3]):  # by factors and by rows
        assert a.decision_function(X).tobytes() == b.decision_function(X).tobytes()
        assert_array_equal(a.predict(X), b.predict(X), strict=True)
    for name in ("classes_", "support_", "n_support_", "dual_coef_", "intercept_"):
        assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    for name in ("objective_", "duality_gap_", "n_iter_"):
        assert getattr(a, name) == getattr(b, name)
    assert a.model_.support == b.model_.support


# ---------------------------------------------------------------- what comes back


@pytest.mark.parametrize(
    "kernel", [None, Subtree(0.7), SubsetTree(0.2, include_leaves=True), PartialTree(0.3)]
)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", CLASSES)
def test_a_model_of_many_classes_comes_back(path: Path, kernel: Any, loss: Any, kind: str) -> None:
    model = TreeSVC(kernel, loss=loss, random_state=3, C=1.0).fit(TREES, CLASSES[kind][Y3])
    save(model, path)
    assert_same_model(load(path), model)


@pytest.mark.parametrize("y", [Y3 == 1, np.where(Y3 == 1, "a", "ä€😀")])
def test_a_model_of_two_classes_comes_back(path: Path, y: np.ndarray) -> None:
    model = TreeSVC(Subtree(normalize=False), fit_intercept=False, C=1.0, loss="hinge").fit(
        TREES, y
    )
    save(model, path)
    assert_same_model(load(path), model)


def test_a_model_of_a_part_of_a_forest_comes_back(path: Path) -> None:
    forest = Forest(TREES + NEW)
    model = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(forest[:20], Y3[:20])
    save(model, path)
    assert_same_model(load(path), model)


@pytest.mark.parametrize(
    ("weights", "y"),
    [
        ({0: 1.0, 1: 2, 2: 0.5}, Y3),
        ({np.int64(0): np.float64(3), np.int64(1): 2, np.int64(2): 1}, Y3),
        ({"a": 2.0, "b": 1.0}, np.where(Y3 == 1, "a", "b")),
        ({True: 2.0, False: 1.0}, Y3 == 1),
        ("balanced", Y3),
    ],
)
def test_class_weights_come_back(path: Path, weights: Any, y: np.ndarray) -> None:
    save(TreeSVC(SubsetTree(), class_weight=weights, C=1.0, loss="hinge").fit(TREES, y), path)
    loaded = load(path)
    assert loaded.class_weight == weights
    loaded.fit(TREES, y)


def test_a_generator_of_random_numbers_is_not_kept(path: Path) -> None:
    save(
        TreeSVC(SubsetTree(), random_state=np.random.RandomState(1), C=1.0, loss="hinge").fit(
            TREES, Y3
        ),
        path,
    )
    assert load(path).random_state is None


def test_the_same_model_has_the_same_bytes(path: Path, tmp_path: Path) -> None:
    model, again = fitted(), tmp_path / "again"
    save(model, path)
    for same in (fitted(n_jobs=None), pickle.loads(pickle.dumps(model)), load(path)):
        save(same, again)
        assert again.read_bytes() == path.read_bytes()


def test_a_loaded_model_can_be_trained_and_changed(path: Path) -> None:
    save(fitted(warm_start=True), path)
    model = load(path)
    model.dual_coef_[0, 0] = 1.0
    assert_array_equal(model.fit(TREES, Y3 == 1).predict(TREES), fitted().predict(TREES))


# ---------------------------------------------------------------- what cannot be saved


def test_an_estimator_must_be_fitted(path: Path) -> None:
    with pytest.raises(NotFittedError):
        save(TreeSVC(SubsetTree(), C=1.0, loss="hinge"), path)
    assert not path.exists()


@pytest.mark.parametrize("thing", [SVC(), None, TreeSVC, "model", object()])
def test_other_things_are_refused(path: Path, thing: Any) -> None:
    with pytest.raises(InputTypeError, match="TreeSVC"):
        save(thing, path)


def test_a_subclass_is_refused(path: Path) -> None:
    class Other(TreeSVC):
        pass

    with pytest.raises(InputTypeError, match="Other"):
        save(Other().fit(TREES, Y3), path)


@pytest.mark.parametrize(
    "change", [{"C": "1"}, {"C": -1.0}, {"tol": 3}, {"n_jobs": "2"}, {"class_weight": {(1, 2): 1}}]
)
def test_parameters_that_could_not_be_loaded_are_not_saved(path: Path, change: Any) -> None:
    with pytest.raises(InvalidParameterError):
        save(fitted().set_params(**change), path)
    assert not path.exists()


def test_a_path_is_needed() -> None:
    with pytest.raises(InputTypeError, match="path"):
        save(fitted(), 3)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="path"):
        load(io.BytesIO())  # type: ignore[arg-type]


# ---------------------------------------------------------------- writing all at once


def test_a_file_survives_when_writing_fails(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(fitted(), path)
    before = path.read_bytes()
    calls = []

    def fail(*args: Any, **_: Any) -> None:
        calls.append(args)
        args[0].write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr("numpy.lib.format.write_array", fail)
    with pytest.raises(OSError, match="no space"):
        save(fitted(C=5.0), path)
    assert calls
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_interrupts_leave_nothing_behind(path: Path) -> None:
    def interrupted() -> None:
        with replacing(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(path.parent) == []


def test_permissions_are_those_of_any_file(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    save(fitted(), path)
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o600)
    save(fitted(), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    save(fitted(), link)
    assert link.is_symlink()
    assert_same_model(load(path), fitted())


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="nowhere"):
        save(fitted(), tmp_path / "nowhere" / "model")


# ---------------------------------------------------------------- damage


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, content: dict[str, bytes], **options: Any) -> None:
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def change_header(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = members(path)
    header = json.loads(content["header.json"])
    change(header)
    content["header.json"] = json.dumps(header).encode()
    rewrite(path, content)


def change_array(path: Path, name: str, array: np.ndarray, *, pickles: bool = False) -> None:
    """Put another array into a file, and tell so in its header."""
    content, stream = members(path), io.BytesIO()
    np.save(stream, array, allow_pickle=pickles)
    content[f"{name}.npy"] = stream.getvalue()
    rewrite(path, content)
    listed = {"dtype": array.dtype.str, "shape": list(array.shape)}
    change_header(path, lambda header: header["arrays"].update({name: listed}))


def test_a_missing_file_is_told(path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"model\.filbert"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"(S a)", b"\x80\x04K\x01.", b"PK\x05\x06" * 9])
def test_what_is_no_zip_is_told(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.filbert: .* not a model"):
        load(path)


HEADERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "not a Filbert model": lambda h: h.update(format="other"),
    "update Filbert": lambda h: h.update(version=2),
    "has no format version": lambda h: h.update(version=True),
    "'os.system'": lambda h: h.update(kind="os.system"),
    "no content": lambda h: h.pop("content"),
    "does not list": lambda h: h.update(arrays=[]),
    "lists 1,001 arrays": lambda h: h.update(arrays=dict.fromkeys(map(str, range(1001)))),
    "'x' is missing": lambda h: h["arrays"].update(x={}),
    "'coef' is missing": lambda h: h["arrays"].pop("coef"),
    "'convergence.gap' is missing": lambda h: h["arrays"].pop("convergence.gap"),
    "no type and shape for": lambda h: h["arrays"]["coef"].update(shape=[-1, 3]),
    "no type and shape for the": lambda h: h["arrays"]["coef"].update(shape=[2**48, 1]),
    "as long as": lambda h: h["arrays"]["coef"].update(shape=[10**9, 3]),
    "which is not allowed": lambda h: h["arrays"]["coef"].update(dtype="|O"),
    "not have the type": lambda h: h["arrays"]["coef"].update(dtype="<i8"),
    "no parameter 'new'": lambda h: h["content"]["parameters"].update(new=1),
    "C cannot be 'a'": lambda h: h["content"]["parameters"].update(C="a"),
    "C cannot be None": lambda h: h["content"]["parameters"].update(C=None),
    "C must be positive": lambda h: h["content"]["parameters"].update(C=0),
    "not a JSON object": lambda h: h["content"].update(parameters=[]),
    "pairs of": lambda h: h["content"]["parameters"].update(class_weight=[1]),
    "has the class": lambda h: h["content"]["parameters"].update(class_weight=[[[], 1]]),
    "has the weight": lambda h: h["content"]["parameters"].update(class_weight=[["a", "b"]]),
    "no kernel 'os'": lambda h: h["content"]["kernel"].update(name="os"),
    "no kernel 'None'": lambda h: h["content"].update(kernel=3),
    "decay must be": lambda h: h["content"]["kernel"]["parameters"].update(decay=7),
    "'objective' is not": lambda h: h["content"].pop("objective"),
    "header is not JSON": lambda h: h["content"].update(objective=float("nan")),
}


@pytest.mark.parametrize("told", HEADERS)
def test_a_wrong_header_is_told(path: Path, told: str) -> None:
    save(fitted(), path)
    change_header(path, HEADERS[told])
    with pytest.raises(ModelFileError, match=told) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


N = len(fitted().support_)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("coef", np.full((1, N), np.nan)),
        ("coef", np.zeros((2, N))),
        ("coef", np.zeros((1, N), dtype=np.float32)),
        ("intercept", np.array([np.inf])),
        ("intercept", np.zeros(2)),
        ("indices", np.zeros(N, dtype=np.int64)),
        ("indices", np.arange(-1, N - 1)),
        ("indices", np.arange(N + 1)),
        ("n_support", np.array([0, 1])),
        ("n_support", np.array([2**62, 2**62])),
        ("convergence.ends", np.array([1])),
        ("convergence.ends", np.array([], dtype=np.int64)),
        ("convergence.ends", np.array(3)),
        ("convergence.gap", np.array([np.nan])),
        ("convergence.objective", np.zeros((2, 2))),
        ("convergence.steps", np.array(7)),
        ("convergence.steps", np.array(["a"])),
        ("classes", np.array(["one"])),
        ("classes", np.array(["b", "a"])),
        ("classes", np.array(["a", "a"])),
        ("classes", np.array(["a", "b", "c"])),
        ("classes", np.array([0.0, np.nan])),
        ("classes", np.array([[0, 1]])),
        ("classes", np.array([], dtype=str)),
        ("classes", np.array([97, 0x110000], dtype=np.uint32).view("<U1")),
        ("classes", np.array([0, 2], dtype=np.uint8).view(bool)),
        ("support.roots", np.full(N, 10**6, dtype=np.uint32)),
        ("support.roots", np.zeros(N, dtype=np.int64)),
        ("support.children", np.zeros(3, dtype=np.uint32)),
    ],
)
def test_a_wrong_array_is_told(path: Path, name: str, array: np.ndarray) -> None:
    save(fitted(), path)
    change_array(path, name, array)
    with pytest.raises(ModelFileError):
        load(path)


class Trap:
    """What a pickle would run."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("something in the file was run",)


@pytest.mark.parametrize("dtype", ["|O", "<U3"])
def test_nothing_in_a_file_is_run(path: Path, dtype: str) -> None:
    save(fitted(), path)
    change_array(path, "classes", np.array([Trap(), Trap()], dtype=object), pickles=True)
    change_header(path, lambda h: h["arrays"]["classes"].update(dtype=dtype))
    with pytest.raises(ModelFileError):
        load(path)


def test_files_without_convergence_are_read(path: Path) -> None:
    """Earlier releases did not write it."""
    save(fitted(), path)
    names = [f"convergence.{name}" for name in ("steps", "ends", "objective", "gap")]
    change_header(path, lambda h: [h["arrays"].pop(name) for name in names])
    loaded = load(path)
    assert loaded.convergence_ == []
    save(loaded, path)
    assert load(path).convergence_ == []


@pytest.mark.parametrize("name", ["header.json", "coef.npy"])
def test_a_missing_member_is_told(path: Path, name: str) -> None:
    save(fitted(), path)
    rewrite(path, {k: v for k, v in members(path).items() if k != name})
    with pytest.raises(ModelFileError, match="missing"):
        load(path)


def test_compressed_members_are_refused(path: Path) -> None:
    save(fitted(), path)
    rewrite(path, members(path), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="compressed"):
        load(path)


def test_a_member_that_is_there_twice_is_refused(path: Path) -> None:
    save(fitted(), path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("coef.npy", b"")
    with pytest.raises(ModelFileError, match="2 times"):
        load(path)


def test_members_of_other_names_are_not_touched(path: Path, tmp_path: Path) -> None:
    save(fitted(), path)
    rewrite(path, members(path) | {"../evil": b"x", "/etc/evil": b"x"})
    assert_same_model(load(path), fitted())
    assert os.listdir(tmp_path) == [path.name]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "small"
    save(fitted(), path)
    return path


def check_damaged(path: Path, content: bytes) -> None:
    """A damaged file raises a typed error, or gives a model that works."""
    path.write_bytes(content)
    try:
        model = load(path)
    except FilbertError:
        return
    assert np.isfinite(model.decision_function(NEW[:2])).all()


@n_examples(300)
@given(data=st.data())
def test_flipped_bytes_do_no_harm(small: Path, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    places = st.integers(0, len(content) - 1)
    for place in data.draw(st.lists(places, min_size=1, max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    check_damaged(small.with_name("damaged"), bytes(content))


@n_examples(300)
@given(data=st.data())
def test_flipped_bytes_of_the_directory_do_no_harm(small: Path, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    places = st.integers(content.index(b"PK\x01\x02"), len(content) - 1)
    for place in data.draw(st.lists(places, min_size=1, max_size=3)):
        content[place] = data.draw(st.integers(0, 255))
    check_damaged(small.with_name("damaged"), bytes(content))


@n_examples(300)
@given(data=st.data())
def test_damage_with_right_sums_does_no_harm(small: Path, data: st.DataObject) -> None:
    content = members(small)
    name = data.draw(st.sampled_from(sorted(content)))
    member = bytearray(content[name])
    for place in data.draw(st.lists(st.integers(0, len(member) - 1), min_size=1, max_size=3)):
        member[place] = data.draw(st.integers(0, 255))
    content[name] = bytes(member[: data.draw(st.sampled_from([len(member), len(member) - 1]))])
    damaged = small.with_name("damaged")
    rewrite(damaged, content)
    check_damaged(damaged, damaged.read_bytes())


@n_examples(100)
@given(data=st.data())
def test_truncated_files_do_no_harm(small: Path, data: st.DataObject) -> None:
    content = small.read_bytes()
    length = data.draw(st.integers(0, len(content) - 1))
    small.with_name("damaged").write_bytes(content[:length])
    with pytest.raises(ModelFileError):
        load(small.with_name("damaged"))
