"""The factors of a kernel matrix are exact: K @ w from them is K @ w by pairs.

How errors are measured. Kernel values are not negative, weights are of both signs: a score
sum_j K_ij w_j may cancel to nearly nothing, and then no program has it to ten digits. What a good
sum can promise is an error relative to the sum of its terms' sizes, sum_j K_ij |w_j|, and that is
what is asked for: 1e-10 of it. Single kernel values, which nothing cancels, are asked for to 1e-10
of themselves (weights that are a column of the identity), and zeros exactly.
"""

import math
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.datasets import DATASETS
from filbert import Forest, _core
from filbert.engine import factorize
from filbert.engine.tree_factors import scores_between
from filbert.errors import KernelOverflowError, OutOfMemoryError, WorkLimitError
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from tests.profiles import n_examples
from tests.reference.matrix import reference_matrix
from tests.reference.trees import Node, parse, write
from tests.strategies import MIXED, forests, near_duplicate, random_tree, random_trees, tree_kernels

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-10
# As learners have it; none, so that every block is closed by pairs; and so much that none is.
BUDGETS = [1.0, 0.0, 1e9]
KERNELS: list[TreeKernel] = [SubsetTree(), SubsetTree(1.0, include_leaves=True), Subtree(0.7)]
PARTIAL: list[TreeKernel] = [
    PartialTree(),
    PartialTree(0.6, 0.3, penalty="gaps"),
    PartialTree(0.9, max_subsequence=2),
    PartialTree(1.0, 1.0, penalty="gaps", max_subsequence=1),
]
each_budget = pytest.mark.parametrize("budget", BUDGETS[:2])
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
every_kernel = pytest.mark.parametrize("kernel", KERNELS + PARTIAL, ids=repr)

DECAYS = st.sampled_from([1.0, 0.4, 0.01]) | st.floats(0.01, 1.0)
ANY_KERNEL = tree_kernels(DECAYS, 4)


def build(trees: Iterable[Node]) -> Forest:
    return Forest(map(write, trees))


def factors_of(
    kernel: TreeKernel, forest: Forest, budget: float = 1.0, n_threads: int = 1
) -> _core.KernelOperator:
    return factorize(kernel, forest, budget=budget, n_jobs=n_threads)


def weights(n: int, columns: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(n, columns))


def assert_scores(scores: Array, K: Array, W: Array) -> None:
    """Scores are K @ W, relative to the sizes of the terms."""
    assert np.isfinite(scores).all()
    assert (np.abs(scores - K @ W) <= TOLERANCE * (K @ np.abs(W))).all()


def assert_values(factors: _core.KernelOperator, K: Array) -> None:
    """Every single kernel value is right."""
    values = factors.scores(np.eye(len(K)), 1)
    np.testing.assert_array_equal(values == 0, K == 0, "zeros differ")
    np.testing.assert_allclose(values, K, rtol=TOLERANCE, atol=0, equal_nan=False)


# ---------------------------------------------------------------- random forests


@given(forests(1, 8, 14), ANY_KERNEL, st.integers(0, 2**32))
@n_examples(400)
def test_scores_equal_the_reference(trees: list[Node], kernel: TreeKernel, seed: int) -> None:
    forest = build(trees)
    K = reference_matrix(kernel, trees, trees)
    W = weights(len(trees), 3, seed)
    for factors in (factors_of(kernel, forest, budget) for budget in BUDGETS):
        assert factors.n_trees == len(trees)
        assert_scores(factors.scores(W, 1), K, W)
        assert_values(factors, K)


@given(forests(1, 6, 14), ANY_KERNEL, st.data())
@n_examples(120)
def test_repeated_trees(trees: list[Node], kernel: TreeKernel, data: st.DataObject) -> None:
    picked = data.draw(st.lists(st.integers(0, len(trees) - 1), min_size=1, max_size=20))
    repeated = [trees[i] for i in picked]
    K = reference_matrix(kernel, trees, trees)[np.ix_(picked, picked)]
    W = weights(len(picked), 2)
    for budget in BUDGETS:
        factors = factors_of(kernel, build(repeated), budget)
        assert_scores(factors.scores(W, 1), K, W)
        assert_values(factors, K)


