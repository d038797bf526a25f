"""Kernels as values, what they take, what they refuse, and matrices that do not depend on how."""

import math
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from filbert import Examples, Forest, Tree
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    KernelOverflowError,
    MatrixTooLargeError,
    ParseError,
    TooExpensiveError,
)
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.threads import n_threads
from tests.reference.trees import write
from tests.strategies import random_trees

KERNELS: dict[str, TreeKernel] = {
    "st": Subtree(),
    "stk": SubsetTree(),
    "stk-leaves": SubsetTree(0.7, include_leaves=True),
    "ptk": PartialTree(),
    "ptk-gaps": PartialTree(0.6, 0.3, penalty="gaps"),
    "ptk-1": PartialTree(max_subsequence=1),
    "ptk-2": PartialTree(0.9, max_subsequence=2),
    "st-raw": Subtree(normalize=False),
    "stk-raw": SubsetTree(normalize=False),
    "ptk-raw": PartialTree(normalize=False),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)

TEXTS = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(S (NP c) (VP (V b)))", "(a)", "(NP a)"]


def forest_of(n: int, max_nodes: int = 12, seed: int = 7) -> Forest:
    return Forest(map(write, random_trees(seed, n, max_nodes)))


# ---------------------------------------------------------------- values


def test_parameters_can_be_read_and_set() -> None:
    kernel = PartialTree(0.3, max_subsequence=5)
    assert kernel.get_params() == {
        "decay": 0.3,
        "depth_decay": 0.4,
        "penalty": "span",
        "max_subsequence": 5,
        "max_steps": 1e9,
        "normalize": True,
        "part": None,
    }
    assert kernel.set_params(decay=0.9, penalty="gaps") is kernel
    assert kernel == PartialTree(0.9, penalty="gaps", max_subsequence=5)
    with pytest.raises(ValueError, match="has no parameter 'lambda_'; it has decay"):
        kernel.set_params(lambda_=1)


def test_a_parameter_that_is_set_counts() -> None:
    kernel = SubsetTree(0.4, normalize=False)
    before = kernel.pair(*TEXTS[:2])
    kernel.set_params(decay=1.0)
    assert kernel.pair(*TEXTS[:2]) == SubsetTree(1.0, normalize=False).pair(*TEXTS[:2]) != before


@each_kernel
def test_clones_are_equal_and_apart(kernel: TreeKernel) -> None:
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        assert hash(copy) == hash(kernel)
        assert copy is not kernel
        copy.set_params(decay=0.123)
        assert copy != kernel


def test_equality_and_hash() -> None:
    assert SubsetTree(1) == SubsetTree(1.0)
    assert hash(SubsetTree(1)) == hash(SubsetTree(1.0))
    assert SubsetTree(0.4) != Subtree(0.4)
    assert SubsetTree() != SubsetTree(normalize=False)
    assert SubsetTree() != "SubsetTree()"
    assert len({*KERNELS.values(), *map(clone, KERNELS.values())}) == len(KERNELS)


@each_kernel
def test_repr_can_be_evaluated(kernel: TreeKernel) -> None:
    assert eval(repr(kernel)) == kernel
    picked = clone(kernel).set_params(decay=np.linspace(0.1, 0.9, 3)[1])  # as a grid search does it
    assert eval(repr(picked)) == picked


def test_repr_names_the_parameters() -> None:
    assert repr(Subtree(0.5)) == "Subtree(decay=0.5, normalize=True)"
    assert repr(SubsetTree()) == "SubsetTree(decay=0.4, include_leaves=False, normalize=True)"


# ---------------------------------------------------------------- parameters out of range

NO_DECAYS = [0, 0.0, -0.1, 1.5, math.nan, math.inf, "x", "0.5", None, True, 1j, [0.5]]


