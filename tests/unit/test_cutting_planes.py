"""TreeSVC by cutting planes: one model whatever the strategy, and that of the plain program."""

from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import precision_score, recall_score
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight

from filbert import Forest, TreeSVC, load, save
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.learners import planes
from filbert.learners.sampling import Sampler
from tests.profiles import n_examples
from tests.reference import cutting_planes as reference
from tests.reference.kernels import production
from tests.reference.trees import Node, nodes, write
from tests.strategies import ALPHABETS, DISJOINT, random_forest, random_trees

Array = npt.NDArray[Any]
Strategy = Literal["usvm", "sdag", "sdag+"]
STRATEGIES: list[Strategy] = ["usvm", "sdag", "sdag+"]
KERNELS = [
    SubsetTree(),
    SubsetTree(0.7, include_leaves=True),
    SubsetTree(normalize=False),
    Subtree(0.6),
    PartialTree(),
    PartialTree(0.5, 0.6, penalty="gaps"),
    PartialTree(0.5, max_subsequence=2),
]


@cache
def data(n: int = 80, n_classes: int = 2, seed: int = 1) -> tuple[Forest, Array]:
    """Random trees; classes by size, with some noise, so that there is something to learn."""
    forest = Forest(map(write, random_trees(seed, n, 15)))
    rng = np.random.default_rng(seed)
    sizes = np.array([tree.n_nodes for tree in forest])
    y = np.searchsorted(np.quantile(sizes, np.arange(1, n_classes) / n_classes), sizes)
    noisy = rng.random(n) < 0.15
    y[noisy] = rng.integers(0, n_classes, noisy.sum())
    return forest, y


def dense(model: TreeSVC, n: int) -> Array:
    """The dual variables of all examples, times the label."""
    coef = np.zeros((len(model.dual_coef_), n))
    coef[:, model.support_] = model.dual_coef_
    return coef


def as_function(kernel: TreeKernel) -> Any:
    return kernel.__call__  # no TreeKernel, which strategies would look into


def fit_all(
    kernel: TreeKernel, X: Forest, y: Array, weights: Array | None = None, **parameters: Any
) -> list[TreeSVC]:
    """A model by each strategy, and one by the kernel as any function."""
    models = [
        TreeSVC(kernel, strategy=strategy, **{"C": 1.0, **parameters}) for strategy in STRATEGIES
    ]
    models.append(TreeSVC(as_function(kernel), strategy="usvm", **{"C": 1.0, **parameters}))
    return [model.fit(X, y, sample_weight=weights) for model in models]


def assert_same_models(models: list[TreeSVC], n: int) -> None:
    first, *others = models
    expected = dense(first, n)
    for other in others:
        assert other.n_iter_ == first.n_iter_
        assert other.n_planes_ == first.n_planes_
        assert other.support_.tolist() == first.support_.tolist()
        scale = np.abs(expected).max()
        np.testing.assert_allclose(dense(other, n), expected, rtol=0, atol=1e-8 * scale)
        np.testing.assert_allclose(other.intercept_, first.intercept_, rtol=0, atol=1e-8 * scale)
        assert other.objective_ == pytest.approx(first.objective_, rel=1e-8)


# ---------------------------------------------------------------- one model


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    ("C", "sample_size", "intercept"), [(0.1, 20, True), (1.0, 80, True), (10.0, 20, False)]
)
def test_all_strategies_give_one_model(
    kernel: TreeKernel, C: float, sample_size: int, intercept: bool
) -> None:
    X, y = data()
    options: dict[str, Any] = {
        "C": C,
        "sample_size": sample_size,
        "fit_intercept": intercept,
        "random_state": 2,
    }
    assert_same_models(fit_all(kernel, X, y, **options), len(y))


@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree()], ids=repr)
def test_also_with_weights_and_several_classes(kernel: TreeKernel) -> None:
    X, y = data(80, 4)
    weights = np.random.default_rng(0).uniform(0, 3, 80)
    options = {"class_weight": "balanced", "sample_size": 25, "random_state": 0, "tol": 0.01}
    models = fit_all(kernel, X, y, weights, **options)
    assert_same_models(models, len(y))
    assert models[0].dual_coef_.shape[0] == 4
    assert [len(history) for history in models[0].history_ or []] != [1] * 4


