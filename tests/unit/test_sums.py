"""Sums of kernels: their terms, factors, machines and models, against the dense kernel matrix."""

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from filbert import Examples, Forest, TreeSVC, _core
from filbert.engine import sum_factors
from filbert.engine.scorers import VectorScorer
from filbert.engine.vector_factors import constant_factors, vector_factors
from filbert.errors import InvalidParameterError, KernelOverflowError, OutOfMemoryError
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
    Power,
    Preference,
    Product,
    Scaled,
    SubsetTree,
    Subtree,
    Sum,
)
from filbert.kernels.terms import is_sum, terms_of
from filbert.model import SupportVectorModel
from tests.profiles import n_examples
from tests.reference.trees import write
from tests.strategies import random_trees

Array = npt.NDArray[np.float64]


def forest(seed: int, n: int) -> Forest:
    return Forest([write(tree) for tree in random_trees(seed, n)])


def vectors(seed: int, n: int, *, binary: bool = False) -> sp.csr_array:
    """Features of one value, of several, and rows without any."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, size=(n, 8)) * np.array([1, 1, 1, 0.5, 0.5, 0.3, 1, 1])
    values[:, :3] = values[:, :3] != 0
    values[rng.random((n, 8)) < 0.5] = 0
    return sp.csr_array(values != 0 if binary else values, dtype=np.float64)


def examples(seed: int, n: int = 24) -> Examples:
    return Examples(
        tree=forest(seed, n),
        other=forest(seed + 1000, n),
        features=vectors(seed, n),
        dense=vectors(seed + 1, n, binary=True).toarray(),
    )


TREES: list[Kernel] = [
    SubsetTree(0.4),
    SubsetTree(0.7, include_leaves=True, normalize=False),
    Subtree(0.5),
    PartialTree(0.4, 0.4),
    PartialTree(0.3, 0.6, penalty="gaps", normalize=False),
]
VECTORS: list[Kernel] = [
    Linear(),
    Linear(normalize=False),
    Polynomial(2),
    Polynomial(3),
    Polynomial(2, coef0=0.0, gamma=0.5, normalize=False),
    Polynomial(3, coef0=0.3, gamma=0.2, normalize=False),
    Linear(normalize=False) ** 2,
    Polynomial(2, coef0=0.5) ** 2,
]


def plain() -> st.SearchStrategy[Kernel]:
    of_trees = st.builds(lambda k, part: k.on(part), st.sampled_from(TREES),
                         st.sampled_from(["tree", "other"]))  # fmt: skip
    of_vectors = st.builds(lambda k, part: k.on(part), st.sampled_from(VECTORS),
                           st.sampled_from(["features", "dense"]))  # fmt: skip
    return of_trees | of_vectors | st.just(Constant(0.5)) | pairs()


def pairs() -> st.SearchStrategy[Kernel]:
    """Kernels over two parts, of trees or of vectors."""
    of = st.sampled_from([EachPart, AllPairs, Preference])
    inner = st.sampled_from(TREES) | st.sampled_from([k + 0.5 * TREES[0] + 1.0 for k in TREES])
    rows = st.sampled_from(VECTORS) | st.just(Normalized(VECTORS[1] + 0.3))
    weighted = st.builds(lambda k: AllPairs(k, ("tree", "other"), (0.5, -2.0)), inner)
    of_trees = st.builds(lambda f, k: f(k, ("tree", "other")), of, inner)
    of_vectors = st.builds(lambda f, k: f(k, ("features", "dense")), of, rows)
    return of_trees | of_vectors | weighted


def sums() -> st.SearchStrategy[Kernel]:
    """Expressions that the exact strategy takes."""

    def larger(smaller: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
        return (
            st.builds(Sum, smaller, smaller)
            | st.builds(Scaled, st.sampled_from([0.5, 2.0, 0.0]), smaller)
            | st.builds(Normalized, smaller)
            | st.builds(Product, st.just(Constant(3.0)), smaller)
        )

    return st.recursive(plain(), larger, max_leaves=4)


def labels(seed: int, n: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, 2, size=n)


# ---------------------------------------------------------------- terms and factors


def matrix_of(operator: Any, scale: Array) -> Array:
    n = operator.n_trees
    return np.asarray(_core.SumFactors(n, [(operator, scale)]).scores(np.eye(n), 1))


@n_examples(60)
@given(kernel=sums(), seed=st.integers(0, 10**6))
def test_the_terms_add_up_to_the_kernel(kernel: Kernel, seed: int) -> None:
    X = examples(seed, 8)
    assert is_sum(kernel)
    expected = kernel(X)
    total = np.zeros_like(expected)
    for term in terms_of(kernel, X):
        if isinstance(term.kernel, Constant):
            total += term.scale[:, None] * term.scale
            continue
        whole = clone(term.kernel).set_params(part=None)
        scale = term.scale.reshape(-1)
        values = scale[:, None] * scale * whole(term.rows_of(X))
        total += sum(
            values[p : p + 8, q : q + 8] for p, q in product(range(0, len(scale), 8), repeat=2)
        )
    assert_allclose(total, expected, rtol=1e-10, atol=1e-10 * max(1.0, expected.max()))


@n_examples(60)
@given(kernel=sums(), seed=st.integers(0, 10**6), threads=st.sampled_from([1, 2]))
def test_the_factors_multiply_to_the_kernel_matrix(kernel: Kernel, seed: int, threads: int) -> None:
    X = examples(seed, 12)
    expected = kernel(X)
    actual = sum_factors(kernel, X, n_jobs=threads).scores(np.eye(12), threads)
    assert_allclose(actual, expected, rtol=1e-10, atol=1e-10 * max(1.0, expected.max()))


@pytest.mark.parametrize("kernel", VECTORS[:6], ids=repr)
@pytest.mark.parametrize("binary", [False, True])
def test_factors_of_vectors(kernel: Kernel, binary: bool) -> None:
    X = vectors(5, 60, binary=binary)
    expected = kernel(X)
    for rows in (X, X.toarray()):
        one = vector_factors(kernel, rows, n_jobs=1)
        assert_allclose(matrix_of(one, np.ones(60)), expected, rtol=1e-10, atol=1e-10)
        two = vector_factors(kernel, rows, n_jobs=2)
        assert matrix_of(two, np.ones(60)).tobytes() == matrix_of(one, np.ones(60)).tobytes()


def test_a_matrix_need_not_be_in_order() -> None:
    rows, columns = [0, 0, 0, 1, 1, 2, 2], [3, 1, 1, 3, 0, 0, 1]
    values = [1.0, 2.0, -1.0, 1.0, 4.0, 0.0, 1.0]
    X = sp.coo_array((values, (rows, columns)), shape=(3, 10**12)).tocsr()
    before = X.copy()
    kernel = Polynomial(2, normalize=False)
    actual = matrix_of(vector_factors(kernel, X), np.ones(3))
    assert_allclose(actual, kernel(_narrow(X)), rtol=1e-12)
    assert (X.data == before.data).all()
    assert (X.indices == before.indices).all()


def _narrow(X: sp.csr_array) -> Array:
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], 4)).toarray()


def test_a_constant() -> None:
    assert_allclose(matrix_of(constant_factors(4), np.full(4, 2.0)), np.full((4, 4), 4.0))


def test_too_many_products_are_refused_at_once() -> None:
    X = np.ones((3, 5000)) + np.eye(3, 5000)
    with pytest.raises(OutOfMemoryError, match=r"Polynomial.*products of up to 3 features.*raise"):
        vector_factors(Polynomial(3), X)
    with pytest.raises(OutOfMemoryError, match="at most 1000 bytes"):
        vector_factors(Linear(), X, max_memory=1000)


def test_values_beyond_float64() -> None:
    X = np.full((3, 2), 1e120)
    with pytest.raises(KernelOverflowError, match="vector 0 with itself"):
        vector_factors(Polynomial(3, normalize=False), X)
    assert_allclose(matrix_of(vector_factors(Polynomial(3), X), np.ones(3)), np.ones((3, 3)))


# ---------------------------------------------------------------- the machine


def check_optimum(model: TreeSVC, K: Array, y: npt.NDArray[np.int64]) -> None:
    """The solution's objective, and what the dual says that no other is below."""
    w = np.zeros(len(y))
    w[model.support_] = model.dual_coef_[0]
    signs = np.where(y == 1, 1, -1)
    b = model.intercept_[0]
    loss = np.maximum(0, 1 - signs * (K @ w + b))
    norm = w @ K @ w + b * b
    primal, dual = norm / 2 + model.C * loss.sum(), np.abs(w).sum() - norm / 2
    assert (w * signs >= 0).all()
    assert (np.abs(w) <= model.C).all()
    assert b == pytest.approx(w.sum(), abs=1e-9)
    # The objective is that of the factors, whose kernel values may be off by `kernel_error_`.
    weight = np.abs(w).sum()
    error = model.kernel_error_ * weight * (weight / 2 + model.C * len(y))
    assert model.objective_ == pytest.approx(primal, rel=1e-8, abs=error)
    assert primal - dual <= (model.tol + 1e-8) * primal