@pytest.mark.parametrize("value", NO_DECAYS, ids=repr)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Subtree, "decay"),
        (SubsetTree, "decay"),
        (PartialTree, "decay"),
        (PartialTree, "depth_decay"),
    ],
)
def test_decays_out_of_range(kind: type[TreeKernel], name: str, value: Any) -> None:
    kernel = kind(**{name: value})  # said when it is used, so that scikit-learn can clone it
    for use in (
        lambda: kernel(TEXTS),
        lambda: kernel.diag(TEXTS),
        lambda: kernel.pair("(a)", "(a)"),
    ):
        with pytest.raises(InvalidParameterError, match=rf"{kind.__name__}: {name} must be in"):
            use()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("penalty", "gap"),
        ("penalty", None),
        ("penalty", 1),
        ("max_subsequence", 0),
        ("max_subsequence", -1),
        ("max_subsequence", 1.5),
        ("max_subsequence", 2.0),
        ("max_subsequence", "5"),
        ("max_subsequence", 2**32),
        ("max_subsequence", True),
        ("max_steps", 0),
        ("max_steps", -1.0),
        ("max_steps", math.nan),
        ("max_steps", "x"),
        ("max_steps", True),
        ("normalize", "yes"),
        ("normalize", None),
        ("normalize", 1),
    ],
)
def test_parameters_of_partial_trees_out_of_range(name: str, value: Any) -> None:
    kernel = PartialTree(**{name: value})
    with pytest.raises(InvalidParameterError, match=f"PartialTree: {name} must be"):
        kernel(TEXTS)


@pytest.mark.parametrize("value", ["no", None, 1, 0.5])
def test_include_leaves_is_true_or_false(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="SubsetTree: include_leaves must be"):
        SubsetTree(include_leaves=value)(TEXTS)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, int])
def test_numbers_of_numpy_are_numbers(kind: Callable[[int], Any]) -> None:
    expected = PartialTree(1.0, 1.0, max_subsequence=2)(TEXTS)
    kernel = PartialTree(kind(1), kind(1), max_subsequence=np.int64(2), max_steps=np.float64(1e9))
    np.testing.assert_array_equal(kernel(TEXTS), expected)


def test_truth_values_of_numpy_are_truth_values() -> None:
    """As a grid over np.array([True, False]) gives them."""
    for value in (True, False):
        kernel = SubsetTree(include_leaves=np.bool_(value), normalize=np.bool_(value))
        expected = SubsetTree(include_leaves=value, normalize=value)(TEXTS)
        np.testing.assert_array_equal(kernel(TEXTS), expected)


# ---------------------------------------------------------------- what a kernel takes


@pytest.mark.parametrize(
    "given",
    [
        TEXTS,
        tuple(TEXTS),
        [text.encode() for text in TEXTS],
        np.array(TEXTS, dtype=object),
        np.array(TEXTS),
        pd.Series(TEXTS, index=range(3, 8)),
    ],
    ids=["list", "tuple", "bytes", "object-array", "str-array", "series"],
)
def test_sequences_of_strings(given: Any) -> None:
    kernel, forest = PartialTree(), Forest(TEXTS)
    expected = kernel(forest)
    np.testing.assert_array_equal(kernel(given), expected)
    np.testing.assert_array_equal(kernel(given, given), expected)
    np.testing.assert_array_equal(kernel.diag(given), expected.diagonal())
    np.testing.assert_allclose(kernel(forest, given), expected, rtol=1e-14)


def test_sequences_of_trees_and_single_trees() -> None:
    kernel, forest = SubsetTree(), Forest(TEXTS)
    expected = kernel(forest)
    np.testing.assert_array_equal(kernel(list(forest)), expected)
    np.testing.assert_array_equal(kernel(tree for tree in forest), expected)
    np.testing.assert_allclose(kernel(forest[0], forest), expected[:1], rtol=1e-14)
    for a in (forest[0], TEXTS[0], Forest(TEXTS)[0]):
        assert kernel.pair(a, forest[1]) == pytest.approx(expected[0, 1], rel=1e-14)
    assert isinstance(kernel.pair(*TEXTS[:2]), float)