@st.composite
def cases(draw: st.DrawFn) -> tuple[Forest, Array, Array | None, dict[str, Any]]:
    """Few trees, many of them equal, with any labels: planes that depend on each other."""
    n = draw(st.integers(2, 20))
    seed = draw(st.integers(0, 2**32 - 1))
    alphabet, max_nodes = draw(st.sampled_from(ALPHABETS)), draw(st.sampled_from([2, 4, 12]))
    X = Forest(map(write, random_forest(Random(seed), n, max_nodes, alphabet)))
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    weights = rng.uniform(0.01, 3, n) if draw(st.booleans()) else None
    options = {
        "C": draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3])),
        "sample_size": draw(st.integers(1, n + 1)),
        "tol": draw(st.sampled_from([0.01, 1e-3, 1e-5])),
        "fit_intercept": draw(st.booleans()),
        "random_state": seed,
        "max_iter": 60,
    }
    return X, y, weights, options


@given(cases(), st.sampled_from(KERNELS))
@n_examples(60)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_trees_give_one_model(
    case: tuple[Forest, Array, Array | None, dict[str, Any]], kernel: TreeKernel
) -> None:
    X, y, weights, options = case
    assert_same_models(fit_all(kernel, X, y, weights, **options), len(y))


def test_planes_without_a_part_are_dropped() -> None:
    """And the strategies, which drop them each in its own way, still give one model."""
    X, y = data(160)
    options: dict[str, Any] = {"C": 10.0, "sample_size": 160, "random_state": 0, "tol": 1e-4}
    models = [
        TreeSVC(strategy=strategy, **{"kernel": SubsetTree(), "C": 1.0, **options}).fit(X, y)
        for strategy in STRATEGIES
    ]
    assert_same_models(models, len(y))
    for model in models:
        [history] = model.history_ or []
        assert len(history) == model.n_iter_ > 100
        assert model.n_planes_ == history[-1].n_planes < model.n_iter_ - 10
        assert all(now.n_planes == i for i, now in enumerate(history[:50]))


# ---------------------------------------------------------------- the plain program


def seed_of(random_state: int) -> np.random.Generator:
    """What the first problem of a model with a seed draws its samples by."""
    seed = check_random_state(random_state).randint(0, 2**63 - 1, size=1, dtype=np.int64)
    return np.random.default_rng(seed.astype(np.uint64)[0])


def plain_run(
    kernel: TreeKernel, X: Forest, y: Array, weights: Array, model: TreeSVC
) -> reference.Run:
    return reference.cutting_planes(
        kernel(X),
        np.where(y == 1, 1.0, -1.0),
        Sampler(weights, model.sample_size_),
        seed_of(model.random_state),
        C=model.C * weights.sum(),
        epsilon=model.tol,
        intercept=model.fit_intercept,
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    ("C", "sample_size", "intercept", "weighted"),
    [(0.1, 15, True, False), (1.0, 60, False, True), (3.0, 15, True, True)],
)
def test_it_is_algorithm_2(
    kernel: TreeKernel, C: float, sample_size: int, intercept: bool, weighted: bool
) -> None:
    X, y = data(60)
    weights = np.random.default_rng(4).uniform(0, 2, 60) if weighted else np.ones(60)
    model = TreeSVC(
        kernel, C=C, strategy="sdag+", sample_size=sample_size, fit_intercept=intercept,
        random_state=5, tol=3e-3,
    ).fit(X, y, sample_weight=weights)  # fmt: skip
    run = plain_run(kernel, X, y, weights, model)
    assert model.n_iter_ == len(run.steps)
    [history] = model.history_ or []
    violations = [step.violation for step in run.steps]
    np.testing.assert_allclose([now.violation for now in history], violations, atol=1e-8)
    assert [now.n_planes for now in history] == [len(step.stored) for step in run.steps]
    scale = np.abs(run.coef).max()
    np.testing.assert_allclose(dense(model, 60)[0], run.coef, rtol=0, atol=1e-8 * scale)
    assert model.intercept_[0] == pytest.approx(run.intercept, abs=1e-7)
    assert model.objective_ == pytest.approx(run.objective, rel=1e-8)
    assert history[-1].dual == pytest.approx(run.dual, rel=1e-8)
    assert model.duality_gap_ == pytest.approx(1 - run.dual / run.objective, abs=1e-8)


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_samples_of_all_lead_to_the_optimum(
    strategy: Strategy, weighted: bool, intercept: bool
) -> None:
    X, y = data()
    weights = np.random.default_rng(4).uniform(0, 2, len(y)) if weighted else None
    total = len(y) if weights is None else weights.sum()
    options: dict[str, Any] = {"fit_intercept": intercept, "random_state": 0}
    exact = TreeSVC(SubsetTree(), loss="hinge", tol=1e-9, **{"C": 1.0, **options}).fit(
        X, y, sample_weight=weights
    )
    planes = TreeSVC(
        strategy=strategy,
        sample_size=len(y),
        tol=1e-5,
        max_iter=1000,
        **{"kernel": SubsetTree(), "C": 1.0, **options},
    )
    planes.fit(X, y, sample_weight=weights)
    assert exact.objective_ * (1 - 1e-8) <= planes.objective_ <= exact.objective_ + 1e-5 * total
    assert 0 <= planes.duality_gap_ <= 1e-5 * total / exact.objective_
    values = planes.decision_function(X)
    np.testing.assert_allclose(values, exact.decision_function(X), atol=0.05)
    assert np.abs(values - exact.decision_function(X)).mean() < 0.01


