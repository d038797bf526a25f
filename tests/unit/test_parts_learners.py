"""Learners take a corpus in parts in place of X, and give what they give in one piece."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import filbert
from filbert import (
    DistributedTreeEmbedding,
    Examples,
    Forest,
    FragmentVectorizer,
    KernelMatrix,
    Parts,
    SymbolSelector,
    TreeFeatures,
    TreeLogisticRegression,
    TreePerceptron,
    TreeRanker,
    TreeSVC,
    TreeSVR,
)
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.kernels import Linear, PartialTree, SubsetTree
from filbert.learners import symbol_gains
from filbert.learners.targets import are_plain, checked_labels
from filbert.transform import CutDepth, MapLeaves

RNG = np.random.default_rng(0)
N = 90
COLOURS = RNG.integers(3, size=N)
X = Forest(
    [f"(S (A a{c if RNG.random() < 0.7 else 3}) (B b{RNG.integers(4)}) (C c))" for c in COLOURS]
)
TWO = np.array(["no", "yes"])[(COLOURS > 0).astype(int)]
THREE = np.array(["red", "green", "blue"])[COLOURS]


def corpus_of(y: NDArray[Any] | None, X: Any = X) -> Parts:
    """Return the examples in four parts, one of them empty."""
    bounds = [(0, 20), (20, 20), (20, 55), (55, N)]
    return filbert.parts([X[a:b] if y is None else (X[a:b], y[a:b]) for a, b in bounds])


@pytest.mark.parametrize(
    "learner",
    [
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"),
        TreeSVC(PartialTree(), engine="rows", random_state=0, C=1.0, loss="hinge"),
        TreePerceptron(n_epochs=2),
        TreePerceptron(vote=True),
    ],
    ids=["factors", "rows", "perceptron", "votes"],
)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_predictions_by_part(learner: Any, y: NDArray[Any]) -> None:
    learner = learner.fit(X[:40], y[:40])
    corpus = corpus_of(y)
    np.testing.assert_array_equal(learner.predict(corpus), learner.predict(X))
    expected = learner.decision_function(X)
    np.testing.assert_allclose(learner.decision_function(corpus), expected, rtol=1e-10, atol=1e-12)
    assert learner.score(corpus) == learner.score(X, y)
    weights = np.arange(N)
    assert learner.score(corpus, sample_weight=weights) == learner.score(X, y, weights)
    backwards = np.arange(N)[::-1]
    np.testing.assert_array_equal(learner.predict(corpus[backwards]), learner.predict(X)[::-1])
    by_part = [len(labels) for labels in corpus.map(learner.predict)]
    assert by_part == [20, 0, 35, 35]


def test_scores_need_labels() -> None:
    svm = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(X, TWO)
    with pytest.raises(InvalidParameterError, match="score needs y"):
        svm.score(X)
    with pytest.raises(InvalidParameterError, match="pass y"):
        svm.score(corpus_of(None))
    assert svm.score(corpus_of(None), TWO) == svm.score(X, TWO)


def test_training_in_parts_and_in_one_piece_agree() -> None:
    whole = TreeSVC(SubsetTree(), tol=1e-6, random_state=0, C=1.0, loss="hinge").fit(X, THREE)
    parts = TreeSVC(SubsetTree(), tol=1e-6, random_state=0, C=1.0, loss="hinge").fit(
        corpus_of(THREE)
    )
    assert parts.objective_ == pytest.approx(whole.objective_, rel=2e-6)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_epochs": 3, "margin": 0.2, "class_weight": "balanced"},
        {"n_epochs": 3, "max_nodes": 20, "forget": "lightest", "fit_intercept": True},
    ],
    ids=["plain", "epochs", "forgetting"],
)
def test_the_perceptron_is_that_of_one_stream(y: NDArray[Any], parameters: Any) -> None:
    weights = RNG.random(N)
    whole = TreePerceptron(engine="online", shuffle=False, **parameters).fit(X, y, weights)
    parts = TreePerceptron(**parameters).fit(corpus_of(y), sample_weight=weights)
    for name in ("n_seen_", "n_updates_", "n_errors_", "n_support_vectors_", "n_forgotten_"):
        assert getattr(parts, name) == getattr(whole, name), name
    np.testing.assert_array_equal(parts.dual_coef_, whole.dual_coef_)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    assert parts.engine_ == "online"


def test_the_perceptron_goes_on_with_parts() -> None:
    whole = TreePerceptron().partial_fit(X, TWO, ["no", "yes"])
    parts = TreePerceptron().partial_fit(corpus_of(TWO), classes=["no", "yes"])
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    whole.partial_fit(X, TWO)
    parts.partial_fit(corpus_of(None), TWO)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_what_the_perceptron_cannot_do_in_parts() -> None:
    with pytest.raises(InvalidParameterError, match="shuffle the files once"):
        TreePerceptron(shuffle=True).fit(corpus_of(TWO))
    with pytest.raises(InvalidParameterError, match="engine='online'"):
        TreePerceptron(engine="factors").fit(corpus_of(TWO))
    with pytest.raises(InvalidParameterError, match="needs y"):
        TreePerceptron().fit(X)
    with pytest.raises(InvalidParameterError, match="at least two classes"):
        TreePerceptron().fit(corpus_of(np.array(["no"] * N)))


def test_embeddings(tmp_path: Path) -> None:
    embedding = DistributedTreeEmbedding(64)
    expected = embedding.fit_transform(X)
    corpus = corpus_of(TWO)
    np.testing.assert_array_equal(embedding.fit(corpus).transform(corpus), expected)
    np.testing.assert_array_equal(embedding.transform(corpus[::-3]), expected[::-3])
    out = np.lib.format.open_memmap(tmp_path / "v.npy", "w+", "float32", (N, 64))
    assert embedding.transform(corpus, out=out) is out
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), expected)
    model = make_pipeline(embedding, LinearSVC(random_state=0)).fit(corpus, TWO)
    assert model.score(corpus, TWO) == model.score(X, TWO)


def test_fragments_of_a_model_over_parts() -> None:
    corpus = corpus_of(THREE)
    whole = FragmentVectorizer(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, THREE)
    ).fit(X)
    rows = whole.transform(X).toarray()
    np.testing.assert_array_equal(whole.transform(corpus).toarray(), rows)
    np.testing.assert_array_equal(whole.transform(corpus[::-1]).toarray(), rows[::-1])
    vectorizer = FragmentVectorizer(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), weighted=False
    ).fit(corpus)
    np.testing.assert_array_equal(
        vectorizer.transform(corpus).toarray(), vectorizer.transform(X).toarray()
    )
    with pytest.raises(InputTypeError, match="pass an estimator"):
        FragmentVectorizer().fit(corpus)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("kernel", [SubsetTree(), SubsetTree(normalize=False), PartialTree()])
@pytest.mark.parametrize("most_nodes", [0, 40, 10**6])
def test_gains_of_symbols_over_parts(
    y: NDArray[Any], kernel: Any, most_nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one block of parts, or in several, whose trees are never in memory all together."""
    monkeypatch.setattr(symbol_gains, "MOST_NODES", most_nodes)
    together = []
    join = symbol_gains._together
    monkeypatch.setattr(
        symbol_gains, "_together", lambda found: together.append(len(found)) or join(found)
    )
    selector = SymbolSelector(kernel, n_symbols=2)
    whole = pickle.loads(pickle.dumps(selector)).fit(X, y)
    parts = selector.fit(corpus_of(y))
    assert max(together) == {0: 1, 40: 2, 10**6: 4}[most_nodes]
    assert parts.candidates_ == whole.candidates_
    assert parts.symbols_ == whole.symbols_
    np.testing.assert_allclose(parts.gains_, whole.gains_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(parts.frequencies_, whole.frequencies_, rtol=1e-14)
    with pytest.raises(InvalidParameterError, match="needs y"):
        selector.fit(X)


def test_cross_validation_and_search() -> None:
    svm = TreeSVC(SubsetTree(), random_state=0, tol=1e-6, C=1.0, loss="hinge")
    corpus = corpus_of(TWO)
    folds = KFold(3)
    expected = cross_val_score(svm, X, TWO, cv=folds)
    np.testing.assert_array_equal(cross_val_score(svm, corpus, TWO, cv=folds), expected)
    np.testing.assert_array_equal(cross_val_score(svm, corpus, cv=folds), expected)
    search = GridSearchCV(TreePerceptron(), {"margin": [0.0, 0.5]}, cv=3).fit(corpus, TWO)
    other = GridSearchCV(TreePerceptron(shuffle=False), {"margin": [0.0, 0.5]}, cv=3).fit(X, TWO)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )
    calibrated = CalibratedClassifierCV(svm, cv=3).fit(corpus, TWO)
    assert calibrated.predict_proba(corpus).shape == (N, 2)