@each_kernel
def test_no_trees_and_one_tree(kernel: TreeKernel) -> None:
    one, none = Forest(TEXTS[:1]), Forest()
    assert kernel(none).shape == (0, 0)
    assert kernel([]).shape == (0, 0)
    assert kernel(one, none).shape == (1, 0)
    assert kernel(none, one).shape == (0, 1)
    assert kernel(one[:0], one).shape == (0, 1)
    assert kernel.diag(none).shape == (0,)
    assert kernel(one).shape == (1, 1)
    assert kernel(one)[0, 0] == kernel.diag(one)[0] > 0
    assert kernel.pair(TEXTS[0], TEXTS[0]) == pytest.approx(kernel.diag(one)[0], rel=1e-14)


@pytest.mark.parametrize(
    "bad",
    [
        "(S a)", b"(S a)", 5, None, 1.5, [1, 2], [None], np.eye(2),
        np.array([["(a b)", "(c d)"]]),
        ["(S a)", None], ["(S a)", ["(S a)"]],
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_sequence_of_trees(bad: Any) -> None:
    with pytest.raises(InputTypeError):
        SubsetTree()(bad)
    with pytest.raises(InputTypeError):
        SubsetTree().diag(bad)
    if bad is not None:
        with pytest.raises(InputTypeError):
            SubsetTree()(TEXTS, bad)


def test_trees_and_strings_are_not_mixed() -> None:
    tree = Forest(TEXTS)[0]
    with pytest.raises(InputTypeError, match="sample 1 is not a Tree but str"):
        SubsetTree()([tree, TEXTS[1]])
    with pytest.raises(InputTypeError, match=r"sample 1 is not a string .* but Tree"):
        SubsetTree()([TEXTS[1], tree])


def test_a_kernel_of_trees_has_to_know_the_part() -> None:
    X = Examples(tree=Forest(TEXTS), features=np.eye(5))
    with pytest.raises(
        InvalidParameterError, match=r"the parts 'tree', 'features': choose one for"
    ):
        SubsetTree()(X)
    np.testing.assert_array_equal(SubsetTree().on("tree")(X), SubsetTree()(X["tree"]))


def test_a_bad_string_is_named() -> None:
    with pytest.raises(ParseError, match=r"sample 1, column 1: .*never closed"):
        SubsetTree()(["(a b)", "(a b"])


# ---------------------------------------------------------------- the same values, however computed


@pytest.fixture(scope="module")
def many() -> Forest:
    """Trees for several tiles, which hold 512 trees each."""
    return forest_of(1300)


@each_kernel
def test_the_same_bytes_for_any_number_of_threads(kernel: TreeKernel, many: Forest) -> None:
    one = kernel(many, n_jobs=1)
    across, diagonal = kernel(many[:150], many[100:], n_jobs=1), kernel.diag(many, n_jobs=1)
    for n_jobs in (2, 3, 7):
        assert kernel(many, n_jobs=n_jobs).tobytes() == one.tobytes()
        assert kernel(many[:150], many[100:], n_jobs=n_jobs).tobytes() == across.tobytes()
        assert kernel.diag(many, n_jobs=n_jobs).tobytes() == diagonal.tobytes()


@each_kernel
def test_matrices_are_symmetric_to_the_last_bit(kernel: TreeKernel, many: Forest) -> None:
    matrix = kernel(many)
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert (matrix == matrix.T).all()
    if kernel.normalize:
        assert set(np.unique(matrix.diagonal())) <= {0.0, 1.0}
        assert matrix.min() >= 0
        assert matrix.max() <= 1 + 1e-12


@each_kernel
def test_parts_of_a_matrix_are_the_matrix_of_parts(kernel: TreeKernel, many: Forest) -> None:
    """A Forest, its views, a pickled copy and forests built apart give the same values."""
    matrix = kernel(many)
    rows, columns = np.arange(900, 940)[::-1], np.arange(0, 1300, 13)
    expected = matrix[np.ix_(rows, columns)]
    copy = pickle.loads(pickle.dumps(many))
    apart = Forest(map(str, many[columns]))
    for a, b in [
        (many[rows], many[columns]),
        (many[rows], apart),
        (Forest(map(str, many[rows])), apart),
        (Forest(map(str, many[rows])), many[columns]),
        (copy[rows], many[columns]),
        (list(many[rows]), list(map(str, many[columns]))),
    ]:
        np.testing.assert_allclose(kernel(a, b), expected, rtol=1e-13, atol=0)
        np.testing.assert_allclose(kernel(b, a), expected.T, rtol=1e-13, atol=0)
    np.testing.assert_allclose(kernel(many[rows]), matrix[np.ix_(rows, rows)], rtol=1e-13)
    np.testing.assert_allclose(kernel(many[rows], copy[rows]), kernel(many[rows]), rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(many), matrix.diagonal(), rtol=1e-13)


def test_several_threads_may_use_one_forest_at_the_same_time() -> None:
    expected = {name: kernel(forest_of(200)) for name, kernel in KERNELS.items()}
    forest = forest_of(200)  # new: whatever it computes once, the threads compute together
    with ThreadPoolExecutor(8) as pool:
        jobs = [(name, pool.submit(kernel, forest)) for name, kernel in KERNELS.items()] * 2
        for name, job in jobs:
            np.testing.assert_array_equal(job.result(), expected[name])


@each_kernel
def test_a_progress_bar_changes_nothing(
    kernel: TreeKernel, capsys: pytest.CaptureFixture[str]
) -> None:
    forest = forest_of(150)
    quiet = kernel(forest)
    assert capsys.readouterr().err == ""
    shown = kernel(forest, verbose=1)
    captured = capsys.readouterr()
    assert type(kernel).__name__ in captured.err
    assert captured.out == ""
    np.testing.assert_array_equal(shown, quiet)


# ---------------------------------------------------------------- threads


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FILBERT_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    cores = n_threads(None)
    assert cores >= 1
    assert [n_threads(1), n_threads(5), n_threads(-1), n_threads(-cores - 9)] == [1, 5, cores, 1]
    assert n_threads(-2) == max(1, cores - 1)
    monkeypatch.setenv("FILBERT_NUM_THREADS", "3")
    assert [n_threads(None), n_threads(2), n_threads(-1)] == [3, 2, cores]
    monkeypatch.setenv("FILBERT_NUM_THREADS", "")
    assert n_threads(None) == cores


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", " "])
def test_a_bad_number_of_threads_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("FILBERT_NUM_THREADS", value)
    with pytest.raises(InvalidParameterError, match="FILBERT_NUM_THREADS must be a positive int"):
        SubsetTree()(TEXTS)
    assert SubsetTree()(TEXTS, n_jobs=2).shape == (5, 5)


def test_the_environments_number_of_threads_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, many: Forest
) -> None:
    expected = SubsetTree()(many, n_jobs=1)
    monkeypatch.setenv("FILBERT_NUM_THREADS", "3")
    np.testing.assert_array_equal(SubsetTree()(many), expected)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True, math.nan])
