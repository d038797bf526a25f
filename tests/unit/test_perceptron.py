"""The perceptron = the reference = itself: online, by factors, in batches of any size."""

from random import Random
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import tqdm.auto
from hypothesis import given
from hypothesis import strategies as st

from filbert import Examples, Forest, TreePerceptron
from filbert.errors import InvalidParameterError
from filbert.kernels import (
    RBF,
    AllPairs,
    Linear,
    PartialTree,
    Polynomial,
    SubsetTree,
    Subtree,
)
from filbert.kernels.terms import is_sum
from filbert.learners.perceptron_online import learning_bar
from filbert.testing.tools import sentences
from tests.profiles import n_examples
from tests.reference import perceptron as reference
from tests.reference.trees import write
from tests.strategies import RNG, forests, random_trees

ENGINES = ("online", "factors")
TREE_KERNELS = [
    Subtree(),
    Subtree(0.7, normalize=False),
    SubsetTree(),
    SubsetTree(0.8, include_leaves=True, normalize=False),
    PartialTree(),
    PartialTree(0.6, 0.7, penalty="gaps", max_subsequence=2, normalize=False),
]
TREE = SubsetTree().on("tree")
VECTOR_KERNELS = [
    Linear(normalize=False),
    Linear(),
    Polynomial(2),
    Polynomial(3, coef0=0.5, gamma=0.3, normalize=False),
    Polynomial(5, coef0=0.0),
    Linear() ** 2,
    RBF(0.3),
]
SUMS = [
    TREE + Linear().on("features"),
    TREE + 0.5 * Polynomial(3).on("features"),
    (
        SubsetTree(normalize=False).on("tree") + 2 * Linear(normalize=False).on("features") + 0.3
    ).normalized(),
    PartialTree().on("tree") + RBF(0.5).on("features") + 1,
    0.3 * (TREE + Subtree().on("tree")).normalized() + Polynomial(2).on("features"),
]


def engines_of(kernel: Any) -> tuple[Any, ...]:
    return ENGINES if is_sum(kernel) else ("online", "auto")


def texts_of(trees: list[Any]) -> list[str]:
    return [write(tree) for tree in trees]


def random_vectors(rng: np.random.Generator, n: int) -> Any:
    """Sparse rows, some of them empty, with repetitions among them."""
    values = rng.integers(-2, 3, (n, 6)) * (rng.random((n, 6)) < 0.4) * 0.5
    values[1::5] = values[::5][: len(values[1::5])]
    return sp.csr_array(values)


def expected(
    kernel: Any, X: Any, y: Any, X_new: Any, *, order: list[int], **options: Any
) -> dict[str, Any]:
    """Scores of new examples by the reference, from the kernel's own matrix."""
    n = X.shape[0]
    both = Forest.concat([X, X_new]) if isinstance(X, Forest) else stacked(X, X_new)
    matrix = kernel(both).tolist()
    classes = sorted(set(y))
    positives = classes[1:] if len(classes) == 2 else classes
    signs = [[1 if label == c else -1 for label in y] for c in positives]
    problems = reference.learn(matrix, signs, order, **options)
    columns = range(n, both.shape[0])
    return {
        name: np.array([[by(matrix, p, x) for p in problems] for x in columns])
        for name, by in (
            ("plain", reference.plain),
            ("averaged", reference.averaged),
            ("voted", reference.voted),
        )
    }


def stacked(a: Any, b: Any) -> Any:
    if isinstance(a, Examples):
        parts = {}
        for name in a.parts:
            if isinstance(a[name], Forest):
                parts[name] = Forest.concat([a[name], b[name]])
            else:
                parts[name] = stacked(a[name], b[name])
        return Examples._of(parts)
    return sp.csr_array(sp.vstack([a, b]))


def decisions(clf: TreePerceptron, X: Any) -> dict[str, Any]:
    found = {}
    for name, vote, average in (
        ("plain", False, False),
        ("averaged", False, True),
        ("voted", True, True),
    ):
        values = clf.set_params(vote=vote, average=average).decision_function(X)
        found[name] = values[:, None] if values.ndim == 1 else values
    return found