@given(forests(1, 8, 14), ANY_KERNEL)
@n_examples(40)
def test_a_part_of_a_forest(trees: list[Node], kernel: TreeKernel) -> None:
    """What the other trees of the whole have must not show."""
    others = [write(tree) for tree in random_trees(9, 60)]
    part = Forest([*others, *map(write, trees)])[len(others) :]
    K = reference_matrix(kernel, trees, trees)
    for budget in BUDGETS:
        assert_values(factors_of(kernel, part, budget), K)
        assert_values(factorize(kernel, part, budget=budget, keep_nodes=True), K)


@given(forests(2, 10, 20), ANY_KERNEL, st.sampled_from(BUDGETS))
@n_examples(80)
def test_small_forests_have_the_same_bytes_for_any_threads(
    trees: list[Node], kernel: TreeKernel, budget: float
) -> None:
    forest, W = build(trees), weights(len(trees), 4)
    one = factors_of(kernel, forest, budget, 1).scores(W, 1)
    three = factors_of(kernel, forest, budget, 3).scores(W, 3)
    assert one.tobytes() == three.tobytes()


@each_budget
@every_kernel
def test_the_same_bytes_for_any_number_of_threads(kernel: TreeKernel, budget: float) -> None:
    """Of a forest that has work for several threads; and column by column as all at once."""
    n, max_nodes = (150, 20) if isinstance(kernel, PartialTree) else (400, 30)
    forest = build(random_trees(5, n, max_nodes))
    W = weights(n, 5)
    results = [factors_of(kernel, forest, budget, n) for n in (1, 2, 3)]
    scores = [factors.scores(W, n) for n, factors in enumerate(results, 1)]
    for factors, values in zip(results[1:], scores[1:], strict=True):
        assert values.tobytes() == scores[0].tobytes()
        assert factors.n_entries == results[0].n_entries
        assert factors.n_columns == results[0].n_columns
    assert_scores(scores[0], kernel(forest), W)
    if budget == 0 and not isinstance(kernel, Subtree):
        assert results[0].n_blocks_by_pairs > 0
    for column in range(5):
        alone = results[0].scores(np.ascontiguousarray(W[:, [column]]), 1)
        assert alone.tobytes() == np.ascontiguousarray(scores[0][:, [column]]).tobytes()


# ---------------------------------------------------------------- shapes


def chain(labels: str, n: int, leaf: str) -> Node:
    """A unary chain of n nodes over a leaf."""
    node = Node(leaf)
    for i in range(n):
        node = Node(labels[i % len(labels)], (node,))
    return node


def star(leaves: Iterable[str]) -> Node:
    return Node("S", tuple(Node("T", (Node(leaf),)) for leaf in leaves))


def near_duplicates() -> list[Node]:
    """Of one tree, and of each other."""
    rng = Random(7)
    trees = [random_tree(Random(3), 40, MIXED)]
    while len(trees) < 40:
        trees.append(near_duplicate(rng, rng.choice(trees), MIXED))
    return trees


def chains() -> list[Node]:
    return [chain(labels, n, leaf) for labels in ("a", "ab") for n in (1, 30, 47) for leaf in "xy"]


def wide_nodes() -> list[Node]:
    rng = Random(7)
    return [star(rng.choices("xyz", (8, 1, 1), k=n)) for n in [40] * 8 + [41] * 4]


def wide_and_deep() -> list[Node]:
    """Wide nodes whose every child has something of its own to share."""
    rng = Random(7)
    grown = [
        [chain("ab", rng.randint(1, 4), rng.choice("xy")) for _ in range(3)] for _ in range(20)
    ]
    return [Node("S", tuple(rng.choice(choices) for choices in grown)) for _ in range(10)]


def one_tree() -> list[Node]:
    return [random_tree(Random(11), 40, MIXED)]


def one_tree_many_times() -> list[Node]:
    return one_tree() * 7


def single_nodes() -> list[Node]:
    return [Node("a"), Node("b"), Node("a"), Node("a", (Node("b"),)), Node("b")]


SHAPES = [near_duplicates, chains, wide_nodes, wide_and_deep]
SHAPES += [one_tree, one_tree_many_times, single_nodes]


