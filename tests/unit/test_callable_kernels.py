"""Any function as a kernel, with the strategy "usvm": what it learns, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from filbert import Forest, TreeSVC, save
from filbert.errors import InputTypeError, InvalidParameterError, KernelOverflowError
from filbert.kernels import SubsetTree
from tests.unit.test_cutting_planes import data, dense
from tests.unit.test_cutting_planes_errors import assert_unfitted

Array = npt.NDArray[Any]


def rings(n: int = 120, seed: int = 0) -> tuple[Array, Array]:
    """Points in and around a circle, which no line parts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (np.linalg.norm(X, axis=1) > 1.2).astype(int)


def usvm(kernel: Any, **parameters: Any) -> TreeSVC:
    return TreeSVC(kernel, strategy="usvm", **{"C": 1.0, "random_state": 0, **parameters})


@pytest.mark.parametrize("intercept", [False, True])
def test_the_optimum_over_arrays(intercept: bool) -> None:
    X, y = rings()
    model = usvm(rbf_kernel, C=3.0, fit_intercept=intercept, tol=1e-5, max_iter=1000).fit(X, y)
    K, w, b = rbf_kernel(X), dense(model, len(y))[0], model.intercept_[0]
    losses = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (K @ w + b))
    primal = (w @ K @ w + b * b) / 2 + 3.0 * losses.sum()
    assert model.objective_ == pytest.approx(primal, rel=1e-9)
    [history] = model.history_ or []
    dual = history[-1].dual
    assert dual <= primal <= dual + 1e-5 * 3.0 * len(y) * (1 + 1e-6)
    np.testing.assert_allclose(model.decision_function(X), K @ w + b, atol=1e-9)
    exact = SVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5) + intercept, C=3.0).fit(X, y)
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.97


def test_samples_of_arrays() -> None:
    X, y = rings(400)
    new, expected = rings(200, seed=1)
    model = usvm(RBF(), C=3.0, sample_size=100, tol=0.01).fit(X, y)
    assert model.score(new, expected) > 0.95
    assert usvm(linear_kernel, sample_size=100, tol=0.01).fit(X, y).score(new, expected) < 0.8
    assert model.sample_size_ == 100
    assert model.delta_calls_ is None
    assert model.delta_computed_ is None
    assert model.decision_function(new[:0]).shape == (0,)
    assert model.decision_function(new[:1]).shape == (1,)


def test_several_classes() -> None:
    X, y = rings()
    three = y + (X[:, 0] > 0) * y
    model = usvm(rbf_kernel, C=10.0, tol=0.01).fit(X, three)
    assert model.decision_function(X).shape == (120, 3)
    assert model.score(X, three) > 0.95


def test_what_can_be_indexed_by_rows() -> None:
    """Tables come as arrays, whatever their index: rows are taken by place, not by label."""
    X, y = rings()
    expected = usvm(rbf_kernel, sample_size=50).fit(X, y).decision_function(X)
    table = pd.DataFrame(X, index=np.arange(120)[::-1], columns=["a", "b"])
    for other in (sp.csr_matrix(X), table, np.asfortranarray(X)):
        model = usvm(rbf_kernel, sample_size=50).fit(other, y)
        np.testing.assert_allclose(model.decision_function(other), expected, atol=1e-9)


def test_a_matrix_that_was_computed_before() -> None:
    """Examples are numbers, and the kernel looks them up."""
    X, y = rings()
    K = rbf_kernel(X)
    model = usvm(lambda a, b: K[np.ix_(a, b)], sample_size=40).fit(np.arange(120), y)
    expected = usvm(rbf_kernel, sample_size=40).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, atol=1e-8)
    assert model.predict(np.arange(60, 120)).tolist() == expected.predict(X[60:]).tolist()


def test_products_of_kernels_over_trees() -> None:
    """What does not factorise: a tree kernel times one of the trees' sizes."""
    X, y = data()
    tree_kernel = SubsetTree()

    def sizes(trees: Forest) -> Array:
        return np.array([[tree.n_nodes] for tree in trees], dtype=float)

    def product(A: Forest, B: Forest) -> Array:
        return np.asarray(tree_kernel(A, B) * rbf_kernel(sizes(A), sizes(B), gamma=0.1))

    model = usvm(product, C=10.0, tol=0.02).fit(X, y)
    strings = list(map(str, X))
    again = usvm(product, C=10.0, tol=0.02).fit(strings, y)
    assert again.dual_coef_.tobytes() == model.dual_coef_.tobytes()
    assert model.score(strings, y) > 0.75
    w, b = dense(model, 80)[0], model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), product(X, X) @ w + b, atol=1e-9)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda A, B: np.ones(len(A)), r"shape \(120,\) .* floats of shape \(120, 120\)"),
        (lambda A, B: np.ones((len(B) + 1, len(A))), r"shape \(121, 120\)"),
        (lambda A, B: 1.0, r"shape \(\) and type float64"),
        (lambda A, B: rbf_kernel(A, B) + 0j, "type complex128"),
        (lambda A, B: rbf_kernel(A, B).astype(str), "type <U"),
        (lambda A, B: rbf_kernel(A, B) > 0.5, "type bool"),
        (lambda A, B: None, "type object"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "values that are not finite"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "values that are not finite"),
        (lambda A, B: -rbf_kernel(A, B), "not positive semi-definite: .* norm -"),
    ],
)
def test_what_is_no_kernel(returned: Any, message: str) -> None:
    model = usvm(returned)
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*rings())
    assert_unfitted(model)


