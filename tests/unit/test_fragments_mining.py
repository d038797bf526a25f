"""Mined fragments: their weights are those of an enumeration of all fragments of small models.

Weights are sums of terms of both signs, and where these cancel, no program has ten digits. So an
error is measured relative to the sum of the terms' sizes, and where a fragment's relevance is next
to the threshold, rounding may decide (such cases are passed over).
"""

import math
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from filbert import Forest, TreeSVC
from filbert.errors import (
    FewFragmentsWarning,
    FilbertError,
    InvalidParameterError,
    TooManyFragmentsError,
)
from filbert.fragments import MinedFragments, mine
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.model import SupportVectorModel
from tests.fragments import (
    TOLERANCE,
    alike_models,
    coefficients,
    forest_of,
    models,
    native,
    nodes_of,
)
from tests.profiles import n_examples
from tests.reference.matrix import reference_matrix
from tests.reference.mining import Model, Search, chi_square
from tests.reference.trees import parse, write
from tests.strategies import DISJOINT, random_trees

ALL = 1e30  # a threshold factor that lets everything pass but what is exactly 0
FACTORS = st.floats(1.01, 10.0) | st.floats(1.01, 80.0)
CRITERIA = st.sampled_from(["gradient", "chi2"])


def weight_error(model: Model, mined: MinedFragments) -> float:
    """The largest error of a weight, relative to the sizes of its terms."""
    pairs = zip(nodes_of(mined.fragments), mined.weight, strict=True)
    return max((abs(w - model.weights[f]) / model.sizes[f] for f, w in pairs), default=0.0)


# ---------------------------------------------------------------- weights


@given(models())
@n_examples(80)
def test_weights_are_those_of_an_enumeration(model: Model) -> None:
    mined = mine(native(model), max_ratio=ALL, min_frequency=1, search="complete")
    found = nodes_of(mined.fragments)
    assert weight_error(model, mined) <= TOLERANCE
    assert mined.frequency.tolist() == [model.frequencies[f] for f in found]
    left_out = model.weights.keys() - set(found)
    assert all(abs(model.weights[f]) <= TOLERANCE * model.sizes[f] for f in left_out)


@given(models())
@n_examples(40)
def test_the_squares_of_all_weights_add_up_to_the_norm(model: Model) -> None:
    K = reference_matrix(model.kernel, model.trees, model.trees)
    coef = np.array(model.coef)
    largest = math.sqrt(np.abs(coef) @ K @ np.abs(coef))
    mined = mine(native(model), max_ratio=ALL, min_frequency=1, search="complete")
    assert mined.norm == pytest.approx(math.sqrt(max(0.0, coef @ K @ coef)), abs=1e-7 * largest)
    assert mined.norm_in == pytest.approx(math.sqrt(mined.weight @ mined.weight), rel=1e-12)
    assert mined.norm_in == pytest.approx(model.norm, rel=1e-9, abs=1e-9 * largest)
    if model.norm > 1e-6 * largest:
        assert mined.norm == pytest.approx(model.norm, rel=1e-9, abs=1e-9 * largest)
        assert mined.norm_share == pytest.approx(mined.norm_in / mined.norm, rel=1e-12)


@given(models(), FACTORS, CRITERIA, st.sampled_from(["greedy", "complete"]))
@n_examples(40)
def test_the_account_of_what_was_mined(
    model: Model, factor: float, criterion: Any, search: Any
) -> None:
    wanted = Search(model, criterion, factor, 1)
    mined = mine(
        native(model), max_ratio=factor, criterion=criterion, min_frequency=1, search=search
    )
    n = len(mined.fragments)
    assert n == mined.n == len(mined.weight) == len(mined.relevance) == len(mined.frequency)
    assert mined.base == pytest.approx(wanted.base, rel=1e-9, abs=1e-9)
    assert mined.threshold == pytest.approx(mined.base / factor, rel=1e-12)
    if criterion == "gradient":
        assert mined.relevance.tolist() == mined.weight.tolist()
    else:
        relevance = [model.chi2[f] for f in nodes_of(mined.fragments)]
        np.testing.assert_allclose(mined.relevance, relevance, rtol=1e-12)
    order = [(-abs(r), str(f)) for r, f in zip(mined.relevance, mined.fragments, strict=True)]
    assert order == sorted(order)


