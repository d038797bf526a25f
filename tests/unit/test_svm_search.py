"""TreeSVCCV: what the search finds, what it leaves out, and that it says so."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, StratifiedKFold

import filbert.engine.sums
from filbert import Examples, Forest, TreeSVC, TreeSVCCV, explain, load, save
from filbert.errors import InputTypeError, InvalidParameterError, MissingLibraryError
from filbert.kernels import Linear, PartialTree, SubsetTree
from filbert.learners.search_folds import folds_of, sampled

RNG = np.random.default_rng(0)
N = 120
WORDS = RNG.integers(8, size=(N, 3))
# The class is whether the noun or the verb comes first; a tenth of the labels is wrong.
FIRST = RNG.random(N) < 0.5
X = Forest(
    f"(S (D d{d}) (N n{n}) (V v{v}))" if first else f"(S (V v{v}) (D d{d}) (N n{n}))"
    for (d, n, v), first in zip(WORDS, FIRST, strict=True)
)
Y = np.where(FIRST ^ (RNG.random(N) < 0.1), "noun", "verb")
KERNELS = [SubsetTree(0.4), PartialTree(0.4, 0.4)]


def search(**parameters: Any) -> TreeSVCCV:
    return TreeSVCCV(**{"kernels": KERNELS, "random_state": 0, **parameters})


def test_the_best_setting_is_trained_on_all_examples() -> None:
    found = search().fit(X, Y)
    alone = TreeSVC(**found.best_params_, random_state=found.best_estimator_.random_state)
    assert np.array_equal(alone.fit(X, Y).decision_function(X), found.decision_function(X))
    assert (found.predict(X) == Y).mean() > 0.8
    assert found.score(X, Y) == (found.predict(X) == Y).mean()
    assert found.n_searched_ == N
    assert found.left_out_ == []


def test_scores_are_those_of_separate_training() -> None:
    """On the folds that a setting took part in, also for a kernel that is raced by its matrix."""
    splitter = StratifiedKFold(3, shuffle=True, random_state=5)
    found = search(cv=splitter, tol=1e-2, Cs=[0.5, 5.0]).fit(X, Y)
    folds = list(splitter.split(np.zeros(N), Y))
    results = found.cv_results_
    checked = 0
    for i, values in enumerate(results["params"]):
        for k, (train, test) in enumerate(folds):
            score = results[f"split{k}_test_score"][i]
            if np.isfinite(score):
                alone = TreeSVC(**values, tol=1e-6, random_state=0).fit(X[train], Y[train])
                assert abs(alone.score(X[test], Y[test]) - score) < 0.06
                checked += 1
    assert checked >= 8


def test_results_have_the_form_of_scikit_learn() -> None:
    found = search(cv=4).fit(X, Y)
    results = found.cv_results_
    n = len(KERNELS) * 2 * 4
    assert len(results["params"]) == n
    assert {len(column) for column in results.values()} == {n}
    splits = np.array([results[f"split{k}_test_score"] for k in range(4)])
    seen = np.isfinite(splits).all(axis=0)
    assert np.allclose(results["mean_test_score"][seen], splits.mean(axis=0)[seen])
    assert np.allclose(results["std_test_score"][seen], splits.std(axis=0)[seen])
    best = results["mean_test_score"][results["rank_test_score"] == 1]
    assert best[0] == results["mean_test_score"][seen].max()
    reference = {"kernel": KERNELS[0], "loss": "squared_hinge", "C": 10.0}
    assert found.best_params_ == reference or found.best_score_ == best[0]
    assert seen[results["params"].index(reference)]
    assert found.best_score_ == results["mean_test_score"][found.best_index_]
    assert found.best_params_ == results["params"][found.best_index_]


def test_hopeless_settings_stop_early() -> None:
    """The words alone say nothing about their order."""
    words = Forest(f"(W d{d} n{n} v{v})" for d, n, v in WORDS)
    by_words, by_order = (SubsetTree(include_leaves=True).on(part) for part in ("words", "tree"))
    parts = Examples(words=words, tree=X)
    found = search(kernels=[by_words, by_order], cv=5, losses=["hinge"]).fit(parts, Y)
    last, kernels = (found.cv_results_[key] for key in ("split4_test_score", "param_kernel"))
    finished = [repr(kernels[i]) for i in np.flatnonzero(np.isfinite(last))]
    assert finished.count(repr(by_words)) == 1  # the reference
    assert finished.count(repr(by_order)) >= 1
    assert found.best_params_["kernel"] == by_order


def test_one_factorisation_for_each_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    factorize = filbert.engine.sums.factorize

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments[0])
        return factorize(*arguments, **options)

    monkeypatch.setattr(filbert.engine.sums, "factorize", counted)
    search(kernels=[SubsetTree(0.4), SubsetTree(0.2)], cv=5).fit(X, Y)
    assert len(calls) <= 3  # one more for the final training


def test_many_examples_are_searched_on_a_sample() -> None:
    found = search(max_examples=60).fit(X, Y)
    assert 55 <= found.n_searched_ <= 65
    assert len(found.best_estimator_.convergence_) == 1
    assert found.best_estimator_.support_.max() >= 65  # trained on all


def test_a_sample_loses_no_class() -> None:
    coded = np.repeat([0, 1, 2], [1000, 12, 3])
    kept = sampled(coded, 100, np.random.RandomState(0))
    assert np.bincount(coded[kept]).tolist() == [99, 10, 3]
    assert (np.diff(kept) > 0).all()
    assert len(sampled(coded, None, np.random.RandomState(0))) == 1015


def test_a_group_is_in_one_fold() -> None:
    groups = np.arange(N) // 4
    for train, test in folds_of((Y == "verb").astype(int), groups, 3, 0):
        assert not set(groups[train]) & set(groups[test])
    found = search(cv=3).fit(X, Y, groups=[f"document {g}" for g in groups])
    assert found.n_splits_ == 3
    assert search(cv=GroupKFold(2)).fit(X, Y, groups=groups).n_splits_ == 2


def test_what_the_time_budget_leaves_out_is_listed() -> None:
    found = search(time_budget=1e-9).fit(X, Y)
    assert found.best_params_["kernel"] == KERNELS[0]
    assert {one["reason"] for one in found.left_out_} == {"the time budget ran out"}
    tried = np.isfinite(found.cv_results_["mean_test_score"]).sum()
    assert (tried, len(found.left_out_)) == (2, 14)  # of 16 settings
    assert sum(one["kernel"] == KERNELS[1] for one in found.left_out_) == 8
    assert (found.predict(X) == Y).mean() > 0.8


def test_what_may_take_too_much_work_is_left_out_and_listed() -> None:
    found = search(max_work=1.0).fit(X, Y)
    assert found.best_params_["kernel"] == KERNELS[0]
    assert {repr(one["kernel"]) for one in found.left_out_} == {repr(KERNELS[1])}
    assert all("max_work" in one["reason"] for one in found.left_out_)


def test_too_few_examples_are_not_searched() -> None:
    found = search().fit(X[[0, 1]], ["a", "b"])
    assert (found.n_splits_, found.best_params_["C"]) == (0, 10.0)
    assert np.isnan(found.best_score_)
    assert {one["reason"] for one in found.left_out_} == {
        "there were too few examples for two folds"
    }


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro"])
def test_other_scores(scoring: str) -> None:
    y = np.where(np.arange(N) < 12, "rare", "frequent")
    found = search(scoring=scoring, class_weight="balanced").fit(X, y)
    assert 0 < found.best_score_ < 1
    assert found.best_estimator_.class_weight == "balanced"


def test_the_same_seed_gives_the_same_search() -> None:
    one, two = (search(n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    assert one.best_params_ == two.best_params_
    for name, column in one.cv_results_.items():
        if name.endswith("score"):
            assert column.tobytes() == two.cv_results_[name].tobytes()


def test_examples_with_features() -> None:
    examples = Examples(tree=X, features=np.eye(8)[WORDS[:, 0]])
    kernels = [SubsetTree().on("tree"), SubsetTree().on("tree") + Linear().on("features")]
    found = search(kernels=kernels, cv=2).fit(examples, Y)
    assert found.predict(examples[:3]).shape == (3,)


def test_save_load_and_explain(tmp_path: Path) -> None:
    found = search(time_budget=1e-9, cv=StratifiedKFold(3)).fit(X, Y)
    save(found, tmp_path / "search.model")
    again = load(tmp_path / "search.model")
    assert isinstance(again, TreeSVCCV)
    assert np.array_equal(again.decision_function(X), found.decision_function(X))
    assert (again.best_params_, again.best_score_) == (found.best_params_, found.best_score_)
    assert (again.left_out_, again.n_searched_) == (found.left_out_, found.n_searched_)
    assert (again.cv, again.kernels) == (3, KERNELS)
    means = (one.cv_results_["mean_test_score"] for one in (again, found))
    assert np.array_equal(*means, equal_nan=True)
    told = explain(found, X[:4], Y[:4])
    assert told.to_json() == explain(found.best_estimator_, X[:4], Y[:4]).to_json()


def test_plot() -> None:
    pytest.importorskip("matplotlib")
    axes = search().fit(X, Y).plot()
    assert len(axes.lines) >= 2
    assert axes.get_xlabel() == "C"


def test_a_plot_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    found = search(kernels=[SubsetTree()], cv=2).fit(X, Y)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingLibraryError, match="matplotlib"):
        found.plot()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": []}, "kernels must be a list with at least one value"),
        ({"kernels": ["stk"]}, "kernels must list kernels"),
        ({"Cs": []}, "Cs must be a list"),
        ({"Cs": [0.0]}, "C must be positive"),
        ({"losses": ["logistic"]}, "losses must be 'squared_hinge' or 'hinge'"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"scoring": "auc"}, "scoring must be"),
        ({"time_budget": 0}, "time_budget must be positive"),
        ({"max_work": -1.0}, "max_work must be positive"),
        ({"max_examples": 0}, "max_examples must be a positive integer"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        search(**parameters).fit(X, Y)


def test_bad_groups_and_corpora_in_parts() -> None:
    with pytest.raises(InvalidParameterError, match="groups must have one name for each of 120"):
        search().fit(X, Y, groups=[1, 2])
    with pytest.raises(InvalidParameterError, match="sample 3 has no group, it is nan"):
        search().fit(X, Y, groups=[1.0] * 3 + [np.nan] + [2.0] * (N - 4))
    with pytest.raises(InvalidParameterError, match="groups must be of one kind, got number, str"):
        search().fit(X, Y, groups=[1, "1"] * (N // 2))
    with pytest.raises(InputTypeError, match="in one piece"):
        search().fit(filbert.parts([X]), Y)
    with pytest.raises(InvalidParameterError, match="needs y"):
        search().fit(X)