def test_values_beyond_range() -> None:
    model = usvm(lambda A, B: rbf_kernel(A, B) * 1e307)
    with pytest.raises(KernelOverflowError, match=r"beyond the range .* or a smaller C"):
        model.fit(*rings())
    assert_unfitted(model)


def test_the_kernel_s_own_errors_come_through() -> None:
    def broken(A: Array, B: Array) -> Array:
        raise LookupError("no such thing")

    model = usvm(broken)
    with pytest.raises(LookupError, match="no such thing"):
        model.fit(*rings())
    assert_unfitted(model)


def test_bad_values_in_prediction() -> None:
    X, y = rings()

    def moody(A: Array, B: Array) -> Array:
        return rbf_kernel(A, B) if len(A) != 7 else np.full((len(A), len(B)), np.nan)

    model = usvm(moody).fit(X, y)
    with pytest.raises(InvalidParameterError, match="not finite"):
        model.predict(X[:7])


def test_bad_examples() -> None:
    X, y = rings()
    with pytest.raises(InputTypeError, match="expected several examples"):
        usvm(rbf_kernel).fit(np.array(5), [0, 1])
    with pytest.raises(InvalidParameterError, match="there are no examples"):
        usvm(rbf_kernel).fit(X[:0], y[:0])
    with pytest.raises(InvalidParameterError, match=r"120 .* but y has 119 labels"):
        usvm(rbf_kernel).fit(X, y[:-1])
    with pytest.raises(InputTypeError, match="sample 0 is not a string"):
        usvm(rbf_kernel).fit([[1.0, 2.0], [2.0, 3.0]], [0, 1])


def test_functions_are_not_saved(tmp_path: Path) -> None:
    model = usvm(rbf_kernel).fit(*rings())
    with pytest.raises(InvalidParameterError, match=r"rbf_kernel .*cannot be saved: a file holds"):
        save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


# ---------------------------------------------------------------- by rows, to the optimum


def test_the_exact_optimum_by_the_whole_matrix() -> None:
    X, y = rings()
    exact = TreeSVC(rbf_kernel, engine="rows", C=3.0, tol=1e-6, random_state=0, loss="hinge").fit(
        X, y
    )
    assert (exact.engine_, exact.engine_reason_) == ("rows", "requested")
    planes = usvm(rbf_kernel, C=3.0, tol=1e-5, max_iter=1000).fit(X, y)
    assert exact.objective_ == pytest.approx(planes.objective_, rel=1e-3)
    w, b = dense(exact, len(y))[0], exact.intercept_[0]
    np.testing.assert_allclose(exact.decision_function(X), rbf_kernel(X) @ w + b, atol=1e-9)
    table = pd.DataFrame(X, index=np.arange(120)[::-1])
    again = TreeSVC(rbf_kernel, engine="rows", C=3.0, tol=1e-6, random_state=0, loss="hinge").fit(
        table, y
    )
    assert again.dual_coef_.tobytes() == exact.dual_coef_.tobytes()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda A, B: np.ones(len(A)), r"shape \(120,\) .* floats of shape \(120, 120\)"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "values that are not finite"),
        (lambda A, B: -rbf_kernel(A, B), "not positive semi-definite: .* norm -"),
        (lambda A, B: np.triu(rbf_kernel(A, B)), "is not symmetric"),
    ],
)
def test_what_is_no_kernel_matrix(returned: Any, message: str) -> None:
    model = TreeSVC(returned, engine="rows", C=1.0, loss="hinge")
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*rings())
    assert_unfitted(model)


def test_a_function_has_no_factors() -> None:
    for engine in ("auto", "factors"):
        with pytest.raises(InvalidParameterError, match="engine='rows'"):
            TreeSVC(rbf_kernel, engine=engine, C=1.0, loss="hinge").fit(*rings())  # type: ignore[arg-type]
