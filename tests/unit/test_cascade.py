"""Training over parts: the same problem, and a gap over all examples."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from filbert import Examples, TreeSVC
from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Given, Rows
from filbert.errors import InvalidParameterError
from filbert.kernels import Linear, PartialTree, SubsetTree
from filbert.persist import load, save
from tests.unit.test_certified_svm import data, true_gap

Array = Any


def in_parts(X: Any, y: Any, ends: Sequence[int]) -> Parts:
    """The same examples in the same order."""
    begins = [0, *ends]
    pieces = []
    for i, (begin, end) in enumerate(zip(begins, [*ends, len(X)], strict=True)):
        own = None if y is None else y[begin:end]
        pieces.append(Given(f"part {i}", Rows(X[begin:end], own)))
    return Parts(pieces)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"loss": "squared_hinge", "tol": 1e-5},
        {"C": 20.0, "tol": 1e-6},
        {"kernel": PartialTree(0.4, 0.4), "tol": 1e-4},
        {"engine": "rows"},
        {"class_weight": "balanced", "fit_intercept": False},
    ],
    ids=" ".join,
)
def test_the_gap_over_all_examples_is_true(changes: dict[str, Any], n_classes: int) -> None:
    X, y = data(160)
    y = y % n_classes
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y)).round(1)
    clf = TreeSVC(
        **{"C": 1.0, "loss": "hinge", "kernel": SubsetTree(), "random_state": 0, **changes}
    )
    clf.fit(in_parts(X, y, [50, 50, 110]), sample_weight=weights)
    own = weights
    if clf.class_weight is not None:
        counts = np.bincount(y)
        own = weights * (len(y) / (n_classes * counts))[y]
    whole = (own > 0).nonzero()[0]
    K = clf.kernel(X)
    gap = true_gap_of(clf, K, y, own, whole)
    assert gap <= clf.duality_gap_ * (1 + 1e-9) + 1e-12
    assert clf.duality_gap_ <= clf.tol
    alone = TreeSVC(**clf.get_params(deep=False)).fit(X, y, weights)
    assert clf.objective_ == pytest.approx(alone.objective_, rel=2 * clf.tol)
    assert clf.n_iter_ == len(clf.rounds_) == len(clf.convergence_[0].steps)


def true_gap_of(clf: TreeSVC, K: Array, y: Array, weights: Array, kept: Array) -> float:
    """The gap by the definitions, over the examples that have a weight."""
    place = np.full(len(y), -1)
    place[kept] = np.arange(len(kept))
    assert (place[clf.support_] >= 0).all()
    small = TreeSVC(**clf.get_params(deep=False))
    small.support_, small.dual_coef_ = place[clf.support_], clf.dual_coef_
    small.intercept_, small.classes_ = clf.intercept_, clf.classes_
    if clf.fit_intercept:
        return true_gap(small, K[np.ix_(kept, kept)], y[kept], weights[kept])
    assert (clf.intercept_ == 0).all()
    return true_gap(small, K[np.ix_(kept, kept)], y[kept], weights[kept])


def test_support_vectors_are_numbered_as_in_the_corpus() -> None:
    X, y = data(120)
    y = (y == 0).astype(int)
    order = np.random.default_rng(1).permutation(120)
    corpus = in_parts(X, y, [30, 70])[order]
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(corpus)
    assert list(X[order][clf.support_]) == list(clf.model_.support)
    assert (np.sign(clf.dual_coef_[0]) == 2 * y[order][clf.support_] - 1).all()
    assert clf.n_support_.tolist() == np.bincount(y[order][clf.support_]).tolist()


def test_parts_with_one_class_and_without_examples() -> None:
    """As in a corpus that is sorted by class."""
    X, y = data(150)
    order = np.argsort(y, kind="stable")
    ends = [0, *np.searchsorted(y[order], [1, 2])]
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(
        in_parts(X[order], y[order], ends)
    )
    alone = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, y)
    assert clf.duality_gap_ <= clf.tol
    assert clf.objective_ == pytest.approx(alone.objective_, rel=2e-3)


def test_the_same_bytes_for_any_number_of_threads(tmp_path: Any) -> None:
    X, y = data(150)
    for n_jobs in (1, 2):
        clf = TreeSVC(SubsetTree(), random_state=3, n_jobs=n_jobs, C=1.0, loss="hinge").fit(
            in_parts(X, y, [40, 90])
        )
        save(clf.set_params(n_jobs=None), tmp_path / f"{n_jobs}")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert (load(tmp_path / "1").predict(X) == clf.predict(X)).all()


def test_several_kernels_over_parts() -> None:
    trees, y = data(120)
    vectors = np.random.default_rng(0).normal(size=(120, 3))
    X = Examples(tree=trees, vector=vectors)
    kernel = SubsetTree().on("tree") + Linear().on("vector")
    clf = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(in_parts(X, y, [60]))
    assert clf.objective_ == pytest.approx(
        TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(X, y).objective_, rel=2e-3
    )


def test_labels_may_be_passed_beside_the_corpus() -> None:
    X, y = data(100)
    own = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(in_parts(X, y, [40]))
    given = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(
        in_parts(X, None, [40]), y
    )
    assert (own.dual_coef_ == given.dual_coef_).all()


def test_search_over_a_corpus_in_parts() -> None:
    X, y = data(90)
    corpus = in_parts(X, y, [20, 60])
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(
        TreeSVC(SubsetTree(), random_state=0, tol=1e-6, C=1.0, loss="hinge"),
        {"C": [0.1, 1.0]},
        cv=folds,
    )
    found = search.fit(corpus, corpus.labels())
    alone = GridSearchCV(
        TreeSVC(SubsetTree(), random_state=0, tol=1e-6, C=1.0, loss="hinge"),
        {"C": [0.1, 1.0]},
        cv=folds,
    ).fit(X, y)
    assert found.best_params_ == alone.best_params_
    assert found.cv_results_["mean_test_score"] == pytest.approx(
        alone.cv_results_["mean_test_score"]
    )


def test_too_few_sweeps_are_told() -> None:
    X, y = data(150)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 round over the parts"):
        clf = TreeSVC(
            SubsetTree(), random_state=0, C=100.0, tol=1e-8, max_iter=1, loss="hinge"
        ).fit(in_parts(X, y, [70]))
    assert clf.duality_gap_ > clf.tol


@pytest.mark.parametrize(
    ("changes", "y", "message"),
    [
        ({"strategy": "usvm"}, None, "use strategy='exact' for a corpus in parts"),
        ({"warm_start": True}, None, "checkpoint= to continue"),
        ({}, [0] * 60, "all labels are 0"),
        ({}, [0, 1], "the corpus has 60 examples, but y has shape"),
    ],
)
def test_what_parts_cannot_do(changes: dict[str, Any], y: Any, message: str) -> None:
    X, own = data(60)
    with pytest.raises(InvalidParameterError, match=message):
        TreeSVC(**{"kernel": SubsetTree(), "C": 1.0, "loss": "hinge", **changes}).fit(
            in_parts(X, own, [30]), y
        )


def test_labels_are_needed() -> None:
    X, y = data(60)
    with pytest.raises(InvalidParameterError, match="the corpus has no labels: pass y"):
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(in_parts(X, None, [30]))
    with pytest.raises(InvalidParameterError, match="TreeSVC needs y"):
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(X)
    with pytest.raises(InvalidParameterError, match="all weights are zero"):
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(
            in_parts(X, y, [30]), sample_weight=np.zeros(60)
        )


def test_labels_of_two_kinds() -> None:
    X, y = data(60)
    parts = [
        Given("a", Rows(X[:30], y[:30])),
        Given("b", Rows(X[30:], y[30:].astype(str))),
    ]
    with pytest.raises(InvalidParameterError, match=r"the labels of .* text"):
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(Parts(parts))


def test_random_corpora() -> None:
    """The gap is true for many small corpora, most of which have odd parts."""
    for seed in range(30):
        rng = random.Random(seed)
        X, y = data(rng.randint(8, 40), seed)
        if len(set(y.tolist())) < 2:
            continue
        ends = sorted(rng.randint(0, len(X)) for _ in range(rng.randint(1, 4)))
        clf = TreeSVC(
            SubsetTree(), random_state=seed, C=rng.choice([0.1, 1.0, 10.0]), tol=1e-4, loss="hinge"
        )
        clf.fit(in_parts(X, y, ends))
        gap = true_gap(clf, SubsetTree()(X), y, np.ones(len(y)))
        assert gap <= clf.duality_gap_ * (1 + 1e-9) + 1e-12
        assert clf.duality_gap_ <= clf.tol