def assert_equal(actual: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, values in wanted.items():
        scale = max(1.0, np.abs(values).max(initial=0.0))
        np.testing.assert_allclose(actual[name], values, rtol=0, atol=1e-9 * scale, err_msg=name)


# ---------------------------------------------------------------- against the reference


@pytest.mark.parametrize("kernel", TREE_KERNELS, ids=repr)
@n_examples(15)
@given(
    trees=forests(min_size=6, max_size=14, max_nodes=10),
    rng=RNG,
    n_classes=st.integers(2, 3),
    margin=st.sampled_from([0.0, 0.37]),
    n_epochs=st.integers(1, 3),
    weighted=st.booleans(),
)
def test_trees(
    kernel: Any,
    trees: list[Any],
    rng: Random,
    n_classes: int,
    margin: float,
    n_epochs: int,
    weighted: bool,
) -> None:
    forest = Forest(texts_of(trees))
    X, X_new = forest[:-3], forest[-3:]
    y = [i % n_classes for i in range(len(X))]
    rng.shuffle(y)
    weights = [rng.choice([0.0, 0.5, 1.0, 2.25]) for _ in y] if weighted else [1.0] * len(y)
    if not any(weights):
        weights[0] = 1.0
    wanted = expected(
        kernel,
        X,
        y,
        X_new,
        order=[*range(len(y))] * n_epochs,
        margin=margin,
        example_weights=weights,
    )
    for engine in ENGINES:
        clf = TreePerceptron(kernel, margin=margin, n_epochs=n_epochs, engine=engine, shuffle=False)
        clf.fit(X, y, sample_weight=weights)
        assert_equal(decisions(clf, X_new), wanted)


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=repr)
@n_examples(15)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3), n_epochs=st.integers(1, 2))
def test_vectors(kernel: Any, seed: int, n_classes: int, n_epochs: int) -> None:
    rng = np.random.default_rng(seed)
    X, X_new = random_vectors(rng, 15), random_vectors(rng, 4)
    y = rng.permutation(np.arange(15) % n_classes).tolist()
    wanted = expected(kernel, X, y, X_new, order=[*range(15)] * n_epochs)
    for engine in engines_of(kernel):
        for form in (lambda m: m, lambda m: m.toarray()):
            clf = TreePerceptron(kernel, n_epochs=n_epochs, engine=engine, shuffle=False).fit(
                form(X), y
            )
            assert_equal(decisions(clf, form(X_new)), wanted)


