"""TreeSVR against SciPy and scikit-learn on the kernel matrix."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

from filbert import Forest, TreeSVR, explain
from filbert.errors import InvalidParameterError
from filbert.fragments import mine
from filbert.kernels import Kernel, PartialTree, SubsetTree
from filbert.persist import load, load_predictor, save
from tests.profiles import n_examples
from tests.reference.losses import epsilon_optimum, loss_of, objective, smooth_optimum
from tests.reference.trees import Node, write
from tests.strategies import forests, random_trees

Array = np.ndarray[Any, Any]
SQUARED: Any = "squared_epsilon_insensitive"
TIGHT: dict[str, Any] = {"tol": 1e-9, "max_iter": 100_000, "random_state": 0}


@cache
def data(n: int = 40) -> tuple[Forest, Array]:
    """Random trees; the target is the size on a logarithmic scale, with noise."""
    X = Forest(map(write, random_trees(1, n, 20)))
    sizes = np.array([tree.n_nodes for tree in X])
    return X, np.log(sizes) - 1.5 + np.random.default_rng(0).normal(0, 0.2, n)


def weights_of(model: TreeSVR, n: int) -> Array:
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


def best_of(loss: str, K: Array, y: Array, epsilon: float, costs: Array) -> float:
    if loss == "epsilon_insensitive":
        return epsilon_optimum(K, y, epsilon, costs)
    if epsilon == 0:  # in closed form
        return float(y @ np.linalg.solve(K + np.diag(1 / (2 * costs)), y) / 2)
    return smooth_optimum(loss_of(loss, epsilon), K, np.ones(len(y)), y, costs)[0]


@pytest.mark.parametrize("engine", ["factors", "rows"])
@pytest.mark.parametrize(
    ("kernel", "loss", "C", "epsilon", "intercept"),
    [
        (SubsetTree(), "epsilon_insensitive", 1.0, 0.1, True),
        (PartialTree(), "epsilon_insensitive", 0.3, 0.0, False),
        (SubsetTree(), SQUARED, 5.0, 0.05, True),
        (PartialTree(), SQUARED, 1.0, 0.0, True),
    ],
)
def test_the_optimum(
    kernel: Kernel, loss: Any, C: float, epsilon: float, intercept: bool, engine: Any
) -> None:
    X, y = data()
    K, costs = kernel(X) + intercept, np.full(len(y), C)
    best = best_of(loss, K, y, epsilon, costs)
    model = TreeSVR(
        kernel, C=C, epsilon=epsilon, loss=loss, engine=engine, fit_intercept=intercept, **TIGHT
    ).fit(X, y)
    assert model.duality_gap_ <= 1e-9
    assert model.objective_ == pytest.approx(best, rel=1e-5)
    found = objective(
        loss_of(loss, epsilon), K, weights_of(model, len(y)), np.ones(len(y)), y, costs
    )
    assert found == pytest.approx(model.objective_, rel=1e-9)


@n_examples(25)
@given(st.data())
def test_the_gap_is_true(draw: st.DataObject) -> None:
    nodes: list[Node] = draw.draw(forests(2, 8))
    numbers = st.floats(-5, 5, width=32)
    y = np.array(draw.draw(st.lists(numbers, min_size=len(nodes), max_size=len(nodes))))
    loss: Any = draw.draw(st.sampled_from(["epsilon_insensitive", SQUARED]))
    C, epsilon = draw.draw(st.sampled_from([0.01, 1.0, 10.0])), draw.draw(st.sampled_from([0, 0.5]))
    X, kernel = Forest(map(write, nodes)), SubsetTree(include_leaves=True)
    K, costs = kernel(X) + 1, np.full(len(y), C)
    model = TreeSVR(kernel, C=C, epsilon=epsilon, loss=loss, random_state=0).fit(X, y)
    beta = weights_of(model, len(y))
    primal = objective(loss_of(loss, epsilon), K, beta, np.ones(len(y)), y, costs)
    dual = y @ beta - epsilon * np.abs(beta).sum() - beta @ K @ beta / 2
    if loss == SQUARED:
        dual -= (beta**2 / (4 * costs)).sum()
    else:
        assert (np.abs(beta) <= costs * (1 + 1e-12)).all()
    assert primal == pytest.approx(model.objective_, rel=1e-9, abs=1e-12)
    assert model.duality_gap_ <= 1e-3
    assert primal - dual <= model.duality_gap_ * primal + 1e-9 * max(1.0, primal)


def test_kernel_ridge_regression() -> None:
    X, y = data()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    kernel = SubsetTree()
    ours = TreeSVR(kernel, C=5, epsilon=0, loss=SQUARED, fit_intercept=False, **TIGHT)
    ours.fit(X, y, sample_weight=weights)
    theirs = KernelRidge(alpha=1 / (2 * 5), kernel="precomputed")
    theirs.fit(kernel(X), y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(kernel(X)), atol=1e-4)


def test_support_vector_regression_of_scikit_learn() -> None:
    """Every example is there a second time, negated: by symmetry the bias of SVR is then 0."""
    X, y = data()
    K = SubsetTree()(X)
    twice = np.block([[K, -K], [-K, K]])
    theirs = SVR(kernel="precomputed", C=1.0, epsilon=0.1, tol=1e-8)
    theirs.fit(twice, np.concatenate([y, -y]))
    ours = TreeSVR(C=2.0, epsilon=0.1, fit_intercept=False, **TIGHT).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(twice)[: len(y)], atol=1e-3)


def test_large_costs_by_joint_steps() -> None:
    X, y = data()
    kernel = SubsetTree()
    model = TreeSVR(kernel, C=1e5, epsilon=0, loss=SQUARED, tol=1e-6, random_state=0).fit(X, y)
    best = best_of(SQUARED, kernel(X) + 1, y, 0.0, np.full(len(y), 1e5))
    assert model.duality_gap_ <= 1e-6
    assert model.objective_ == pytest.approx(best, rel=1e-5)


def test_pruned_factors_have_a_certified_gap() -> None:
    X, y = data(80)
    kernel, costs = PartialTree(), np.ones(80)
    model = TreeSVR(kernel, engine="factors", kernel_tol=1e-3, random_state=0).fit(X, y)
    assert model.kernel_error_ > 0
    assert model.duality_gap_ <= 1e-3
    K = kernel(X) + 1
    found = objective(
        loss_of("epsilon_insensitive", 0.1), K, weights_of(model, 80), np.ones(80), y, costs
    )
    assert found <= epsilon_optimum(K, y, 0.1, costs) / (1 - model.duality_gap_) * (1 + 1e-5)


def test_a_path_of_costs() -> None:
    X, y = data()
    for C, model in zip([0.1, 10.0], TreeSVR(tol=1e-6).fit_path(X, y, [0.1, 10.0]), strict=True):
        alone = TreeSVR(C=C, tol=1e-6).fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=2e-6)


def test_targets_within_epsilon_need_no_support_vectors() -> None:
    X, y = data()
    model = TreeSVR(epsilon=1.0).fit(X, y / 10)
    assert len(model.support_) == 0
    assert model.duality_gap_ == 0
    assert not model.predict(X).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": -0.1}, "TreeSVR: epsilon must be 0 or positive, got -0.1"),
        ({"epsilon": np.nan}, "epsilon must be 0 or positive"),
        ({"loss": "hinge"}, "loss must be 'epsilon_insensitive' or 'squared_epsilon_insensitive'"),
        ({"C": -1}, "TreeSVR: C must be positive"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        TreeSVR(**parameters).fit(["(S a)", "(S b)"], [0, 1])


def test_files(tmp_path: Path) -> None:
    X, y = data()
    model = TreeSVR(PartialTree(), C=2.0, random_state=0).fit(X, y)
    save(model, tmp_path / "model")
    for again in (load(tmp_path / "model"), load_predictor(tmp_path / "model")):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_explanations_and_fragments() -> None:
    X, y = data()
    model = TreeSVR(random_state=0).fit(X, y)
    explanation = explain(model, X[:3], top=3)
    assert explanation.model.learner == "TreeSVR"
    assert explanation.problems[0].positive == "higher"
    assert 0 < len(mine(model, n_fragments=5).fragments) <= 5
    with pytest.raises(InvalidParameterError, match="a TreeSVR predicts numbers: leave y out"):
        explain(model, X[:3], y[:3])


@pytest.mark.parametrize("loss", ["epsilon_insensitive", SQUARED])
def test_objectives_beyond_doubles(loss: Any) -> None:
    X, y = data()
    with pytest.raises(InvalidParameterError, match="too large for a double: use smaller targets"):
        TreeSVR(loss=loss, C=1e10, random_state=0).fit(X, 1e300 * y)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (np.zeros((40, 2)), "y should be a 1d array"),
        ([np.nan] * 40, "must be finite"),
        (["0.5"] * 39 + ["yes"], "y must have numbers; for sample 39 it is 'yes'"),
        (["1_000"] * 40, "y must have numbers; for sample 0 it is '1_000'"),
        (np.array(["2026-01-01"] * 40, dtype="M8[D]"), "got datetime64.*convert dates"),
    ],
)
def test_wrong_targets_have_typed_errors(y: Any, told: str) -> None:
    with pytest.raises(InvalidParameterError, match=told):
        TreeSVR().fit(data()[0], y)


def test_weights_are_numbers() -> None:
    with pytest.raises(InvalidParameterError, match="sample_weight must have numbers"):
        TreeSVR().fit(*data(), sample_weight=["a"] * 40)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("C", [100.0, 1e4])
def test_equal_trees_with_different_targets(C: float, epsilon: float) -> None:
    """The trees move together. One by one they would take about C sweeps."""
    random = np.random.default_rng(0)
    X = Forest.from_brackets(
        [f"(S (A a{i}) (B b))" if i % 2 else f"(S (C c{i}))" for i in random.integers(0, 20, 300)]
    )
    y = random.normal(size=300)
    model = TreeSVR(
        SubsetTree(), C=C, epsilon=epsilon, engine="factors", max_iter=1000, random_state=0
    ).fit(X, y)
    beta = weights_of(model, 300)
    assert np.abs(beta).max() <= C
    loss, costs = loss_of("epsilon_insensitive", epsilon), np.full(300, C)
    primal = objective(loss, SubsetTree()(X) + 1, beta, np.ones(300), y, costs)
    np.testing.assert_allclose(model.objective_, primal)
    assert model.duality_gap_ <= 1e-3