def test_the_objective_is_that_of_the_kernel_matrix() -> None:
    X, y = data()
    kernel = PartialTree()
    model = TreeSVC(kernel, C=2.0, strategy="sdag", sample_size=80, random_state=0).fit(X, y)
    w, b, K = dense(model, 80)[0], model.intercept_[0], kernel(X)
    losses = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (K @ w + b))
    assert model.objective_ == pytest.approx((w @ K @ w + b * b) / 2 + 2.0 * losses.sum(), rel=1e-9)
    assert model.intercept_[0] == pytest.approx(w.sum(), rel=1e-9)  # the constant feature
    np.testing.assert_allclose(model.decision_function(X), K @ w + b, atol=1e-9)


def test_larger_samples_than_there_are_examples() -> None:
    X, y = data()
    one = TreeSVC(SubsetTree(), strategy="sdag+", sample_size=80, random_state=0, C=1.0).fit(X, y)
    more = TreeSVC(SubsetTree(), strategy="sdag+", sample_size=1080, random_state=9, C=1.0).fit(
        X, y
    )
    assert more.dual_coef_.tobytes() == one.dual_coef_.tobytes()
    assert more.sample_size_ == one.sample_size_ == 80


def test_larger_samples_come_closer() -> None:
    X, y = data(400)
    best = TreeSVC(SubsetTree(), tol=1e-6, C=1.0, loss="hinge").fit(X, y)
    K, signs = SubsetTree()(X), np.where(y == 1, 1, -1)

    def objective(sample_size: int) -> float:
        model = TreeSVC(
            SubsetTree(), strategy="sdag+", sample_size=sample_size, random_state=0, C=1.0
        ).fit(X, y)
        w, b = dense(model, 400)[0], model.intercept_[0]
        return float((w @ K @ w + b * b) / 2 + np.maximum(0, 1 - signs * (K @ w + b)).sum())

    small, large = objective(20), objective(200)
    assert best.objective_ < large < small
    assert large < 1.1 * best.objective_


# ---------------------------------------------------------------- what it reports


def test_the_recipe_is_told() -> None:
    X, y = data()
    model = TreeSVC(SubsetTree(), strategy="sdag+", random_state=0, C=1.0).fit(X, y)
    assert model.sample_size_ == 80
    assert model.engine_ == "planes"
    assert model.engine_reason_ == (
        "sdag+ with samples of 80 of 80 examples, by the paper's recipe"
    )
    many = Forest(map(write, random_trees(3, 1200, 6)))
    model = TreeSVC(SubsetTree(), strategy="usvm", random_state=0, tol=0.1, C=1.0).fit(
        many, np.arange(1200) % 2
    )
    assert model.sample_size_ == 500
    assert "500 of 1,200 examples, by the paper's recipe" in model.engine_reason_
    model = TreeSVC(SubsetTree(), strategy="sdag", sample_size=30, random_state=0, C=1.0).fit(X, y)
    assert model.sample_size_ == 30
    assert model.engine_reason_ == "sdag with samples of 30 of 80 examples, as requested"


