"""Forests and kernels inside scikit-learn, as they are."""

import pickle
from typing import Any, ClassVar, Self

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM
from sklearn.utils import resample, shuffle
from sklearn.utils.metaestimators import _safe_split

from filbert import Examples, Forest
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel

Array = np.ndarray[Any, Any]
SENTENCES = {
    "active": "(S (NP (D {d}) (N {n})) (VP (V {v}) (NP (N {m}))))",
    "passive": "(S (NP (D {d}) (N {n})) (VP (AUX was) (VP (V {v}) (PP (P by) (NP (N {m}))))))",
    "question": "(SQ (AUX did) (NP (D {d}) (N {n})) (VP (V {v}) (NP (N {m}))) ?)",
}
WORDS = {
    "d": ["a", "the", "no"],
    "n": ["dog", "cat", "cow"],
    "v": ["saw", "bit"],
    "m": ["it", "us"],
}


@pytest.fixture(scope="module")
def data() -> tuple[Forest, Array]:
    """Sentences of three kinds; what tells them apart are the productions, not the words."""
    rng = np.random.default_rng(0)
    y = np.array(list(SENTENCES))[rng.integers(0, 3, 120)]
    words = [{k: rng.choice(w) for k, w in WORDS.items()} for _ in y]
    return Forest(SENTENCES[kind].format(**w) for kind, w in zip(y, words, strict=True)), y


@pytest.mark.parametrize("kernel", [Subtree(), SubsetTree(), PartialTree()], ids=repr)
def test_a_support_vector_machine(data: tuple[Forest, Array], kernel: TreeKernel) -> None:
    X, y = data
    model = SVC(kernel=kernel, C=10).fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) == 1
    assert model.predict(Forest(map(str, X[80:]))).tolist() == y[80:].tolist()  # built apart
    assert model.predict(X[80:81]).shape == (1,)
    precomputed = SVC(kernel="precomputed", C=10).fit(kernel(X[:80]), y[:80])
    np.testing.assert_allclose(
        model.decision_function(X[80:]),
        precomputed.decision_function(kernel(X[80:], X[:80])),
        atol=1e-9,
    )


def test_strings_are_data_as_well(data: tuple[Forest, Array]) -> None:
    X, y = data
    texts = np.array(list(map(str, X)), dtype=object)
    model = SVC(kernel=SubsetTree()).fit(list(texts[:80]), y[:80])
    assert model.score(list(texts[80:]), y[80:]) == 1


def test_a_fitted_model_is_pickled(data: tuple[Forest, Array]) -> None:
    X, y = data
    model = SVC(kernel=SubsetTree()).fit(X[:80], y[:80])
    again = pickle.loads(pickle.dumps(model))
    assert again.kernel == model.kernel
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_clone_keeps_the_kernel() -> None:
    model = SVC(kernel=PartialTree(0.3, penalty="gaps"))
    assert clone(model).kernel == model.kernel
    assert model.get_params()["kernel__penalty"] == "gaps"
    assert clone(model).set_params(kernel__decay=0.9).kernel.decay == 0.9
    assert model.kernel.decay == 0.3


def test_cross_validation(data: tuple[Forest, Array]) -> None:
    X, y = data
    model = SVC(kernel=SubsetTree(), C=10)
    scores = cross_val_score(model, X, y, cv=StratifiedKFold(4))
    assert scores.tolist() == [1, 1, 1, 1]
    assert (cross_val_predict(model, X, y, cv=3) == y).all()
    sizes, _, test_scores = learning_curve(model, X, y, train_sizes=[20, 60], cv=3)
    assert sizes.tolist() == [20, 60]
    assert test_scores[-1].min() == 1
    # and it is the kernel that does it: without the trees nothing is learnt
    assert cross_val_score(model, shuffle(X, random_state=0), y, cv=4).mean() < 0.6


def test_the_same_scores_in_other_processes(data: tuple[Forest, Array]) -> None:
    X, y = data
    noisy = y.copy()
    noisy[::5] = "active"
    model = SVC(kernel=SubsetTree())
    here = cross_val_score(model, X, noisy, cv=4)
    with joblib.parallel_config(backend="loky"):
        there = cross_val_score(model, X, noisy, cv=4, n_jobs=2)
    np.testing.assert_array_equal(here, there)
    assert here.std() > 0