@pytest.mark.parametrize(
    "decay",
    [
        0.4,
        pytest.param(0.01, marks=pytest.mark.product),
        pytest.param(1.0, marks=pytest.mark.product),
    ],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: Callable[[], list[Node]], decay: float) -> None:
    trees = shape()
    raw = reference_matrix(SubsetTree(decay, include_leaves=True, normalize=False), trees, trees)
    norms = np.sqrt(raw.diagonal())
    forest, W = build(trees), weights(len(raw), 3)
    for normalize, K in ((False, raw), (True, raw / np.outer(norms, norms))):
        kernel = SubsetTree(decay, include_leaves=True, normalize=normalize)
        for budget in BUDGETS[:2]:
            factors = factors_of(kernel, forest, budget)
            assert_values(factors, K)
            assert_scores(factors.scores(W, 2), K, W)


@every_kernel
def test_no_trees(kernel: TreeKernel) -> None:
    factors = factorize(kernel, Forest())
    assert factors.n_trees == 0
    assert factors.scores(np.ones((0, 2)), 1).shape == (0, 2)


@each_budget
@pytest.mark.parametrize("kernel", [SubsetTree(), Subtree()], ids=repr)
def test_trees_without_fragments(kernel: TreeKernel, budget: float) -> None:
    """A single node has no fragment: its row is 0, also normalised, and never 0 / 0."""
    factors = factors_of(kernel, Forest(["(a)", "(a b)", "(b)", "(a)"]), budget)
    values = factors.scores(np.eye(4), 1)
    assert values[1, 1] == pytest.approx(1.0, rel=1e-15)
    assert np.count_nonzero(values) == 1


@each_budget
def test_long_chains_by_the_pairwise_engine(budget: float) -> None:
    """Longer than plain recursion goes."""
    texts = ["(a " * n + leaf + ")" * n for n in (300, 1200) for leaf in "xy"]
    forest, kernel = Forest(texts), SubsetTree(0.7)
    assert_values(factors_of(kernel, forest, budget), kernel(forest))


# ---------------------------------------------------------------- beyond double


def huge_stars() -> list[list[str]]:
    """A thousand and more pre-terminals: at decay 1 Delta is up to 2^1200. And small trees."""
    rng = Random(5)
    first = rng.choices("xyz", k=1200)
    stars = [first, first]
    for n_changes in (1, 1, 3, 100, 1100):
        changed = list(rng.choice(stars))
        for i in rng.sample(range(1200), n_changes):
            changed[i] = rng.choice("xyzw")
        stars.append(changed)
    return [*stars, ["x"] * 1100, ["x"] * 1099 + ["y"], ["x", "y"], ["x", "x"], ["w"]]


def star_kernel(a: list[str], b: list[str]) -> int:
    """STK at decay 1: equal pre-terminals, and at the root each equal pair open or grown."""
    pairs = sum(n * Counter(b)[leaf] for leaf, n in Counter(a).items())
    return pairs + (2 ** sum(x == y for x, y in zip(a, b, strict=True)) if len(a) == len(b) else 0)


@each_budget
@pytest.mark.parametrize("n_threads", [1, 3])
def test_trees_beyond_double(budget: float, n_threads: int) -> None:
    stars = huge_stars()
    own = [star_kernel(a, a) for a in stars]
    assert max(own) > 2**1100
    K = np.array(
        [
            [
                math.sqrt(Fraction(star_kernel(a, b) ** 2, own[i] * own[j]))
                for j, b in enumerate(stars)
            ]
            for i, a in enumerate(stars)
        ]
    )
    factors = factors_of(SubsetTree(1.0), build(map(star, stars)), budget, n_threads)
    W = weights(len(stars), 3)
    assert_scores(factors.scores(W, n_threads), K, W)
    # A tiny value beside 2^1100 may be left out of a sum, but not be anything else.
    values = factors.scores(np.eye(len(stars)), 1)
    np.testing.assert_allclose(values, K, rtol=TOLERANCE, atol=1e-100)


@each_budget
def test_values_beyond_double_without_norms(budget: float) -> None:
    with pytest.raises(KernelOverflowError, match="tree 1 with itself is beyond the range"):
        factors_of(SubsetTree(1.0, normalize=False), build([star("xy"), star("x" * 1100)]), budget)


# ---------------------------------------------------------------- limits