@n_examples(50)
@given(kernel=sums(), seed=st.integers(0, 10**6), C=st.sampled_from([0.1, 1.0, 20.0]))
def test_the_optimum(kernel: Kernel, seed: int, C: float) -> None:
    X, y = examples(seed), labels(seed, 24)
    y[:2] = [0, 1]
    model = TreeSVC(kernel, C=C, tol=1e-6, random_state=0, max_iter=10**6, loss="hinge").fit(X, y)
    check_optimum(model, kernel(X), y)
    new = examples(seed + 1, 10)
    expected = kernel(new, X[model.support_]) @ model.dual_coef_[0] + model.intercept_[0]
    size = np.abs(model.dual_coef_[0]).sum() * max(1.0, kernel.diag(new).max())
    assert_allclose(model.decision_function(new), expected, rtol=1e-10, atol=1e-10 * (1 + size))


KERNEL = SubsetTree().on("tree") + 0.5 * (
    Polynomial(3).on("features") + Subtree(normalize=False).on("other") + 1.0
)


def test_single_trees_and_vectors_need_no_parts() -> None:
    y = labels(1, 30)
    trees, rows = forest(3, 30), vectors(3, 30)
    cases: list[tuple[Kernel, Any]] = [
        (SubsetTree() + 0.3 * PartialTree(), trees),
        (SubsetTree() + Subtree(), [str(tree) for tree in trees]),
        (Linear(), rows),
        (Polynomial(2) + Linear(), rows.toarray()),
        (Polynomial(2) + Linear(), rows.toarray().tolist()),
        (Polynomial(3), rows.tocoo()),
        (Normalized(Linear(normalize=False)), sp.csr_matrix(rows)),
    ]
    for kernel, X in cases:
        model = TreeSVC(kernel, tol=1e-5, random_state=0, C=1.0, loss="hinge").fit(X, y)
        array = X.tocsr() if sp.issparse(X) else X
        check_optimum(model, kernel(array), y)
        assert not model.model_.is_of_trees
        assert model.engine_ == "factors"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_same_bytes_on_any_number_of_threads(loss: Any) -> None:
    X, new = examples(7, 60), examples(8, 60)
    y = np.arange(60) % 3
    one, two = (
        TreeSVC(KERNEL, loss=loss, random_state=1, n_jobs=n, C=1.0).fit(X, y) for n in (1, 2)
    )
    assert one.dual_coef_.tobytes() == two.dual_coef_.tobytes()
    assert one.decision_function(new).tobytes() == two.decision_function(new).tobytes()


