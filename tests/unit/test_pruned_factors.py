"""Factors of partial trees without light fragments: no error is above its bound."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest, _core
from filbert.kernels import PartialTree, SubsetTree, TreeKernel
from tests.profiles import n_examples
from tests.reference.trees import Node
from tests.strategies import forests, random_trees
from tests.unit.test_factors import build

FAR_BELOW_KERNEL_TOL = 1e-12  # rounding of values around 1

partial_trees = st.builds(
    PartialTree,
    decay=st.sampled_from([0.05, 0.3, 0.4, 0.7, 1.0]),
    depth_decay=st.sampled_from([0.05, 0.4, 0.8, 1.0]),
    penalty=st.sampled_from(["span", "gaps"]),
    max_subsequence=st.sampled_from([None, 1, 2, 4]),
    normalize=st.booleans(),
)
kernel_tols = st.floats(-8.0, -0.5).map(lambda power: 10.0**power)
budgets = st.sampled_from([1.0, 1.0, 0.003, 0.0])  # with 0, every block is closed by pairs


def pruned(
    kernel: TreeKernel,
    forest: Forest,
    kernel_tol: float,
    *,
    budget: float = 1.0,
    n_first: int = 0,
    n_threads: int = 1,
    row_weights: Any = None,
) -> _core.KernelOperator:
    return _core.KernelOperator(
        kernel._spec(),
        forest._dag,
        forest._roots,
        bool(kernel.normalize),
        budget,
        2**62,
        np.inf,
        False,
        n_first,
        n_threads,
        None,
        kernel_tol,
        row_weights,
    )


def matrix_of(factors: _core.KernelOperator) -> Any:
    return factors.scores(np.eye(factors.n_trees), 1)


def assert_bounded(factors: _core.KernelOperator, exact: Any, kernel_tol: float) -> None:
    """Off the diagonal no error is above its bound, and no sum of a row; the diagonal is exact."""
    selves = np.diag(exact)
    assert (factors.kernel_errors <= kernel_tol * selves * (1 + 1e-9)).all()
    lacking = exact - matrix_of(factors)
    roots = np.sqrt(factors.kernel_errors)
    rounding = FAR_BELOW_KERNEL_TOL * np.sqrt(np.outer(selves, selves))
    bounds = np.outer(roots, roots) + rounding
    np.testing.assert_array_less(np.abs(np.diag(lacking)), rounding.diagonal() + 1e-300)
    assert (np.abs(lacking) <= bounds).all()
    rows = factors.kernel_error_rows if len(roots) else np.zeros(len(exact))
    assert (np.abs(lacking).sum(axis=1) <= rows * (1 + 1e-9) + rounding.sum(axis=1)).all()
    if factors.errors_have_sign:
        assert (lacking >= -rounding).all()


@n_examples(100)
@given(forests(2, 12, 20), partial_trees, kernel_tols, budgets)
def test_no_error_is_above_its_bound(
    trees: list[Node], kernel: PartialTree, kernel_tol: float, budget: float
) -> None:
    forest = build(trees)
    factors = pruned(kernel, forest, kernel_tol, budget=budget)
    assert_bounded(factors, kernel(forest), kernel_tol)


# In each of these sets of trees, another part of the bound decides: without it, an error would be
# above. They were found by a search, because random trees rarely come close to their bounds.
TIGHT = {
    "dropped classes": (
        ["(S x y y (S z y x x (S x y y z (A z))))", "(S y z x z (S y (S x (A z))))"],
        PartialTree(1.0, 0.05, penalty="gaps", max_subsequence=2),
        2.8e-4,
        1.0,
    ),
    "dropped sets": (
        ["(S (A z) (A y z z y))", "(S (A z y z z) (A x y z y))", "(S (A y z z) (A z x))"],
        PartialTree(max_subsequence=2, normalize=False),
        0.37,
        0.003,
    ),
    "skipped classes": (
        ["(S (A y y) (A z x z))", "(S (A z y z) (A y))", "(S (A z) (A x))",
         "(S (A y z x y) (A x x x y))"],
        PartialTree(0.05, 0.4, penalty="gaps", normalize=False),
        5.9e-4,
        1.0,
    ),
    "losses below a node": (
        ["(S (S (S (A x x))))", "(S (S (S (A y x x x))))", "(S (S (S (A x x z x))))"],
        PartialTree(0.3, 0.05, penalty="gaps"),
        2.7e-4,
        1.0,
    ),
    "what is beside a loss": (
        ["(S (S (S (A y z x) (A y y z y)) (S (A y) (A x x x x)))"
         " (S (S (A x z) (A z)) (S (A x z y y) (A x z))))",
         "(S (S (S (A x y y y) (A x z x y)) (S (A x z) (A z)))"
         " (S (S (A z x) (A x x)) (S (A z x z x) (A z x y y))))",
         "(S (S (S (A x y z y) (A z)) (S (A z y y y) (A x)))"
         " (S (S (A y x z z) (A z z x z)) (S (A z x) (A z x))))"],
        PartialTree(0.7, 0.8, penalty="gaps"),
        0.338,
        1.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TIGHT.values(), ids=TIGHT)
def test_no_error_is_above_a_tight_bound(
    case: tuple[list[str], PartialTree, float, float],
) -> None:
    texts, kernel, kernel_tol, budget = case
    forest = Forest(texts)
    factors = pruned(kernel, forest, kernel_tol, budget=budget)
    assert factors.kernel_errors.max() > 0.0
    assert_bounded(factors, kernel(forest), kernel_tol)


@n_examples(60)
@given(forests(2, 12, 20), partial_trees, kernel_tols, budgets, st.data())
def test_scores_of_one_side_by_the_other(
    trees: list[Node], kernel: PartialTree, kernel_tol: float, budget: float, data: Any
) -> None:
    forest = build(trees)
    n_first = data.draw(st.integers(1, len(trees)))
    weights = np.where(np.arange(len(trees)) < n_first, 1.0 + np.arange(len(trees)) % 3, 0.0)
    factors = pruned(
        kernel, forest, kernel_tol, budget=budget, n_first=n_first, row_weights=weights
    )
    first, rest = slice(0, n_first), slice(n_first, None)
    lacking = np.abs(kernel(forest) - matrix_of(factors))[first, rest]
    roots = np.sqrt(factors.kernel_errors)
    selves = np.sqrt(np.diag(kernel(forest)))
    bounds = np.outer(roots, roots) + FAR_BELOW_KERNEL_TOL * np.outer(selves, selves)
    assert (lacking <= bounds[first, rest]).all()
    rows = factors.kernel_error_rows[rest] if len(roots) else np.zeros(len(trees) - n_first)
    rounding = FAR_BELOW_KERNEL_TOL * selves[rest] * (weights @ selves)
    assert (weights[first] @ lacking <= rows * (1 + 1e-9) + rounding).all()


@n_examples(60)
@given(forests(2, 12, 20), partial_trees, kernel_tols)
def test_without_pairs_the_matrix_is_positive_semidefinite(
    trees: list[Node], kernel: PartialTree, kernel_tol: float
) -> None:
    factors = pruned(kernel, build(trees), kernel_tol, budget=1e9)
    assert factors.errors_have_sign
    eigenvalues = np.linalg.eigvalsh(matrix_of(factors))
    assert eigenvalues.min() >= -1e-12 * max(1e-300, eigenvalues.max())


@n_examples(60)
@given(forests(2, 12, 20), partial_trees, kernel_tols, budgets)
def test_what_makes_the_matrix_positive_semidefinite_with_pairs(
    trees: list[Node], kernel: PartialTree, kernel_tol: float, budget: float
) -> None:
    factors = pruned(kernel, build(trees), kernel_tol, budget=budget)
    roots = np.sqrt(factors.kernel_errors)
    shift = np.diag(roots * roots.sum()) if len(roots) else 0.0
    eigenvalues = np.linalg.eigvalsh(matrix_of(factors) + shift)
    assert eigenvalues.min() >= -1e-12 * max(1e-300, eigenvalues.max())


@pytest.mark.parametrize("kernel", [PartialTree(), PartialTree(0.2, 0.4, penalty="gaps")], ids=repr)
def test_larger_trees_lose_most_fragments(kernel: PartialTree) -> None:
    forest = build(random_trees(31, 60, 60))
    exact = pruned(kernel, forest, 0.0)
    assert len(exact.kernel_errors) == 0
    n_entries = []
    for kernel_tol in (1e-8, 1e-5, 1e-2):
        factors = pruned(kernel, forest, kernel_tol)
        assert_bounded(factors, kernel(forest), kernel_tol)
        assert factors.kernel_errors.max() > 0.0
        n_entries.append(factors.n_entries)
    assert n_entries == sorted(n_entries, reverse=True)
    assert n_entries[0] > 2 * n_entries[-1]


@pytest.mark.parametrize("n_children", [150, 400])
def test_bounds_of_wide_nodes_are_finite(n_children: int) -> None:
    """The norm of all sequences of equal children is beyond single, then double precision."""
    texts = [f"(S {'(T x) ' * n_children}(U {'y ' * n}))" for n in (1, 2, 5)]
    kernel = PartialTree(1.0, 1.0)
    forest = Forest([*texts, "(S (T x) (U y))", "(S (T y) (U x y))"])
    factors = pruned(kernel, forest, 1e-6)
    assert np.isfinite(factors.kernel_errors).all()
    if len(factors.kernel_errors):
        assert_bounded(factors, kernel(forest), 1e-6)
    else:
        np.testing.assert_allclose(matrix_of(factors), kernel(forest), rtol=1e-10, atol=1e-100)


def test_threads_do_not_matter() -> None:
    forest = build(random_trees(32, 400, 40))
    one, *others = (pruned(PartialTree(), forest, 1e-6, n_threads=n) for n in (1, 2, 3))
    W = np.random.default_rng(0).normal(size=(len(forest), 2))
    for factors in others:
        np.testing.assert_array_equal(factors.kernel_errors, one.kernel_errors)
        np.testing.assert_array_equal(factors.kernel_error_rows, one.kernel_error_rows)
        np.testing.assert_array_equal(factors.scores(W, 1), one.scores(W, 1))


def test_other_kernels_and_values_beyond_double_stay_exact() -> None:
    forest = build(random_trees(33, 30, 20))
    factors = pruned(SubsetTree(), forest, 1e-3)
    assert len(factors.kernel_errors) == 0
    np.testing.assert_allclose(matrix_of(factors), SubsetTree()(forest), rtol=1e-10, atol=1e-300)
    wide = Forest([f"(S {'(T x) ' * n})" for n in (600, 3)])
    kernel = PartialTree(1.0, 1.0)
    factors = pruned(kernel, wide, 1e-3)
    assert len(factors.kernel_errors) == 0
    np.testing.assert_allclose(matrix_of(factors), kernel(wide), rtol=1e-10, atol=1e-100)


def test_threads_do_not_matter_in_a_large_label() -> None:
    """Its classes of sequences fill several pieces, which threads without work take."""
    rng = np.random.default_rng(36)
    words = np.array(list("abcdefgh"))[rng.integers(8, size=(1500, 9))]
    forest = Forest([f"(S {' '.join(row)})" for row in words])
    kernel = PartialTree(penalty="gaps", max_subsequence=4)
    one, *others = (pruned(kernel, forest, 1e-3, n_threads=n) for n in (1, 2, 3))
    assert one.kernel_errors.max() > 0
    W = rng.normal(size=(len(forest), 2))
    for factors in others:
        np.testing.assert_array_equal(factors.kernel_errors, one.kernel_errors)
        np.testing.assert_array_equal(factors.kernel_error_rows, one.kernel_error_rows)
        np.testing.assert_array_equal(factors.scores(W, 1), one.scores(W, 1))
    sample = kernel(forest[::10])
    lacking = sample - matrix_of(one)[::10, ::10]
    roots = np.sqrt(one.kernel_errors[::10])
    assert lacking.max() > FAR_BELOW_KERNEL_TOL
    assert (lacking <= np.outer(roots, roots) + FAR_BELOW_KERNEL_TOL).all()
    assert (lacking >= -FAR_BELOW_KERNEL_TOL).all()
