"""TreeSVC against plain programs and scikit-learn."""

import json
import lzma
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from filbert import Examples, Forest, TreeSVC
from filbert.engine import factorize
from filbert.errors import InvalidParameterError, OutOfMemoryError
from filbert.kernels import Linear, PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.model import SupportVectorModel
from tests.profiles import n_examples
from tests.reference.trees import Node, write
from tests.strategies import forests, random_trees

Array = npt.NDArray[Any]
Loss = Literal["hinge", "squared_hinge"]
LOSSES: list[Loss] = ["hinge", "squared_hinge"]
KERNELS = [SubsetTree(), SubsetTree(1.0, include_leaves=True), Subtree(0.7)]
TIGHT: dict[str, Any] = {"tol": 1e-10, "max_iter": 100_000, "random_state": 0}


@cache
def data(n: int = 250, n_classes: int = 2) -> tuple[Forest, Array]:
    """Random trees; classes by size, with some noise, so that there is something to learn."""
    nodes = random_trees(1, n, 20)
    forest = Forest(map(write, nodes))
    rng = np.random.default_rng(0)
    sizes = np.array([tree.n_nodes for tree in forest])
    y = np.searchsorted(np.quantile(sizes, np.arange(1, n_classes) / n_classes), sizes)
    noisy = rng.random(n) < 0.15
    y[noisy] = rng.integers(0, n_classes, noisy.sum())
    return forest, y


def signs(y: Array) -> Array:
    return np.where(y == 1, 1.0, -1.0)


def losses(loss: str, margins: Array) -> Array:
    short = np.maximum(0, 1 - margins)
    return np.asarray(short**2 if loss == "squared_hinge" else short)


def primal(model: TreeSVC, K: Array, y: Array, C: Array | float) -> float:
    """The objective of a model of two classes, from the kernel matrix alone."""
    alpha = np.zeros(len(K))
    alpha[model.support_] = model.dual_coef_[0]
    b = model.intercept_[0]
    norm = alpha @ K @ alpha + b * b
    return float(norm / 2 + (C * losses(model.loss, signs(y) * (K @ alpha + b))).sum())


def linear_optimum(
    loss: Loss,
    K: Array,
    y: Array,
    C: float,
    intercept: bool,
    weights: Array | None = None,
    tol: float = 1e-9,
) -> tuple[float, Array]:
    """scikit-learn's optimum on explicit factors of the kernel matrix, and its decisions."""
    values, vectors = np.linalg.eigh(K)
    L = vectors * np.sqrt(np.maximum(values, 0))
    dual = loss == "hinge"  # the other loss is smooth: Newton's method is faster
    options = {"fit_intercept": intercept, "tol": tol, "max_iter": 10**7, "random_state": 0}
    model = LinearSVC(loss=loss, C=C, dual=dual, **options)
    model.fit(L, y, sample_weight=weights)
    decisions = model.decision_function(L)
    norm = (model.coef_**2).sum() + (model.intercept_[0] ** 2 if intercept else 0)
    each = C * (np.ones(len(y)) if weights is None else weights)
    return float(norm / 2 + (each * losses(loss, signs(y) * decisions)).sum()), decisions


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-8])
def test_the_objective_is_what_it_says(
    kernel: TreeKernel, intercept: bool, loss: Loss, tol: float
) -> None:
    X, y = data()
    model = TreeSVC(kernel, loss=loss, fit_intercept=intercept, tol=tol, random_state=0, C=1.0).fit(
        X, y
    )
    assert 0 <= model.duality_gap_ <= tol
    assert model.objective_ == pytest.approx(primal(model, kernel(X), y, 1.0), rel=1e-9)
    if not intercept:
        assert model.intercept_.tolist() == [0]


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_that_of_scikit_learn(loss: Loss, intercept: bool, C: float) -> None:
    X, y = data()
    kernel = SubsetTree()
    best, decisions = linear_optimum(loss, kernel(X), y, C, intercept)
    model = TreeSVC(kernel, C=C, loss=loss, fit_intercept=intercept, **TIGHT).fit(X, y)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=2e-3)
    loose = TreeSVC(kernel, C=C, loss=loss, fit_intercept=intercept, random_state=0).fit(X, y)
    assert best * (1 - 1e-6) <= loose.objective_ <= best * (1 + 2 * loose.duality_gap_ + 1e-6)