def test_a_grid_search_sets_the_kernels_parameters(data: tuple[Forest, Array]) -> None:
    X, y = data
    grid = {
        "C": [1e-3, 10],
        "kernel__decay": np.array([0.1, 0.9]),
        "kernel__include_leaves": [False, True],
    }
    search = GridSearchCV(SVC(kernel=SubsetTree()), grid, cv=3, n_jobs=2, error_score="raise")
    search.fit(X, y)
    assert search.best_score_ == 1
    assert search.best_params_["C"] == 10
    assert search.best_estimator_.kernel.decay == search.best_params_["kernel__decay"]
    assert len(search.cv_results_["params"]) == 8
    assert (search.predict(X) == y).all()


def test_a_grid_search_over_kernels(data: tuple[Forest, Array]) -> None:
    X, y = data
    kernels = [Subtree(), SubsetTree(), PartialTree(max_subsequence=1)]
    search = GridSearchCV(SVC(), {"kernel": kernels}, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["kernel"] in kernels
    assert search.best_score_ == 1


def test_a_bad_parameter_in_a_grid_is_told(data: tuple[Forest, Array]) -> None:
    X, y = data
    search = GridSearchCV(SVC(kernel=SubsetTree()), {"kernel__decay": [2.0]}, error_score="raise")
    with pytest.raises(ValueError, match=r"decay must be in \(0, 1\], got 2.0"):
        search.fit(X, y)


def test_pipelines(data: tuple[Forest, Array]) -> None:
    X, y = data
    pipeline = Pipeline([("nothing", "passthrough"), ("svm", SVC(kernel=SubsetTree()))])
    assert cross_val_score(pipeline, X, y, cv=3).tolist() == [1, 1, 1]
    search = GridSearchCV(pipeline, {"svm__kernel__decay": [0.2, 0.8]}, cv=3).fit(X, y)
    assert search.best_estimator_["svm"].kernel.decay in (0.2, 0.8)


def test_one_against_the_rest(data: tuple[Forest, Array]) -> None:
    X, y = data
    kernel = SubsetTree()
    model = OneVsRestClassifier(SVC(kernel="precomputed")).fit(kernel(X[:80]), y[:80])
    assert model.score(kernel(X[80:], X[:80]), y[80:]) == 1


def test_other_machines_with_a_callable_kernel(data: tuple[Forest, Array]) -> None:
    X, y = data
    assert NuSVC(kernel=SubsetTree(), nu=0.1).fit(X[:80], y[:80]).score(X[80:], y[80:]) == 1

    sizes = np.array([tree.n_nodes for tree in X], dtype=float)
    regression = SVR(kernel=SubsetTree(), C=100, epsilon=0.1).fit(X[:80], sizes[:80])
    assert regression.score(X[80:], sizes[80:]) > 0.9

    usual = X[y != "question"]
    novelty = OneClassSVM(kernel=SubsetTree(), nu=0.05).fit(usual)
    strange = X[y == "question"]
    assert (novelty.predict(strange) == -1).all()
    assert novelty.decision_function(strange).max() < novelty.decision_function(usual).min()


def test_methods_that_take_the_matrix(data: tuple[Forest, Array]) -> None:
    X, y = data
    K = PartialTree()(X)
    clusters = SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(K)
    assert adjusted_rand_score(y, clusters) == 1

    pca = KernelPCA(2, kernel="precomputed")
    points = pca.fit_transform(K)
    centres = np.array([points[y == kind].mean(axis=0) for kind in SENTENCES])
    nearest = np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1)
    assert (np.array(list(SENTENCES))[nearest] == y).all()
    new = pca.transform(PartialTree()(X[:5], X))
    np.testing.assert_allclose(new, points[:5], atol=1e-8)

    sizes = np.array([tree.n_nodes for tree in X], dtype=float)
    ridge = KernelRidge(alpha=1e-3, kernel="precomputed").fit(K[:80, :80], sizes[:80])
    assert ridge.score(K[80:, :80], sizes[80:]) > 0.9


