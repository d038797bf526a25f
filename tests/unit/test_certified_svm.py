"""Learners on pruned factors: what they promise holds under the exact kernel."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from filbert import Examples, Forest, SymbolSelector, TreePerceptron, TreeSVC
from filbert.engine.score_bounds import ScoreBounds, score_bounds
from filbert.errors import InvalidParameterError
from filbert.kernels import Linear, PartialTree, SubsetTree
from filbert.learners.certificate import first_kernel_tol
from filbert.learners.cross_validation import cross_val_predict_path
from filbert.persist import load, save

Array = Any
COARSE = 1e-2  # far too large to certify anything


def sentence(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice("abcdef")
    children = " ".join(sentence(rng, depth - 1) for _ in range(rng.randint(1, 4)))
    return f"({rng.choice('STUV')} {children})"


def data(n: int, seed: int = 0) -> tuple[Forest, Array]:
    rng = random.Random(seed)
    trees = [f"(R {sentence(rng, 2)} {sentence(rng, 1)})" for _ in range(n)]
    return Forest(trees), np.array([text.count("a") % 3 for text in trees])


def true_gap(model: TreeSVC, K: Array, y: Array, weights: Array) -> float:
    """The largest relative gap of a problem, by the definitions of both objectives."""
    coef = np.zeros((len(model.dual_coef_), len(y)))
    coef[:, model.support_] = model.dual_coef_
    costs, gaps = model.C * weights, []
    wanted = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    for own, b, label in zip(coef, model.intercept_, wanted, strict=True):
        sign = np.where(y == label, 1, -1)
        score = K @ own + b
        norm = own @ score
        short = np.maximum(0, 1 - sign * score)
        squared = model.loss == "squared_hinge"
        ridge = (own**2 / (4 * costs)).sum() if squared else 0.0
        primal = norm / 2 + costs @ (short**2 if squared else short)
        gaps.append((primal - (np.abs(own).sum() - norm / 2 - ridge)) / primal)
    return max(gaps)


@pytest.mark.parametrize("kernel_tol", [None, COARSE])
@pytest.mark.parametrize(
    ("changes", "n_classes"),
    [
        ({"C": 10.0}, 2),
        ({"tol": 1e-5}, 3),
        ({"loss": "squared_hinge"}, 2),
        ({"fit_intercept": False, "kernel": PartialTree(penalty="gaps")}, 3),
        ({"kernel": PartialTree(normalize=False)}, 2),
    ],
    ids=["large C", "small tol", "squared hinge", "gaps", "not normalised"],
)
def test_the_gap_holds_under_the_exact_kernel(
    changes: dict[str, Any], n_classes: int, kernel_tol: float | None
) -> None:
    X, y = data(120)
    y = y % n_classes
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=len(y))
    given = {"kernel": PartialTree(), "engine": "factors", "random_state": 0, **changes}
    model = TreeSVC(
        **{"kernel": SubsetTree(), "C": 1.0, "loss": "hinge", **given}, kernel_tol=kernel_tol
    ).fit(X, y, sample_weight=weights)
    true = true_gap(model, model.kernel(X), y, weights)
    assert true <= model.duality_gap_ + 1e-9
    assert model.duality_gap_ <= model.tol
    assert max(curve.gap[-1] for curve in model.convergence_) == model.duality_gap_
    assert model.n_iter_ == max(curve.steps[-1] for curve in model.convergence_)
    if kernel_tol is not None and model.kernel.normalize:
        assert 0 < model.kernel_error_ < kernel_tol


def test_kernel_tol_0_is_exact() -> None:
    X, y = data(60)
    model = TreeSVC(
        PartialTree(), engine="factors", kernel_tol=0.0, random_state=0, C=1.0, loss="hinge"
    ).fit(X, y)
    assert model.kernel_error_ == 0
    assert true_gap(model, PartialTree()(X), y, np.ones(60)) == pytest.approx(model.duality_gap_)


def test_a_path_is_certified_for_each_value() -> None:
    X, y = data(100)
    svm = TreeSVC(
        PartialTree(), engine="factors", kernel_tol=COARSE, random_state=0, C=1.0, loss="hinge"
    )
    for model in svm.fit_path(X, y, [0.1, 10.0]):
        assert true_gap(model, PartialTree()(X), y, np.ones(100)) <= model.duality_gap_ + 1e-9
        assert model.duality_gap_ <= 1e-3


def test_the_kernel_of_a_path_is_prepared_once_for_its_largest_cost() -> None:
    X, y = data(100)
    svm = TreeSVC(PartialTree(), engine="factors", random_state=0, C=100.0, loss="hinge")
    alone = svm.fit(X, y).kernel_error_
    assert alone > 0
    for Cs in ([0.1, 100.0], [100.0, 0.1]):
        assert [model.kernel_error_ for model in svm.fit_path(X, y, Cs)] == [alone, alone]


def test_sums_of_kernels() -> None:
    X, y = data(80)
    features = np.random.default_rng(0).random((80, 3))
    examples = Examples(tree=X, features=features)
    kernel = 0.5 * PartialTree().on("tree") + Linear().on("features")
    model = TreeSVC(
        kernel, engine="factors", kernel_tol=COARSE, random_state=0, C=1.0, loss="hinge"
    ).fit(examples, y)
    assert model.kernel_error_ > 0
    assert true_gap(model, kernel(examples), y, np.ones(80)) <= model.duality_gap_ + 1e-9


def test_a_run_that_is_too_short_warns() -> None:
    X, y = data(100)
    with pytest.warns(UserWarning, match="max_iter=1 sweeps at a relative duality gap"):
        model = TreeSVC(
            PartialTree(), engine="factors", max_iter=1, random_state=0, C=1.0, loss="hinge"
        ).fit(X, y)
    assert model.n_iter_ == 1
    assert model.duality_gap_ > 1e-3


def test_small_costs_allow_larger_errors() -> None:
    costs = np.ones(1000)
    common = first_kernel_tol(1e-3, costs)
    assert 0 < first_kernel_tol(1e-3, 10 * costs) < common
    assert first_kernel_tol(1e-3, np.where(np.arange(1000) < 10, 10, 1.0)) > common / 10
    assert first_kernel_tol(1e-12, 1e6 * costs) == 0  # no pruning would do
    assert first_kernel_tol(1e-3, 0 * costs) == common  # nothing to learn


# ---------------------------------------------------------------- prediction


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_by_bounds_are_those_of_exact_scores(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("filbert.engine.tree_scorer.LITTLE_WORK", 0.0)
    monkeypatch.setattr("filbert.engine.tree_scorer.PRUNED", 1e6)
    monkeypatch.setattr("filbert.engine.tree_scorer._REACH", 1e4)
    monkeypatch.setattr("filbert.engine.tree_scorer._COARSEST", 1.0)
    X, y = data(80)
    new, _ = data(150, seed=1)
    model = TreeSVC(PartialTree(), engine="factors", random_state=0, C=1.0, loss="hinge").fit(
        X, y % n_classes
    )
    bounds = model.model_.score_bounds(new)
    scores = model.model_.decision_function(new, method="pairs")
    assert (bounds.high > bounds.low).any()
    assert (bounds.low <= scores + 1e-9).all()
    assert (scores <= bounds.high + 1e-9).all()
    assert len(bounds.undecided()) > 0
    exact = scores > 0 if n_classes == 2 else scores.argmax(axis=1)
    assert model.predict(new).tolist() == exact.ravel().astype(int).tolist()


def test_undecided() -> None:
    low = np.array([[-1.0], [-1.0], [0.5]])
    assert ScoreBounds(low, low + 0.9).undecided().tolist() == []
    assert ScoreBounds(low, low + 1.1).undecided().tolist() == [0, 1]
    several = np.array([[0.0, 1.0, 0.5], [0.0, 0.1, 0.0]])
    assert ScoreBounds(several, several + 0.2).undecided().tolist() == [1]


def test_bounds_without_a_sign_are_wider() -> None:
    scores, weights = np.zeros((1, 1)), np.array([[2.0], [-1.0]])
    errors = np.array([0.01]), np.array([0.04, 0.04])
    signed = score_bounds(scores, errors[0], weights, errors[1], have_sign=True)
    either = score_bounds(scores, errors[0], weights, errors[1], have_sign=False)
    assert (signed.low[0, 0], signed.high[0, 0]) == pytest.approx((-0.02, 0.04))
    assert (either.low[0, 0], either.high[0, 0]) == pytest.approx((-0.06, 0.06))


def test_rows_of_the_errors_bound_scores_too() -> None:
    scores, weights = np.zeros((2, 1)), np.array([[2.0], [-1.0]])
    errors, rows = np.array([0.01, 0.01]), np.array([0.005, 1.0])
    bounds = score_bounds(
        scores, errors, weights, np.array([0.04, 0.04]), have_sign=True, rows=rows
    )
    np.testing.assert_allclose(bounds.low[:, 0], [-0.005, -0.02])
    np.testing.assert_allclose(bounds.high[:, 0], [0.005, 0.04])


def test_cross_validation_predicts_as_exact_kernels_do() -> None:
    X, y = data(90)
    folds = list(StratifiedKFold(3).split(np.zeros(90), y))
    svm = TreeSVC(PartialTree(), engine="factors", tol=1e-6, random_state=0, C=1.0, loss="hinge")
    pruned = cross_val_predict_path(svm, X, y, [0.1, 1.0], folds)
    exact = cross_val_predict_path(svm.set_params(kernel_tol=0.0), X, y, [0.1, 1.0], folds)
    assert np.mean(np.array(pruned) == np.array(exact)) > 0.98


# ---------------------------------------------------------------- other learners, files


def test_learners_report_the_error_of_the_kernel(tmp_path: Path) -> None:
    X, y = data(80)
    learners = [
        TreeSVC(
            PartialTree(),
            engine="factors",
            tol=0.1,
            kernel_tol=1e-3,
            random_state=0,
            C=1.0,
            loss="hinge",
        ),
        TreePerceptron(PartialTree(), engine="factors", kernel_tol=1e-3),
    ]
    for learner in learners:
        learner.fit(X, y)
        assert 0 < learner.kernel_error_ <= 1e-3
        save(learner, tmp_path / "model")
        assert load(tmp_path / "model").kernel_error_ == learner.kernel_error_
        assert type(learner)(SubsetTree(), kernel_tol=1e-3).fit(X, y).kernel_error_ == 0


def test_symbol_gains_within_a_tolerance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("filbert.learners.symbol_gains.LITTLE_WORK", 0.0)
    X, y = data(80)
    exact = SymbolSelector(PartialTree(), n_symbols=2).fit(X, y)
    near = SymbolSelector(PartialTree(), n_symbols=2, kernel_tol=1e-6).fit(X, y)
    assert exact.kernel_error_ == 0
    assert 0 < near.kernel_error_ <= 1e-6
    np.testing.assert_allclose(near.gains_, exact.gains_, atol=1e-6 * 80**2)
    save(near, tmp_path / "selector")
    assert load(tmp_path / "selector").kernel_error_ == near.kernel_error_


@pytest.mark.parametrize("learner", [TreeSVC, TreePerceptron, SymbolSelector])
@pytest.mark.parametrize("wrong", [-1e-9, 1.0, float("nan"), "small", True])
def test_a_wrong_kernel_tol(learner: Any, wrong: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"kernel_tol must be in \[0, 1\)"):
        learner(kernel_tol=wrong).check_parameters()


def test_planes_have_no_kernel_tol() -> None:
    with pytest.raises(InvalidParameterError, match=r"kernel_tol=0.1 is for strategy 'exact'"):
        TreeSVC(SubsetTree(), strategy="sdag+", kernel_tol=0.1, C=1.0).check_parameters()
