"""SymbolSelector: gains = brute force over all pairs of trees, choices = the best of all."""

from collections import defaultdict
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone

from filbert import Examples, Forest, SymbolSelector, TreeSVC
from filbert.errors import InvalidParameterError, OutOfMemoryError
from filbert.kernels import ApproximateTree, Linear, PartialTree, SubsetTree, TreeKernel
from filbert.learners import symbol_gains
from tests.reference.approximate import delta_of, symbol_of
from tests.reference.matrix import reference_value
from tests.reference.trees import nodes, write
from tests.strategies import DISJOINT, MIXED, random_trees
from tests.unit.test_approximate import EXACT

Array = npt.NDArray[Any]


def labels(n: int, n_classes: int) -> Array:
    return np.random.default_rng(n_classes).integers(0, n_classes, n)


TREES = random_trees(5, 100, 10, MIXED)


@cache
def kernels_of_symbols(kernel: TreeKernel, by: str) -> dict[str | tuple[str, ...], Array]:
    """The kernel matrix of each symbol alone, by the definitions."""
    delta = cache(delta_of(kernel))
    plain = reference_value(clone(kernel).set_params(normalize=False))
    norms = [np.sqrt(float(plain(t, t))) if kernel.normalize else 1.0 for t in TREES]
    roots = [[u for u in nodes(t) if delta(u, u) > 0] for t in TREES]
    matrices: dict[str | tuple[str, ...], Array] = defaultdict(lambda: np.zeros((100, 100)))
    for i, of_i in enumerate(roots):
        for j, of_j in enumerate(roots):
            for u in of_i:
                for v in of_j:
                    if symbol_of(u, by) == symbol_of(v, by):
                        matrices[symbol_of(u, by)][i, j] += delta(u, v) / (norms[i] * norms[j])
    return matrices


