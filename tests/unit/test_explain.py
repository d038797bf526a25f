"""Explanations: what nodes add sums to the score, and all that is told is so."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, confusion_matrix, f1_score
from sklearn.model_selection import GridSearchCV

from filbert import (
    Examples,
    Explanation,
    Forest,
    TreePerceptron,
    TreeSVC,
    explain,
    load,
    read_examples,
    save,
)
from filbert.engine.tree_scorer import TreeScorer
from filbert.errors import (
    InexactExplanationError,
    InputTypeError,
    InvalidParameterError,
    ParseError,
    WorkLimitError,
)
from filbert.explanations.measures import measures
from filbert.explanations.nodes import check_sums, deviation, node_scores
from filbert.explanations.view import view_of
from filbert.fragments import mine
from filbert.kernels import (
    AllPairs,
    ApproximateTree,
    EachPart,
    Kernel,
    Linear,
    PartialTree,
    Polynomial,
    SubsetTree,
    Subtree,
    TreeKernel,
)
from filbert.model import SupportVectorModel
from tests.profiles import n_examples
from tests.reference import kernels as reference
from tests.reference.trees import Node, nodes, write
from tests.strategies import random_trees

KERNELS = [
    SubsetTree(),
    SubsetTree(0.3, normalize=False),
    SubsetTree(include_leaves=True),
    SubsetTree(0.3, include_leaves=True, normalize=False),
    Subtree(),
    Subtree(normalize=False),
    PartialTree(),
    PartialTree(0.3, normalize=False),
    PartialTree(penalty="gaps", max_subsequence=3),
]

TEXTS = [write(tree) for tree in random_trees(seed=7, n=1000, max_nodes=16)]
FOREST = Forest(TEXTS)
LABELS = np.array([("few", "some", "many")[min(tree.n_nodes // 5, 2)] for tree in FOREST])
IS_FEW = np.where(LABELS == "few", "yes", "no")
N = 120  # for training


def largest_deviation(model: Any, X: Any) -> float:
    """How far sums are from what decision_function says, in parts of what is added up."""
    view = view_of(model)
    rows = view.rows(X)
    scores = model.decision_function(X).reshape(rows.shape[0], -1)
    parts = node_scores(view.term_scores(rows, None), rows.shape[0])
    return max(
        deviation(own, view.model.intercept, score)
        for own, score in zip(parts, scores, strict=True)
    )


# ---------------------------------------------------------------- contributions


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_contributions_sum_to_the_scores(kernel: TreeKernel) -> None:
    svm = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(FOREST[:N], LABELS[:N])
    assert largest_deviation(svm, FOREST) < 1e-9


@pytest.mark.shared
@pytest.mark.parametrize(
    "kernel", [SubsetTree(), SubsetTree(include_leaves=True), Subtree(), PartialTree()], ids=repr
)
def test_contributions_sum_to_the_scores_of_questions(kernel: TreeKernel, shared_dir: Path) -> None:
    X, y = read_examples(shared_dir / "data/qc/constituency_train.tsv.xz")
    svm = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(X[:300], y[:300])
    assert largest_deviation(svm, X[-1000:]) < 1e-9


@pytest.mark.parametrize(
    "learner",
    [
        TreeSVC(SubsetTree(), engine="rows", C=1.0, loss="hinge"),
        TreeSVC(SubsetTree(), engine="factors", fit_intercept=False, C=1.0, loss="hinge"),
        TreeSVC(PartialTree(), engine="rows", C=1.0, loss="hinge"),
        TreeSVC(PartialTree(), engine="factors", C=1.0, loss="hinge"),
        TreeSVC(SubsetTree(), strategy="usvm", sample_size=50, tol=0.1, C=1.0),
        TreeSVC(SubsetTree(), strategy="sdag", sample_size=50, tol=0.1, C=1.0),
        TreeSVC(PartialTree(), strategy="sdag+", sample_size=50, tol=0.1, C=1.0),
        TreeSVC(SubsetTree(), loss="squared_hinge", C=1.0),
        TreePerceptron(),
        TreePerceptron(engine="online", average=False, fit_intercept=True),
        TreePerceptron(PartialTree(normalize=False), engine="online", max_nodes=300),
    ],
    ids=repr,
)
@pytest.mark.parametrize("labels", [LABELS, IS_FEW], ids=["three classes", "two classes"])
def test_all_learners_can_be_explained(learner: Any, labels: NDArray[Any]) -> None:
    if isinstance(learner, TreeSVC):
        learner.set_params(random_state=0)
    learner.fit(FOREST[:60], labels[:60])
    X = FOREST[60:90]
    explanation = explain(learner, X, labels[60:90], top=0, max_examples=None)
    assert largest_deviation(learner, X) < 1e-9
    scores = learner.decision_function(X).reshape(len(X), -1)
    assert [example.scores for example in explanation.examples] == [*map(tuple, scores.tolist())]
    assert [e.predicted for e in explanation.examples] == learner.predict(X).tolist()
    assert Explanation.from_json(explanation.to_json()) == explanation


def delta_sums(kernel: Any, tree: Node, others: list[Node], weights: list[float]) -> list[float]:
    """By node in preorder: the kernel of that node alone with all nodes of the others."""

    def total(node: Node) -> float:
        return sum(w * by_reference(kernel, node, o) for w, o in zip(weights, others, strict=True))

    whole = {id(node): total(node) for node in nodes(tree)}
    return [whole[id(n)] - sum(whole[id(c)] for c in n.children) for n in preorder(tree)]


def preorder(tree: Node) -> list[Node]:
    found, stack = [], [tree]
    while stack:
        found.append(stack.pop())
        stack.extend(reversed(found[-1].children))
    return found


def by_reference(kernel: Any, a: Node, b: Node) -> float:
    if isinstance(kernel, PartialTree):
        return float(reference.partial_tree(a, b, kernel.decay, kernel.depth_decay))
    if isinstance(kernel, Subtree):
        return float(reference.subtree(a, b, kernel.decay))
    return float(reference.subset_tree(a, b, kernel.decay, kernel.include_leaves))


@n_examples(15)
@given(
    st.sampled_from([k for k in KERNELS if not k.normalize]),
    st.integers(0, 10**6),
    st.lists(st.floats(-2, 2), min_size=4, max_size=4),
)
def test_each_node_adds_what_the_definition_says(
    kernel: TreeKernel, seed: int, weights: list[float]
) -> None:
    tree, *others = random_trees(seed=seed, n=5, max_nodes=9)
    model = SupportVectorModel(
        kernel, Forest([write(o) for o in others]), np.array([weights]), np.array([0.25])
    )
    explanation = explain(model, [write(tree)], top=0)
    [example] = explanation.examples
    expected = delta_sums(kernel, tree, others, weights)
    assert example.contributions[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert example.tree.labels == tuple(node.label for node in preorder(tree))


def test_partial_trees_with_too_many_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where factorising is given up, contributions are the same."""
    for kernel in (PartialTree(), PartialTree(0.3, normalize=False)):
        svm = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(FOREST[:60], LABELS[:60])
        X = FOREST[60:80]
        expected = explain(svm, X, top=0)
        monkeypatch.setattr(
            TreeScorer,
            "_contributions_by_factors",
            lambda self, trees, n_jobs, _: self._contributions_by_subtrees(trees, n_jobs),
        )
        found = explain(svm, X, top=0)
        monkeypatch.undo()
        for a, b in zip(found.examples, expected.examples, strict=True):
            assert a.tree == b.tree
            np.testing.assert_allclose(a.contributions, b.contributions, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(
    "kernel", [PartialTree(), ApproximateTree(PartialTree(), ["NP", "VP", "S"])], ids=repr
)
def test_contributions_of_partial_trees_have_a_work_limit(
    kernel: TreeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of long trees would take for ever by factors, whichever nodes may be roots."""
    model = (
        TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(FOREST[:60], LABELS[:60]).model_
    )
    X = FOREST[60:80]
    expected = model.contributions(X)
    limits: list[float | None] = []

    def noted(*arguments: Any, max_work: float | None = None, **options: Any) -> Any:
        limits.append(max_work)
        raise WorkLimitError(1.0)

    monkeypatch.setattr("filbert.engine.tree_scorer.factorize", noted)
    found = model.contributions(X)
    assert [limit is not None for limit in limits] == [True]
    np.testing.assert_allclose(found.sums(), expected.sums(), rtol=1e-9, atol=1e-13)


def test_sums_that_are_wrong_are_found() -> None:
    svm = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(FOREST[:N], IS_FEW[:N])
    view = view_of(svm)
    [own] = node_scores(view.term_scores(FOREST[:1], None), 1)
    check_sums(own, view.model.intercept, svm.decision_function(FOREST[:1]), 0)
    with pytest.raises(InexactExplanationError, match="example 0"):
        check_sums(own, view.model.intercept, svm.decision_function(FOREST[:1]) + 1e-6, 0)


def test_the_number_of_threads_changes_nothing() -> None:
    svm = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(FOREST[:N], LABELS[:N])
    one, four = (explain(svm, FOREST[:50], LABELS[:50], top=5, n_jobs=n) for n in (1, 4))
    assert one.to_json() == four.to_json()


# ---------------------------------------------------------------- sums of kernels


@pytest.fixture(scope="module")
def examples() -> Examples:
    features = np.array([[tree.n_nodes, tree.depth, 1.0] for tree in FOREST[:90]])
    return Examples(tree=FOREST[:90], other=FOREST[90:180], features=features)


SUMS: list[tuple[Kernel, list[str]]] = [
    (SubsetTree().on("tree"), []),
    (SubsetTree().on("tree") + PartialTree().on("tree"), []),
    (SubsetTree().on("tree") + 0.5 * Polynomial(2).on("features"), ["tree", "features"]),
    (EachPart(SubsetTree(), ["tree", "other"]), ["tree", "other"]),
    (AllPairs(PartialTree(), ["tree", "other"]), ["tree", "other"]),
    (
        (SubsetTree(normalize=False).on("tree") + Linear().on("features") + 2.0).normalized(),
        ["tree", "features"],
    ),
]


@pytest.mark.parametrize(("kernel", "parts"), SUMS, ids=[repr(k) for k, _ in SUMS])
@pytest.mark.parametrize("learner", [TreeSVC, TreePerceptron])
def test_sums_of_kernels(
    kernel: Kernel, parts: list[str], learner: Any, examples: Examples
) -> None:
    model = learner(kernel).fit(examples[:60], LABELS[:60])
    X = examples[60:]
    explanation = explain(model, X, top=3, n_nearest=2)
    assert largest_deviation(model, X) < 1e-9
    tree = explanation.examples[0].tree
    below = [tree.labels[i] for i, parent in enumerate(tree.parents) if parent == 0]
    if parts:
        assert tree.labels[0] == "example"
        assert below == parts
    else:
        assert tree.labels == tuple(FOREST[60].to_parents()[0])
    assert Explanation.from_json(explanation.to_json()) == explanation
    for problem in explanation.problems:
        assert problem.norm > 0
        assert problem.for_[0].weight > 0 > problem.against[0].weight


def test_a_vector_has_one_number(examples: Examples) -> None:
    kernel = SubsetTree().on("tree") + Linear().on("features")
    svm = TreeSVC(kernel, C=1.0, loss="hinge").fit(examples[:60], IS_FEW[:60])
    [example] = explain(svm, examples[:1], top=0).examples
    linear = svm.model_.coef @ Linear()(svm.model_.support["features"], examples["features"][:1])
    assert example.tree.labels[-1] == "features"
    assert example.contributions[0][-1] == pytest.approx(linear[0, 0])


# ---------------------------------------------------------------- what is told of a model


@pytest.fixture(scope="module")
def svm() -> TreeSVC:
    return TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(FOREST[:N], LABELS[:N])


@pytest.fixture(scope="module")
def explanation(svm: TreeSVC) -> Explanation:
    return explain(svm, FOREST[N:300], LABELS[N:300], top=10, max_examples=40)


def test_the_model_in_figures(svm: TreeSVC, explanation: Explanation) -> None:
    model = explanation.model
    assert model.learner == "TreeSVC"
    assert model.kernel == repr(SubsetTree())
    assert model.classes == ("few", "many", "some")
    assert model.n_support == len(svm.support_)
    assert model.intercept == tuple(svm.intercept_)
    assert ("C", "1.0") in model.parameters
    assert "SubsetTree" in explanation.title
    assert [(p.positive, p.negative) for p in explanation.problems] == [
        (name, "the rest") for name in model.classes
    ]


def test_two_classes_are_one_problem() -> None:
    two = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(FOREST[:60], IS_FEW[:60])
    [problem] = explain(two, top=1).problems
    assert (problem.positive, problem.negative) == ("yes", "no")


@pytest.mark.parametrize("strategy", ["exact", "sdag"])
@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree()], ids=repr)
def test_convergence(strategy: Any, kernel: TreeKernel, tmp_path: Path) -> None:
    svm = TreeSVC(kernel, strategy=strategy, random_state=0, C=1.0).fit(FOREST[:60], LABELS[:60])
    save(svm, tmp_path / "model")
    for model in (svm, load(tmp_path / "model")):
        curves = explain(model, top=0).model.convergence
        assert [curve.problem for curve in curves] == [
            f"{name} against the rest" for name in svm.classes_
        ]
        for curve in curves:
            assert curve.x_name == ("sweeps" if strategy == "exact" else "iterations")
            assert len(curve.x) == len(curve.objective) == len(curve.gap) > 1
            assert list(curve.x) == sorted(curve.x)
        assert max(curve.x[-1] for curve in curves) == svm.n_iter_
        assert sum(curve.objective[-1] for curve in curves) == pytest.approx(svm.objective_)
        assert max(curve.gap[-1] for curve in curves) == pytest.approx(svm.duality_gap_)


def test_the_errors_of_a_perceptron() -> None:
    perceptron = TreePerceptron(n_epochs=3).fit(FOREST[:500], LABELS[:500])
    [curve] = explain(perceptron, top=0).model.convergence
    assert curve.x == (1000.0, 1500.0)
    wrong = curve.objective[0] * 1000 + curve.objective[1] * 500
    assert wrong == pytest.approx(perceptron.n_errors_)
    assert (curve.gap, curve.objective_name) == ((), "share of wrong predictions")


def test_loaded_models_are_explained_alike(svm: TreeSVC, tmp_path: Path) -> None:
    save(svm, tmp_path / "model")
    loaded = load(tmp_path / "model")
    expected = explain(svm, FOREST[:20], top=5).to_dict()
    found = explain(loaded, FOREST[:20], top=5).to_dict()
    assert found == expected


def test_models_and_searches_can_be_explained(svm: TreeSVC) -> None:
    expected = explain(svm, FOREST[:3], top=2)
    by_model = explain(svm.model_, FOREST[:3], top=2)
    assert by_model.model.classes == ("0", "1", "2")
    assert [e.contributions for e in by_model.examples] == [
        e.contributions for e in expected.examples
    ]
    search = GridSearchCV(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), {"C": [1.0]}, cv=2
    )
    search.fit(FOREST[:N], LABELS[:N])
    assert explain(search, FOREST[:3], top=2) == expected


# ---------------------------------------------------------------- fragments


@pytest.mark.filterwarnings("ignore::filbert.errors.FewFragmentsWarning")
@pytest.mark.parametrize(
    "kernel", [SubsetTree(), SubsetTree(include_leaves=True), Subtree(), PartialTree()], ids=repr
)
def test_fragments_for_and_against(kernel: TreeKernel) -> None:
    svm = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(FOREST[:60], LABELS[:60])
    explanation = explain(svm, top=7, min_frequency=2)
    for place, problem in enumerate(explanation.problems):
        mined = mine(svm, problem=place, n_fragments=1000, max_ratio=5.0, min_frequency=2)
        assert (problem.n_mined, problem.norm) == (mined.n, pytest.approx(mined.norm))
        assert 0 < problem.norm_share <= 1
        assert problem.norm_share == pytest.approx(min(1.0, mined.norm_share))
        assert problem.n_mined >= 12
        for fragments, sign in ((problem.for_, 1), (problem.against, -1)):
            weights = [sign * fragment.weight for fragment in fragments]
            assert 5 <= len(weights) <= 7
            assert min(weights) > 0
            assert weights == sorted(weights, reverse=True)
            for fragment in fragments:
                assert fragment.frequency >= 2
                assert 1 <= len(fragment.examples) <= 3
                for number in fragment.examples:
                    assert set(fragment.labels) <= set(explanation.trees[number].labels)


def test_without_fragments(svm: TreeSVC) -> None:
    explanation = explain(svm, top=0)
    assert all(p.for_ == p.against == () and p.n_mined == 0 for p in explanation.problems)
    assert all(p.norm > 0 for p in explanation.problems)
    assert explanation.trees == explanation.examples == ()
    assert explanation.data is explanation.metrics is None


# ---------------------------------------------------------------- examples


def test_examples_refer_to_their_nearest_support_vectors(
    svm: TreeSVC, explanation: Explanation
) -> None:
    K = SubsetTree()(FOREST[N:300], svm.model_.support)
    for example in explanation.examples:
        near = [s.similarity for s in example.support]
        assert near == sorted(near, reverse=True)
        assert near == pytest.approx(np.sort(K[example.index])[::-1][:5])
        for s in example.support:
            assert explanation.trees[s.tree].note.startswith("support vector ")
            assert len(s.contributions) == 3


def test_contributions_of_all_support_vectors_sum_to_the_score(svm: TreeSVC) -> None:
    n = len(svm.support_)
    for kernel in (SubsetTree(), SubsetTree(0.2, normalize=False)):
        two = TreeSVC(kernel, C=1.0, loss="hinge").fit(FOREST[:60], IS_FEW[:60])
        for example in explain(two, FOREST[60:64], top=0, n_nearest=n).examples:
            total = sum(s.contributions[0] for s in example.support) + two.intercept_[0]
            assert total == pytest.approx(example.scores[0])
            assert all(0 <= s.similarity <= 1 + 1e-12 for s in example.support)
            assert {s.label for s in example.support} == {"yes", "no"}


def test_the_worst_errors_are_among_the_examples(svm: TreeSVC, explanation: Explanation) -> None:
    predicted = svm.predict(FOREST[N:300])
    wrong = np.flatnonzero(predicted != LABELS[N:300])
    assert len(wrong) > 20
    shown = [example.index for example in explanation.examples]
    assert len(shown) == 40
    assert shown == sorted(set(shown))
    assert len(set(shown) & set(wrong.tolist())) >= 20
    worst = wrong[svm.decision_function(FOREST[N:300])[wrong].max(axis=1).argmax()]
    assert worst in shown


def test_metrics_are_those_of_scikit_learn(svm: TreeSVC, explanation: Explanation) -> None:
    y, predicted = LABELS[N:300], svm.predict(FOREST[N:300])
    metrics = explanation.metrics
    assert metrics is not None
    assert metrics.accuracy == (y == predicted).mean()
    assert [row.f1 for row in metrics.classes] == pytest.approx(
        f1_score(y, predicted, average=None)
    )
    assert np.array_equal(metrics.confusion.counts, confusion_matrix(y, predicted))
    scores = svm.decision_function(FOREST[N:300])
    for k, curve in enumerate(metrics.curves):
        assert curve.positive == svm.classes_[k]
        expected = average_precision_score(y == curve.positive, scores[:, k])
        assert curve.average_precision == pytest.approx(expected)
        assert len(curve.recall) == len(curve.precision) <= 200
        assert (curve.recall[0], curve.recall[-1]) == (1.0, 0.0)
    assert explanation.data is not None
    assert dict(explanation.data.class_counts) == {
        name: int((y == name).sum()) for name in svm.classes_
    }


def test_precision_and_recall_by_hand() -> None:
    """Of the scores 4, 3, 2, 1 the first, the third and no other belong to the class."""
    problems, scores = [("a", "b")], np.array([[4.0], [3.0], [2.0], [1.0]])
    [curve] = measures(["a", "b", "a", "b"], ["a", "a", "b", "b"], scores, problems).curves
    assert curve.recall == (1.0, 1.0, 0.5, 0.5, 0.0)
    assert curve.precision == pytest.approx((0.5, 2 / 3, 0.5, 1.0, 1.0))
    assert curve.average_precision == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_labels_that_the_model_does_not_know(svm: TreeSVC) -> None:
    metrics = explain(svm, FOREST[:3], ["few", "unknown", 3], top=0).metrics
    assert metrics is not None
    assert {"3", "unknown"} <= set(metrics.confusion.labels)
    assert [curve.positive for curve in metrics.curves] == ["few"]
    numbers = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(
        FOREST[:60], (IS_FEW[:60] == "yes").astype(int)
    )
    as_floats = explain(numbers, FOREST[:60], (IS_FEW[:60] == "yes").astype(float), top=0)
    assert as_floats.metrics is not None
    assert as_floats.metrics.confusion.labels == ("0", "1")


def test_a_model_of_one_support_vector_is_explained() -> None:
    one = SupportVectorModel(
        SubsetTree(), Forest(["(a (b c))"]), np.array([[2.0]]), np.array([0.5])
    )
    [example] = explain(one, ["(a (b c))"], top=0).examples
    assert example.scores == (2.5,)
    assert sum(example.contributions[0]) == pytest.approx(2.0)


def test_nothing_learnt_and_nothing_to_explain(svm: TreeSVC) -> None:
    empty = SupportVectorModel(SubsetTree(), Forest([]), np.zeros((1, 0)), np.array([0.5]))
    explanation = explain(empty, ["(a (b c))"])
    [example] = explanation.examples
    assert (example.scores, example.contributions) == ((0.5,), ((0.0, 0.0, 0.0),))
    assert example.support == explanation.problems[0].for_ == ()
    none = explain(svm, [], [], top=0)
    assert none.examples == ()
    assert none.metrics is None
    assert "TreeSVC" in str(none)


def test_deep_and_large_trees(svm: TreeSVC) -> None:
    deep = "(a " * 5000 + "a" + ")" * 5000
    [example] = explain(svm, [deep], top=0).examples
    assert len(example.contributions[0]) == 5001
    text = "(a b)"
    for _ in range(16):
        text = f"(a {text} {text})"
    with pytest.raises(InvalidParameterError, match=r"196,607 nodes.*leave this example out"):
        explain(svm, [text], top=0)
    trained = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(
        [text, "(c d)"], [0, 1]
    )  # support vectors may be as large as they like
    assert max(len(tree.labels) for tree in explain(trained, ["(c d)"], top=0).trees) < 4100


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("model", "error", "match"),
    [
        (3, InputTypeError, "fitted learner of Filbert, such as a TreeSVC"),
        (TreeSVC(SubsetTree(), C=1.0, loss="hinge"), NotFittedError, "not fitted"),
        (TreePerceptron(), NotFittedError, "not fitted"),
    ],
)
def test_what_cannot_be_explained(model: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        explain(model)


def test_kernels_that_are_no_sums_over_nodes(examples: Examples) -> None:
    product = SubsetTree().on("tree") * Linear().on("features")
    svm = TreeSVC(product, engine="rows", C=1.0, loss="hinge").fit(examples, IS_FEW[:90])
    with pytest.raises(InvalidParameterError, match=r"SubsetTree.*\* Linear.*needs? such a sum"):
        explain(svm, examples)
    own = SupportVectorModel(lambda a, b: a @ b.T, np.eye(2), np.ones((1, 2)), np.zeros(1))
    with pytest.raises(InvalidParameterError, match="not one of Filbert's kernels"):
        explain(own)
    vectors = TreeSVC(Linear(), C=1.0, loss="hinge").fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(InvalidParameterError, match="no trees"):
        explain(vectors)
    voting = TreePerceptron(vote=True).fit(FOREST[:60], IS_FEW[:60])
    with pytest.raises(InvalidParameterError, match="vote=False"):
        explain(voting)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"top": -1}, "top must be"),
        ({"top": 2.5}, "top must be"),
        ({"max_examples": -1}, "max_examples must be"),
        ({"n_nearest": None}, "n_nearest must be"),
        ({"y": ["few"]}, "y was given without X"),
        ({"X": FOREST[:2], "y": ["few"]}, "one label for each of the 2 examples"),
    ],
)
def test_options_are_checked(svm: TreeSVC, options: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidParameterError, match=match):
        explain(svm, **options)


# ---------------------------------------------------------------- storing


def test_json_is_readable_and_has_finite_numbers(explanation: Explanation) -> None:
    text = replace(explanation, title="Fragen ä ツ").to_json()
    assert "Fragen ä ツ" in text
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(explanation, title=np.nan).to_json()


def test_json_is_plain_and_complete(explanation: Explanation) -> None:
    text = explanation.to_json()
    plain = json.loads(text)
    assert plain == explanation.to_dict()
    assert (plain["format"], plain["version"]) == ("filbert-explanation", 1)
    assert list(plain["problems"][0]) == [
        "positive", "negative", "norm", "norm_share", "n_mined", "for", "against"
    ]  # fmt: skip
    assert Explanation.from_json(text) == explanation == Explanation.from_json(text.encode())


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (["version"], 2, "version 2"),
        (["format"], "x", "not an explanation"),
        (["title"], 3, "explanation.title must be str"),
        (["model", "n_support"], True, "n_support must be int"),
        (["model", "intercept"], [None], r"intercept\[0\] must be float"),
        (["trees"], {}, "trees must be a list"),
        (["trees", 0, "parents"], [0], "one entry for each"),
        (["trees", 0, "parents", 0], 0, "has a root"),
        (["problems", 0], [], "must be an object"),
        (["problems", 0, "for", 0, "examples"], [10**6], "support vector beyond the"),
        (["problems", 0, "for", 0, "open"], [], "open must have"),
        (["examples", 0, "contributions"], [], "scores, one per problem"),
        (["examples", 0, "contributions", 0], [1.0], "values must have"),
        (["examples", 0, "support", 0, "contributions"], [], "contributions, one per problem"),
        (["model", "parameters", 0], ["C"], "must have 2 entries"),
    ],
)
def test_damaged_json_is_refused(
    explanation: Explanation, path: list[Any], value: Any, match: str
) -> None:
    plain = json.loads(explanation.to_json())
    holder = plain
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(ParseError, match=match):
        Explanation.from_json(json.dumps(plain))


@pytest.mark.parametrize("text", ["", "{", "[]", "nul", b"\xff", "[" * 100_000, '{"a": NaN}'])
def test_what_is_no_json_is_refused(text: Any) -> None:
    with pytest.raises(ParseError):
        Explanation.from_json(text)


def test_a_missing_entry_is_named(explanation: Explanation) -> None:
    plain = explanation.to_dict()
    del plain["model"]["kernel"]
    with pytest.raises(ParseError, match=r"explanation\.model has no 'kernel'"):
        Explanation.from_json(json.dumps(plain))


# ---------------------------------------------------------------- looking


def test_what_a_terminal_shows(explanation: Explanation) -> None:
    text = str(explanation)
    assert "few against the rest" in text
    assert explanation.problems[0].for_[0].text in text
    assert "(predicted)" in text
    assert "support vector" in text
    assert max(map(len, text.splitlines())) < 130
    assert repr(explanation) == "<Explanation of TreeSVC: 3 problems, 60 fragments, 40 examples>"


def test_pages_and_notebooks(explanation: Explanation, tmp_path: Path) -> None:
    page = explanation.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == page
    assert page.lower().startswith("<!doctype html>")
    assert "<svg" in page
    shown = explanation._repr_html_()
    assert "few" in shown
    assert len(shown) < len(page)


def test_labels_cannot_break_a_terminal() -> None:
    hostile = r"(S (\x (a\nb c)) (d \x1b[2J))".replace(r"\x1b", "\x1b")
    svm = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(
        [hostile, "(S (c d))"], ["\x1b[31m", "\u202e\n"]
    )
    text = str(explain(svm, [hostile], ["\x1b[31m"]))
    assert text.replace("\n", "").isprintable()