def test_many_are_scored_by_factors_and_few_by_products(monkeypatch: pytest.MonkeyPatch) -> None:
    X, new, y = examples(7, 60), examples(8, 60), labels(7, 60)
    model = TreeSVC(KERNEL, random_state=1, C=1.0, loss="hinge").fit(X, y)
    ways = {}
    for many in (False, True):
        monkeypatch.setattr("filbert.engine.scorers.VectorScorer._are_many", lambda *_, m=many: m)
        ways[many] = model.decision_function(new)
    assert_allclose(ways[True], ways[False], rtol=1e-10, atol=1e-10)
    monkeypatch.setattr(
        "filbert.engine.vector_factors.MOST_PRODUCTS", 10
    )  # then products after all
    assert model.decision_function(new).tobytes() == ways[False].tobytes()


def test_what_counts_as_many() -> None:
    scorer = VectorScorer(Polynomial(3), vectors(1, 2000), np.ones((1, 2000)))
    assert not scorer._are_many(vectors(2, 10))
    assert scorer._are_many(vectors(2, 1000))
    wide = np.ones((2000, 200))
    assert not VectorScorer(Polynomial(3), wide, np.ones((1, 2000)))._are_many(wide)


def test_a_path_over_costs_and_a_warm_start() -> None:
    X, y = examples(9, 40), labels(9, 40)
    models = TreeSVC(KERNEL, tol=1e-6, random_state=0, C=1.0, loss="hinge").fit_path(
        X, y, [0.1, 1.0, 5.0]
    )
    for model in models:
        check_optimum(model, KERNEL(X), y)
    again = (
        TreeSVC(KERNEL, tol=1e-6, random_state=0, warm_start=True, C=1.0, loss="hinge")
        .fit(X, y)
        .fit(X, y)
    )
    assert again.n_iter_ == 0