@given(models(), FACTORS)
@n_examples(40)
def test_the_bounds_of_the_paper(model: Model, factor: float) -> None:
    """The lower one always; the upper one where no fragment outweighs the base, as they say."""
    mined = mine(native(model), max_ratio=factor, min_frequency=1)
    lower, upper = mined.bounds
    assert lower == pytest.approx(mined.threshold * math.sqrt(mined.n), rel=1e-12)
    assert upper == pytest.approx(mined.base * math.sqrt(mined.n), rel=1e-12)
    assert lower <= mined.norm_in * (1 + 1e-12)
    if mined.n and np.abs(mined.weight).max() <= mined.base:
        assert mined.norm_in <= upper * (1 + 1e-12)


# ---------------------------------------------------------------- searches


@given(alike_models() | models(), FACTORS, CRITERIA, st.integers(1, 3))
@n_examples(150)
def test_the_greedy_search_is_algorithm_5_1(
    model: Model, factor: float, criterion: Any, min_frequency: int
) -> None:
    wanted = Search(model, criterion, factor, min_frequency)
    assume(wanted.margin() > 1e-8)
    mined = mine(native(model), max_ratio=factor, criterion=criterion, min_frequency=min_frequency)
    assert set(nodes_of(mined.fragments)) == wanted.greedy()


@given(alike_models() | models(), FACTORS, CRITERIA, st.integers(1, 3))
@n_examples(100)
def test_the_complete_search_finds_all_above_the_threshold(
    model: Model, factor: float, criterion: Any, min_frequency: int
) -> None:
    wanted = Search(model, criterion, factor, min_frequency)
    assume(wanted.margin() > 1e-8)
    mined = mine(
        native(model),
        max_ratio=factor,
        criterion=criterion,
        min_frequency=min_frequency,
        search="complete",
    )
    assert set(nodes_of(mined.fragments)) == wanted.complete()


