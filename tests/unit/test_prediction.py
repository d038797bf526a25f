"""Scoring new trees: by rows, by factors and by pairs, against the plain programs."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Barrier
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from filbert import Forest, TreeSVC, load, read_examples, save
from filbert.engine.tree_scorer import Method, TreeScorer
from filbert.errors import (
    CapacityError,
    InvalidParameterError,
    KernelOverflowError,
    TooExpensiveError,
)
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.model import SupportVectorModel
from tests.profiles import n_examples
from tests.reference.matrix import reference_matrix
from tests.reference.trees import Node, parse, write
from tests.strategies import DISJOINT, forests, random_forest, random_trees

Array = npt.NDArray[Any]
KERNELS: list[TreeKernel] = [
    SubsetTree(),
    SubsetTree(1.0, include_leaves=True),
    SubsetTree(0.3, normalize=False),
    SubsetTree(1e-9, include_leaves=True, normalize=False),
    Subtree(0.7),
    Subtree(0.2, normalize=False),
]


def model_of(kernel: TreeKernel, support: list[str], n_problems: int = 1) -> SupportVectorModel:
    rng = np.random.default_rng(len(support))
    coef = rng.normal(size=(n_problems, len(support)))
    return SupportVectorModel(kernel, Forest(support), coef, rng.normal(size=n_problems))


@pytest.mark.parametrize("normalize", [True, False])
def test_every_node_of_a_tree_counts(normalize: bool) -> None:
    """In trees of 45 to 210 distinct nodes, and with each kind of node in each place."""
    kernel = SubsetTree(0.5, normalize=normalize)
    parts = [f"(A{i} (B{i} c{i}))" for i in range(70)]
    model = model_of(kernel, [f"(S {' '.join(parts)})", *parts], 2)
    trees = [
        f"(T {before} {' '.join(parts[:n])})" for n in range(15, 71) for before in ("", "x", "x y")
    ]
    by_rows, by_pairs = (model.decision_function(trees, method=m) for m in ("rows", "pairs"))
    np.testing.assert_allclose(by_rows, by_pairs, rtol=1e-10, atol=1e-10)


def tree_scorer(model: SupportVectorModel) -> TreeScorer:
    [scorer] = model.__dict__["_scorers"]
    assert isinstance(scorer, TreeScorer)
    return scorer


def check_close(model: SupportVectorModel, values: Array, K: Array) -> None:
    """Equal to 1e-10 of the sum of the sizes of what is added up."""
    error = np.abs(values - (K @ model.coef.T + model.intercept))
    assert (error <= 1e-10 * (K @ np.abs(model.coef.T) + np.abs(model.intercept))).all()


# ---------------------------------------------------------------- values


@n_examples(60)
@given(forests(max_size=6), forests(max_size=4), st.sampled_from(KERNELS))
def test_values_are_those_of_the_papers(
    support: list[Node], new: list[Node], kernel: TreeKernel
) -> None:
    model = model_of(kernel, list(map(write, support)), 3)
    K = reference_matrix(kernel, new, support)
    texts = list(map(write, new))
    check_close(model, model.decision_function(texts, method="rows"), K)
    check_close(model, model.contributions(texts).sums() + model.intercept, K)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_problems", [1, 4])
def test_all_ways_agree(kernel: TreeKernel, n_problems: int) -> None:
    nodes = random_trees(3, 300, 25)
    model = model_of(kernel, [write(tree) for tree in nodes[:200]], n_problems)
    X = Forest(write(tree) for tree in nodes[150:])
    K = kernel(X, model.support)
    for method in get_args(Method):
        check_close(model, model.decision_function(X, method=method), K)


@pytest.mark.shared
def test_predicate_argument_trees(shared_dir: Path) -> None:
    X, y = read_examples(shared_dir / "data/srl-5000/dataset_5000.dat.xz")
    X = X["tree"]
    svm = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X[:4000], y[:4000])
    model, X = svm.model_, X[3500:]
    check_close(
        model,
        model.decision_function(X, method="rows"),
        SubsetTree()(X, model.support),
    )
    np.testing.assert_allclose(
        model.decision_function(X, method="rows"),
        model.decision_function(X, method="factors"),
        rtol=0,
        atol=1e-10 * np.abs(model.coef).sum(),
    )


def test_the_same_bytes_wherever_trees_come_from() -> None:
    texts = [write(tree) for tree in random_trees(5, 400, 25)]
    model = model_of(SubsetTree(), texts[:100], 2)
    expected = model.decision_function(texts[100:], method="rows", n_jobs=1)
    assert model.decision_function(texts[100:], method="rows", n_jobs=3).tobytes() == (
        expected.tobytes()
    )
    one_by_one = [model.decision_function([text]) for text in texts[100:]]
    assert np.concatenate(one_by_one).tobytes() == expected.tobytes()
    whole = Forest(reversed(texts))
    reverse = model.decision_function(whole[:300], method="rows")[::-1]
    assert np.ascontiguousarray(reverse).tobytes() == expected.tobytes()


def test_work_for_threads_gives_the_same_bytes() -> None:
    rng = Random(1)
    texts = [write(tree) for tree in random_forest(rng, 1500, 60, DISJOINT)]
    model = model_of(SubsetTree(), texts[:1000], 3)
    one = model.decision_function(texts, method="rows", n_jobs=1)
    four = model.decision_function(texts, method="rows", n_jobs=4)
    assert one.tobytes() == four.tobytes()
    parts = [model.contributions(texts[:300], n_jobs=n) for n in (1, 4)]
    assert parts[0].value.tobytes() == parts[1].value.tobytes()


# ---------------------------------------------------------------- the edges


def test_unseen_labels_and_single_nodes() -> None:
    for kernel in (SubsetTree(include_leaves=True), SubsetTree(), Subtree()):
        model = model_of(kernel, ["(S (NP a) (VP b))", "(S (NP a) c)", "(a)", "(S b)"], 2)
        new = [
            "(a)",
            "(z)",
            "(Z (Y x))",
            "(S (Z a) (VP b))",
            "(S (NP z) (VP b))",
            "(NP a)",
            "(a a)",
        ]
        check_close(model, model.decision_function(new, method="rows"), kernel(new, model.support))
        assert model.decision_function(["(z)"]).tolist() == [model.intercept.tolist()]
        assert len(model.contributions(["(Z (Y x))"])) == 0


def test_models_without_support_or_problems() -> None:
    empty = SupportVectorModel(SubsetTree(), Forest([]), np.zeros((2, 0)), np.array([1.0, -2.0]))
    assert empty.decision_function(["(a b)"]).tolist() == [[1.0, -2.0]]
    assert empty.contributions(["(a b)"]).sums().tolist() == [[0.0, 0.0]]
    none = SupportVectorModel(SubsetTree(), Forest(["(a b)"]), np.zeros((0, 1)), np.zeros(0))
    assert none.decision_function(["(a b)", "(a c)"]).shape == (2, 0)
    model = model_of(SubsetTree(), ["(a b)"])
    assert model.decision_function([]).shape == (0, 1)
    assert model.contributions([]).value.shape == (0, 1)
    zero = SupportVectorModel(SubsetTree(), Forest(["(a b)"]), np.zeros((1, 1)), np.zeros(1))
    assert zero.decision_function(["(a b)"]).tolist() == [[0.0]]


def wide(n: int, word: str) -> str:
    return "(S " + f"(A (B b) (C {word})) " * n + ")"


@pytest.mark.parametrize("decay", [1e-250, 0.4, 1.0])
def test_values_beyond_the_range_of_double(decay: float) -> None:
    kernel = SubsetTree(decay)
    large = [wide(1500, "c"), wide(1499, "c"), wide(1500, "d"), f"(T {wide(1500, 'c')} (A a))"]
    small = ["(A (B b) (C c))", "(C d)"]
    for support in (large + small, small):
        model = model_of(kernel, support, 2)
        K = kernel(large + small, model.support)
        check_close(model, model.decision_function(large + small, method="rows"), K)
        check_close(model, model.contributions(large + small).sums() + model.intercept, K)


def test_values_that_no_double_holds() -> None:
    model = model_of(SubsetTree(1.0, normalize=False), [wide(1500, "c")])
    with pytest.raises(KernelOverflowError, match="tree 1 "):
        model.decision_function(["(C c)", wide(1500, "c")])


def chain(n: int, label: str = "A") -> Forest:
    """(A (A ... a)), without a text of that depth."""
    size = n + 1
    arrays: dict[str, Array] = {
        "label_bytes": np.frombuffer(f"{label}a".encode(), np.uint8),
        "label_ends": np.array([len(label), len(label) + 1], np.uint64),
        "node_labels": np.array([1] + [0] * n, np.uint32),
        "child_ends": np.arange(size, dtype=np.uint64),
        "children": np.arange(n, dtype=np.uint32),
        "roots": np.array([n], np.uint32),
    }
    return Forest.from_arrays(arrays)


def test_long_chains() -> None:
    support = Forest.concat([chain(100_000), chain(60_000), Forest(["(A (A (A a)))", "(B a)"])])
    coef = np.array([[1.0, -0.5, 0.25, 2.0]])
    model = SupportVectorModel(SubsetTree(1.0), support, coef, np.zeros(1))
    check_close(
        model, model.decision_function(chain(80_000), method="rows"),
        SubsetTree(1.0)(chain(80_000), support),
    )  # fmt: skip
    with pytest.raises(TooExpensiveError, match="tree 0"):
        model.contributions(chain(200_000))
    assert len(model.contributions(chain(200_000, "Z"))) == 0  # nothing of it is known


def test_a_tree_of_too_many_nodes() -> None:
    arrays: dict[str, Array] = {
        "label_bytes": np.frombuffer(b"A", np.uint8),
        "label_ends": np.array([1], np.uint64),
        "node_labels": np.zeros(40, np.uint32),
        "child_ends": np.arange(0, 80, 2, dtype=np.uint64),
        "children": np.repeat(np.arange(39, dtype=np.uint32), 2),
        "roots": np.array([3, 39], np.uint32),
    }
    doubling = Forest.from_arrays(arrays)
    model = model_of(SubsetTree(), ["(A A A)"])
    assert np.isfinite(model.decision_function(doubling[:1])).all()
    with pytest.raises(CapacityError, match="tree 1 "):
        model.decision_function(doubling)


# ---------------------------------------------------------------- contributions


def test_contributions_by_hand() -> None:
    kernel = SubsetTree(0.5, normalize=False)
    support = Forest(["(S (A a) (B b))"])
    model = SupportVectorModel(kernel, support, np.array([[2.0], [-1.0]]), np.array([7.0, 7.0]))
    parts = model.contributions(["(S (A a) (B c))", "(Z (A a) (A a))"])
    found = [
        (int(parts.tree[i]), str(parts.node(i)), int(parts.count[i]), parts.value[i].tolist())
        for i in range(len(parts))
    ]
    assert found == [
        (0, "(A a)", 1, [1.0, -0.5]),
        (0, "(S (A a) (B c))", 1, [1.5, -0.75]),  # 0.5 (1 + 0.5) for the root's fragments
        (1, "(A a)", 2, [1.0, -0.5]),
    ]
    assert parts.sums().tolist() == [[2.5, -1.25], [2.0, -1.0]]


@pytest.mark.parametrize("kernel", [SubsetTree(), SubsetTree(1.0, include_leaves=True), Subtree()])
def test_contributions_of_many_trees(kernel: TreeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    support = [*map(write, random_trees(1, 80, 20)), wide(1200, "b")]
    trees = Forest([*map(write, random_trees(2, 120, 20)), *support[:5], support[-1]])
    model = model_of(kernel, support, 3)
    by_rows = model.contributions(trees)
    monkeypatch.setattr("filbert.engine.tree_scorer._MANY", 0)
    by_factors = model.contributions(trees)
    scores = model.decision_function(trees, method="pairs") - model.intercept
    size = np.abs(model.coef).sum()
    for parts in by_rows, by_factors:
        np.testing.assert_allclose(parts.sums(), scores, rtol=1e-10, atol=1e-10 * size)
    expected = {
        (int(t), str(by_rows.node(i))): value
        for i, (t, value) in enumerate(zip(by_rows.tree, by_rows.value, strict=True))
    }
    found = {
        (int(t), str(by_factors.node(i))): value
        for i, (t, value) in enumerate(zip(by_factors.tree, by_factors.value, strict=True))
    }
    assert len(found) == len(by_factors)
    for entry in {*expected, *found}:  # one that is left out adds nothing
        values = found.get(entry, np.zeros(3)), expected.get(entry, np.zeros(3))
        np.testing.assert_allclose(*values, rtol=1e-10, atol=1e-10 * size)


@pytest.mark.parametrize("normalize", [True, False])
def test_partial_trees(normalize: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [write(tree) for tree in random_trees(4, 40, 15)]
    kernel = PartialTree(penalty="gaps", normalize=normalize)
    model = model_of(kernel, texts[:25])
    K = kernel(texts, model.support)
    monkeypatch.setattr("filbert.engine.in_parts._PAIRS_BYTES", 8 * 25 * 7)  # seven trees at a time
    for method in get_args(Method):
        check_close(model, model.decision_function(texts, method=method), K)
    check_close(model, model.contributions(texts).sums() + model.intercept, K)


@pytest.mark.parametrize(
    ("steps", "ways"),
    [(1.0, ["_by_rows"]), (100.0, ["_by_factors", "_by_rows"]), (1e12, ["_by_factors"])],
)
def test_partial_trees_by_what_they_take(
    steps: float, ways: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Factors that take too much work are given up."""
    taken: list[str] = []

    def noted(name: str) -> Callable[..., Array]:
        method: Callable[..., Array] = getattr(TreeScorer, name)

        def way(*arguments: Any) -> Array:
            taken.append(name)
            return method(*arguments)

        return way

    for name in ("_by_rows", "_by_factors"):
        monkeypatch.setattr(TreeScorer, name, noted(name))
    texts = [write(tree) for tree in random_trees(4, 60, 15)]
    model = model_of(PartialTree(), texts[:40])
    monkeypatch.setattr("filbert.engine.tree_scorer.LITTLE_WORK", 5.0)
    monkeypatch.setattr("filbert.engine.tree_scorer.row_steps_between", lambda *_: steps)
    check_close(model, model.decision_function(texts), PartialTree()(texts, model.support))
    assert taken == ways