@pytest.mark.parametrize("kernel", EXACT, ids=repr)
@pytest.mark.parametrize("by", ["label", "production"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gains_are_those_of_all_pairs(kernel: TreeKernel, by: Any, n_classes: int) -> None:
    y = labels(100, n_classes)
    signs = np.where(y[:, None] == y, 1.0, -1.0)
    wanted = kernels_of_symbols(kernel, by)
    selector = SymbolSelector(kernel, 1, by=by).fit(Forest(map(write, TREES)), y)
    assert selector.candidates_ == tuple(sorted(wanted, key=lambda s: (s,) if by == "label" else s))
    for symbol, gain in zip(selector.candidates_, selector.gains_, strict=True):
        K = wanted[symbol]
        assert abs(gain - (signs * K).sum()) <= 1e-10 * K.sum()


@pytest.mark.parametrize("kernel", EXACT, ids=repr)
def test_factors_and_pairs_agree(kernel: TreeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    forest, y = Forest(map(write, random_trees(6, 80, 15, MIXED))), labels(80, 3)
    monkeypatch.setattr(symbol_gains, "LITTLE_WORK", 0.0)
    by_factors = SymbolSelector(kernel, 1).fit(forest, y).gains_

    def give_up(*_: Any, **__: Any) -> None:
        raise OutOfMemoryError("no")

    monkeypatch.setattr(symbol_gains, "factorize", give_up)
    by_pairs = SymbolSelector(kernel, 1).fit(forest, y).gains_
    scale = 1e-10 * (forest.shape[0] ** 2 if kernel.normalize else float(kernel(forest).sum()))
    np.testing.assert_allclose(by_factors, by_pairs, rtol=1e-10, atol=scale)


def test_gains_add_up_to_the_alignment() -> None:
    forest, y = Forest(map(write, random_trees(7, 60, 15))), labels(60, 2)
    signs = np.where(y == 1, 1.0, -1.0)
    selector = SymbolSelector(n_symbols=1).fit(forest, y)
    assert selector.gains_.sum() == pytest.approx(signs @ SubsetTree()(forest) @ signs, rel=1e-10)
    assert (selector.gains_ > -1e-9).all()


def test_results_do_not_depend_on_threads() -> None:
    forest, y = Forest(map(write, random_trees(8, 60, 15))), labels(60, 3)
    for kernel in EXACT:
        one = SymbolSelector(kernel, 2, n_jobs=1).fit(forest, y)
        two = SymbolSelector(kernel, 2, n_jobs=2).fit(forest, y)
        assert one.gains_.tobytes() == two.gains_.tobytes()
        assert one.symbols_ == two.symbols_


# ---------------------------------------------------------------- choices

# Words tell the classes apart, under A more often than under B, and C has none.
SENTENCES = [
    "(S (A x) (B y) (C (D d) (E e)))",
    "(S (A x) (B y) (C (D d) (E f)))",
    "(S (A x) (B z) (C (D d) (F e)))",
    "(S (A w) (B z) (C (D d) (E e)))",
    "(S (A w) (B z) (C (D c) (E f)))",
    "(S (A w) (B z) (C (D d) (F e) (F e)))",
]
CLASSES = [1, 1, 1, 0, 0, 0]


def fulfils(selector: SymbolSelector, choice: tuple[Any, ...], n_nodes: float) -> bool:
    counts = {
        kind: [sum(s in choice for s in group) for group in getattr(selector, kind)]
        for kind in ("together", "at_least_one", "exactly_one")
    }
    return (
        (selector.n_symbols is None or len(choice) == selector.n_symbols)
        and (selector.max_nodes_per_tree is None or n_nodes <= selector.max_nodes_per_tree + 1e-9)
        and all(
            n in (0, len(group))
            for n, group in zip(counts["together"], selector.together, strict=True)
        )
        and all(n >= 1 for n in counts["at_least_one"])
        and all(n == 1 for n in counts["exactly_one"])
    )


def check_choice(selector: SymbolSelector, X: Any, y: Any) -> None:
    """It is the best of all choices that fulfil the constraints; an error where there are none."""
    free = SymbolSelector(selector.kernel).fit(X, y)
    gain = dict(zip(free.candidates_, free.gains_, strict=True))
    frequency = dict(zip(free.candidates_, free.frequencies_, strict=True))
    choices = [c for n in range(len(gain) + 1) for c in combinations(gain, n)]
    gains = {
        choice: sum(gain[s] for s in choice)
        for choice in choices
        if fulfils(selector, choice, sum(frequency[s] for s in choice))
    }
    if not gains:
        with pytest.raises(InvalidParameterError, match="no choice of symbols fulfils"):
            selector.fit(X, y)
        return
    chosen = selector.fit(X, y).symbols_
    assert gains[chosen] == pytest.approx(max(gains.values()), rel=1e-6, abs=1e-9)


CONSTRAINTS: list[dict[str, Any]] = [
    {"n_symbols": 1},
    {"n_symbols": 3},
    {"max_nodes_per_tree": 2.5},
    {"max_nodes_per_tree": 3.0, "n_symbols": 2},
    {"n_symbols": 3, "together": [("C", "D")]},
    {"n_symbols": 4, "together": [("A", "F"), ("B", "E", "D")]},
    {"n_symbols": 2, "at_least_one": [("E", "F")]},
    {"n_symbols": 3, "exactly_one": [("A", "B")], "at_least_one": [("F",)]},
    {"max_nodes_per_tree": 3.2, "together": [("S", "F")], "exactly_one": [("D", "E")]},
    {"exactly_one": [("A", "B", "S"), ("C", "D")]},
    {"n_symbols": 2, "together": [("A", "D", "E")], "at_least_one": [("E", "C")]},
]


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=repr)
@pytest.mark.parametrize("y", [CLASSES, [0, 1, 2, 2, 1, 0]], ids=["two", "three"])
def test_choices_are_the_best_of_all(constraints: dict[str, Any], y: list[int]) -> None:
    check_choice(SymbolSelector(SubsetTree(0.5), **constraints), SENTENCES, y)


@pytest.mark.parametrize("seed", range(20))
def test_random_constraints(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees = random_trees(seed, 12, 14, DISJOINT)
    y = np.arange(12) % (2 + seed % 2)
    kernel = PartialTree(0.7, 0.6)  # leaves count: six symbols
    there = "ABCxyz"

    def groups() -> list[tuple[str, ...]]:
        return [
            tuple(rng.choice(list(there), size=rng.integers(1, 4), replace=False).tolist())
            for _ in range(rng.integers(0, 3))
        ]

    selector = SymbolSelector(
        kernel,
        int(rng.integers(1, 5)) if rng.random() < 0.5 else None,
        max_nodes_per_tree=float(rng.uniform(1, 8)) if rng.random() < 0.5 else None,
        together=groups(),
        at_least_one=groups(),
        exactly_one=groups(),
    )
    check_choice(selector, Forest(map(write, trees)), y)


def test_the_kernel_and_its_speed() -> None:
    selector = SymbolSelector(SubsetTree(0.5), 2).fit(SENTENCES, CLASSES)
    assert selector.kernel_ == ApproximateTree(SubsetTree(0.5), selector.symbols_)
    # A, B, C, D and S once a tree, E in 4 of the 6 and F three times in all.
    assert selector.symbols_ == ("A", "S")
    assert selector.speedup_ == pytest.approx((5 * 36 + 16 + 9) / (2 * 36))
    svm = TreeSVC(selector.kernel_, C=10, loss="hinge").fit(SENTENCES, CLASSES)
    assert svm.predict(SENTENCES).tolist() == CLASSES


def test_shares_of_the_symbols() -> None:
    for share, n in ((0.01, 1), (1 / 7, 1), (0.2, 2), (1.0, 7)):
        assert len(SymbolSelector(n_symbols=share).fit(SENTENCES, CLASSES).symbols_) == n


def test_productions() -> None:
    trees = ["(S (A x) (B y))", "(S (A x) (B z))", "(S (A w) (B y))", "(S (A w) (B z))"]
    selector = SymbolSelector(SubsetTree(), 2, by="production").fit(trees, [1, 1, 0, 0])
    assert selector.symbols_ == (("A", "w"), ("A", "x"))
    assert selector.kernel_.by == "production"
    assert np.count_nonzero(selector.kernel_(trees)) == 8


def test_all_that_have_a_gain_without_constraints() -> None:
    selector = SymbolSelector().fit(SENTENCES, CLASSES)
    assert selector.symbols_ == tuple(
        s for s, gain in zip(selector.candidates_, selector.gains_, strict=True) if gain > 0
    )


def test_a_part_of_examples() -> None:
    examples = Examples(tree=Forest(SENTENCES), features=np.eye(6))
    selector = SymbolSelector(SubsetTree().on("tree"), 1).fit(examples, CLASSES)
    assert selector.kernel_ == ApproximateTree(SubsetTree().on("tree"), ["S"])
    assert selector.kernel_(examples).shape == (6, 6)


def test_a_slice_has_its_own_symbols_only() -> None:
    forest = Forest([*SENTENCES, "(Z (Y x))"])
    assert "Z" not in SymbolSelector(n_symbols=1).fit(forest[:6], CLASSES).candidates_


def test_symbols_that_no_tree_has() -> None:
    chosen = SymbolSelector(n_symbols=2, at_least_one=[("X", "F")]).fit(SENTENCES, CLASSES).symbols_
    assert "F" in chosen
    chosen = SymbolSelector(n_symbols=1, together=[("X", "S")]).fit(SENTENCES, CLASSES).symbols_
    assert chosen == ("A",)


# ---------------------------------------------------------------- errors


def test_constraints_in_conflict_are_named() -> None:
    selector = SymbolSelector(
        n_symbols=2,
        max_nodes_per_tree=6.0,
        together=[("A", "B"), ("C", "D", "E")],
        at_least_one=[("A", "S"), ("D", "C")],
        exactly_one=[("F", "S")],
    )
    with pytest.raises(InvalidParameterError) as caught:
        selector.fit(SENTENCES, CLASSES)
    text = str(caught.value)
    assert "n_symbols=2" in text
    assert "together=('C', 'D', 'E')" in text
    assert "at_least_one=('D', 'C')" in text
    for other in ("max_nodes_per_tree", "('A', 'B')", "('A', 'S')", "exactly_one"):
        assert other not in text


def test_what_fails_changes_nothing() -> None:
    selector = SymbolSelector(n_symbols=2).fit(SENTENCES, CLASSES)
    before = {name: value for name, value in vars(selector).items() if name.endswith("_")}
    assert len(before) == 7
    selector.set_params(n_symbols=5, max_nodes_per_tree=2.0)
    with pytest.raises(InvalidParameterError, match="no choice of symbols fulfils"):
        selector.fit(SENTENCES[:4], CLASSES[:4])
    assert all(vars(selector)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_symbols": 1, "together": [("A", "B")], "at_least_one": [("A",)]}, "together"),
        ({"n_symbols": 5, "max_nodes_per_tree": 2.0}, "n_symbols=5 and max_nodes_per_tree=2"),
        ({"at_least_one": [("X", "Y")]}, r"at_least_one=\('X', 'Y'\) \(no tree has 'X'\)"),
        ({"n_symbols": 8}, "n_symbols=8, but the trees have only 7 symbols"),
        ({"n_symbols": 0}, "n_symbols must be"),
        ({"n_symbols": 1.5}, "n_symbols must be"),
        ({"n_symbols": True}, "n_symbols must be"),
        ({"n_symbols": "all"}, "n_symbols must be"),
        ({"max_nodes_per_tree": 0.0}, "max_nodes_per_tree must be"),
        ({"max_nodes_per_tree": float("nan")}, "max_nodes_per_tree must be"),
        ({"together": "AB"}, "together must be"),
        ({"together": ("A", "B")}, "together must be"),
        ({"at_least_one": [()]}, "at_least_one must be"),
        ({"exactly_one": 3}, "exactly_one must be"),
        ({"exactly_one": [(3,)]}, "a symbol must be a string"),
        ({"by": "rule"}, "by must be"),
        ({"kernel": Linear()}, "kernel must be"),
        ({"kernel": ApproximateTree(SubsetTree(), ["A"])}, "kernel must be"),
        ({"kernel": SubsetTree(0.0), "n_symbols": 1}, "decay must be"),
    ],
    ids=repr,
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        SymbolSelector(**parameters).fit(SENTENCES, CLASSES)


def test_wrong_data() -> None:
    with pytest.raises(InvalidParameterError, match="at least two classes"):
        SymbolSelector(n_symbols=1).fit(SENTENCES, [1] * 6)
    with pytest.raises(InvalidParameterError, match="no examples"):
        SymbolSelector(n_symbols=1).fit([], [])
    with pytest.raises(InvalidParameterError, match="6 examples, but y has 2"):
        SymbolSelector(n_symbols=1).fit(SENTENCES, [0, 1])


def test_trees_without_fragments() -> None:
    with pytest.raises(InvalidParameterError, match="no node of the trees is the root"):
        SymbolSelector(n_symbols=1).fit(["(a)", "(b)"], [0, 1])
    assert SymbolSelector(PartialTree(), 1).fit(["(a)", "(b)"], [0, 1]).symbols_ == ("a",)