def test_the_usual_loss_is_the_squared_hinge_but_the_hinge_for_planes() -> None:
    X, y = data(80)
    for strategy, loss in (("exact", "squared_hinge"), ("usvm", "hinge")):
        options: dict[str, Any] = {"C": 1.0, "random_state": 0, "strategy": strategy}
        usual = TreeSVC(SubsetTree(), **options).fit(X, y)
        named = TreeSVC(SubsetTree(), loss=loss, **options).fit(X, y)
        assert usual.decision_function(X).tobytes() == named.decision_function(X).tobytes()


def test_the_optimum_lies_near_that_of_svc() -> None:
    """SVC's bias is not regularised; balanced classes need little of it."""
    X, y = data()
    kernel = SubsetTree()
    K = kernel(X)
    theirs = SVC(kernel="precomputed", tol=1e-8).fit(K, y)
    ours = TreeSVC(kernel, **{"C": 1.0, "loss": "hinge", **TIGHT}).fit(X, y)
    alpha = np.zeros(len(y))
    alpha[theirs.support_] = theirs.dual_coef_[0]
    free = alpha @ K @ alpha / 2 + losses("hinge", signs(y) * theirs.decision_function(K)).sum()
    assert free <= ours.objective_ * (1 + 1e-6)
    assert ours.objective_ <= free + theirs.intercept_[0] ** 2 / 2 + 1e-6 * free


def svc_optimum(K: Array, y: Array, C: float) -> float:
    """SVC's optimum without a bias, which it cannot leave out.

    Every example is there a second time, negated: by symmetry the best bias is 0, and each loss is
    counted twice, at half of C.
    """
    n = len(K)
    twice = np.block([[K, -K], [-K, K]])
    theirs = SVC(kernel="precomputed", C=C / 2, tol=1e-7).fit(twice, np.concatenate([y, 1 - y]))
    assert abs(theirs.intercept_[0]) < 1e-4
    alpha = np.zeros(2 * n)
    alpha[theirs.support_] = theirs.dual_coef_[0]
    w = alpha[:n] - alpha[n:]
    return float(w @ K @ w / 2 + C * losses("hinge", signs(y) * (K @ w)).sum())


@pytest.mark.product
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_optimum_for_two_thousand_trees_is_that_of_svc(intercept: bool, C: float) -> None:
    X, y = data(2000)
    kernel = SubsetTree()
    best = svc_optimum(kernel(X) + intercept, y, C)  # a feature of value 1 adds 1 to the kernel
    model = TreeSVC(kernel, C=C, fit_intercept=intercept, random_state=0, loss="hinge").fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert best * (1 - 1e-5) <= model.objective_ <= best * (1 + 1.1e-3)
    tight = TreeSVC(kernel, C=C, fit_intercept=intercept, **{"loss": "hinge", **TIGHT}).fit(X, y)
    assert tight.objective_ == pytest.approx(best, rel=1e-5)


@pytest.mark.product
@pytest.mark.parametrize(
    ("loss", "intercept"), [("squared_hinge", True), ("squared_hinge", False), ("hinge", False)]
)
def test_the_optimum_for_two_thousand_trees_is_that_of_linear_svc(
    loss: Loss, intercept: bool
) -> None:
    X, y = data(2000)
    kernel = SubsetTree()
    best, _ = linear_optimum(loss, kernel(X), y, 0.3, intercept, tol=1e-4)
    model = TreeSVC(kernel, C=0.3, loss=loss, fit_intercept=intercept, random_state=0).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert best * (1 - 1e-4) <= model.objective_ <= best * (1 + 1.1e-3)