@pytest.mark.parametrize("kernel", SUMS, ids=repr)
@n_examples(15)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3))
def test_sums(kernel: Any, seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    trees = Forest(texts_of(random_trees(seed, 20)))
    X = Examples(tree=trees[:15], features=random_vectors(rng, 15))
    X_new = Examples(tree=trees[15:], features=random_vectors(rng, 5))
    y = rng.permutation(np.arange(15) % n_classes).tolist()
    wanted = expected(kernel, X, y, X_new, order=[*range(15)])
    for engine in engines_of(kernel):
        clf = TreePerceptron(kernel, engine=engine, shuffle=False).fit(X, y)
        assert_equal(decisions(clf, X_new), wanted)
        dense = Examples(tree=X_new["tree"], features=X_new["features"].toarray())
        assert_equal(decisions(clf.partial_fit(X[:1], y[:1], sample_weight=0.0), dense), wanted)


def test_the_order_of_each_epoch_is_drawn() -> None:
    X, y = sentences(40)
    rng = np.random.RandomState(5)
    order = [i for _ in range(3) for i in rng.permutation(40)]
    wanted = expected(SubsetTree(), X, y.tolist(), X[:10], order=order)
    for engine in ENGINES:
        clf = TreePerceptron(n_epochs=3, shuffle=True, random_state=5, engine=engine).fit(X, y)
        assert_equal(decisions(clf, X[:10]), wanted)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_intercept_is_a_constant_feature(engine: Any) -> None:
    X, y = sentences(60, 3)
    wanted = expected(SubsetTree() + 1, X, y.tolist(), X[:10], order=[*range(60)])
    clf = TreePerceptron(fit_intercept=True, engine=engine, shuffle=False).fit(X, y)
    assert_equal(decisions(clf, X[:10]), wanted)


# ---------------------------------------------------------------- batches


def state(clf: TreePerceptron) -> list[Any]:
    """All that a perceptron has learnt, as bytes."""
    support, log = clf.model_.plain()
    arrays = [log.support, log.problem, log.amount, log.time, log.errors]
    return [a.tobytes() for a in arrays] + [log.n_seen, log.n_errors, clf.n_nodes_, repr(support)]


@pytest.mark.parametrize("kernel", [*TREE_KERNELS[::2], *SUMS], ids=repr)
def test_batches_of_any_size_give_the_same_bytes(kernel: Any) -> None:
    X, y = sentences(80, 3)
    if kernel not in TREE_KERNELS:
        X = Examples(tree=X, features=random_vectors(np.random.default_rng(0), 80))
    results = []
    for size in (1, 7, 80):
        clf = TreePerceptron(kernel, shuffle=False)
        for first in range(0, 80, size):
            part = slice(first, first + size)
            clf.partial_fit(X[part], y[part], classes=[0, 1, 2])
        results.append((clf.decision_function(X).tobytes(), *state(clf)))
    assert results[0] == results[1] == results[2]
    whole = TreePerceptron(kernel, engine="online", shuffle=False).fit(X, y)
    assert (whole.decision_function(X).tobytes(), *state(whole)) == results[0]


def test_forests_built_apart_give_the_same_bytes() -> None:
    X, y = sentences(60, 2)
    texts = list(map(str, X))
    a, b = (
        TreePerceptron(PartialTree(), shuffle=False),
        TreePerceptron(PartialTree(), shuffle=False),
    )
    for first in range(0, 60, 6):
        a.partial_fit(X[first : first + 6], y[first : first + 6], classes=[0, 1])
        b.partial_fit(texts[first : first + 6], y[first : first + 6], classes=[0, 1])
    assert a.decision_function(X).tobytes() == b.decision_function(texts).tobytes()
    assert state(a) == state(b)


def test_scoring_does_not_grow_the_model() -> None:
    X, y = sentences(40)
    clf = TreePerceptron(engine="online", shuffle=False).fit(X, y)
    before = state(clf)
    clf.decision_function(["(X (Y z))", "(S (NP (D new) (N words)))"])
    assert state(clf) == before
    assert clf.partial_fit(X[:1], clf.predict(X[:1])).n_nodes_ == clf.n_nodes_


def test_learning_goes_on_after_fit() -> None:
    X, y = sentences(60, 3)
    online = (
        TreePerceptron(engine="online", shuffle=False)
        .fit(X[:40], y[:40])
        .partial_fit(X[40:], y[40:])
    )
    factors = (
        TreePerceptron(engine="factors", shuffle=False)
        .fit(X[:40], y[:40])
        .partial_fit(X[40:], y[40:])
    )
    assert state(online) == state(factors)
    assert online.decision_function(X).tobytes() == factors.decision_function(X).tobytes()


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize("engine", ENGINES)
def test_figures(engine: Any) -> None:
    X, y = sentences(40)
    clf = TreePerceptron(n_epochs=2, engine=engine, shuffle=False).fit(X, y)
    assert clf.n_seen_ == 80
    assert clf.error_history_.tolist() == [clf.n_errors_]
    assert clf.n_errors_ == clf.n_updates_  # of two classes, without a margin
    support, log = clf.model_.plain()
    assert clf.n_support_vectors_ == len(support) == len(set(log.support.tolist()))
    assert clf.n_nodes_ == support.n_subtrees
    assert clf.n_tree_nodes_ == support.n_nodes
    assert clf.n_forgotten_ == 0
    assert clf.dual_coef_.shape == (1, clf.n_support_vectors_)


def test_errors_of_each_thousand_are_told() -> None:
    X, y = sentences(700)
    clf = TreePerceptron(n_epochs=3, shuffle=False).fit(X, y)
    assert len(clf.error_history_) == 3
    assert clf.error_history_.sum() == clf.n_errors_
    online = TreePerceptron(n_epochs=3, engine="online", shuffle=False).fit(X, y)
    assert online.error_history_.tolist() == clf.error_history_.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_ties_of_classes_are_errors(engine: Any) -> None:
    """Trees that share nothing with those before have a score of 0 for each class."""
    trees = ["(a b)", "(c d)", "(e f)"]
    clf = TreePerceptron(engine=engine, shuffle=False).fit(trees, [0, 1, 2])
    assert (clf.n_errors_, clf.error_history_.tolist()) == (3, [3])


def test_progress_tells_the_share_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Bar:
        n = 0
        desc = ""

        def __init__(self, **_: Any) -> None:
            pass

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, _: int) -> None:
            shown.append(self.desc)

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with learning_bar("learning", 40, show=True) as tell:
        assert tell is not None
        tell(10, 4)
        tell(40, 10)
    assert shown == ["learning, 40.0% wrong", "learning, 25.0% wrong"]