def test_what_only_the_complete_search_finds() -> None:
    """(S A B) cancels, and so does all that is between it and the whole trees."""
    trees = ["(S (A x) (B y))", "(S (A z) (B y))", "(S (A x) (B z))", "(S (A z) (B z))", "(T c)"]
    model = SupportVectorModel(
        SubsetTree(1.0, normalize=False),
        Forest(trees),
        np.array([[1.0, -1, -1, 1, 1]]),
        np.zeros(1),
    )
    complete = mine(model, max_ratio=1.5, min_frequency=1, search="complete")
    assert dict(zip(map(str, complete.fragments), complete.weight.tolist(), strict=True)) == {
        "(S (A x) (B y))": 1.0,
        "(S (A x) (B z))": -1.0,
        "(S (A z) (B y))": -1.0,
        "(S (A z) (B z))": 1.0,
        "(T c)": 1.0,
    }
    assert [str(f) for f in mine(model, max_ratio=1.5, min_frequency=1).fragments] == ["(T c)"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_chi_square_is_bounded_on_both_sides(sign: float) -> None:
    """(S A) is in nearly all trees and tells nothing, but (S (A n)) is in all of one class only."""
    one = [f"(R{i} (S (A n)))" for i in range(5)]
    other = [f"(P{i} (S (A p{i})))" for i in range(4)] + ["(Q q)"]
    coef = np.array([[-sign] * 5 + [sign] * 5])
    model = SupportVectorModel(SubsetTree(), Forest(one + other), coef, np.zeros(1))
    mined = mine(model, criterion="chi2", max_ratio=1.01, min_frequency=1, search="complete")
    found = dict(zip(map(str, mined.fragments), mined.relevance.tolist(), strict=True))
    assert found == {"(A n)": 10.0, "(S (A n))": 10.0}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_partial_tree_may_outweigh_its_parts(sign: float) -> None:
    """Of four equal children, there are six ways to choose two and one way to choose none."""
    kernel = PartialTree(1.0, 1.0, normalize=False)
    coef = np.array([[sign]])
    model = SupportVectorModel(kernel, Forest(["(S A A A A)"]), coef, np.zeros(1))
    mined = mine(model, max_ratio=0.75, min_frequency=1, search="complete")
    assert (mined.base, mined.threshold) == (4.0, pytest.approx(4 / 0.75))
    assert [(str(f), w) for f, w in zip(mined.fragments, mined.weight, strict=True)] == [
        ("(S A A)", 6.0 * sign)
    ]


def test_a_wide_partial_tree_may_outweigh_its_parts() -> None:
    """The children that follow at a distance count as those that follow at once."""
    kernel = PartialTree(1.0, 1.0, normalize=False)
    tree = Forest([f"(S A{' B' * 8})"])
    model = SupportVectorModel(kernel, tree, np.array([[1.0]]), np.zeros(1))
    mined = mine(model, max_ratio=0.75, min_frequency=1, search="complete")
    assert mined.base == 8.0
    assert dict(zip(map(str, mined.fragments), mined.weight.tolist(), strict=True)) == {
        f"(S{first}{' B' * n})": math.comb(8, n) for first in ("", " A") for n in range(2, 7)
    }


def test_several_nodes_are_expanded_at_once() -> None:
    """The paper's width factor: (S A B) with both expanded is heavy, with one of them it is not.

    Expansion by two nodes is tried only where one by one has given something, here (S A (B y)).
    """
    trees = ["(S (A x) (B y))", "(S (A x) (B z))", "(S (A z) (B y))", "(S (A w) (B y))"]
    coef = [3.0, -3.0, 1.0, 1.0]
    model = Model(SubsetTree(0.9, normalize=False), [parse(t) for t in trees], coef)
    mined = mine(native(model), max_ratio=3.0, min_frequency=1)
    found = [str(f) for f in mined.fragments]
    assert "(S (A x) (B y))" in found
    assert "(S (A x) (B …))" not in found
    assert set(nodes_of(mined.fragments)) == Search(model, "gradient", 3.0, 1).greedy()


# ---------------------------------------------------------------- problems and support vectors


@given(models(), st.integers(0, 2**32), FACTORS)
@n_examples(30)
def test_each_problem_of_a_model_has_its_own_fragments(
    model: Model, seed: int, factor: float
) -> None:
    """And only its own support vectors count: those whose coefficient is not 0."""
    other = Model(model.kernel, model.trees, coefficients(Random(seed), len(model.trees)))
    both = native(model, other)
    for problem, one in enumerate((model, other)):
        mined = mine(both, problem=problem, max_ratio=factor, min_frequency=2)
        alone = mine(native(one), max_ratio=factor, min_frequency=2)
        assert list(map(str, mined.fragments)) == list(map(str, alone.fragments))
        assert mined.weight.tolist() == alone.weight.tolist()
        assert mined.frequency.tolist() == alone.frequency.tolist()
        assert (mined.base, mined.norm) == (alone.base, alone.norm)


def test_unused_nodes_of_a_forest_do_not_show() -> None:
    trees = random_trees(3, 40)
    coef = coefficients(Random(3), 20)
    part = SupportVectorModel(SubsetTree(), forest_of(trees)[20:], np.array([coef]), np.zeros(1))
    own = native(Model(SubsetTree(), trees[20:], coef))
    assert texts_and_weights(mine(part)) == texts_and_weights(mine(own))


def texts_and_weights(mined: MinedFragments) -> dict[str, float]:
    return dict(zip(map(str, mined.fragments), mined.weight.round(12).tolist(), strict=True))


@pytest.mark.parametrize("kernel", [SubsetTree(), Subtree(), PartialTree()], ids=repr)
@pytest.mark.parametrize("search", ["greedy", "complete"])
def test_the_same_bytes_for_any_number_of_threads(kernel: TreeKernel, search: Any) -> None:
    trees = random_trees(5, 150, 8 if isinstance(kernel, PartialTree) else 14)
    model = native(Model(kernel, trees, coefficients(Random(1), len(trees))))
    one, two = (mine(model, max_ratio=5000, search=search, n_jobs=n) for n in (1, 2))
    assert one.n > 20
    assert list(map(str, one.fragments)) == list(map(str, two.fragments))
    for name in ("weight", "relevance", "frequency"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert (one.norm, one.norm_in, one.bounds) == (two.norm, two.norm_in, two.bounds)


# ---------------------------------------------------------------- how many: rules in place of L


@pytest.fixture(scope="module")
def trained() -> SupportVectorModel:
    trees = random_trees(11, 200, 14, DISJOINT)
    y = ["A" in write(tree)[:8] for tree in trees]
    model: SupportVectorModel = (
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(forest_of(trees), y).model_
    )
    return model


@pytest.mark.parametrize("search", ["greedy", "complete"])
@pytest.mark.parametrize("k", [1, 7, 100])
def test_a_number_of_fragments(trained: SupportVectorModel, k: int, search: Any) -> None:
    """The heaviest of those that a threshold found that is low enough."""
    mined = mine(trained, n_fragments=k, search=search)
    assert mined.n == k
    factor = mined.base / mined.threshold
    more = mine(trained, max_ratio=factor, search=search)
    assert more.n >= k
    assert list(map(str, mined.fragments)) == list(map(str, more.fragments[:k]))
    assert mined.weight.tolist() == more.weight[:k].tolist()


def test_the_complete_search_has_the_heaviest(trained: SupportVectorModel) -> None:
    everything = mine(trained, max_ratio=1e6, search="complete")
    for k in (5, 60):
        mined = mine(trained, n_fragments=k, search="complete")
        assert list(map(str, mined.fragments)) == list(map(str, everything.fragments[:k]))


@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree()], ids=repr)
def test_light_fragments_are_found_by_lower_thresholds(kernel: TreeKernel) -> None:
    trees = forest_of(random_trees(11, 40, 10, DISJOINT))
    svm = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(trees, [0, 1] * 20)
    heavy = mine(svm.model_, min_frequency=1, search="complete")
    n = heavy.n + 5
    mined = mine(svm.model_, n_fragments=n, min_frequency=1, search="complete")
    assert mined.n == n
    assert mined.threshold < heavy.threshold