def test_a_sweep_gives_each_example_its_best_value() -> None:
    """By hand: the kernel is 1 for each tree, 0 between them, and the intercept adds 1 to all."""
    svm = TreeSVC(SubsetTree(), C=10.0, loss="hinge", fit_intercept=True, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        svm.set_params(engine="factors").fit(["(S a)", "(T b)"], [0, 1])
    # The first of them in random order gets 1 / 2, and then the other (1 + 1 / 2) / 2.
    assert sorted(np.abs(svm.dual_coef_[0])) == [0.5, 0.75]
    np.testing.assert_array_equal(svm.intercept_, svm.dual_coef_.sum(axis=1))


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_examples(loss: Loss) -> None:
    X, y = data()
    kernel = SubsetTree()
    K = kernel(X)
    weights = np.random.default_rng(3).uniform(0.1, 3, len(y))
    weights[::17] = 0
    best, decisions = linear_optimum(loss, K, y, 0.7, True, weights)
    model = TreeSVC(kernel, C=0.7, loss=loss, **TIGHT).fit(X, y, sample_weight=weights)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.objective_ == pytest.approx(primal(model, K, y, 0.7 * weights), rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=2e-3)
    assert not np.isin(model.support_, np.arange(0, len(y), 17)).any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 1: 2.5}])
def test_weights_of_classes(loss: Loss, class_weight: Any) -> None:
    X, y = data()
    X, y = X[40:], y[40:]
    kernel = SubsetTree()
    factors = class_weight
    if class_weight == "balanced":
        factors = {c: len(y) / (2 * (y == c).sum()) for c in (0, 1)}
    own = np.linspace(0.5, 1.5, len(y))
    weights = own * np.where(y == 1, factors[1], factors[0])
    best, _ = linear_optimum(loss, kernel(X), y, 1.0, True, weights)
    model = TreeSVC(kernel, loss=loss, class_weight=class_weight, **{"C": 1.0, **TIGHT})
    assert model.fit(X, y, sample_weight=own).objective_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_dual_variables_are_in_their_bounds(loss: Loss) -> None:
    X, y = data()
    model = TreeSVC(SubsetTree(), C=0.8, loss=loss, random_state=0).fit(X, y)
    alpha = model.dual_coef_[0] * signs(y)[model.support_]
    assert (alpha > 0).all()
    assert loss == "squared_hinge" or alpha.max() <= 0.8
    assert model.n_support_.tolist() == np.bincount(y[model.support_]).tolist()
    assert model.support_.tolist() == sorted(set(model.support_))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_support_vectors_are_in_the_order_of_the_examples(n_classes: int) -> None:
    X, y = data(120, n_classes)
    model = TreeSVC(random_state=0).fit(X, y)
    assert (np.diff(model.support_) > 0).all()
    assert list(map(str, model.model_.support)) == [str(X[i]) for i in model.support_]
    assert np.array_equal(model.model_.coef, model.dual_coef_)
    K = model.model_.kernel(X, X[model.support_])
    scores = (K @ model.dual_coef_.T + model.intercept_).squeeze()
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-12)


MANY = 8192 + 700  # examples: passes over all of them have more than one part


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_matter_for_many_small_trees(loss: Loss) -> None:
    words = np.random.default_rng(0).integers(0, 40, (MANY, 3))
    noise = np.random.default_rng(1).integers(0, 25, MANY)
    X = Forest([f"(S (A {a}) (B {b} (C {c})) {i})" for i, (a, b, c) in enumerate(words.tolist())])
    y = words.sum(axis=1) + noise > 70
    check_threads(TreeSVC(loss=loss, random_state=0), X, y)


def test_threads_do_not_matter_for_many_examples_with_features() -> None:
    """More than a million entries of factors, so that passes over all examples use threads."""
    features = np.random.default_rng(0).normal(size=(MANY, 120))
    trees = Forest([f"(S (A {i % 90}) (B {i % 71}))" for i in range(MANY)])
    kernel = SubsetTree(part="tree") + Linear(part="features")
    y = features[:, :9].sum(axis=1) > 0
    machine = TreeSVC(kernel, engine="factors", C=1e-3, tol=1e-2, random_state=0)
    check_threads(machine, Examples(tree=trees, features=features), y)


