"""Approximate tree kernels = the reference with roots left out: matrices and all learners."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from filbert import Examples, Forest, TreePerceptron, TreeSVC, load, save
from filbert.engine import factorize
from filbert.errors import InvalidParameterError, ModelFileError
from filbert.kernels import (
    AllPairs,
    ApproximateTree,
    EachPart,
    Linear,
    PartialTree,
    SubsetTree,
    Subtree,
    TreeKernel,
)
from filbert.kernels.terms import is_sum
from filbert.model import SupportVectorModel
from tests.profiles import n_examples
from tests.reference import perceptron as reference
from tests.reference.approximate import approximate_matrix
from tests.reference.kernels import production
from tests.reference.trees import Node, nodes, write
from tests.strategies import forests, random_trees
from tests.unit.test_persist import change_header

Array = npt.NDArray[Any]

EXACT: list[TreeKernel] = [
    Subtree(),
    Subtree(0.7, normalize=False),
    SubsetTree(),
    SubsetTree(0.8, include_leaves=True, normalize=False),
    PartialTree(),
    PartialTree(0.6, 0.7, penalty="gaps", max_subsequence=2, normalize=False),
]
LABELS = ("a", "unseen")


def some_productions(trees: list[Node]) -> tuple[tuple[str, ...], ...]:
    """Every second production, leaves included."""
    return tuple(sorted({production(u) for t in trees for u in nodes(t)})[::2])


def approximations(trees: list[Node]) -> list[ApproximateTree]:
    """All kernels, by label and by production."""
    by_label = [ApproximateTree(kernel, LABELS) for kernel in EXACT]
    chosen = some_productions(trees)
    return by_label + [ApproximateTree(kernel, chosen, by="production") for kernel in EXACT]


TREES = random_trees(3, 40, 14)
NEW = random_trees(4, 15, 14)
KERNELS = approximations(TREES)
IDS = [f"{type(k.kernel).__name__}-{k.by}-{k.normalize}" for k in KERNELS]
X, X_NEW = Forest(map(write, TREES)), Forest(map(write, NEW))
Y = np.array([sum(u.label == "a" for u in nodes(t)) % 2 for t in TREES])
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=IDS)


@cache
def within(kernel: ApproximateTree) -> Array:
    """The kernels of all trees with all trees."""
    return approximate_matrix(kernel, TREES, TREES)


@cache
def between(kernel: ApproximateTree) -> Array:
    """The kernels of new trees with all trees."""
    return approximate_matrix(kernel, NEW, TREES)


def close(values: Array, wanted: Array) -> None:
    np.testing.assert_allclose(values, wanted, rtol=1e-10, atol=1e-12 * np.abs(wanted).max())


# ---------------------------------------------------------------- values


@each_kernel
def test_matrices_are_the_reference_with_roots_left_out(kernel: ApproximateTree) -> None:
    wanted = within(kernel)
    assert np.count_nonzero(wanted) > len(TREES)
    close(kernel(X), wanted)
    close(kernel(X, X), wanted)
    close(kernel(X_NEW, X), between(kernel))
    close(kernel.diag(X), np.diag(wanted))


@given(forests(max_size=4), st.data())
@n_examples(60)
def test_any_trees_and_symbols(trees: list[Node], data: st.DataObject) -> None:
    exact = data.draw(st.sampled_from(EXACT))
    by: Any = data.draw(st.sampled_from(["label", "production"]))
    there = sorted({u.label if by == "label" else production(u) for t in trees for u in nodes(t)})
    symbols = data.draw(st.lists(st.sampled_from(there), unique=True))
    kernel = ApproximateTree(exact, tuple(symbols), by=by)
    forest = Forest(map(write, trees))
    wanted = approximate_matrix(kernel, trees, trees)
    np.testing.assert_allclose(kernel(forest), wanted, rtol=1e-10, atol=1e-14)
    if not isinstance(exact, PartialTree):
        factors = factorize(kernel, forest)
        np.testing.assert_allclose(
            factors.scores(np.eye(len(trees)), 1), wanted, rtol=1e-10, atol=1e-12
        )


@each_kernel
def test_factors_have_the_same_values(kernel: ApproximateTree) -> None:
    weights = np.random.default_rng(0).standard_normal((len(TREES), 2))
    scores = factorize(kernel, X).scores(weights, 1)
    close(scores, within(kernel) @ weights)


@pytest.mark.parametrize("exact", EXACT, ids=repr)
def test_all_symbols_are_the_exact_kernel(exact: TreeKernel) -> None:
    labels = sorted({u.label for t in TREES for u in nodes(t)})
    close(ApproximateTree(exact, labels)(X), exact(X))


def test_no_symbol_is_no_kernel() -> None:
    assert not ApproximateTree(SubsetTree(), ())(X).any()
    assert not ApproximateTree(SubsetTree(), ("unseen",))(X, X_NEW).any()


def test_large_trees_have_a_way_of_their_own() -> None:
    inner = " ".join(f"(R (B (C c{i % 7}) (D (C c{i % 3}) (E e{i % 5}))))" for i in range(150))
    trees = [f"(A {inner})", f"(A (B (C c1) (D d)) {inner})"]
    forest = Forest(trees)
    assert min(tree.n_nodes for tree in forest) > 1000
    for normalize in (False, True):
        exact = SubsetTree(0.3, normalize=normalize)
        parts = [ApproximateTree(exact, [label]) for label in "ABCDER"]
        if not normalize:
            together = sum(part(forest) for part in parts)
            np.testing.assert_allclose(together, exact(forest), rtol=1e-10)
        for part in parts:
            # Rows of Delta and factors, which score trees, do not go that way.
            one = SupportVectorModel(part, forest, np.eye(2), np.zeros(2))
            for method in ("rows", "factors"):
                scores = one.decision_function(forest, method=method)
                np.testing.assert_allclose(scores, part(forest), rtol=1e-10)


def test_values_do_not_depend_on_threads() -> None:
    for kernel in KERNELS:
        assert kernel(X, n_jobs=1).tobytes() == kernel(X, n_jobs=2).tobytes()


# ---------------------------------------------------------------- learners


@each_kernel
@pytest.mark.parametrize("method", ["rows", "factors", "pairs", "auto"])
def test_models_score_by_the_approximate_kernel(kernel: ApproximateTree, method: Any) -> None:
    coef = np.random.default_rng(1).standard_normal((2, len(TREES)))
    model = SupportVectorModel(kernel, X, coef, np.array([0.5, -0.5]))
    wanted = between(kernel) @ coef.T + model.intercept
    close(model.decision_function(X_NEW, method=method), wanted)


@each_kernel
def test_contributions_are_of_chosen_nodes(kernel: ApproximateTree) -> None:
    coef = np.random.default_rng(1).standard_normal((1, len(TREES)))
    model = SupportVectorModel(kernel, X, coef, np.zeros(1))
    found = model.contributions(X_NEW)
    close(found.sums(), between(kernel) @ coef.T)
    symbols = {tuple(s) if isinstance(s, list) else s for s in kernel.symbols}
    for entry in range(len(found)):
        node = found.node(entry)
        labels = (node.label, *(child.label for child in node.children))
        assert (node.label if kernel.by == "label" else labels) in symbols


@each_kernel
@pytest.mark.parametrize("engine", ["factors", "rows"])
def test_exact_training_has_the_objective_of_the_matrix(
    kernel: ApproximateTree, engine: Any
) -> None:
    K = within(kernel)
    svm = TreeSVC(kernel, C=2.0, engine=engine, tol=1e-4, random_state=0, loss="hinge").fit(X, Y)
    check_objective(svm, K, 2.0)
    wanted = between(kernel)[:, svm.support_] @ svm.dual_coef_[0]
    close(svm.decision_function(X_NEW), wanted + svm.intercept_[0])


def check_objective(svm: TreeSVC, K: Array, C: float) -> None:
    alpha = np.zeros(len(K))
    alpha[svm.support_] = svm.dual_coef_[0]
    b = svm.intercept_[0]
    losses = np.maximum(0, 1 - np.where(Y == 1, 1, -1) * (K @ alpha + b))
    objective = (alpha @ K @ alpha + b * b) / 2 + C * losses.sum()
    assert svm.objective_ == pytest.approx(objective, rel=1e-7)


@each_kernel
@pytest.mark.parametrize("strategy", ["usvm", "sdag", "sdag+"])
def test_cutting_planes_take_approximate_kernels(kernel: ApproximateTree, strategy: Any) -> None:
    svm = TreeSVC(kernel, strategy=strategy, tol=0.01, random_state=0, C=1.0).fit(X, Y)
    wanted = between(kernel)[:, svm.support_] @ svm.dual_coef_[0]
    close(svm.decision_function(X_NEW), wanted + svm.intercept_[0])
    by_matrix = TreeSVC(kernel.__call__, strategy="usvm", tol=0.01, random_state=0, C=1.0)
    scores = by_matrix.fit(X, Y).decision_function(X_NEW)
    np.testing.assert_allclose(svm.decision_function(X_NEW), scores, rtol=1e-5, atol=1e-5)


@each_kernel
@pytest.mark.parametrize("engine", ["online", "factors"])
def test_the_perceptron_takes_approximate_kernels(kernel: ApproximateTree, engine: Any) -> None:
    K = within(kernel)
    signs = np.where(Y == 1, 1, -1).tolist()
    problem = reference.learn(K.tolist(), [signs], list(range(len(TREES))))[0]
    model = TreePerceptron(
        kernel, n_epochs=1, shuffle=False, fit_intercept=False, average=False, engine=engine
    ).fit(X, Y)
    values = between(kernel).T.tolist()
    wanted = [reference.plain(values, problem, x) for x in range(len(NEW))]
    close(model.decision_function(X_NEW), np.array(wanted))


def test_sums_take_approximate_kernels() -> None:
    features = np.random.default_rng(0).standard_normal((len(TREES), 3))
    examples = Examples(tree=X, features=features)
    kernel = ApproximateTree(SubsetTree(), LABELS).on("tree") + 0.5 * Linear().on("features")
    assert is_sum(kernel)
    K = within(KERNELS[2]) + 0.5 * Linear()(features)
    close(kernel(examples), K)
    svm = TreeSVC(kernel, C=2.0, tol=1e-4, random_state=0, loss="hinge").fit(examples, Y)
    check_objective(svm, K, 2.0)
    close(svm.decision_function(examples), K[:, svm.support_] @ svm.dual_coef_[0] + svm.intercept_)


@pytest.mark.parametrize("kernel", [KERNELS[i] for i in (1, 3, 5, 8)], ids=repr)
def test_expressions_of_approximate_kernels(kernel: ApproximateTree) -> None:
    K, norms = within(kernel), np.sqrt(np.diag(within(kernel)))
    other = SubsetTree()(X)
    divisors = np.where(norms > 0, norms, 1.0)
    close(kernel.normalized()(X), K / divisors[:, None] / divisors)
    close((kernel * SubsetTree() + 2.0 * kernel)(X), K * other + 2.0 * K)
    close((kernel**2)(X), K**2)
    examples = Examples(one=X, two=Forest(list(X)[::-1]))
    close(EachPart(kernel, ("one", "two"))(examples), K + K[::-1, ::-1])
    close(AllPairs(kernel, ("one", "two"))(examples), K + K[::-1, ::-1] + K[::-1] + K[:, ::-1])


# ---------------------------------------------------------------- as values


def test_parameters_of_the_kernel_within() -> None:
    kernel = ApproximateTree(SubsetTree(), ["NP"])
    assert kernel.normalize
    assert kernel.part is None
    on = kernel.on("tree")
    assert on.part == "tree"
    assert on.kernel == SubsetTree().on("tree")
    assert kernel.part is None
    assert on.whole() == kernel
    plain = clone(kernel).set_params(kernel__normalize=False, kernel__decay=0.2)
    assert not plain.normalize
    assert plain.normalized() == ApproximateTree(SubsetTree(0.2), ["NP"])
    assert kernel.capabilities == replace(SubsetTree().capabilities, all_roots=False)


def test_kernels_are_values() -> None:
    kernel = ApproximateTree(SubsetTree(), ["NP", "VP"])
    assert kernel == ApproximateTree(SubsetTree(), ("VP", "NP")) == clone(kernel)
    assert hash(kernel) == hash(ApproximateTree(SubsetTree(), ("VP", "NP")))
    assert kernel != ApproximateTree(SubsetTree(), ["NP"]) != ApproximateTree(Subtree(), ["NP"])
    assert eval(repr(kernel)) == kernel
    productions = ApproximateTree(SubsetTree(), [("NP", "D", "N")], by="production")
    assert eval(repr(productions)) == productions


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (ApproximateTree(Linear(), ["a"]), "kernel must be a SubsetTree"),
        (ApproximateTree(None, ["a"]), "kernel must be a SubsetTree"),  # type: ignore[arg-type]
        (ApproximateTree(ApproximateTree(Subtree(), "a"), ["a"]), "kernel must be a SubsetTree"),
        (ApproximateTree(Subtree(), "a"), "sequence of symbols"),
        (ApproximateTree(Subtree(), 3), "sequence of symbols"),  # type: ignore[arg-type]
        (ApproximateTree(Subtree(), [3]), "a symbol must be a string"),  # type: ignore[list-item]
        (ApproximateTree(Subtree(), [("a", "b")]), "a symbol must be a string"),
        (ApproximateTree(Subtree(), ["a"], by="production"), "a symbol must be a tuple"),
        (ApproximateTree(Subtree(), ["a"], by="rule"), "by must be"),  # type: ignore[arg-type]
        (ApproximateTree(Subtree(0.0), ["a"]), "decay must be in"),
    ],
)
def test_wrong_parameters(kernel: ApproximateTree, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        kernel(X)
    with pytest.raises(InvalidParameterError, match=message):
        TreeSVC(kernel, C=1.0, loss="hinge").fit(X, Y)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("kernel", [KERNELS[i] for i in (2, 7, 10)], ids=repr)
def test_models_are_saved_and_loaded(kernel: ApproximateTree, tmp_path: Path) -> None:
    path = tmp_path / "model.filbert"
    svm = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(X, Y)
    save(svm, path)
    loaded = load(path)
    assert loaded.kernel == kernel
    assert loaded.decision_function(X_NEW).tobytes() == svm.decision_function(X_NEW).tobytes()


@pytest.mark.parametrize("symbols", [None, "a", 3, [3], [{}], [["a"]], [[]]], ids=repr)
def test_damaged_symbols_are_told(symbols: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.filbert"
    save(TreeSVC(KERNELS[2], random_state=0, C=1.0, loss="hinge").fit(X, Y), path)

    def change(header: dict[str, Any]) -> None:
        header["content"]["kernel"]["parameters"]["symbols"] = symbols

    change_header(path, change)
    with pytest.raises(ModelFileError, match="symbol"):
        load(path)