@each_budget
@pytest.mark.parametrize("kernel", [PartialTree(), SubsetTree()], ids=repr)
def test_a_limit_of_memory(kernel: TreeKernel, budget: float) -> None:
    forest = build(random_trees(5, 100, 20))
    needed = factorize(kernel, forest, budget=budget, n_jobs=1).peak_bytes
    assert factorize(kernel, forest, budget=budget, max_memory=2 * needed).n_trees == 100
    for limit in (1000, needed // 2):
        with pytest.raises(OutOfMemoryError, match=r"of the 100 trees would fit.* raise max"):
            factorize(kernel, forest, budget=budget, max_memory=limit)


@each_budget
@pytest.mark.parametrize("kernel", [PartialTree(), SubsetTree()], ids=repr)
def test_a_limit_of_work(kernel: TreeKernel, budget: float) -> None:
    forest = build(random_trees(5, 100, 20))
    for n_jobs in (1, 3):
        assert factorize(kernel, forest, budget=budget, max_work=1e12, n_jobs=n_jobs).n_trees == 100
        with pytest.raises(WorkLimitError, match=r"more than max_work=1e\+04 steps") as caught:
            factorize(kernel, forest, budget=budget, max_work=1e4, n_jobs=n_jobs)
        again = pickle.loads(pickle.dumps(caught.value))
        assert again.max_work == 1e4
        assert str(again) == str(caught.value)


@pytest.mark.parametrize("shape", [(3, 1), (1, 2), (0, 1)])
def test_weights_of_the_wrong_shape(shape: tuple[int, int]) -> None:
    factors = factorize(SubsetTree(), Forest(["(S a)", "(S b)"]))
    with pytest.raises(ValueError, match="one row of weights for each tree"):
        factors.scores(np.ones(shape), 1)


# ---------------------------------------------------------------- every data set

N_SCORED, N_WEIGHTED = 100, 500
FEW = 200  # of these sets: closing all their blocks by pairs is quadratic and takes minutes
LARGE = ["clones-bcb", "clones-bcb with rest", "rte texts"]
# Examples of one kind are as good as others: the small part of them stands for all.
SAMPLED = [name for name in DATASETS if name != "srl-ewt"]


def sample(texts: Iterable[str], n: int, seed: int) -> list[str]:
    """Choose n of the texts in one pass, all equally likely, and shuffle them."""
    rng = Random(seed)
    kept: list[str] = []
    for i, text in enumerate(texts):
        if i < n:
            kept.append(text)
        elif (place := rng.randrange(i + 1)) < n:
            kept[place] = text
    rng.shuffle(kept)
    return kept


@cache
def sampled_from(data: Path, name: str) -> tuple[str, ...]:
    """Some trees of a data set, read once for all tests. The first of them are a sample too."""
    return tuple(sample(DATASETS[name](data), N_SCORED + N_WEIGHTED, seed=1))


@pytest.mark.product
@pytest.mark.shared
@pytest.mark.parametrize("name", SAMPLED)
def test_every_data_set(shared_dir: Path, name: str) -> None:
    """100 trees under weights on 500 others; by the pairwise engine, and some by plain Python."""
    texts = sampled_from(shared_dir / "data", name)
    forest = Forest(texts)
    W = weights(len(texts), 3)
    W[:N_SCORED] = 0
    for kernel in KERNELS:
        K = kernel(forest[:N_SCORED], forest[N_SCORED:])
        scores = factors_of(kernel, forest, n_threads=2).scores(W, 2)
        assert_scores(scores[:N_SCORED], K, W[N_SCORED:])
        n = FEW if name in LARGE else len(texts)
        some = Forest(texts[:n])
        scores = factors_of(kernel, some, budget=0.0, n_threads=2).scores(W[:n], 2)
        assert_scores(scores[:N_SCORED], K[:, : n - N_SCORED], W[N_SCORED:n])
    assert_plainly_right(SubsetTree(), texts)


def assert_plainly_right(kernel: TreeKernel, texts: Sequence[str]) -> None:
    """A few trees that are not too large for the reference, all among each other."""
    trees = [parse(text) for text in texts if text.count(" ") < 100][:10]
    assert len(trees) == 10
    K = reference_matrix(kernel, trees, trees)
    for budget in BUDGETS:
        assert_values(factors_of(kernel, build(trees), budget), K)


def test_a_sample() -> None:
    texts = [str(i) for i in range(50)]
    picked: Any = sample(iter(texts), 20, 0)
    assert len(set(picked)) == 20
    assert set(picked) < set(texts)
    assert picked == sample(iter(texts), 20, 0)
    assert sorted(sample(iter(texts), 90, 0)) == sorted(texts)


# ---------------------------------------------------------------- kernel matrices

SIDE = 660  # so many trees are factorised for a kernel matrix; half as many are compared by pairs


def by_pairs_of_parts(kernel: TreeKernel, a: Forest, b: Forest) -> Array:
    parts = range(0, len(b), 40)
    return np.hstack([kernel(a, b[i : i + 40]) for i in parts])


@each_kernel
def test_large_kernel_matrices_are_those_of_pairs(kernel: TreeKernel) -> None:
    a, b = build(random_trees(1, SIDE, 25)), build(random_trees(2, SIDE, 25))
    within = kernel(a, n_jobs=1)
    pairs = by_pairs_of_parts(kernel, a, a)
    assert (np.abs(within - pairs) <= TOLERANCE * pairs).all()
    assert (within == within.T).all()
    assert (np.diag(within) == kernel.diag(a)).all()
    assert within.tobytes() == kernel(a, n_jobs=3).tobytes()
    between = kernel(a, b, n_jobs=1)
    pairs = by_pairs_of_parts(kernel, a, b)
    assert (np.abs(between - pairs) <= TOLERANCE * pairs).all()
    assert ((between == 0) == (pairs == 0)).all()
    assert between.tobytes() == kernel(a, b, n_jobs=2).tobytes()


def test_large_kernel_matrices_beyond_the_range_of_double() -> None:
    wide = "(A " + "(B b) (C (D d)) " * 700 + ")"
    a = Forest([wide, wide.replace("(B b)", "(B c)", 1), *map(write, random_trees(3, SIDE, 25))])
    kernel = SubsetTree(1.0)
    K = kernel(a)
    pairs = by_pairs_of_parts(kernel, a, a)
    assert (np.abs(K - pairs) <= TOLERANCE * pairs).all()
    with pytest.raises(KernelOverflowError, match="tree"):
        SubsetTree(1.0, normalize=False)(a)


# ---------------------------------------------------------------- memory


def test_the_error_tells_what_would_fit() -> None:
    forest = build(random_trees(4, 2000, 25))
    kernel = SubsetTree()
    need = factorize(kernel, forest).peak_bytes
    limit = need // 3
    with pytest.raises(OutOfMemoryError, match=r"about \S+ of the 2,000 trees would fit") as caught:
        factorize(kernel, forest, max_memory=limit)
    n_fit = int(str(caught.value).split(" of the 2,000")[0].split()[-1].replace(",", ""))
    assert 0 < n_fit < 2000
    factorize(kernel, forest[: n_fit // 2], max_memory=limit)
    with pytest.raises(OutOfMemoryError):
        factorize(kernel, forest[: min(2000, 2 * n_fit)], max_memory=limit)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("leaves", [False, True])
def test_factors_of_two_sides_score_one_by_the_other(leaves: bool, budget: float) -> None:
    """What only trees of one side share is left out."""
    kernel = SubsetTree(0.7, include_leaves=leaves, normalize=False)
    for seed in range(20):
        forest = Forest(write(tree) for tree in random_trees(seed, 12, 9))
        weights = np.random.default_rng(seed).normal(size=(len(forest), 2))
        n_first = 1 + seed % (len(forest) - 1)
        weights[n_first:] = 0.0
        expected = kernel(forest[n_first:], forest[:n_first]) @ weights[:n_first]
        scale = np.abs(kernel(forest[n_first:], forest[:n_first])) @ np.abs(weights[:n_first])
        factors = factorize(kernel, forest, budget=budget, n_first=n_first)
        both = factorize(kernel, forest, budget=budget)
        assert factors.n_node_entries <= both.n_node_entries
        for found in (
            factors.scores(weights, 1)[n_first:],
            scores_between(kernel, forest, weights[:n_first]),
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * scale.max())
