"""The gap-weighted subsequence kernel: against all subsequences written out, and in closed form."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Examples, Forest
from filbert.errors import InputTypeError, InvalidParameterError, KernelOverflowError
from filbert.kernels import Sequence
from tests.profiles import n_examples
from tests.reference.sequences import sequence

WORDS = st.lists(st.sampled_from("abc"), max_size=7)
DECAYS = st.sampled_from([1e-200, 0.01, 0.5, 0.9, 1.0])
LENGTHS = st.none() | st.integers(1, 5)


@n_examples(200)
@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1), DECAYS, LENGTHS)
def test_all_subsequences(
    X: list[list[str]], Y: list[list[str]], decay: float, length: int | None
) -> None:
    kernel = Sequence(decay, length=length, normalize=False)
    expected = [[sequence(x, y, decay, length) for y in Y] for x in X]
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(
        kernel.diag(X), [sequence(x, x, decay, length) for x in X], rtol=1e-12
    )
    whole = kernel(X)
    np.testing.assert_allclose(whole.diagonal(), kernel.diag(X), rtol=1e-12)
    np.testing.assert_array_equal(whole, whole.T)


@pytest.mark.parametrize("decay", [0.3, 1.0])
def test_the_papers_example(decay: float) -> None:
    """Lodhi et al. 2002, section 3: cat, car, bat and bar with subsequences of two letters."""
    kernel = Sequence(decay, length=2, normalize=False)
    cat, car, bat = list("cat"), list("car"), list("bat")
    assert kernel.pair(cat, car) == pytest.approx(decay**4)
    assert kernel.pair(cat, cat) == pytest.approx(2 * decay**4 + decay**6)
    assert kernel.pair(cat, bat) == pytest.approx(decay**4)
    normalized = Sequence(decay, length=2)
    assert normalized.pair(cat, car) == pytest.approx(1 / (2 + decay**2))


def test_lengths_add_up() -> None:
    X = ["abcab", "bca", "aabbcc", ""]
    rows = [list(x) for x in X]
    total = sum(Sequence(0.4, length=p, normalize=False)(rows) for p in range(1, 7))
    np.testing.assert_allclose(Sequence(0.4, normalize=False)(rows), total, rtol=1e-13)
    kernels: Any = sum(Sequence(0.4, length=p, normalize=False) for p in range(1, 7))
    np.testing.assert_allclose(kernels(rows), total, rtol=1e-13)


# ---------------------------------------------------------------- trees as sequences


def test_leaves_and_preorder() -> None:
    text = "(S (NP (D the) (N cat)) (VP sat))"
    words, labels = ["the", "cat", "sat"], ["S", "NP", "D", "the", "N", "cat", "VP", "sat"]
    for of, same in (("leaves", words), ("preorder", labels)):
        kernel = Sequence(0.7, of=of, normalize=False)
        assert kernel.pair(text, text) == pytest.approx(kernel.pair(same, same), rel=1e-14)
    assert Sequence().pair("(a)", "(S a)") == 1.0
    assert Sequence(of="preorder", length=2).pair("(a)", "(S a)") == 0.0


def test_forests_built_apart_and_parts() -> None:
    texts = ["(S (A x) (B y))", "(S (A z) (B y))", "(S (B y) (A x))"]
    X, Y = Forest(texts), Forest(["(Q z y)", "(Q q)"])  # labels are numbered differently
    expected = [
        [sequence(x, y, 0.5, None) for y in (["z", "y"], ["q"])]
        for x in (["x", "y"], ["z", "y"], ["y", "x"])
    ]
    kernel = Sequence(0.5, normalize=False)
    np.testing.assert_allclose(kernel(X, Y), expected)
    np.testing.assert_allclose(kernel(Y, X), np.transpose(expected))
    np.testing.assert_allclose(kernel(texts, ["(Q z y)", "(Q q)"]), expected)
    assert kernel(X, X[:0]).shape == (3, 0)
    parts = Examples(one=X, two=X[::-1])
    np.testing.assert_allclose(kernel.on("two")(parts), kernel(X)[::-1, ::-1])
    np.testing.assert_allclose(kernel.on("one")(parts, Examples(one=Y)), expected)


def test_deep_and_wide_trees() -> None:
    deep = "(a " * 20_000 + "x" + ")" * 20_000
    assert Sequence().pair(deep, "(x)") == 1.0
    wide = "(S" + " x y" * 3_000 + ")"
    assert Sequence(length=3)([deep, wide], [wide])[:, 0].tolist() == pytest.approx([0.0, 1.0])


# ---------------------------------------------------------------- range


def binomial_sum(n: int, p: int) -> int:
    """Pairs of subsequences of length p of one label n times, without decay."""
    return math.comb(n, p) ** 2


@pytest.mark.parametrize(("n", "p"), [(1_000, 40), (540, 270), (300, 300)])
def test_long_sequences_in_closed_form(n: int, p: int) -> None:
    """Of one label and without decay all pairs of subsequences count: more than double holds."""
    X = [["a"] * n, ["a"] * (n + 10), ["b"]]
    exact = Fraction(math.comb(n, p) * math.comb(n + 10, p))
    norm = math.comb(n, p) * math.comb(n + 10, p)
    assert Sequence(1.0, length=p)(X)[0, 1] == pytest.approx(float(exact / norm), rel=1e-10)
    assert Sequence(1.0, length=p).diag(X).tolist() == [1.0, 1.0, 0.0]
    if math.comb(n, p) ** 2 < 10**300:
        assert Sequence(1.0, length=p, normalize=False)(X)[0, 0] == pytest.approx(
            float(binomial_sum(n, p)), rel=1e-10
        )
    else:
        for compute in (
            Sequence(1.0, length=p, normalize=False).diag,
            Sequence(1.0, length=p, normalize=False),
        ):
            with pytest.raises(KernelOverflowError, match=r"sequence.* beyond the range"):
                compute(X)


def test_all_lengths_of_long_sequences() -> None:
    n = 1_500  # comb(2 n, n) - 1 subsequences in common: 10^901
    X = [["a"] * n, ["a"] * (n - 1)]
    exact = Fraction(
        (math.comb(2 * n - 1, n) - 1) ** 2,
        (math.comb(2 * n, n) - 1) * (math.comb(2 * n - 2, n - 1) - 1),
    )
    assert Sequence(1.0)(X)[0, 1] == pytest.approx(math.sqrt(exact), rel=1e-10)


def test_small_decays_are_in_range() -> None:
    kernel = Sequence(1e-150, length=3)
    assert kernel.pair(list("abc"), list("abc")) == 1.0
    assert kernel.pair(list("abc"), list("xabc")) == pytest.approx(math.sqrt(0.5))  # xab and abc
    assert Sequence(1e-200).pair(list("ab"), list("ac")) == pytest.approx(0.5)
    assert Sequence(1e-200, normalize=False).pair(["a"], ["a"]) == 0.0  # 1e-400


def test_sequences_that_are_too_short_have_nothing_in_common_with_themselves() -> None:
    X = [["a"], list("ab"), []]
    assert Sequence(length=2)(X).tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def test_threads_do_not_change_the_bytes() -> None:
    rng = np.random.default_rng(0)
    X = [rng.choice(list("abcd"), rng.integers(1, 60)).tolist() for _ in range(80)]
    for kernel in (Sequence(0.6), Sequence(0.6, length=3, normalize=False)):
        one = kernel(X, n_jobs=1)
        assert kernel(X, n_jobs=3).tobytes() == one.tobytes()
        np.testing.assert_allclose(kernel(X, X[:7]), one[:, :7], rtol=1e-12)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Sequence(0), r"decay must be in \(0, 1\], got 0"),
        (Sequence(1.5), r"decay must be in \(0, 1\], got 1.5"),
        (Sequence(float("nan")), "decay must be .* got nan"),
        (Sequence(length=0), "length must be None or a positive integer, got 0"),
        (Sequence(length=2.0), "length must be None or a positive integer, got 2.0"),  # type: ignore[arg-type]
        (Sequence(length=2**32), "length must be None or a positive integer"),
        (Sequence(of="words"), "of must be 'leaves' or 'preorder', got 'words'"),  # type: ignore[arg-type]
        (Sequence(normalize=None), "normalize must be True or False"),  # type: ignore[arg-type]
    ],
)
def test_parameters(kernel: Sequence, message: str) -> None:
    for compute in (kernel, kernel.diag):
        with pytest.raises(InvalidParameterError, match=f"Sequence: {message}"):
            compute(["(S a)"])


def test_what_is_no_sequence() -> None:
    with pytest.raises(InputTypeError, match="a label of sample 1 is not a string but int"):
        Sequence()([["a"], ["b", 3]])
    with pytest.raises(InputTypeError, match="lists of labels and trees cannot be compared"):
        Sequence()([["a"]], ["(S a)"])
    with pytest.raises(InputTypeError, match="expected a Forest or a sequence of trees"):
        Sequence()("(S a)")
    with pytest.raises(InputTypeError, match="needs trees, but part 'f' is a matrix"):
        Sequence().on("f")(Examples(f=np.eye(2)))