def test_bad_n_jobs(n_jobs: Any) -> None:
    with pytest.raises(InvalidParameterError, match="n_jobs must be None or an integer"):
        SubsetTree()(TEXTS, n_jobs=n_jobs)
    with pytest.raises(InvalidParameterError, match="n_jobs must be None or an integer"):
        SubsetTree().diag(TEXTS, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [-1, -100, 1000, np.int64(2), np.int32(-1)])
def test_unusual_n_jobs(n_jobs: Any) -> None:
    np.testing.assert_array_equal(SubsetTree()(TEXTS, n_jobs=n_jobs), SubsetTree()(TEXTS))


# ---------------------------------------------------------------- beyond the range of numbers


def star(n: int, leaf: str = "x") -> str:
    return f"(S {'(T x) ' * (n - 1)} (T {leaf}))"


def binary(depth: int) -> str:
    return "(a (a x) (a y))" if depth == 0 else f"(a {binary(depth - 1)} {binary(depth - 1)})"


def huge(n: int) -> list[str]:
    return [star(n), star(n, "y"), binary(8), f"(b {binary(7)} {binary(8)})", "(S (T x))"]


@pytest.mark.parametrize("kernel", [SubsetTree(1.0, normalize=False)])
def test_values_beyond_float64_raise_with_advice(kernel: TreeKernel) -> None:
    forest = Forest(["(S (T x))", "(a b)", star(1200), star(1200, "y")])
    for use, trees in [
        (lambda: kernel(forest[:3]), "2 and 2"),
        (lambda: kernel(forest[:3], forest[1:]), "2 and "),
        (lambda: kernel(forest[1:], forest[2:3]), "1 and 0|2 and 0"),
        (lambda: kernel.diag(forest[:3]), ""),
        (lambda: kernel.pair(star(1200), star(1200)), "0 and 0"),
    ]:
        with pytest.raises(OverflowError, match=r"beyond the range of float64") as caught:
            use()
        assert isinstance(caught.value, KernelOverflowError)
        assert "normalize=True" in str(caught.value)
        assert not trees or any(f"trees {t}" in str(caught.value) for t in trees.split("|"))
    assert kernel(forest[:2], forest[2:])[0].tolist() == [1200.0, 1199.0]  # these are in range


