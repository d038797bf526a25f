"""TreeRanker against SciPy on the matrix of all differences."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold

from filbert import Examples, Forest, TreeRanker, TreeSVC, explain, labels
from filbert.errors import InvalidParameterError
from filbert.kernels import RBF, Kernel, Linear, PartialTree, Preference, SubsetTree
from filbert.learners import pairs, ranker
from filbert.learners.pair_planes import OrderedPairs
from filbert.metrics import pairwise_accuracy
from filbert.persist import load, load_predictor, save
from tests.profiles import n_examples
from tests.reference.losses import TARGETS, hinge_optimum, loss_of, smooth_optimum
from tests.reference.trees import Node, write
from tests.strategies import forests, random_trees

Array = np.ndarray[Any, Any]
TIGHT: dict[str, Any] = {"tol": 1e-8, "max_iter": 100_000, "random_state": 0}


@cache
def data(n: int = 30, n_groups: int = 5) -> tuple[Forest, Array, Array]:
    """Random trees in groups; the targets are sizes in steps of three, with noise and ties."""
    X = Forest(map(write, random_trees(1, n, 20)))
    rng = np.random.default_rng(0)
    sizes = np.array([tree.n_nodes for tree in X])
    return X, (sizes + rng.integers(0, 4, n)) // 3, rng.integers(0, n_groups, n)


def naive_pairs(y: Array, group: Array) -> list[tuple[int, int]]:
    n = range(len(y))
    return [(i, j) for i in n for j in n if group[i] == group[j] and y[i] > y[j]]


def differences(K: Array, found: list[tuple[int, int]]) -> Array:
    D = np.zeros((len(found), len(K)))
    for p, (i, j) in enumerate(found):
        D[p, i], D[p, j] = 1, -1
    return np.asarray(D @ K @ D.T), D


def best_of(loss: str, K: Array, costs: Array) -> float:
    ones = np.ones(len(K))
    if loss == "hinge":
        return hinge_optimum(K, ones, ones, costs)
    return smooth_optimum(loss_of(loss), K, ones, TARGETS[loss], costs)[0]


def objective_of(model: TreeRanker, K: Array, D: Array, costs: Array) -> float:
    """The primal objective, by the weights of the examples."""
    beta = np.zeros(len(K))
    beta[model.support_] = model.dual_coef_[0]
    margins = D @ K @ beta
    losses = loss_of(model.loss).value(TARGETS[model.loss] - margins)
    return float(beta @ K @ beta / 2 + costs @ losses)


@pytest.mark.parametrize(
    ("kernel", "loss", "C"),
    [
        (SubsetTree(), "hinge", 1.0),
        (PartialTree(), "hinge", 0.05),
        (SubsetTree(), "squared_hinge", 1.0),
        (SubsetTree(), "logistic", 10.0),
        (PartialTree(), "logistic", 0.1),
    ],
)
def test_the_optimum(kernel: Kernel, loss: Any, C: float) -> None:
    X, y, group = data()
    K = kernel(X)
    found = naive_pairs(y, group)
    Q, D = differences(K, found)
    costs = np.full(len(found), C)
    model = TreeRanker(kernel, C=C, loss=loss, **TIGHT).fit(X, y, group=group)
    assert model.n_pairs_ == len(found)
    assert model.duality_gap_ <= 1e-8
    assert model.objective_ == pytest.approx(best_of(loss, Q, costs), rel=1e-4)
    assert objective_of(model, K, D, costs) == pytest.approx(model.objective_, rel=1e-6)


@n_examples(25)
@given(st.data())
def test_the_gap_is_true(draw: st.DataObject) -> None:
    nodes: list[Node] = draw.draw(forests(2, 7))
    n = len(nodes)
    y = np.array(draw.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    group = np.array(draw.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    weights = np.array(draw.draw(st.lists(st.sampled_from([0, 1, 2.5]), min_size=n, max_size=n)))
    loss: Any = draw.draw(st.sampled_from(["hinge", "squared_hinge", "logistic"]))
    X, kernel = Forest(map(write, nodes)), SubsetTree(include_leaves=True)
    found = [(i, j) for i, j in naive_pairs(y, group) if weights[i] * weights[j] > 0]
    model = TreeRanker(kernel, loss=loss, random_state=0)
    if not found:
        with pytest.raises(InvalidParameterError, match="there is nothing to compare"):
            model.fit(X, y, weights, group)
        return
    model.fit(X, y, sample_weight=weights, group=group)
    Q, D = differences(kernel(X), found)
    costs = np.array([weights[i] * weights[j] for i, j in found])
    best, own = best_of(loss, Q, costs), objective_of(model, kernel(X), D, costs)
    assert own == pytest.approx(model.objective_, rel=1e-9)
    assert model.duality_gap_ <= 1e-3
    assert best * (1 - 1e-4) - 1e-9 <= own <= best / (1 - model.duality_gap_) * (1 + 1e-4) + 1e-9


def test_the_same_as_a_classifier_of_preferences() -> None:
    """Pairs in both orders, with both signs, under the kernel of preferences."""
    X, y, group = data(20)
    found = naive_pairs(y, group)
    higher, lower = map(list, zip(*found, strict=True))
    both = Examples(a=X[higher + lower], b=X[lower + higher])
    signs = np.repeat([1, -1], len(found))
    kernel = SubsetTree()
    svc = TreeSVC(
        Preference(kernel, ("a", "b")), C=0.5, fit_intercept=False, **{"loss": "hinge", **TIGHT}
    )
    svc.fit(both, signs)
    ranker = TreeRanker(kernel, C=1.0, **TIGHT).fit(X, y, group=group)
    assert ranker.objective_ == pytest.approx(svc.objective_, rel=1e-6)


def test_pruned_factors_have_a_certified_gap() -> None:
    X, y, group = data(60, 10)
    kernel = PartialTree()
    model = TreeRanker(kernel, kernel_tol=1e-3, random_state=0).fit(X, y, group=group)
    found = naive_pairs(y, group)
    Q, D = differences(kernel(X), found)
    costs = np.ones(len(found))
    assert model.kernel_error_ > 0
    assert model.duality_gap_ <= 1e-3
    best = best_of("hinge", Q, costs)
    assert objective_of(model, kernel(X), D, costs) <= best / (1 - 1e-3) * (1 + 1e-4)


def test_only_the_order_of_targets_matters() -> None:
    X, y, group = data()
    one = TreeRanker(random_state=0).fit(X, y, group=group)
    other = TreeRanker(random_state=0).fit(X, np.exp(y.astype(float)) - 7, group=group)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_base_scores_as_a_feature() -> None:
    X, y, group = data()
    features = np.column_stack([y + 0.1, np.ones(len(y))])
    both = Examples(tree=X, features=features)
    kernel = SubsetTree().on("tree") + Linear().on("features")
    model = TreeRanker(kernel, C=10.0, random_state=0).fit(both, y, group=group)
    scores = model.predict(both)
    wrong = sum(scores[i] <= scores[j] for i, j in naive_pairs(y, group))
    assert wrong == 0


def test_a_path_of_costs() -> None:
    X, y, group = data()
    path = TreeRanker(tol=1e-6, random_state=0).fit_path(X, y, [0.1, 10.0], group=group)
    for C, model in zip([0.1, 10.0], path, strict=True):
        alone = TreeRanker(C=C, tol=1e-6, random_state=0).fit(X, y, group=group)
        assert model.objective_ == pytest.approx(alone.objective_, rel=2e-6)
    again = path[1].set_params(warm_start=True, tol=2e-6).fit(X, y, group=group)
    assert again.n_iter_ == 0


@n_examples(50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20), st.integers(1, 9))
def test_pairs_are_all_pairs(examples: list[tuple[int, int]], size: int) -> None:
    y = np.array([target for target, _ in examples], dtype=float)
    group = np.array([name for _, name in examples], dtype=np.intp)
    known = pairs.Preferences(y, group)
    blocks = list(known.blocks(size))
    found = [pair for higher, lower in blocks for pair in zip(higher, lower, strict=True)]
    assert sorted(found) == naive_pairs(y, group)
    assert len(known) == len(found)


# ---------------------------------------------------------------- many pairs


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9), st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0, 3.0]),
            st.integers(-40, 40).map(lambda f: f / 16),
        ),
        min_size=1,
        max_size=30,
    )
)  # fmt: skip
@example([(1, 1, 0.5, 0.9375), (0, 1, 0.5, -0.0625)])  # scores that differ by just 1
def test_planes_are_sums_over_pairs(examples: list[tuple[int, int, float, float]]) -> None:
    y, group, weights, f = (np.array(values, dtype=float) for values in zip(*examples, strict=True))
    group = group.astype(np.intp)
    if not weights.any():
        return
    plane = OrderedPairs(y, group, weights).plane(f)
    coef, offset = np.zeros(len(y)), 0.0
    loss = 0.0
    for i, j in naive_pairs(y, group):
        weight = weights[i] * weights[j]
        loss += weight * max(0.0, 1 - (f[i] - f[j]))
        if f[i] - f[j] < 1:
            coef[i] += weight
            coef[j] -= weight
            offset += weight
    assert plane.offset - plane.coef @ f == pytest.approx(loss, abs=1e-10)
    np.testing.assert_allclose(plane.coef, coef, rtol=1e-10, atol=1e-12)
    assert plane.offset == pytest.approx(offset, abs=1e-12)


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0])
def test_many_pairs_have_the_same_optimum(C: float, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, group = data()
    weights = np.linspace(0.5, 2, len(y))
    known = TreeRanker(C=C, tol=1e-5, random_state=0).fit(X, y, weights, group)
    monkeypatch.setattr(ranker, "MOST_PAIRS", 1)
    fits = [TreeRanker(C=C, n_jobs=n).fit(X, y, weights, group) for n in (1, 2)]
    model = fits[0]
    assert model.n_pairs_ == known.n_pairs_
    assert model.duality_gap_ <= 1e-3
    low = known.objective_ * (1 - known.duality_gap_)
    assert low <= model.objective_ * (1 + 1e-12)
    assert model.objective_ * (1 - model.duality_gap_) <= known.objective_ * (1 + 1e-12)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    f = SubsetTree()(X) @ coef
    loss = sum(weights[i] * weights[j] * max(0, 1 - f[i] + f[j]) for i, j in naive_pairs(y, group))
    assert model.objective_ == pytest.approx(coef @ f / 2 + C * loss, rel=1e-10)
    assert fits[0].dual_coef_.tobytes() == fits[1].dual_coef_.tobytes()
    np.testing.assert_allclose(model.predict(X), f, rtol=1e-9, atol=1e-12)


def test_a_path_of_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, group = data()
    monkeypatch.setattr(ranker, "MOST_PAIRS", 1)
    path = TreeRanker().fit_path(X, y, [0.01, 0.1], group=group)
    alone = TreeRanker(C=0.1).fit(X, y, group=group)
    assert path[1].n_pairs_ == alone.n_pairs_
    assert path[1].dual_coef_.tobytes() == alone.dual_coef_.tobytes()


def test_too_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, group = data()
    monkeypatch.setattr(ranker, "MOST_PAIRS", 10)
    with pytest.raises(InvalidParameterError, match="at most 10 fit into memory: use loss='hinge'"):
        TreeRanker(loss="logistic").fit(X, y, group=group)
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 planes at a relative duality"):
        TreeRanker(C=10, max_iter=1, tol=1e-9).fit(X, y, group=group)


# ---------------------------------------------------------------- score


def test_score_is_the_share_of_pairs_in_order(tmp_path: Path) -> None:
    X, y, group = data()
    model = TreeRanker(random_state=0).fit(X, y, group=group)
    wanted = pairwise_accuracy(y, model.predict(X), group)
    assert model.score(X, y, group) == wanted
    with pytest.raises(InvalidParameterError, match="trained with groups, so score needs group"):
        model.score(X, y)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").score(X, y, group) == wanted
    one = TreeRanker(random_state=0).fit(X, y)
    assert one.score(X, y) == pairwise_accuracy(y, one.predict(X), np.zeros(len(y)))


def test_a_search_with_groups() -> None:
    X, y, group = data()
    with sklearn.config_context(enable_metadata_routing=True):
        model = TreeRanker(random_state=0).set_fit_request(group=True).set_score_request(group=True)
        search = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=GroupKFold(2), error_score="raise")
        search.fit(X, y, group=group, groups=group)
        # The same groups for the splitter and the ranker, under one name.
        model.set_fit_request(group="groups").set_score_request(group="groups")
        again = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=GroupKFold(2), error_score="raise")
        again.fit(X, y, groups=group)
    assert search.best_params_["C"] in (0.01, 1.0)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_array_equal(again.cv_results_[name], search.cv_results_[name])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "epsilon_insensitive"}, "loss must be 'hinge', 'squared_hinge' or 'logistic'"),
        ({"kernel": RBF(1.0)}, "has no factors, which.*TreePerceptron with Preference"),
        ({"kernel": lambda A, B: A}, "has no factors, because"),
        ({"tol": 0}, "TreeRanker: tol must be in"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        TreeRanker(**parameters).fit(["(S a)", "(S b)"], [0, 1])


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ([1], "one name for each of 2 examples"),
        ([1.0, np.nan], "sample 1 has no group"),
        (np.array([1.0, np.nan], dtype=object), "sample 1 has no group"),
        (["a", np.nan], "sample 1 has no group"),
        (["a", None], "sample 1 has no group"),
        (np.array(["2026-01-01", "NaT"], dtype="M8[D]"), "sample 1 has no group"),
        (pd.Series(["a", pd.NA]), "sample 1 has no group"),
        (pd.Series(["a", np.nan], dtype="category"), "sample 1 has no group"),
        (np.ma.masked_array([1, 2], [False, True]), "sample 1 has no group"),
        (np.array(["a", 3], dtype=object), "groups must be of one kind, got number, str"),
        ([1, "1"], "groups must be of one kind, got number, str"),
        ([1, 2], "there is nothing to compare"),
    ],
)
def test_bad_groups(group: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        TreeRanker().fit(["(S a)", "(S b)"], [0, 1], group=group)


def test_names_of_groups() -> None:
    names: list[Any] = [
        ["b", "a", "b"],
        ["1", "01", "1"],
        [2, 1.5, 2.0],
        (7, 3, 7),
        pd.Series(["y", "x", "y"], dtype="category"),
        np.array(["2026-01-02", "2026-01-01", "2026-01-02"], dtype="M8[D]"),
    ]
    for group in names:
        places = labels.checked_groups(group, 3)
        assert places[0] == places[2] != places[1]


def test_files_and_explanations(tmp_path: Path) -> None:
    X, y, group = data()
    model = TreeRanker(random_state=0).fit(X, y, group=group)
    save(model, tmp_path / "model")
    for again in (load(tmp_path / "model"), load_predictor(tmp_path / "model")):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert load(tmp_path / "model").n_pairs_ == model.n_pairs_
    assert explain(model, X[:2], top=2).model.learner == "TreeRanker"
