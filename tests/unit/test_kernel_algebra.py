"""Sums, products, powers and scalings of kernels: as values, and in scikit-learn."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from filbert import Examples, Forest, TreeSVC
from filbert.errors import InputTypeError, InvalidParameterError, KernelOverflowError
from filbert.kernels import (
    RBF,
    Constant,
    Kernel,
    Linear,
    Normalized,
    PartialTree,
    Polynomial,
    Power,
    Product,
    Scaled,
    SubsetTree,
    Subtree,
    Sum,
)

TREES = ["(S (N a) (V b))", "(S (N a) (V c))", "(S (N d))", "(N a)"]
FEATURES = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 0.0], [1.0, 1.0, 1.0]])


@pytest.fixture
def examples() -> Examples:
    return Examples(tree=Forest(TREES), features=sp.csr_array(FEATURES))


# ---------------------------------------------------------------- values


def test_the_text_of_an_expression() -> None:
    tree, features = Subtree().on("tree"), RBF().on("features")
    a, b = "Subtree(decay=0.4, normalize=True).on('tree')", "RBF(gamma=1.0).on('features')"
    for kernel, text in [
        (tree + features + 1, f"{a} + {b} + 1"),
        (1 + (tree + features), f"1 + ({a} + {b})"),
        (tree + (features + tree), f"{a} + ({b} + {a})"),
        ((tree + features) * tree, f"({a} + {b}) * {a}"),
        (tree * (features * tree), f"{a} * ({b} * {a})"),
        (2 * tree * features, f"2 * {a} * {b}"),
        (np.float64(0.5) * (tree * features) ** np.int64(2), f"0.5 * ({a} * {b}) ** 2"),
        ((tree**2) ** 3, f"({a} ** 2) ** 3"),
        ((tree + features).normalized(), f"Normalized({a} + {b})"),
        (Normalized(tree), f"Normalized({a})"),
        (Constant(1) + Constant(2.5), "Constant(1) + Constant(2.5)"),
        (Sum(Constant(0), tree), f"Constant(0) + {a}"),
    ]:
        assert repr(kernel) == text


def test_a_plain_kernel_normalises_itself() -> None:
    assert Linear(normalize=False).on("x").normalized() == Linear().on("x")
    assert RBF().normalized() == RBF()
    large = "(S" + " (N a)" * 3000 + ")"  # beyond range unless it is normalised
    assert SubsetTree(1.0, normalize=False).normalized().diag([large]).tolist() == [1.0]


def test_sums_begin_with_nothing() -> None:
    kernels = [SubsetTree().on(part) for part in "abc"]
    assert sum(kernels) == kernels[0] + kernels[1] + kernels[2]
    assert SubsetTree() + 0 == SubsetTree()


def test_equality_and_hash_take_time_that_grows_with_the_terms() -> None:
    def many() -> Any:
        return sum(SubsetTree().on(f"part {i}") for i in range(60))

    assert many() == many()  # comparing all parameters at all levels took 2 ** 60 steps
    assert hash(many()) == hash(many())
    assert many() != many() + 1
    assert len({many(), many(), many() + 1}) == 2


def test_on_moves_all_terms() -> None:
    kernel = (SubsetTree() + 2 * Subtree() ** 2 + 1).on("tree")
    assert kernel == SubsetTree().on("tree") + 2 * Subtree().on("tree") ** 2 + 1


def test_parameters_are_set_within() -> None:
    kernel = Subtree(0.2).on("tree") + 0.5 * Polynomial().on("features")
    changed = clone(kernel).set_params(
        left__decay=0.9, right__factor=2.0, right__kernel__degree=3, right__kernel__part="f"
    )
    assert changed == Subtree(0.9).on("tree") + 2.0 * Polynomial(3).on("f")
    assert kernel == Subtree(0.2).on("tree") + 0.5 * Polynomial().on("features")
    # a grid may replace a whole term
    assert clone(kernel).set_params(right=Linear()).right == Linear()


def test_normalisation_of_what_has_no_features(examples: Examples) -> None:
    whole = (
        Subtree(normalize=False).on("tree") * Linear(normalize=False).on("features")
    ).normalized()
    assert whole.diag(examples).tolist() == [1.0, 0.0, 1.0, 1.0]
    assert whole(examples)[1].tolist() == [0.0] * 4
    assert whole(examples).diagonal().tolist() == [1.0, 0.0, 1.0, 1.0]


def test_the_arguments_go_to_all_terms(examples: Examples, capsys: Any) -> None:
    kernel = (SubsetTree().on("tree") + PartialTree().on("tree")) * 2
    one = kernel(examples, n_jobs=1)
    assert one.tobytes() == kernel(examples, n_jobs=4).tobytes()
    kernel(examples, verbose=1)
    assert "PartialTree" in capsys.readouterr().err


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda k: -1 * k, "Scaled: factor must be a number that is not negative, got -1"),
        (lambda k: k * -0.5, "factor must be a number that is not negative, got -0.5"),
        (lambda k: float("nan") * k, "factor .* got nan"),
        (lambda k: float("inf") * k, "factor .* got inf"),
        (lambda k: k + -1, "Constant: value must be a number that is not negative, got -1"),
        (lambda k: k**0, "Power: exponent must be an integer from 1 to 100, got 0"),
        (lambda k: k**0.5, "exponent must be an integer .* got 0.5"),
        (lambda k: k**True, "exponent must be an integer .* got True"),
        (lambda k: k - k, "a difference of kernels need not be a kernel"),
        (lambda k: 1 - k, "a difference of kernels need not be a kernel"),
        (lambda k: k.on(3), "the name of a part must be a string, got 3"),
    ],
)
def test_what_is_no_kernel(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        wrong(SubsetTree())


@pytest.mark.parametrize("other", ["x", None, True, [1], np.array([1.0, 2.0])])
def test_what_cannot_be_combined(other: Any) -> None:
    for combine in (lambda: SubsetTree() + other, lambda: other * SubsetTree()):
        with pytest.raises(TypeError):
            combine()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Scaled(-1, SubsetTree()), "Scaled: factor"),
        (Scaled("2", SubsetTree()), "Scaled: factor .* got '2'"),
        (Power(SubsetTree(), 2.5), "Power: exponent"),
        (Sum(SubsetTree(), 3), "Sum: right must be a kernel, got 3"),
        (Product("linear", SubsetTree()), "Product: left must be a kernel, got 'linear'"),
        (Normalized(None), "Normalized: kernel must be a kernel, got None"),
        (Constant(np.inf), "Constant: value"),
        (SubsetTree() + Subtree(2.0), r"Subtree: decay must be in \(0, 1\], got 2.0"),
    ],
)  # fmt: skip
def test_parameters_are_checked_when_used(kernel: Kernel, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        kernel(TREES)
    with pytest.raises(InvalidParameterError, match=message):
        kernel.diag(TREES)


def test_values_beyond_range(examples: Examples) -> None:
    kernel = (1e200 * SubsetTree().on("tree")) ** 2
    for compute in (kernel, kernel.diag):
        with pytest.raises(KernelOverflowError, match="beyond the range of float64: normalise"):
            compute(examples)
    difference = kernel + kernel * 0
    with pytest.raises(KernelOverflowError, match="beyond the range"):
        difference(examples)


def test_parts_that_are_missing_or_of_another_kind(examples: Examples) -> None:
    kernel = SubsetTree().on("tree") + Linear().on("features")
    with pytest.raises(InvalidParameterError, match=r"needs a part 'features', but .* 'tree'"):
        kernel(examples, Examples(tree=examples["tree"]))
    with pytest.raises(InvalidParameterError, match=r"choose one for SubsetTree.* \.on\('tree'\)"):
        (SubsetTree() + Linear().on("features"))(examples)
    with pytest.raises(InvalidParameterError, match="needs Examples with a part 'tree', got list"):
        kernel(TREES)
    with pytest.raises(InputTypeError, match="needs trees, but part 'features' is a matrix"):
        SubsetTree().on("features")(examples)
    with pytest.raises(InvalidParameterError, match=r"needs vectors, .* Forest of part 'tree'"):
        Linear().on("tree")(examples)


# ---------------------------------------------------------------- within scikit-learn


@pytest.fixture(scope="module")
def data() -> tuple[Examples, Any]:
    """The class is told by the tree and by a feature, and by neither alone."""
    rng = np.random.default_rng(0)
    tree, feature = rng.integers(0, 2, (2, 120))
    words = rng.choice(list("xyz"), 120)
    texts = [f"({'AB'[t]} ({'CD'[t]} {w}))" for t, w in zip(tree, words, strict=True)]
    noise = rng.normal(size=(120, 2)) / 10
    features = sp.csr_array(np.column_stack([2.0 * feature - 1, noise]))
    return Examples(tree=Forest(texts), features=features), tree ^ feature


def test_a_product_tells_what_a_sum_does_not(data: tuple[Examples, Any]) -> None:
    X, y = data
    tree, features = SubsetTree().on("tree"), Linear().on("features")
    for make in (
        lambda kernel: SVC(kernel=kernel),
        lambda kernel: TreeSVC(kernel, strategy="usvm", C=10.0, random_state=0),
    ):
        product, total = make(tree * features), make(tree + features)
        assert cross_val_score(product, X, y, cv=3).mean() > 0.95
        assert cross_val_score(total, X, y, cv=3).mean() < 0.85


@pytest.mark.parametrize("strategy", ["svc", "usvm"])
def test_a_grid_over_the_terms(data: tuple[Examples, Any], strategy: str) -> None:
    X, y = data
    kernel = SubsetTree(0.1).on("tree") * Polynomial(1, coef0=0).on("features")
    model: Any = (
        SVC()
        if strategy == "svc"
        else TreeSVC(SubsetTree(), strategy="usvm", C=10.0, random_state=0)
    )
    grid = {"kernel__left__decay": [0.1, 0.5], "kernel__right__coef0": [0.0, 100.0]}
    search = GridSearchCV(model.set_params(kernel=kernel), grid, cv=3).fit(X, y)
    assert search.best_params_["kernel__right__coef0"] == 0.0
    assert search.best_score_ > 0.95
    assert search.best_estimator_.kernel.left.decay in (0.1, 0.5)
    assert kernel.left.decay == 0.1


@pytest.mark.parametrize(
    "wrap", [np.asarray, sp.csr_array, sp.csc_matrix], ids=lambda f: f.__name__
)
def test_a_support_vector_machine_on_plain_vectors(wrap: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] > 0
    kernel = Polynomial(2, normalize=False) + 0.1 * RBF(0.5) + 1
    model = SVC(kernel=kernel, C=100).fit(wrap(X[:40]), y[:40])
    by_matrix = SVC(kernel="precomputed", C=100).fit(kernel(X[:40]), y[:40])
    np.testing.assert_allclose(
        model.decision_function(wrap(X[40:])),
        by_matrix.decision_function(kernel(X[40:], X[:40])),
        atol=1e-6,
    )


def test_a_part_that_is_missing_in_prediction(data: tuple[Examples, Any]) -> None:
    X, y = data
    kernel = SubsetTree().on("tree") * Linear().on("features")
    model = TreeSVC(kernel, strategy="usvm", random_state=0, C=1.0).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(InvalidParameterError, match="needs a part 'features'"):
        model.predict(Examples(tree=X["tree"]))
    assert model.decision_function(X).tobytes() == before.tobytes()