def test_a_grid_over_what_is_within() -> None:
    X, y = examples(10, 30), labels(10, 30)
    kernel = SubsetTree().on("tree") + 0.5 * Polynomial(2).on("features")
    grid = {"kernel__left__decay": [0.2, 0.6], "kernel__right__factor": [0.1, 1.0]}
    search = GridSearchCV(TreeSVC(kernel, random_state=0, C=1.0, loss="hinge"), grid, cv=2).fit(
        X, y
    )
    assert search.best_params_.keys() == grid.keys()
    assert len(search.predict(examples(11, 5))) == 5


@pytest.mark.parametrize("kernel", [KERNEL, Polynomial(2).on("features"), Constant(1.0)], ids=repr)
def test_a_model_without_support_vectors(kernel: Kernel) -> None:
    model = SupportVectorModel(kernel, examples(1)[:0], np.zeros((2, 0)), np.array([0.5, -1.0]))
    assert model.decision_function(examples(2, 3)).tolist() == [[0.5, -1.0]] * 3
    assert model.decision_function(examples(2, 3)[:0]).shape == (0, 2)


def test_powers_beyond_what_a_polynomial_may_have() -> None:
    assert is_sum(Polynomial(50) ** 2)
    assert not is_sum(Polynomial(50) ** 3)
    X = vectors(1, 6)
    expected = (Polynomial(5) ** 4)(X)
    actual = sum_factors(Polynomial(5) ** 4, X).scores(np.eye(6), 1)
    assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


def test_the_training_set_is_not_kept() -> None:
    X, y = examples(12, 40), labels(12, 40)
    model = TreeSVC(SubsetTree().on("tree") + Linear().on("features"), C=1.0, loss="hinge").fit(
        X, y
    )
    support = model.model_.support
    assert set(support.parts) == {"tree", "features"}
    assert support["tree"]._dag.size == support["tree"].n_subtrees


# ---------------------------------------------------------------- rows, and other strategies

OTHERS: list[Kernel] = [
    SubsetTree().on("tree") * Linear().on("features"),
    RBF(0.3).on("dense"),
    Power(SubsetTree().on("tree") + 1.0, 2),
    KERNEL + 0.1 * RBF(0.3).on("features"),
]


@pytest.mark.parametrize("kernel", [*OTHERS, KERNEL], ids=repr)
def test_any_kernel_by_its_matrix(kernel: Kernel) -> None:
    X, y = examples(13, 50), labels(13, 50)
    model = TreeSVC(kernel, engine="rows", tol=1e-6, random_state=0, C=1.0, loss="hinge").fit(X, y)
    assert (model.engine_, model.engine_reason_) == ("rows", "requested")
    check_optimum(model, kernel(X), y)
    new = examples(14, 20)
    expected = kernel(new, X[model.support_]) @ model.dual_coef_[0] + model.intercept_[0]
    assert_allclose(model.decision_function(new), expected, rtol=1e-9, atol=1e-9)


def test_what_is_too_long_to_factorise_goes_by_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("filbert.engine.work.steps_worth_trying", lambda *_: 1.0)
    X, y = examples(13, 50), labels(13, 50)
    kernel = PartialTree().on("tree") + Linear().on("features")
    model = TreeSVC(kernel, tol=1e-6, random_state=0, C=1.0, loss="hinge").fit(X, y)
    assert model.engine_ == "rows"
    assert model.engine_reason_.startswith("factorising takes more than")
    check_optimum(model, kernel(X), y)
    asked = TreeSVC(kernel, engine="factors", C=1.0, loss="hinge").fit(X, y)
    assert (asked.engine_, asked.engine_reason_) == ("factors", "requested")
    monkeypatch.setattr("filbert.engine.rows.ROWS_KEPT", 1000)
    model = TreeSVC(kernel, C=1.0, loss="hinge").fit(X, y)
    assert model.engine_ == "factors"
    assert model.engine_reason_ == "the kernel matrix would not fit into memory"