def test_the_exact_strategy_has_no_figures_of_planes() -> None:
    model = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(*data())
    names = "sample_size_ delta_calls_ delta_computed_ n_planes_ iteration_bound_ history_"
    assert [getattr(model, name) for name in names.split()] == [None] * 6


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_the_bound_of_theorem_3(intercept: bool, normalize: bool) -> None:
    X, y = data()
    kernel = SubsetTree(normalize=normalize)
    weights = np.linspace(0.5, 2, len(y))
    options: dict[str, Any] = {"C": 0.2, "tol": 0.01, "sample_size": 80, "random_state": 0}
    model = TreeSVC(kernel, strategy="sdag", fit_intercept=intercept, **{"C": 1.0, **options})
    model.fit(X, y, sample_weight=weights)
    squared_radius = kernel.diag(X).max() + intercept
    expected = 8 * (0.2 * weights.sum()) * squared_radius / 0.01**2
    assert model.iteration_bound_ == pytest.approx(expected, rel=1e-12)
    assert model.n_iter_ <= model.iteration_bound_
    model = TreeSVC(
        as_function(kernel), strategy="usvm", fit_intercept=intercept, **{"C": 1.0, **options}
    )
    model.fit(X, y, sample_weight=weights)
    assert model.iteration_bound_ is None  # it would take a call for each example


def test_the_history_of_exact_planes_goes_one_way() -> None:
    X, y = data()
    model = TreeSVC(SubsetTree(), strategy="sdag+", sample_size=80, C=3.0, random_state=0).fit(X, y)
    [history] = model.history_ or []
    assert len(history) == model.n_iter_
    assert [now.n_planes for now in history[:3]] == [0, 1, 2]
    assert all(now.n_active <= now.n_planes for now in history)
    duals = [now.dual for now in history]
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(duals))
    assert all(now.dual <= now.objective * (1 + 1e-9) for now in history)
    assert all(now.violation > model.tol for now in history[:-1])
    assert history[-1].violation <= model.tol
    assert model.objective_ == history[-1].objective


# ---------------------------------------------------------------- calls of Delta

PARTS = 16  # in which SDAG+ computes a new plane's products


def key(kernel: TreeKernel, node: Node) -> Any:
    """What two nodes have to have in common for Delta to be called; None: it never is."""
    if isinstance(kernel, PartialTree):
        return node.label
    if isinstance(kernel, Subtree):
        return node if node.children else None
    if not node.children:
        return ("leaf", node.label) if kernel.include_leaves else None
    return production(node)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("sample_size", [4, 12, 30])
def test_calls_of_delta_are_counted_as_the_paper_does(kernel: TreeKernel, sample_size: int) -> None:
    trees = random_trees(2, 30, 12, DISJOINT)
    X, y = Forest(map(write, trees)), np.random.default_rng(0).integers(0, 2, 30)
    named = [
        Counter((key(kernel, node), node) for node in nodes(tree) if key(kernel, node) is not None)
        for tree in trees
    ]
    keys = [Counter(name for name, _ in tree.elements()) for tree in named]
    pairs = np.array([[sum(n * b[name] for name, n in a.items()) for b in keys] for a in keys])

    def together(examples: Array) -> Counter[Any]:
        return sum((named[i] for i in examples), Counter())

    models = [
        TreeSVC(kernel, strategy=s, sample_size=sample_size, random_state=1, tol=0.05, C=1.0).fit(
            X, y
        )
        for s in STRATEGIES
    ]
    run = plain_run(kernel, X, y, np.ones(30), models[0])
    assert models[0].delta_calls_ == reference.lists_calls(pairs, run.steps)
    assert models[1].delta_calls_ == reference.dags_calls(together, run.steps)
    assert models[2].delta_calls_ == reference.one_dag_calls(together, run.steps, PARTS)
    for model in models:
        assert 0 < model.delta_computed_ <= model.delta_calls_


@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree()], ids=repr)
def test_compact_planes_take_fewer_calls(kernel: TreeKernel) -> None:
    X, y = data(400)
    calls = [
        TreeSVC(kernel, strategy=s, sample_size=100, random_state=0, C=1.0).fit(X, y).delta_calls_
        or 0
        for s in STRATEGIES
    ]
    assert calls[0] > 1.3 * calls[1] > 2 * calls[2]


def test_the_calls_of_several_problems_add_up() -> None:
    X, y = data(80, 3)
    options: dict[str, Any] = {"sample_size": 80, "random_state": 0}  # nothing left to chance
    model = TreeSVC(strategy="sdag", **{"kernel": SubsetTree(), "C": 1.0, **options}).fit(X, y)
    alone = [
        TreeSVC(strategy="sdag", **{"kernel": SubsetTree(), "C": 1.0, **options}).fit(X, y == c)
        for c in range(3)
    ]
    assert model.delta_calls_ == sum(one.delta_calls_ or 0 for one in alone)
    assert model.delta_computed_ == sum(one.delta_computed_ or 0 for one in alone)
    assert model.n_planes_ == sum(one.n_planes_ or 0 for one in alone)
    assert model.n_iter_ == max(one.n_iter_ for one in alone)
    assert model.objective_ == pytest.approx(sum(one.objective_ for one in alone), rel=1e-12)


