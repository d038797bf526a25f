"""Models of kernel expressions in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from filbert import TreeSVC, load, save
from filbert.errors import InvalidParameterError, ModelFileError
from filbert.kernels import (
    RBF,
    AllPairs,
    Constant,
    EachPart,
    Kernel,
    Linear,
    Normalized,
    PartialTree,
    Polynomial,
    Preference,
    Sequence,
    SubsetTree,
    Subtree,
)
from tests.unit.test_persist import change_array, change_header
from tests.unit.test_sums import examples, forest, labels, vectors

N = 24
SUM = SubsetTree().on("tree") + 0.5 * Normalized(Polynomial(3).on("features") + 2.0)
KERNELS: list[Kernel] = [
    SUM,
    Linear().on("dense") ** 2 + Subtree().on("other"),
    EachPart(SubsetTree(), ("tree", "other")) + 1.0,
    AllPairs(PartialTree(), ("tree", "other"), (0.5, -2.0)) + 0.1 * SubsetTree().on("tree"),
    Preference(Polynomial(2) + Linear(), ("features", "dense")),
    SubsetTree().on("tree") * Linear().on("features") + RBF(0.1).on("dense"),
    Sequence(0.5, length=2).on("tree") + Constant(0.5),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.filbert"


def fitted(kernel: Kernel, X: Any = None, **parameters: Any) -> TreeSVC:
    model = TreeSVC(
        kernel, engine="rows", random_state=0, **{"C": 1.0, "loss": "hinge", **parameters}
    )
    return model.fit(examples(1, N) if X is None else X, labels(1, N))


def check_same(a: TreeSVC, b: TreeSVC, X: Any) -> None:
    assert type(a.model_) is type(b.model_)
    assert a.get_params() == b.get_params()
    assert a.kernel == b.kernel
    assert a.decision_function(X).tobytes() == b.decision_function(X).tobytes()
    assert a.dual_coef_.tobytes() == b.dual_coef_.tobytes()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_model_of_parts_comes_back(path: Path, kernel: Kernel) -> None:
    model = fitted(kernel)
    save(model, path)
    check_same(load(path), model, examples(2, 9))
    again = path.with_name("again")
    save(load(path), again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", ["trees", "sparse", "dense", "integers"])
def test_a_model_without_parts_comes_back(path: Path, kind: str) -> None:
    rows = vectors(3, N)
    cases: dict[str, tuple[Kernel, Any]] = {
        "trees": (SubsetTree() + Subtree(), forest(3, N)),
        "sparse": (Polynomial(2) + 1.0, rows),
        "dense": (Linear(), rows.toarray()),
        "integers": (RBF(), (rows.toarray() != 0).astype(int).tolist()),
    }
    kernel, X = cases[kind]
    model = fitted(kernel, X)
    save(model, path)
    check_same(load(path), model, X)


def test_a_wide_matrix_comes_back(path: Path) -> None:
    rows = vectors(3, N)
    X = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(N, 10**12))
    model = fitted(Polynomial(2), X)
    save(model, path)
    check_same(load(path), model, X)


def test_a_model_by_planes_comes_back(path: Path) -> None:
    X = examples(1, N)
    for kernel in (KERNELS[0], KERNELS[5]):
        model = TreeSVC(kernel, strategy="usvm", random_state=0, tol=0.01, C=1.0).fit(
            X, labels(1, N)
        )
        save(model, path)
        check_same(load(path), model, examples(2, 5))


def test_what_is_no_kernel_of_filbert_is_not_saved(path: Path) -> None:
    class Own(Kernel):
        def __call__(self, X: Any, Y: Any = None, **_: Any) -> Any:
            return Linear()(X, Y)

        def diag(self, X: Any, **_: Any) -> Any:
            return Linear().diag(X)

        def on(self, part: str) -> Any:
            return self

    X = vectors(3, N).toarray()
    model = TreeSVC(Own() + Linear(), engine="rows", C=1.0, loss="hinge").fit(X, labels(1, N))
    with pytest.raises(InvalidParameterError, match="Own cannot be saved"):
        save(model, path)
    assert not path.exists()


def test_expressions_that_are_too_deep(path: Path) -> None:
    kernel: Kernel = Linear()
    for _ in range(60):
        kernel = 1.0 * kernel
    with pytest.raises(InvalidParameterError, match="nested more than 50"):
        save(fitted(kernel, vectors(3, N)), path)


def nested(depth: int) -> dict[str, Any]:
    kernel: dict[str, Any] = {"name": "Linear", "parameters": {"normalize": True, "part": None}}
    for _ in range(depth):
        kernel = {"name": "Normalized", "parameters": {"kernel": kernel}}
    return kernel


CONTENT: dict[str, Any] = {
    "does not list the parts": lambda c: c.pop("support"),
    "has no unique name": lambda c: c["support"][0].update(name=c["support"][1]["name"]),
    "has no name": lambda c: c["support"][0].update(name=None),
    "needs a part 'tree'": lambda c: c["support"][0].update(name="other"),
    "is of the kind 'pickle'": lambda c: c["support"][0].update(kind="pickle"),
    "are inconsistent": lambda c: c["support"][1].update(width=-1),
    "not those of a matrix": lambda c: c["support"][1].update(width=2),
    "nested more than 50": lambda c: c.update(kernel=nested(60)),
    "lacks 'kernel'": lambda c: c["kernel"].update(name="Normalized", parameters={}),
    "has no parameter": lambda c: c["kernel"]["parameters"].update(other=1),
    "there is no kernel": lambda c: c["kernel"]["parameters"]["left"].update(name="eval"),
    "left must be a kernel": lambda c: c["kernel"]["parameters"].update(left=None),
}


@pytest.mark.parametrize("told", CONTENT)
def test_a_wrong_header_is_told(path: Path, told: str) -> None:
    save(fitted(SUM), path)
    change_header(path, lambda header: CONTENT[told](header["content"]))
    with pytest.raises(ModelFileError, match=told):
        load(path)


ARRAYS: list[tuple[str, Any]] = [
    ("support.1.ends", lambda a: a[::-1]),
    ("support.1.ends", lambda a: a[:-1]),
    ("support.1.ends", lambda a: a.astype(np.int32)),
    ("support.1.columns", lambda a: a + 10**6),
    ("support.1.columns", lambda a: a - 1),
    ("support.1.columns", lambda a: a[:-1]),
    ("support.1.values", lambda a: np.full_like(a, np.nan)),
    ("support.1.values", lambda a: np.full_like(a, 1e200)),
    ("support.1.values", lambda a: a[None]),
    ("support.0.roots", lambda a: a[:-1]),
    ("coef", lambda a: a[:, :-1]),
]


@pytest.mark.parametrize(("name", "change"), ARRAYS)
def test_a_wrong_array_is_told(path: Path, name: str, change: Any) -> None:
    model = fitted(SUM)
    save(model, path)
    stored = {
        "support.1.ends": model.model_.support["features"].indptr[1:].astype(np.int64),
        "support.1.columns": model.model_.support["features"].indices.astype(np.int64),
        "support.1.values": model.model_.support["features"].data,
        "support.0.roots": model.model_.support["tree"].to_arrays()["roots"],
        "coef": model.dual_coef_,
    }
    change_array(path, name, np.ascontiguousarray(change(stored[name])))
    with pytest.raises(ModelFileError):
        load(path)
