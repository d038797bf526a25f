"""Large values of C: sweeps alone take long, so examples move together."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Examples, Forest, TreeSVC, TreeSVR
from filbert.kernels import Linear, PartialTree, SubsetTree
from tests.profiles import n_examples
from tests.reference.trees import Node, write
from tests.strategies import forests, random_trees

LOSSES = ["hinge", "squared_hinge"]


def objectives(model: TreeSVC, K: Any, y: Any, C: Any) -> tuple[float, float]:
    """The primal and the dual objective, from the kernel matrix and the dual variables alone."""
    coef = np.zeros(len(K))
    coef[model.support_] = model.dual_coef_[0]
    Q = K + bool(model.fit_intercept)
    short = np.maximum(0, 1 - y * (Q @ coef))
    norm = coef @ Q @ coef
    squared = model.loss == "squared_hinge"
    loss = (C * short**2).sum() if squared else (C * short).sum()
    ridge = (coef**2 / C).sum() / 4 if squared else 0.0
    assert squared or (np.abs(coef) <= C * (1 + 1e-12)).all()
    return norm / 2 + loss, np.abs(coef).sum() - norm / 2 - ridge


@given(
    forests(1, 10),
    st.lists(st.booleans(), min_size=24, max_size=24),
    st.sampled_from([1e2, 1e3, 1e4, 1e6]),
    st.sampled_from(LOSSES),
    st.booleans(),
)
@n_examples(60)
def test_equal_trees_of_both_classes(
    nodes: list[Node], labels: list[bool], C: float, loss: str, intercept: bool
) -> None:
    X = Forest([write(nodes[k % len(nodes)]) for k in range(24)])
    y = np.where(labels, 1, -1)
    y[:2] = [1, -1]
    weights = np.linspace(0.5, 2, 24)
    model = TreeSVC(
        SubsetTree(), engine="factors", C=C, loss=loss, fit_intercept=intercept, random_state=0
    )
    model.fit(X, y, sample_weight=weights)
    primal, dual = objectives(model, SubsetTree()(X), y, C * weights)
    assert model.duality_gap_ <= 1e-3
    assert model.objective_ == pytest.approx(primal, rel=1e-8)
    assert model.duality_gap_ == pytest.approx((primal - dual) / primal, abs=1e-8)


def noisy() -> tuple[Forest, Any]:
    X = Forest(map(write, random_trees(3, 200, 20)))
    y = np.array([tree.n_nodes % 2 for tree in X])
    return X, np.where(np.arange(200) % 7 == 0, 1 - y, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree(0.4, 0.4)], ids=repr)
def test_the_optimum_is_that_of_the_rows(kernel: Any, loss: str) -> None:
    X, y = noisy()
    given = {"C": 1e3, "loss": loss, "random_state": 0, "max_iter": 100_000}
    factors = TreeSVC(
        kernel, engine="factors", tol=1e-7, **{"C": 1.0, "loss": "hinge", **given}
    ).fit(X, y)
    rows = TreeSVC(kernel, engine="rows", tol=1e-5, **{"C": 1.0, "loss": "hinge", **given}).fit(
        X, y
    )
    assert factors.duality_gap_ <= 1e-7
    assert factors.objective_ == pytest.approx(rows.objective_, rel=2e-5)


def test_a_sum_of_kernels() -> None:
    X, y = noisy()
    both = Examples(tree=X, features=np.random.default_rng(0).normal(size=(200, 4)))
    kernel = SubsetTree().on("tree") + 0.5 * Linear().on("features")
    model = TreeSVC(kernel, engine="factors", C=1e3, random_state=0, loss="hinge").fit(both, y)
    primal, dual = objectives(model, kernel(both), np.where(y == 1, 1, -1), 1e3)
    assert model.duality_gap_ <= 1e-3
    assert model.objective_ == pytest.approx(primal, rel=1e-8)
    assert model.duality_gap_ == pytest.approx((primal - dual) / primal, abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_matter(loss: str) -> None:
    X, y = noisy()
    fits = [
        TreeSVC(SubsetTree(), C=1e3, loss=loss, random_state=0, n_jobs=n).fit(X, y)
        for n in (1, 2, 3)
    ]
    assert len({fit.dual_coef_.tobytes() + fit.intercept_.tobytes() for fit in fits}) == 1


def test_a_path_to_large_costs() -> None:
    X, y = noisy()
    path = TreeSVC(SubsetTree(), engine="factors", random_state=0, C=1.0, loss="hinge").fit_path(
        X, y, [1.0, 1e2, 1e4, 1.0]
    )
    for model in path:
        alone = TreeSVC(
            SubsetTree(), engine="factors", C=model.C, random_state=0, loss="hinge"
        ).fit(X, y)
        assert model.duality_gap_ <= 1e-3
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-3)


def test_few_sweeps_are_enough() -> None:
    X, y = noisy()
    model = TreeSVC(
        SubsetTree(), engine="factors", C=1e3, random_state=0, max_iter=200, loss="hinge"
    ).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert len(model.convergence_[0].gap) >= 3


# ---------------------------------------------------------------- losses with a kink

EPSILON_LOSSES: list[Any] = ["epsilon_insensitive", "squared_epsilon_insensitive"]


def regression_objectives(model: TreeSVR, K: Any, y: Any, C: Any) -> tuple[float, float]:
    """The primal and the dual objective, from the kernel matrix and the dual variables alone."""
    beta = np.zeros(len(K))
    beta[model.support_] = model.dual_coef_[0]
    Q = K + 1
    beyond = np.maximum(0, np.abs(y - Q @ beta) - model.epsilon)
    norm = beta @ Q @ beta
    squared = model.loss == "squared_epsilon_insensitive"
    assert squared or (np.abs(beta) <= C * (1 + 1e-12)).all()
    ridge = (beta**2 / C).sum() / 4 if squared else 0.0
    gain = y @ beta - model.epsilon * np.abs(beta).sum() - norm / 2 - ridge
    return norm / 2 + (C * beyond ** (1 + squared)).sum(), gain


@pytest.mark.parametrize("engine", ["factors", "rows"])
@pytest.mark.parametrize("n_others", [1, 3])
@pytest.mark.parametrize("C", [1e2, 1e4])
def test_equal_trees_that_rest_in_turn(n_others: int, C: float, engine: Any) -> None:
    """Most targets are at the kink: these trees rest until the others have moved."""
    X = Forest(["(a b)"] * 24)
    y = np.array([0.0] * (24 - n_others) + [0.25] * n_others)
    for epsilon in (0.0, 0.1):
        model = TreeSVR(
            C=C, loss="epsilon_insensitive", epsilon=epsilon, engine=engine, random_state=0
        )
        model.fit(X, y, sample_weight=np.linspace(0.5, 2, 24))
        assert model.duality_gap_ <= 1e-3


@given(
    forests(1, 10),
    st.lists(st.integers(-8, 8), min_size=24, max_size=24),
    st.sampled_from([1e2, 1e3, 1e4]),
    st.sampled_from(EPSILON_LOSSES),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from(["factors", "rows"]),
)
@n_examples(60)
def test_equal_trees_with_different_targets(
    nodes: list[Node], targets: list[int], C: float, loss: Any, epsilon: float, engine: Any
) -> None:
    X = Forest([write(nodes[k % len(nodes)]) for k in range(24)])
    y = np.array(targets) / 4
    weights = np.linspace(0.5, 2, 24)
    model = TreeSVR(C=C, loss=loss, epsilon=epsilon, engine=engine, random_state=0)
    model.fit(X, y, sample_weight=weights)
    primal, dual = regression_objectives(model, SubsetTree()(X), y, C * weights)
    assert model.duality_gap_ <= 1e-3
    assert model.objective_ == pytest.approx(primal, rel=1e-8, abs=1e-12)
    assert primal - dual <= (model.duality_gap_ + 1e-8) * primal + 1e-12


@pytest.mark.parametrize("loss", EPSILON_LOSSES)
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_few_sweeps_are_enough_for_regression(loss: Any, epsilon: float) -> None:
    X, _ = noisy()
    y = np.random.default_rng(0).normal(size=200)
    fits = [
        TreeSVR(C=1e3, loss=loss, epsilon=epsilon, random_state=0, n_jobs=n, max_iter=2000)
        for n in (1, 2)
    ]
    model = fits[0].fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert model.dual_coef_.tobytes() == fits[1].fit(X, y).dual_coef_.tobytes()