@pytest.mark.parametrize("search", ["greedy", "complete"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_a_share_of_the_norm(trained: SupportVectorModel, share: float, search: Any) -> None:
    """The fewest of the heaviest that have it."""
    mined = mine(trained, norm_share=share, search=search, min_frequency=1)
    assert mined.norm_share >= share
    assert mined.norm_in == pytest.approx(share * mined.norm, rel=0.2)
    without_last = math.sqrt(mined.weight[:-1] @ mined.weight[:-1])
    assert without_last < share * mined.norm
    factor = mined.base / mined.threshold
    more = mine(trained, max_ratio=factor, search=search, min_frequency=1)
    assert list(map(str, mined.fragments)) == list(map(str, more.fragments[: mined.n]))


def test_what_min_frequency_leaves_out_of_reach(trained: SupportVectorModel) -> None:
    """Then all there is comes back, and a warning says how much that is."""
    everything = mine(trained, max_ratio=1e9, search="complete", min_frequency=20)
    assert everything.norm_share < 0.9
    with pytest.warns(FewFragmentsWarning, match="min_frequency") as told:
        mined = mine(trained, norm_share=0.999, search="complete", min_frequency=20)
    assert told[0].message.wanted == 0.999
    assert told[0].message.reached == mined.norm_share == pytest.approx(everything.norm_share)
    with pytest.warns(FewFragmentsWarning, match="n_fragments=100,000"):
        mined = mine(trained, n_fragments=100_000, search="complete", min_frequency=20)
    assert mined.n == everything.n


def test_more_fragments_than_allowed(trained: SupportVectorModel) -> None:
    """Of an exponential number, some search has to end."""
    for search in ("greedy", "complete"):
        with pytest.raises(TooManyFragmentsError, match="max_fragments=100"):
            mine(trained, max_ratio=1e9, min_frequency=1, search=search, max_fragments=100)


# ---------------------------------------------------------------- what is odd, and what is wrong


def test_models_without_fragments() -> None:
    """Single nodes have no productions; and there may be no support vectors."""
    nothing = SupportVectorModel(SubsetTree(), Forest(["(a)", "(b)"]), np.ones((1, 2)), np.zeros(1))
    mined = mine(nothing)
    assert (mined.n, mined.norm, mined.norm_in) == (0, 0, 0)
    assert mined.fragments.count(["(S (a b))"]).shape == (1, 0)
    empty = SupportVectorModel(SubsetTree(), Forest([]), np.ones((1, 0)), np.zeros(1))
    assert mine(empty).n == 0


def test_chi_square_by_hand() -> None:
    """In 3 of 4 positive and 1 of 6 negative: 10 (3 10 - 4 4)^2 / (4 6 4 6)."""
    trees = ["(S (A x))"] * 3 + ["(S (B x))"] + ["(S (A x))"] + ["(S (B x))"] * 5
    model = SupportVectorModel(
        SubsetTree(), Forest(trees), np.array([[1.0] * 4 + [-1.0] * 6]), np.zeros(1)
    )
    mined = mine(model, criterion="chi2")
    found = dict(zip(map(str, mined.fragments), mined.relevance.tolist(), strict=True))
    assert found["(A x)"] == pytest.approx(10 * (30 - 16) ** 2 / (4 * 6 * 4 * 6))
    assert chi_square(10, 4, 4, 3) == pytest.approx(found["(A x)"])


def test_deep_trees() -> None:
    """Nothing recurses on depth; of a chain, fragments are its parts."""
    deep = "(a " * 20_000 + "b" + ")" * 20_000
    model = SupportVectorModel(SubsetTree(0.4), Forest([deep]), np.ones((1, 1)), np.zeros(1))
    mined = mine(model, max_ratio=20)  # 0.4^(6/2) > 1/20 > 0.4^(7/2)
    assert [str(f) for f in mined.fragments] == ["(a " * n + "(a …)" + ")" * n for n in range(1, 8)]
    whole = SupportVectorModel(Subtree(0.9), Forest([deep]), np.ones((1, 1)), np.zeros(1))
    assert max(len(f.labels) for f in mine(whole, max_ratio=2, min_frequency=1).fragments) > 2


@pytest.mark.parametrize(
    "bad",
    [
        {"max_ratio": 0},
        {"max_ratio": math.inf},
        {"max_ratio": -1},
        {"max_ratio": math.nan},
        {"max_ratio": "50"},
        {"min_frequency": 0},
        {"min_frequency": 1.5},
        {"n_fragments": 0},
        {"n_fragments": 2.5},
        {"norm_share": 0.0},
        {"norm_share": 1.5},
        {"n_fragments": 5, "norm_share": 0.5},
        {"n_fragments": 5, "max_fragments": 3},
        {"max_fragments": 0},
        {"criterion": "weight"},
        {"search": "all"},
        {"problem": 1},
        {"problem": -1},
    ],
    ids=str,
)
def test_bad_parameters(trained: SupportVectorModel, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(bad))):
        mine(trained, **bad)


def test_models_that_cannot_be_mined() -> None:
    """They are named, and so are those that can."""
    X, y = ["(S (A x))", "(S (B y))"], [0, 1]
    sum_ = TreeSVC(SubsetTree() + PartialTree(), C=1.0, loss="hinge").fit(X, y)
    by_callable = TreeSVC(lambda A, B: np.ones((len(A), len(B))), strategy="usvm", C=1.0).fit(X, y)
    for model in (sum_, by_callable, TreeSVC(SubsetTree(), C=1.0, loss="hinge"), "model"):
        with pytest.raises(FilbertError, match="SubsetTree"):
            mine(model)


def test_a_fitted_learner_stands_for_its_model(trained: SupportVectorModel) -> None:
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(
        ["(S (A x))", "(S (B y))"] * 4, [0, 1] * 4
    )
    assert texts_and_weights(mine(clf)) == texts_and_weights(mine(clf.model_))