# ---------------------------------------------------------------- bounded models


@pytest.mark.parametrize("forget", ["oldest", "lightest"])
def test_a_bounded_model_forgets(forget: Any) -> None:
    X, y = sentences(400)
    y = np.random.default_rng(0).integers(0, 2, 400)  # nothing to learn, much to keep
    clf = TreePerceptron(max_nodes=60, forget=forget, shuffle=False)
    most = 0
    for first in range(0, 400, 10):
        clf.partial_fit(X[first : first + 10], y[first : first + 10], classes=[0, 1])
        most = max(most, clf.n_nodes_)
    assert 30 < most <= 60
    assert clf.n_forgotten_ > 0
    support, log = clf.model_.plain()
    assert clf.n_support_vectors_ == len(support) == log.support.max() + 1
    # It is the model of those that are left.
    coef = log.coef(1, len(support), averaged=True)[0]
    wanted = SubsetTree()(X[:20], support) @ coef
    np.testing.assert_allclose(clf.decision_function(X[:20]), wanted, atol=1e-9)
    if forget == "oldest":
        unbounded = TreePerceptron(shuffle=False).partial_fit(X[:1], y[:1], classes=[0, 1])
        assert log.time.min() > unbounded.n_seen_
    whole = TreePerceptron(max_nodes=60, forget=forget, shuffle=False).fit(X, y)
    assert state(whole) == state(clf)


def test_the_lightest_leave_first() -> None:
    trees = ["(a (b c))", "(d (e f))", "(g (h i))"]
    clf = TreePerceptron(max_nodes=8, forget="lightest", shuffle=False)
    clf.fit(trees, [0, 1, 0], sample_weight=[3.0, 1.0, 2.0])
    assert list(map(str, clf.model_.plain()[0])) == [trees[0], trees[2]]
    clf.set_params(forget="oldest").fit(trees, [0, 1, 0], sample_weight=[3.0, 1.0, 2.0])
    assert list(map(str, clf.model_.plain()[0])) == trees[1:]


def test_as_many_stay_as_fit() -> None:
    trees = ["(a (b c))", "(d (e f))", "(g (h i))", "(j (k l))"]
    clf = TreePerceptron(max_nodes=10, shuffle=False).fit(trees, [0, 1, 0, 1])
    assert list(map(str, clf.model_.plain()[0])) == trees[1:]  # nine tenths of 10 nodes


def test_a_tree_larger_than_the_bound_leaves_at_once() -> None:
    clf = TreePerceptron(max_nodes=3, shuffle=False).fit(["(a (b c d))", "(e f)"], [0, 1])
    assert list(map(str, clf.model_.plain()[0])) == ["(e f)"]
    assert clf.n_forgotten_ == 1


def test_pairs_are_learnt_by_factors() -> None:
    trees = Forest(texts_of(random_trees(3, 40)))
    X = Examples(first=trees[:20], second=trees[20:])
    kernel = AllPairs(SubsetTree(), parts=("first", "second"))
    y = [0, 1] * 8
    wanted = expected(kernel, X[:16], y, X[16:], order=[*range(16)])
    clf = TreePerceptron(kernel, shuffle=False).fit(X[:16], y)
    assert clf.engine_ == "factors"
    assert_equal(decisions(clf, X[16:]), wanted)
    with pytest.raises(InvalidParameterError, match="learning online needs a sum"):
        clf.partial_fit(X[:16], y)