def check_threads(machine: TreeSVC, X: Any, y: Array) -> None:
    """The same bytes with one, two and three threads."""
    results = []
    for n_jobs in (1, 2, 3):
        model = clone(machine).set_params(n_jobs=n_jobs).fit(X, y)
        values = (model.dual_coef_, model.intercept_, np.array(model.objective_))
        results.append([model.support_.tolist(), *(value.tobytes() for value in values)])
    assert len(results[0][0]) > 100
    assert results[0] == results[1] == results[2]


@pytest.mark.shared
@pytest.mark.parametrize("loss", LOSSES)
def test_questions(shared_dir: Path, loss: Loss) -> None:
    path = shared_dir / "data/qc/train.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in islice(lines, 2000)]
    X = Forest(record["trees"]["grct"] for record in records)
    y = np.array([int(record["label"] == "HUM") for record in records])
    kernel = SubsetTree(include_leaves=True)
    K = kernel(X)
    best, _ = linear_optimum(loss, K, y, 1.0, False, tol=1e-5)
    model = TreeSVC(kernel, loss=loss, fit_intercept=False, random_state=0, C=1.0).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert model.objective_ == pytest.approx(primal(model, K, y, 1.0), rel=1e-9)
    assert best * (1 - 1e-5) <= model.objective_ <= best * (1 + 1.1e-3)
    if loss == "hinge":
        assert svc_optimum(K, y, 1.0) == pytest.approx(best, rel=1e-5)
    W = np.random.default_rng(0).normal(size=(len(y), 3))
    error = np.abs(factorize(kernel, X).scores(W, 2) - K @ W)
    assert (error <= 1e-10 * (K @ np.abs(W))).all()


# ---------------------------------------------------------------- several problems


@pytest.mark.parametrize("loss", LOSSES)
def test_many_classes_are_one_against_the_rest(loss: Loss) -> None:
    X, y = data(150, 4)
    names = np.array(["d", "a", "c", "b"])[y]
    model = TreeSVC(SubsetTree(), loss=loss, **{"C": 1.0, **TIGHT}).fit(X, names)
    binary = [
        TreeSVC(SubsetTree(), loss=loss, **{"C": 1.0, **TIGHT}).fit(X, names == c)
        for c in model.classes_
    ]
    decisions = np.column_stack([one.decision_function(X) for one in binary])
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=2e-3)
    assert model.objective_ == pytest.approx(sum(one.objective_ for one in binary), rel=1e-8)
    assert model.duality_gap_ <= 1e-10
    assert model.dual_coef_.shape == (4, len(model.support_))
    assert model.n_support_.sum() == len(model.support_)
    # Which of several equal trees is a support vector is open; that all of them lie on or within
    # the margin is not.
    signs = np.where(names[:, None] == model.classes_, 1, -1)
    margins = signs * model.decision_function(X)
    weighted = np.zeros_like(margins, dtype=bool)
    weighted[model.support_] = model.dual_coef_.T != 0
    assert (margins[weighted] <= 1 + 2e-3).all()
    assert weighted[margins < 1 - 2e-3].all()


def test_a_path_equals_separate_fits() -> None:
    X, y = data(250, 3)
    Cs = [0.01, 0.1, 1.0, 10.0, 0.5]
    weights = np.linspace(0.5, 2, len(y))
    path = TreeSVC(SubsetTree(), C=123.0, **{"loss": "hinge", **TIGHT}).fit_path(
        X, y, Cs, sample_weight=weights
    )
    assert [model.C for model in path] == Cs
    for model, C in zip(path, Cs, strict=True):
        alone = TreeSVC(SubsetTree(), C=C, **{"loss": "hinge", **TIGHT}).fit(
            X, y, sample_weight=weights
        )
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
        np.testing.assert_allclose(
            model.decision_function(X), alone.decision_function(X), atol=2e-3 * max(1, C)
        )
    assert len({id(model.model_) for model in path}) == len(Cs)
    assert all(a.objective_ < b.objective_ for a, b in pairwise(path[:4]))