def test_products_of_many_features_go_by_the_matrix() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2000)), labels(15, 40)
    model = TreeSVC(Polynomial(3), tol=1e-5, random_state=0, C=1.0, loss="hinge").fit(X, y)
    assert model.engine_ == "rows"
    assert model.engine_reason_.startswith("Polynomial")
    check_optimum(model, Polynomial(3)(X), y)
    for ways in ({"engine": "factors"}, {"max_memory": 10_000}):
        with pytest.raises(OutOfMemoryError, match=r"products of up to 3 features.*'usvm'.*fewer"):
            TreeSVC(Polynomial(3), **{"C": 1.0, "loss": "hinge", **ways}).fit(X, y)


def test_a_matrix_that_does_not_fit() -> None:
    X, y = examples(13, 50), labels(13, 50)
    with pytest.raises(OutOfMemoryError, match=r"kernel matrix of 50 examples"):
        TreeSVC(OTHERS[0], engine="rows", max_memory=1000, C=1.0, loss="hinge").fit(X, y)


@pytest.mark.parametrize("kernel", [*OTHERS, KERNEL], ids=repr)
def test_any_kernel_by_planes(kernel: Kernel) -> None:
    X, y = examples(13, 50), labels(13, 50)
    exact = TreeSVC(kernel, engine="rows", tol=1e-6, random_state=0, C=1.0, loss="hinge").fit(X, y)
    planes = TreeSVC(kernel, strategy="usvm", tol=1e-5, max_iter=2000, random_state=0, C=1.0).fit(
        X, y
    )
    assert planes.objective_ == pytest.approx(exact.objective_, rel=1e-3)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("kernel", OTHERS, ids=repr)
def test_what_is_no_sum_is_told_with_the_way_out(kernel: Kernel) -> None:
    assert not is_sum(kernel)
    with pytest.raises(InvalidParameterError, match=r"'exact'.*has no factors.*'usvm'.*'rows'"):
        TreeSVC(kernel, C=1.0, loss="hinge").fit(examples(1), labels(1, 24))
    with pytest.raises(InvalidParameterError, match="has no factors"):
        terms_of(kernel, examples(1))


def test_sums_are_not_for_planes_of_trees() -> None:
    with pytest.raises(InvalidParameterError, match=r"'sdag\+' is for one tree kernel"):
        TreeSVC(KERNEL, strategy="sdag+", C=1.0).fit(examples(1), labels(1, 24))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (SubsetTree(2.0).on("tree") + 1, "decay"),
        (Scaled(-1.0, SubsetTree().on("tree")), "factor"),
        (Sum(SubsetTree().on("tree"), 5), "right must be a kernel"),  # type: ignore[arg-type]
        (Polynomial(0).on("features") + Linear().on("features"), "degree"),
        (Power(Linear().on("features"), 0.5), "exponent"),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters_within(kernel: Kernel, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        TreeSVC(kernel, C=1.0, loss="hinge").fit(examples(1), labels(1, 24))


def test_new_examples_that_do_not_fit_leave_the_model_as_it_is() -> None:
    X, y = examples(16), labels(16, 24)
    kernel = SubsetTree().on("tree") + Linear().on("dense") + Polynomial(2).on("features")
    model = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(X, y)
    before = model.decision_function(X)
    parts = dict(X.parts)
    bad: list[tuple[Any, str]] = [
        ({k: v for k, v in parts.items() if k != "dense"}, "needs a part 'dense'"),
        (parts | {"dense": np.ones((24, 9))}, "features cannot be compared"),
        (parts | {"dense": np.full((24, 8), np.nan)}, "sample 0"),
        (parts | {"features": X["tree"]}, "needs vectors"),
    ]
    for new, message in bad:
        with pytest.raises(InvalidParameterError, match=message):
            model.decision_function(Examples(**new))
    with pytest.raises(InvalidParameterError, match="needs Examples with a part 'tree'"):
        model.predict(X["tree"])
    assert model.decision_function(X).tobytes() == before.tobytes()


def test_sparse_vectors_may_be_wider_than_those_in_training() -> None:
    X, y = vectors(17, 30), labels(17, 30)
    model = TreeSVC(Polynomial(2), random_state=0, C=1.0, loss="hinge").fit(X, y)
    wider = sp.csr_array((X.data, X.indices, X.indptr), shape=(30, 10**6))
    assert_allclose(model.decision_function(wider), model.decision_function(X), rtol=1e-12)