# ---------------------------------------------------------------- seeds and threads


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree()], ids=repr)
def test_threads_do_not_matter(strategy: Strategy, kernel: TreeKernel) -> None:
    X, y = data(250, 3)
    options: dict[str, Any] = {"sample_size": 100, "random_state": 0, "tol": 0.01}
    one = TreeSVC(kernel, strategy=strategy, n_jobs=1, **{"C": 1.0, **options}).fit(X, y)
    three = TreeSVC(kernel, strategy=strategy, n_jobs=3, **{"C": 1.0, **options}).fit(X, y)
    assert three.dual_coef_.tobytes() == one.dual_coef_.tobytes()
    assert three.intercept_.tobytes() == one.intercept_.tobytes()
    assert three.history_ == one.history_
    assert three.delta_calls_ == one.delta_calls_
    assert three.delta_computed_ == one.delta_computed_


def test_memory_for_the_values_of_a_function_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even if a single column of values is larger."""
    X, y = data()
    scores = []
    for most in (planes._BYTES, 8 * 100, 1):
        monkeypatch.setattr(planes, "_BYTES", most)
        model = TreeSVC(as_function(SubsetTree()), strategy="usvm", C=1.0, random_state=0)
        scores.append(model.fit(X, y).decision_function(X))
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores[2], scores[0], rtol=1e-9, atol=1e-12)


def test_seeds_matter_where_there_is_sampling() -> None:
    X, y = data()

    def coefficients(seed: int, sample_size: int) -> bytes:
        model = TreeSVC(
            SubsetTree(), strategy="sdag+", sample_size=sample_size, random_state=seed, C=1.0
        )
        return bytes(model.fit(X, y).dual_coef_.tobytes())

    assert coefficients(1, 20) == coefficients(1, 20) != coefficients(2, 20)
    assert coefficients(1, 80) == coefficients(2, 80)


def test_problems_have_samples_of_their_own() -> None:
    X, y = data()
    three = np.where(y == 1, 1, np.arange(len(y)) % 2 * 2)
    model = TreeSVC(
        SubsetTree(), strategy="sdag+", sample_size=20, random_state=0, tol=0.01, C=1.0
    ).fit(X, three)
    own = [set(np.flatnonzero(row)) for row in dense(model, len(y))]
    assert own[0] != own[2]


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights_of_classes_trade_precision_for_recall(strategy: Strategy) -> None:
    """A rare class that is hard to tell: Algorithm 9 draws it as often as its weight says."""
    X, y = data(400)
    rare = (y == 1) & (np.arange(400) % 5 == 0)
    options: dict[str, Any] = {"strategy": strategy, "sample_size": 100, "random_state": 0}
    options |= {"C": 0.1, "tol": 0.01}
    found = []
    for weight in (1.0, 10.0, 100.0):
        model = TreeSVC(
            class_weight={False: 1.0, True: weight},
            **{"kernel": SubsetTree(), "C": 1.0, "loss": "hinge", **options},
        ).fit(X, rare)
        predicted = model.predict(X)
        found.append(recall_score(rare, predicted))
        if weight == 10.0:
            precision = precision_score(rare, predicted)
        if weight == 100.0:
            assert precision_score(rare, predicted) < precision
    assert found[0] < 0.3
    assert 0.6 < found[1] < found[2] == 1.0


def test_weights_of_classes_are_weights_of_examples() -> None:
    X, y = data()
    X, y = X[10:], y[10:]
    options: dict[str, Any] = {"strategy": "sdag+", "sample_size": 25, "random_state": 0}
    one = TreeSVC(
        class_weight="balanced", **{"kernel": SubsetTree(), "C": 1.0, "loss": "hinge", **options}
    ).fit(X, y)
    other = TreeSVC(**{"kernel": SubsetTree(), "C": 1.0, "loss": "hinge", **options}).fit(
        X, y, sample_weight=compute_sample_weight("balanced", y)
    )
    assert one.dual_coef_.tobytes() == other.dual_coef_.tobytes()


def test_examples_of_no_weight_are_never_drawn() -> None:
    X, y = data()
    weights = np.ones(80)
    weights[::3] = 0
    for sample_size in (20, 80):
        model = TreeSVC(
            SubsetTree(), strategy="sdag+", sample_size=sample_size, random_state=0, C=1.0
        )
        model.fit(X, y, sample_weight=weights)
        assert not np.isin(model.support_, np.arange(0, 80, 3)).any()
        assert len(model.support_) > 10


# ---------------------------------------------------------------- a path, warnings, files


def test_a_path_equals_separate_fits() -> None:
    X, y = data(80, 3)
    Cs = [0.1, 1.0, 0.5]
    for strategy in STRATEGIES:
        path = TreeSVC(
            SubsetTree(), strategy=strategy, sample_size=30, random_state=0, C=1.0
        ).fit_path(X, y, Cs)
        for model, C in zip(path, Cs, strict=True):
            alone = TreeSVC(
                SubsetTree(), C=C, strategy=strategy, sample_size=30, random_state=0
            ).fit(X, y)
            assert model.C == C
            assert model.dual_coef_.tobytes() == alone.dual_coef_.tobytes()
            assert model.delta_calls_ == alone.delta_calls_


def test_too_few_iterations() -> None:
    X, y = data()
    model = TreeSVC(
        SubsetTree(), strategy="sdag+", sample_size=80, max_iter=3, random_state=0, C=1.0
    )
    message = r"max_iter=3 iterations .* more than tol=0.001: raise max_iter or sample_size, or use"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 3
    assert model.n_planes_ == 2
    assert model.duality_gap_ > 0
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations") as caught:
        model.fit_path(X, y, [1.0])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_comes_back_from_a_file(tmp_path: Path, strategy: Strategy, n_classes: int) -> None:
    X, y = data(80, n_classes)
    model = TreeSVC(PartialTree(), strategy=strategy, sample_size=30, random_state=0, C=1.0).fit(
        X, y
    )
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    for trees in (X, X[:3]):
        one, other = model.decision_function(trees), again.decision_function(trees)
        assert one.tobytes() == other.tobytes()
    figures = "sample_size delta_calls delta_computed n_planes iteration_bound engine n_iter"
    for name in figures.split():
        value = getattr(model, f"{name}_")
        assert value is not None
        assert getattr(again, f"{name}_") == value
    assert again.history_ is None  # it is of the training, not of the model
    save(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_bound_beyond_all_numbers_can_be_saved(tmp_path: Path) -> None:
    model = TreeSVC(SubsetTree(), strategy="sdag", tol=1e-200, max_iter=5, C=1.0).fit(
        ["(S a)", "(S b)"], [0, 1]
    )
    assert model.iteration_bound_ == np.inf
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").n_planes_ == model.n_planes_


# ---------------------------------------------------------------- trees at the extremes


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_trees_without_fragments(strategy: Strategy) -> None:
    """Leaves have no fragments under SubsetTree: only the intercept can tell."""
    X = ["(a)", "(b)", "(c)", "(S (A a) (B b))", "(S (A b) (B a))"]
    model = TreeSVC(SubsetTree(), strategy=strategy, C=10.0).fit(X, [0, 0, 0, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 0, 1, 1]
    nothing = TreeSVC(SubsetTree(), strategy=strategy, fit_intercept=False, C=10.0).fit(
        X[:3], [0, 0, 1]
    )
    assert nothing.decision_function(X[:3]).tolist() == [0, 0, 0]
    assert nothing.delta_calls_ == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equal_trees_of_two_classes(strategy: Strategy) -> None:
    """Planes cancel out up to rounding."""
    X = ["(S (NP (D the) (N dog)) (VP (V ran)))"] * 14
    model = TreeSVC(PartialTree(), strategy=strategy, C=1000.0).fit(X, [0, 1] * 7)
    assert np.abs(model.decision_function(X)).max() < 1e-6
    assert model.objective_ == pytest.approx(14_000)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_deep_trees(strategy: Strategy) -> None:
    chains = ["(a " * n + leaf + ")" * n for n in (3, 1000) for leaf in "xy"]
    kernel = SubsetTree(0.4)
    model = TreeSVC(kernel, strategy=strategy, C=100.0).fit(chains, [0, 1, 0, 1])
    assert model.predict(chains).tolist() == [0, 1, 0, 1]