def test_a_path_takes_less_work_than_separate_fits() -> None:
    """Each point begins at the one before; the order of visits is fixed, so epochs are too."""
    X, y = data(2000)
    Cs = np.geomspace(0.01, 10, 10).tolist()
    path = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit_path(X, y, Cs)
    alone = [TreeSVC(SubsetTree(), C=C, random_state=0, loss="hinge").fit(X, y) for C in Cs]
    assert all(model.duality_gap_ <= 1e-3 for model in path)
    assert sum(model.n_iter_ for model in path) < sum(model.n_iter_ for model in alone)


def test_a_path_of_nothing_and_a_bad_path() -> None:
    X, y = data()
    assert TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit_path(X, y, []) == []
    with pytest.raises(InvalidParameterError, match="C must be positive and finite, got -1"):
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit_path(X, y, [1.0, -1])


def test_a_warm_start_saves_work() -> None:
    X, y = data()
    model = TreeSVC(
        SubsetTree(), warm_start=True, tol=1e-8, random_state=0, C=1.0, loss="hinge"
    ).fit(X, y)
    cold, best = model.n_iter_, model.objective_
    assert model.fit(X, y).n_iter_ < cold / 2
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    fewer = model.fit(X[:50], y[:50])  # of another number: it begins anew
    again = TreeSVC(SubsetTree(), tol=1e-8, random_state=0, C=1.0, loss="hinge").fit(X[:50], y[:50])
    assert fewer.decision_function(X).tolist() == again.decision_function(X).tolist()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_with_less_room(loss: Loss) -> None:
    """The dual variables of a larger C may be beyond the bounds of a smaller one."""
    X, y = data()
    model = TreeSVC(SubsetTree(), C=50.0, loss=loss, warm_start=True, **TIGHT).fit(X, y)
    weights = np.ones(len(y))
    weights[::5] = 0
    model.set_params(C=0.1).fit(X, y, sample_weight=weights)
    alone = TreeSVC(SubsetTree(), C=0.1, loss=loss, **TIGHT).fit(X, y, sample_weight=weights)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
    assert not np.isin(model.support_, np.arange(0, len(y), 5)).any()


def test_too_few_sweeps() -> None:
    X, y = data()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 sweeps .* raise max_iter") as caught:
        model = TreeSVC(
            SubsetTree(), C=100, max_iter=1, tol=1e-9, random_state=0, loss="hinge"
        ).fit(X, y)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 1
    assert model.duality_gap_ > 1e-9
    assert model.objective_ == pytest.approx(primal(model, SubsetTree()(X), y, 100.0), rel=1e-9)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_matter(n_jobs: int) -> None:
    X, y = data(250, 4)
    one = TreeSVC(SubsetTree(), random_state=0, n_jobs=1, C=1.0, loss="hinge").fit(X, y)
    many = TreeSVC(SubsetTree(), random_state=0, n_jobs=n_jobs, C=1.0, loss="hinge").fit(X, y)
    assert many.dual_coef_.tobytes() == one.dual_coef_.tobytes()
    assert many.intercept_.tobytes() == one.intercept_.tobytes()
    assert many.decision_function(X).tobytes() == one.decision_function(X).tobytes()


# ---------------------------------------------------------------- prediction


@given(forests(1, 8), forests(1, 8), st.sampled_from(KERNELS), st.booleans(), st.integers(0, 2**32))
@n_examples(60)
def test_rows_equal_factors(
    support: list[Node], new: list[Node], kernel: TreeKernel, normalize: bool, seed: int
) -> None:
    kernel = type(kernel)(**{**kernel.get_params(), "normalize": normalize})
    X, trees = Forest(map(write, support)), Forest(map(write, new))
    rng = np.random.default_rng(seed)
    coef, intercept = rng.normal(size=(2, len(X))), rng.normal(size=2)
    model = SupportVectorModel(kernel, X, coef, intercept)
    K = kernel(trees, X)
    expected = K @ coef.T + intercept
    allowed = 1e-9 * (K @ np.abs(coef).T + np.abs(intercept))
    for method in ("rows", "factors", "auto"):
        values = model.decision_function(trees, method=method)
        assert (np.abs(values - expected) <= allowed).all(), method