def test_the_diagonal_names_the_tree_that_is_too_large() -> None:
    forest = Forest(["(S (T x))", "(a b)", star(1200)])
    with pytest.raises(OverflowError, match=r"tree.* 2"):
        SubsetTree(1.0, normalize=False).diag(forest)


@pytest.mark.parametrize("decay", [1.0, 0.4, 1e-5, 1e-150, 1e-300])
@pytest.mark.parametrize("kind", [Subtree, SubsetTree, PartialTree])
def test_normalised_values_are_always_in_range(kind: type[TreeKernel], decay: float) -> None:
    is_partial = kind is PartialTree  # for which wide nodes take long
    kernel = kind(decay, max_subsequence=3) if is_partial else kind(decay)
    trees = huge(400 if is_partial else 1200)
    matrix = kernel(trees)
    assert np.isfinite(matrix).all()
    assert matrix.min() >= 0
    assert matrix.max() <= 1 + 1e-12
    assert (matrix.diagonal() == 1).all()
    assert (kernel.diag(trees) == 1).all()
    np.testing.assert_allclose(kernel(trees, trees[::-1])[:, ::-1], matrix, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    "kernel",
    [
        PartialTree(1e-200),
        PartialTree(0.4, 1e-320),
        PartialTree(1e-200, 1e-200, penalty="gaps"),
        SubsetTree(1e-320),
        SubsetTree(1e-320, include_leaves=True),
        Subtree(1e-320),
    ],
    ids=repr,
)
def test_self_kernels_below_float64_are_not_zero(kernel: TreeKernel) -> None:
    matrix = kernel(TEXTS[:3])
    assert matrix.diagonal().tolist() == [1, 1, 1]
    assert kernel.diag(TEXTS[:3]).tolist() == [1, 1, 1]
    assert np.isfinite(matrix).all()


def test_norms_beyond_float64_leave_values_exact() -> None:
    """The norm of the larger tree is 2^1024, and they have 2^11 pairs of fragments in common."""
    large = star(2**11)
    for matrix in (SubsetTree(1.0)(["(T x)"], [large]), SubsetTree(1.0)(["(T x)", large])[:1, 1:]):
        np.testing.assert_allclose(matrix, [[2.0**-1013]], rtol=1e-12, atol=0)