# ---------------------------------------------------------------- what learners are handed


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is given."""

    seen: ClassVar[list[tuple[str, Any]]] = []

    def fit(self, X: Any, y: Array) -> Self:
        self.seen.append(("fit", X))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Array:
        self.seen.append(("predict", X))
        return np.full(len(X), self.classes_[0])


@pytest.fixture
def recorder() -> Recorder:
    Recorder.seen.clear()
    return Recorder()


@pytest.mark.parametrize("cv", [StratifiedKFold(3), KFold(3), ShuffleSplit(3, random_state=0)])
def test_cross_validation_hands_over_forests(
    data: tuple[Forest, Array], recorder: Recorder, cv: Any
) -> None:
    X, y = data
    cross_val_score(recorder, X, y, cv=cv)
    assert [step for step, _ in recorder.seen] == ["fit", "predict"] * 3
    for part in (part for _, part in recorder.seen):
        assert isinstance(part, Forest)
        assert part._dag is X._dag, "parts share the nodes of the whole"
    for (train, test), (_, fitted), (_, predicted) in zip(
        cv.split(X, y), recorder.seen[::2], recorder.seen[1::2], strict=True
    ):
        assert fitted == X[train]
        assert predicted == X[test]


def test_other_splits_hand_over_forests(data: tuple[Forest, Array], recorder: Recorder) -> None:
    X, y = data
    GridSearchCV(recorder, {}, cv=2).fit(X, y)
    cross_val_predict(recorder, X, y, cv=2)
    learning_curve(recorder, X, y, cv=2, train_sizes=[0.5])
    Pipeline([("last", recorder)]).fit(X, y).predict(X)
    assert len(recorder.seen) > 10
    assert {type(part) for _, part in recorder.seen} == {Forest}


def test_cross_validation_hands_over_examples(
    data: tuple[Forest, Array], recorder: Recorder
) -> None:
    forest, y = data
    X = Examples(tree=forest, other=forest[::-1], features=np.arange(240).reshape(120, 2))
    cross_val_score(recorder, X, y, cv=StratifiedKFold(3))
    assert len(recorder.seen) == 6
    for _, part in recorder.seen:
        assert isinstance(part, Examples)
        rows = part["features"][:, 0] // 2
        assert part["tree"] == forest[rows]
        assert part["other"] == forest[::-1][rows]


def test_train_test_split(data: tuple[Forest, Array]) -> None:
    X, y = data
    numbers = np.arange(len(y))
    a, b, y_a, y_b, rows_a, rows_b = train_test_split(
        X, y, numbers, test_size=0.25, stratify=y, random_state=0
    )
    assert isinstance(a, Forest)
    assert isinstance(b, Forest)
    assert (len(a), len(b)) == (90, 30)
    assert a == X[rows_a]
    assert b == X[rows_b]
    assert (y[rows_a] == y_a).all()
    assert (y[rows_b] == y_b).all()
    assert a._dag is X._dag
    first, last = train_test_split(X, test_size=20, shuffle=False)
    assert first == X[:100]
    assert last == X[100:]


def test_train_test_split_of_examples(data: tuple[Forest, Array]) -> None:
    X, y = data
    examples = Examples(tree=X, features=np.arange(len(y))[:, None])
    a, b, _, y_b = train_test_split(examples, y, test_size=0.25, random_state=0)
    assert isinstance(a, Examples)
    assert isinstance(b, Examples)
    rows = b["features"][:, 0]
    assert b["tree"] == X[rows]
    assert (y[rows] == y_b).all()


def test_resampling_keeps_forests(data: tuple[Forest, Array]) -> None:
    X, y = data
    for mixed, labels in (shuffle(X, y, random_state=1), resample(X, y, random_state=1)):
        assert isinstance(mixed, Forest)
        by_tree = dict(zip(X, y, strict=True))
        assert [by_tree[tree] for tree in mixed] == labels.tolist()


def test_a_kernel_is_pairwise_only_where_it_is_precomputed(data: tuple[Forest, Array]) -> None:
    """scikit-learn cuts rows and columns of a precomputed matrix, and rows only of a forest."""
    X, y = data
    part, _ = _safe_split(SVC(kernel=SubsetTree()), X, y, np.arange(5))
    assert part == X[:5]
    K = SubsetTree()(X)
    part, _ = _safe_split(SVC(kernel="precomputed"), K, y, np.arange(5), np.arange(7))
    assert part.shape == (5, 7)