@pytest.mark.parametrize("penalty", ["span", "gaps"])
@pytest.mark.parametrize("decays", [(1.0, 1.0), (0.4, 1e-210), (1e-80, 1e-50)], ids=str)
def test_norms_of_partial_trees_that_no_double_holds(
    decays: tuple[float, float], penalty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Norms are then part of the factors, also those of trees that have ordinary ones."""
    few = ["(S (A (B b) (C c)) (A (B b)))", "(A (B b) (C d))", "(S (C c))", "(D d)"]
    large = [wide(400, "c"), wide(399, "c"), f"(T {wide(400, 'c')} (A a))"]
    support, new = [*few[:2], *large[:2]], [*few, *large[1:]]
    kernel = PartialTree(*decays, penalty=penalty)
    model = model_of(kernel, support, 2)
    with pytest.raises(KernelOverflowError):
        tree_scorer(model)._between_factors(Forest(new), 1, None)
    K = kernel(new, support)
    nodes = list(map(parse, few))
    np.testing.assert_allclose(K[:4, :2], reference_matrix(kernel, nodes, nodes[:2]), rtol=1e-10)
    monkeypatch.setattr(
        "filbert.engine.tree_scorer.LITTLE_WORK", 0.0
    )  # so that "auto" tries factors
    for method in get_args(Method):
        check_close(model, model.decision_function(new, method=method), K)


def test_partial_trees_whose_kernel_with_themselves_no_double_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Scores against small support vectors are ordinary numbers all the same."""
    kernel = PartialTree(1.0, 1.0, normalize=False)
    model = model_of(kernel, ["(S (A (B b)))", "(A (B b) (C c))"])
    new = [wide(400, "c"), "(A (B b))"]
    K = kernel(new, model.support)
    check_close(model, model.decision_function(new, method="factors"), K)
    monkeypatch.setattr("filbert.engine.tree_scorer.LITTLE_WORK", 0.0)
    check_close(model, model.decision_function(new), K)


def test_callers_on_several_threads_may_share_a_model() -> None:
    """The first calls prepare the same things at the same time."""
    support = Forest(write(tree) for tree in random_trees(4, 3000, 12))
    one = support[:1]
    for _ in range(40):
        model = SupportVectorModel(PartialTree(), support, np.ones((1, 3000)), np.zeros(1))
        tree_scorer(model)._kernel_rows(1)
        begin = Barrier(4)

        def score(_: int, model: SupportVectorModel = model, begin: Barrier = begin) -> bytes:
            begin.wait()
            return model.decision_function(one, method="rows", n_jobs=1).tobytes()

        with ThreadPoolExecutor(4) as threads:
            assert len(set(threads.map(score, range(4)))) == 1


def test_an_unknown_method() -> None:
    with pytest.raises(InvalidParameterError, match="'rows', 'pairs' or 'factors'"):
        model_of(SubsetTree(), ["(a b)"]).decision_function(["(a b)"], method="best")  # type: ignore[arg-type]


# ---------------------------------------------------------------- copies


def test_the_scorer_is_kept_but_not_copied(tmp_path: Path) -> None:
    texts = [write(tree) for tree in random_trees(2, 60, 15)]
    y = np.arange(60) % 2
    svm = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(texts, y)
    expected = svm.decision_function(texts)
    scorer = tree_scorer(svm.model_)._node_scorer(1)
    assert tree_scorer(svm.model_)._node_scorer(1) is scorer
    save(svm, tmp_path / "model")
    for other in (
        copy.deepcopy(svm),
        pickle.loads(pickle.dumps(svm)),
        load(tmp_path / "model"),
        clone(svm).fit(texts, y),
    ):
        assert tree_scorer(other.model_)._node_scorer(1) is not scorer
        assert other.decision_function(texts).tobytes() == expected.tobytes()