def test_trees_without_fragments_are_like_nothing() -> None:
    """A single node has no production: 0 and not 0 / 0, also with itself."""
    for kernel in (Subtree(), SubsetTree()):
        assert kernel(["(a)", "(a)", "(a b)"]).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
        assert kernel.diag(["(a)", "(a b)"]).tolist() == [0, 1]


# ---------------------------------------------------------------- too much work, too much memory


@pytest.fixture(scope="module")
def wide() -> Forest:
    """Two nodes with 100,000 children each."""
    labels = [f"w{i % 100}" for i in range(100_000)]
    return Forest([f"(S {' '.join(labels)})", f"(S {' '.join(labels[1:])} z)"])


def test_ten_to_the_ten_steps_are_refused(wide: Forest) -> None:
    kernel = PartialTree()
    uses: list[Callable[[], Any]] = [
        lambda: kernel(wide),
        lambda: kernel(wide[:1], wide[1:]),
        lambda: kernel.diag(wide),
        lambda: kernel.pair(wide[0], wide[1]),
        lambda: kernel(wide[:1], Forest(wide[1])),
    ]
    for use in uses:
        with pytest.raises(TooExpensiveError, match=r"1\.0e\+10 steps") as caught:
            use()
        assert caught.value.steps == 1e10
        for advice in ("max_subsequence", "max_steps", "labelled 'S'", "100000"):
            assert advice in str(caught.value)


def test_the_cure_for_too_many_steps_works(wide: Forest) -> None:
    matrix = PartialTree(max_subsequence=1)(wide)
    assert matrix[0, 0] == matrix[1, 1] == 1
    assert 0.99 < matrix[0, 1] < 1
    narrow = ["(S a b)", "(S b a b)"]  # as the ordinary way gives it on few children
    raw = PartialTree(1.0, 1.0, max_subsequence=1, normalize=False)
    assert raw(narrow[:1], narrow[1:])[0, 0] == 1 + 1 * 1 + 1 * 2 + (1 * 1 + 1 * 2)


def test_the_limit_can_be_raised_and_lowered() -> None:
    children = [f"w{i % 50}" for i in range(2000)]
    forest = Forest([f"(S {' '.join(children)})", f"(S {' '.join(children[:1999])} z)"])
    matrix = PartialTree(max_steps=None)(forest)
    assert 0 < matrix[0, 1] < 1
    np.testing.assert_array_equal(PartialTree(max_steps=4e6)(forest), matrix)
    with pytest.raises(TooExpensiveError, match=r"4\.0e\+06 steps"):
        PartialTree(max_steps=3.9e6)(forest)
    PartialTree(max_steps=4e6, max_subsequence=1)(forest)
    with pytest.raises(TooExpensiveError, match=r"1\.2e\+07 steps"):
        PartialTree(max_steps=4e6, max_subsequence=3)(forest)


def test_wide_nodes_that_never_meet_cost_nothing(wide: Forest) -> None:
    other = Forest([str(wide[1]).replace("(S ", "(T ")])
    kernel = PartialTree(normalize=False)
    assert kernel(wide[:1], other)[0, 0] > 0  # their leaves are alike
    assert kernel(wide[:1], ["(S w1 w2)"])[0, 0] > 0


def test_subset_trees_do_not_mind_width(wide: Forest) -> None:
    assert SubsetTree()(wide).tolist() == [[1, 0], [0, 1]]
    assert Subtree()(wide).tolist() == [[1, 0], [0, 1]]


@each_kernel
def test_a_matrix_that_does_not_fit_into_memory(kernel: TreeKernel) -> None:
    forest = Forest(TEXTS[:1])[np.zeros(10**7, dtype=int)]
    with pytest.raises(
        MatrixTooLargeError, match=r"10,000,000 x 10,000,000 needs .* GiB"
    ) as caught:
        kernel(forest)
    assert isinstance(caught.value, MemoryError)
    assert "parts" in str(caught.value)
    assert isinstance(forest[-1], Tree)