def test_trees_are_rewritten_when_a_part_is_loaded() -> None:
    corpus = corpus_of(TWO)
    names: dict[str, str] = {"a0": "x", "a1": "y"}
    shorter = MapLeaves(names).transform(corpus)
    assert isinstance(shorter, Parts)
    expected = MapLeaves(names).transform(X)
    assert Forest.concat(shorter.map(lambda X: X)) == expected
    assert Forest.concat(rows.X for rows in shorter[:30].each()) == expected[:30]
    model = make_pipeline(MapLeaves(names), TreePerceptron()).fit(corpus)
    whole = make_pipeline(MapLeaves(names), TreePerceptron(engine="online", shuffle=False)).fit(
        X, TWO
    )
    np.testing.assert_array_equal(model.decision_function(corpus), whole.decision_function(X))
    tokens = [CutDepth(depth).transform(corpus).pieces[0].token for depth in (2, 2, 3)]
    assert tokens[0] == tokens[1] != tokens[2]
    functions = [MapLeaves(lambda leaf: leaf[:1]).transform(corpus) for _ in range(2)]
    assert functions[0].pieces[0].token != functions[1].pieces[0].token


def test_other_learners_predict_parts_and_refuse_to_train_on_them() -> None:
    corpus = corpus_of(TWO)
    logistic = TreeLogisticRegression(tol=1e-3).fit(X, TWO)
    np.testing.assert_allclose(logistic.predict_proba(corpus), logistic.predict_proba(X))
    numbers = COLOURS.astype(float)
    regression = TreeSVR().fit(X, numbers)
    np.testing.assert_allclose(regression.predict(corpus), regression.predict(X))
    assert regression.score(corpus_of(numbers)) == pytest.approx(regression.score(X, numbers))
    ranker = TreeRanker(tol=1e-2).fit(X, numbers, group=np.arange(N) // 9)
    np.testing.assert_allclose(ranker.predict(corpus), ranker.predict(X))
    for learner in (logistic, regression, ranker):
        with pytest.raises(InputTypeError, match="TreeSVC and TreePerceptron take"):
            learner.fit(corpus)
        with pytest.raises(InvalidParameterError, match="needs y"):
            learner.fit(X)


def test_features_and_kernel_matrices() -> None:
    corpus = corpus_of(None)
    features = TreeFeatures().fit(X[:40])
    np.testing.assert_allclose(
        features.transform(corpus).toarray(), features.transform(X).toarray(), atol=1e-12
    )
    matrix = KernelMatrix().fit(X[:40])
    np.testing.assert_allclose(matrix.transform(corpus), matrix.transform(X), atol=1e-12)
    for learner in (features, matrix):
        with pytest.raises(InputTypeError, match="in one piece"):
            learner.fit(corpus)


def test_several_parts_of_examples() -> None:
    features = RNG.random((N, 3))
    rows = Examples(tree=X, features=features)
    kernel = SubsetTree().on("tree") + Linear().on("features")
    corpus = corpus_of(TWO, rows)
    svm = TreeSVC(kernel, tol=1e-6, random_state=0, C=1.0, loss="hinge").fit(corpus)
    np.testing.assert_array_equal(svm.predict(corpus), svm.predict(rows))
    perceptron = TreePerceptron(kernel).fit(corpus)
    np.testing.assert_allclose(
        perceptron.decision_function(corpus),
        TreePerceptron(kernel, engine="online", shuffle=False)
        .fit(rows, TWO)
        .decision_function(rows),
    )


def test_training_a_part_needs_no_scikit_learn() -> None:
    """It would take more memory of a worker than a part does."""
    program = """
import sys
import numpy as np
from filbert import Forest
from filbert.corpus.pieces import Rows
from filbert.kernels import PartialTree, SubsetTree
from filbert.learners.cascade_tasks import Machine, Weighting, check_model, choose_candidates
from filbert.model import SupportVectorModel

rows = Rows(Forest([f"(S (A a{i % 3}) (B b{i % 7}))" for i in range(60)]), np.arange(60) % 2)
for kernel in (SubsetTree(), PartialTree()):
    machine = Machine(kernel, 1.0, "hinge", "auto", True, None, 1e-3, None, None, 1)
    sent = choose_candidates(rows, None, None, [0], machine, Weighting()).candidates
    coef = np.where(sent.label == 1, 1.0, -1.0)[None, :]
    model = SupportVectorModel(kernel, sent.X, coef, np.zeros(1))
    classes = np.array([0, 1])
    check_model(rows, None, None, sent.row, model, classes, machine, Weighting())
print(sorted({"sklearn", "pandas", "scipy.stats"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    ("labels", "plain"),
    [
        (np.array(["a", "b"]), True),
        (np.array([1, -1]), True),
        (np.array([1.0, -1.0]), True),
        (np.array([1.5, -1.0]), False),
        (np.array([1.0, np.nan]), False),
        (np.array([[1], [2]]), False),
        (np.array(["a", None], dtype=object), False),
    ],
)
def test_labels_that_need_no_check(labels: NDArray[Any], plain: bool) -> None:
    assert are_plain(labels) == plain
    if plain:
        np.testing.assert_array_equal(checked_labels(labels, len(labels)), labels)