@pytest.mark.parametrize("n", [1, 31, 32, 33, 250])
def test_decisions_are_those_of_the_support_vectors(n: int) -> None:
    X, y = data(250, 3)
    kernel = SubsetTree(include_leaves=True)
    model = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(X[:100], y[:100])
    expected = kernel(X[:n], X[:100][model.support_]) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X[:n]), expected, rtol=0, atol=1e-9)
    strings = model.decision_function(list(map(str, X[:n])))
    np.testing.assert_allclose(strings, expected, rtol=0, atol=1e-9)


def test_without_support_vectors_there_is_the_intercept() -> None:
    model = SupportVectorModel(SubsetTree(), Forest(), np.zeros((2, 0)), np.array([1.0, -2.0]))
    assert model.decision_function(["(S a)"] * 2).tolist() == [[1, -2], [1, -2]]
    assert model.decision_function([]).shape == (0, 2)


def test_trees_beyond_double() -> None:
    """1,100 pre-terminals at decay 1: Delta is 2^1100."""

    def star(leaf: str, n: int) -> str:
        return f"(S {f'(A {leaf}) ' * n}(B {leaf}{n % 3}))"

    texts = [star(leaf, n) for n in (1100, 1101, 1102, 3) for leaf in "xyz"]
    y = np.array([0, 1, 1] * 4)
    kernel = SubsetTree(1.0)
    model = TreeSVC(kernel, C=100.0, **{"loss": "hinge", **TIGHT}).fit(texts, y)
    K = kernel(texts)
    assert model.objective_ == pytest.approx(primal(model, K, y, 100.0), rel=1e-9)
    best, _ = linear_optimum("hinge", K, y, 100.0, True)
    assert model.objective_ == pytest.approx(best, rel=1e-5)
    assert model.predict(texts).tolist() == y.tolist()
    many = model.decision_function(texts * 5)  # by factors
    few = model.decision_function(texts)  # by rows
    np.testing.assert_allclose(many, np.tile(few, 5), atol=1e-9)


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be positive and finite, got 0"),
        ({"C": -1.0}, "C must be positive"),
        ({"C": np.inf}, "C must be positive"),
        ({"C": np.nan}, "C must be positive"),
        ({"C": "1"}, "C must be positive"),
        ({"C": True}, "C must be positive"),
        ({"tol": 0}, r"tol must be in \(0, 1\), got 0"),
        ({"tol": 1.5}, "tol must be in"),
        ({"tol": np.nan}, "tol must be in"),
        ({"loss": "log"}, r"loss must be 'auto'(, '\w+')* or '\w+', got 'log'"),
        (
            {"strategy": "guess"},
            r"strategy must be 'exact', 'usvm', 'sdag' or 'sdag\+', got 'guess'",
        ),
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0"),
        ({"max_iter": 2.5}, "max_iter must be a positive integer"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"kernel": SubsetTree(2.0)}, r"decay must be in \(0, 1\], got 2.0"),
        ({"kernel": PartialTree(2.0)}, r"decay must be in \(0, 1\], got 2.0"),
        (
            {"kernel": "linear"},
            "kernel must be LocalPatterns, SubsetTree, Subtree or PartialTree, .* got 'linear'",
        ),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = data()
    model = TreeSVC(**{"kernel": SubsetTree(), "C": 1.0, "loss": "hinge", **parameters})
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "model_")


def test_too_little_memory() -> None:
    X, y = data()
    with pytest.raises(OutOfMemoryError, match=r"not even a few .* raise max_memory, or"):
        TreeSVC(SubsetTree(), max_memory=1000, C=1.0, loss="hinge").fit(X, y)
    TreeSVC(SubsetTree(), max_memory=10**9, C=1.0, loss="hinge").fit(X, y)


def test_a_class_weight_that_names_another_class_is_told() -> None:
    learner = TreeSVC(SubsetTree(), class_weight={5: 1})
    with pytest.raises(InvalidParameterError, match=r"class_weight must be None, 'balanced' or"):
        learner.fit(["(S (A a))", "(S (B b))"], [0, 1])


def test_an_infinite_cost_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="C must be positive and finite, got inf"):
        TreeSVC(C=np.inf).fit(["(S (A a))", "(S (B b))"], [0, 1])
