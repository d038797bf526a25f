"""TreeLogisticRegression against SciPy and scikit-learn on the kernel matrix."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from filbert import Examples, Forest, FragmentVectorizer, TreeLogisticRegression, explain
from filbert.errors import InvalidParameterError
from filbert.kernels import RBF, Kernel, Linear, PartialTree, SubsetTree, Subtree
from filbert.persist import load, load_predictor, save
from tests.profiles import n_examples
from tests.reference.losses import loss_of, objective, smooth_optimum
from tests.reference.trees import Node, write
from tests.strategies import forests, random_trees

Array = np.ndarray[Any, Any]
TIGHT: dict[str, Any] = {"tol": 1e-9, "max_iter": 100_000, "random_state": 0}
LOGISTIC = loss_of("logistic")


@cache
def optimum(kernel: Kernel, C: float, intercept: bool) -> tuple[float, Array]:
    X, y = data()
    return smooth_optimum(LOGISTIC, kernel(X) + intercept, signs(y), 0.0, np.full(len(y), C))


@cache
def data(n: int = 60, n_classes: int = 2) -> tuple[Forest, Array]:
    """Random trees; classes by size, with some noise."""
    forest = Forest(map(write, random_trees(1, n, 20)))
    rng = np.random.default_rng(0)
    sizes = np.array([tree.n_nodes for tree in forest])
    y = np.searchsorted(np.quantile(sizes, np.arange(1, n_classes) / n_classes), sizes)
    noisy = rng.random(n) < 0.15
    y[noisy] = rng.integers(0, n_classes, noisy.sum())
    return forest, y


def signs(y: Array) -> Array:
    return np.where(y == 1, 1.0, -1.0)


def weights_of(model: TreeLogisticRegression, n: int) -> Array:
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


@pytest.mark.parametrize("engine", ["factors", "rows"])
@pytest.mark.parametrize(
    ("kernel", "C", "intercept"),
    [(SubsetTree(), 0.05, True), (SubsetTree(), 30.0, True), (PartialTree(), 1.0, False)],
)
def test_the_optimum(kernel: Kernel, engine: Any, C: float, intercept: bool) -> None:
    X, y = data()
    K = kernel(X) + intercept
    best, decisions = optimum(kernel, C, intercept)
    options: dict[str, Any] = {"C": C, "engine": engine, "fit_intercept": intercept}
    model = TreeLogisticRegression(kernel, **options, **TIGHT).fit(X, y)
    assert model.engine_ == engine
    assert model.duality_gap_ <= 1e-9
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-3)
    loose = TreeLogisticRegression(kernel, **options, random_state=0).fit(X, y)
    found = objective(LOGISTIC, K, weights_of(loose, len(y)), signs(y), 0.0, np.full(len(y), C))
    assert best * (1 - 1e-9) <= found <= best / (1 - loose.duality_gap_) * (1 + 1e-9)
    assert loose.duality_gap_ <= 1e-3


@n_examples(25)
@given(st.data())
def test_the_gap_is_true(draw: st.DataObject) -> None:
    nodes: list[Node] = draw.draw(forests(min_size=2, max_size=8))
    y = np.array(draw.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes))))
    y[:2] = [False, True]
    C, tol = draw.draw(st.sampled_from([0.01, 1.0, 100.0])), 1e-3
    X, kernel = Forest(map(write, nodes)), SubsetTree(include_leaves=True)
    K, costs = kernel(X) + 1, np.full(len(y), C)
    model = TreeLogisticRegression(kernel, C=C, tol=tol, random_state=0).fit(X, y)
    best, _ = smooth_optimum(LOGISTIC, K, signs(y), 0.0, costs)
    found = objective(LOGISTIC, K, weights_of(model, len(y)), signs(y), 0.0, costs)
    assert found == pytest.approx(model.objective_, rel=1e-9)
    assert model.duality_gap_ <= tol
    assert best * (1 - 1e-6) <= found <= best / (1 - model.duality_gap_) * (1 + 1e-6)


def test_scikit_learn_has_the_same_optimum() -> None:
    X, y = data()
    K = SubsetTree()(X)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    weights = np.random.default_rng(3).uniform(0, 2, len(y))
    theirs = LogisticRegression(C=3.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(features, y, sample_weight=weights)
    ours = TreeLogisticRegression(C=3.0, fit_intercept=False, **TIGHT).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(features), atol=1e-4)


def test_probabilities_are_logistic() -> None:
    X, y = data()
    model = TreeLogisticRegression(random_state=0).fit(X, y)
    p = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), np.stack([1 - p, p], axis=1), atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(p > 0.5).astype(int)])


def test_probabilities_of_three_classes_are_normalised() -> None:
    X, y = data(60, 3)
    model = TreeLogisticRegression(random_state=0).fit(X, y)
    p = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), rtol=1e-12)
    for c in range(3):
        alone = TreeLogisticRegression(random_state=0, tol=1e-8).fit(X, y == c)
        np.testing.assert_allclose(alone.predict_proba(X)[:, 1], p[:, c], atol=0.02)


def test_logarithms_are_finite_where_probabilities_are_not_positive() -> None:
    X = ["(S (A a))", "(S (B b))", "(S (C c))"]
    kernel = 1e6 * SubsetTree()
    for y in ([0, 1, 1], [0, 1, 2]):
        model = TreeLogisticRegression(kernel, C=1e3, random_state=0, tol=0.1).fit(X, y)
        logarithms = model.predict_log_proba(X)
        assert np.isfinite(logarithms).all()
        np.testing.assert_allclose(np.exp(logarithms).sum(axis=1), 1)


def test_a_path_of_costs() -> None:
    X, y = data()
    Cs = [0.1, 1.0, 10.0]
    path = TreeLogisticRegression(tol=1e-6, random_state=0).fit_path(X, y, Cs)
    for C, model in zip(Cs, path, strict=True):
        alone = TreeLogisticRegression(C=C, tol=1e-6, random_state=0).fit(X, y)
        assert model.C == C
        assert model.objective_ == pytest.approx(alone.objective_, rel=2e-6)
    again = path[-1].set_params(warm_start=True, tol=2e-6).fit(X, y)
    assert again.n_iter_ == 0


def test_pruned_factors_have_a_certified_gap() -> None:
    X, y = data(150)
    kernel = PartialTree()
    model = TreeLogisticRegression(kernel, engine="factors", kernel_tol=1e-3, random_state=0)
    model.fit(X, y)
    assert model.kernel_error_ > 0
    best, _ = smooth_optimum(LOGISTIC, kernel(X) + 1, signs(y), 0.0, np.ones(len(y)))
    beta = weights_of(model, len(y))
    found = objective(LOGISTIC, kernel(X) + 1, beta, signs(y), 0.0, np.ones(len(y)))
    assert model.duality_gap_ <= 1e-3
    assert found <= best / (1 - model.duality_gap_) * (1 + 1e-9)


def test_other_kernels() -> None:
    X, y = data(40)
    vectors = np.random.default_rng(0).normal(size=(40, 3))
    both = Examples(tree=X, v=vectors)
    kernel = SubsetTree().on("tree") + Linear().on("v")
    model = TreeLogisticRegression(kernel, **TIGHT).fit(both, y)
    best, _ = smooth_optimum(LOGISTIC, kernel(both) + 1, signs(y), 0.0, np.ones(40))
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    by_rows = TreeLogisticRegression(RBF(0.5), engine="rows").fit(vectors, y)
    assert by_rows.engine_ == "rows"
    function = TreeLogisticRegression(lambda A, B: A @ B.T, engine="rows").fit(vectors, y)
    assert function.predict_proba(vectors).shape == (40, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "TreeLogisticRegression: C must be positive"),
        ({"tol": 1.0}, "tol must be in"),
        ({"engine": "planes"}, "engine must be 'auto', 'factors' or 'rows'"),
        ({"kernel": RBF(1.0)}, r"RBF.* has no factors.*Use engine='rows'"),
        ({"kernel": lambda A, B: A}, "has no factors, because.*Use engine='rows'"),
        ({"kernel": SubsetTree}, "is a class. Call it"),
        ({"kernel": 3}, "kernel must be LocalPatterns, SubsetTree"),
        ({"warm_start": "yes"}, "warm_start must be True or False"),
        ({"max_iter": 0}, "max_iter must be a positive integer"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        TreeLogisticRegression(**parameters).fit(["(S a)", "(S b)"], [0, 1])


def test_too_few_sweeps() -> None:
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="TreeLogisticRegression stopped after max_iter=2"):
        TreeLogisticRegression(C=100, max_iter=2, tol=1e-6, random_state=0).fit(X, y)


def test_files(tmp_path: Path) -> None:
    X, y = data(60, 3)
    model = TreeLogisticRegression(Subtree(), C=2.0, random_state=0).fit(
        X, np.array(list("abc"))[y]
    )
    save(model, tmp_path / "model")
    for again in (load(tmp_path / "model"), load_predictor(tmp_path / "model")):
        for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            expected = getattr(model, method)(X)
            np.testing.assert_array_equal(getattr(again, method)(X), expected)


def test_explanations_and_fragments(tmp_path: Path) -> None:
    X, y = data(60)
    model = TreeLogisticRegression(random_state=0).fit(X, y)
    explanation = explain(model, X[:3], y[:3], top=3)
    assert explanation.model.learner == "TreeLogisticRegression"
    assert len(explanation.examples) == 3
    vectorizer = FragmentVectorizer(model, min_frequency=2).fit(X, y)
    save(vectorizer, tmp_path / "vectorizer")
    again = load(tmp_path / "vectorizer")
    np.testing.assert_array_equal(again.transform(X).toarray(), vectorizer.transform(X).toarray())
