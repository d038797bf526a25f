"""The quadratic problem over planes: optimal, and the same whoever computes the planes."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.learners.plane_qp import solve_dual
from tests.profiles import n_examples
from tests.reference import cutting_planes as reference

Array = npt.NDArray[np.float64]


def planes(seed: int, n: int, n_features: int) -> tuple[Array, Array]:
    """Planes of a norm of at most 1 that have something in common, as those of samples do."""
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(n, n_features)) * 0.3 + rng.normal(size=n_features)
    return g / np.linalg.norm(g, axis=1).max(), rng.uniform(0.2, 1, n)


def check_optimum(gram: Array, d: Array, C: float, tolerance: float) -> Array:
    """The conditions of Karush, Kuhn and Tucker, in units of mean loss."""
    alpha, slack = solve_dual(gram, d, C)
    assert alpha.shape == d.shape
    assert (alpha >= 0).all()
    assert alpha.sum() <= C * (1 + 1e-12)
    slacks = d - gram @ alpha
    assert slack == max(0.0, slacks.max())
    assert (slack - slacks[alpha > 0] <= tolerance).all(), "a plane with a share is violated most"
    assert slack <= tolerance or alpha.sum() >= C * (1 - 1e-9), "C is used up where there is loss"
    square = alpha @ gram @ alpha
    assert (square + C * slack) - d @ alpha <= 2 * tolerance * C  # primal = dual
    return alpha


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize(("n", "n_features"), [(1, 3), (5, 3), (12, 40), (60, 5), (60, 100)])
def test_it_is_the_optimum(n: int, n_features: int, C: float) -> None:
    for seed in range(5):
        g, d = planes(seed, n, n_features)
        check_optimum(g @ g.T, d, C, 1e-9)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
def test_equal_planes_share_alike(C: float) -> None:
    for seed in range(10):
        g, d = planes(seed, 12, 30)
        # Every plane again, some thrice, and one that is nothing at all.
        twice = np.concatenate([np.arange(12), np.arange(12), [3, 5]])
        G, D = np.vstack([g[twice], np.zeros(30)]), np.append(d[twice], 0.0)
        alpha = check_optimum(G @ G.T, D, C, 1e-9)
        single, slack = solve_dual(g @ g.T, d, C)
        merged = np.bincount(twice, alpha[:-1], 12)
        np.testing.assert_allclose(merged, single, rtol=1e-8, atol=1e-8 * single.max())
        np.testing.assert_allclose(alpha[:12], alpha[12:24], rtol=1e-8, atol=1e-8 * single.max())
        assert solve_dual(G @ G.T, D, C)[1] == pytest.approx(slack, abs=1e-9)


def test_planes_that_depend_on_each_other() -> None:
    """More planes than dimensions, and all with the same offset: many optima."""
    for seed in range(20):
        g, _ = planes(seed, 40, 4)
        check_optimum(g @ g.T, np.full(40, 0.5), 100.0, 1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 10.0, 1e3]), st.booleans())
@n_examples(100)
def test_rounding_does_not_matter(seed: int, C: float, repeat: bool) -> None:
    """Sums in another order, as other strategies have them, give the same dual variables."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    g, d = planes(seed, n, int(rng.integers(1, 20)))
    if repeat:
        rows = rng.integers(0, n, n)
        g, d = g[rows], d[rows]
    gram = g @ g.T
    noise = rng.normal(size=gram.shape) * 1e-16
    one, _ = solve_dual(gram, d, C)
    other, _ = solve_dual(gram + noise + noise.T, d, C)
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-8 * one.max())


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 10.0, 1e3]), st.booleans())
@n_examples(100)
def test_likely_planes_do_not_matter(seed: int, C: float, repeat: bool) -> None:
    """Wherever the search begins, and also where many duals are optimal, it ends at the same."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    g, d = planes(seed, n, int(rng.integers(1, 20)))
    if repeat:
        rows = rng.integers(0, n, n)
        g, d = g[rows], d[rows]
    cold, _ = solve_dual(g @ g.T, d, C)
    guesses = [cold > 0, rng.random(n) < 0.5, np.ones(n, bool)]
    for likely in guesses:
        warm, _ = solve_dual(g @ g.T, d, C, likely)
        np.testing.assert_allclose(warm, cold, rtol=0, atol=1e-8 * cold.max())


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 10.0]))
@n_examples(30)
def test_it_agrees_with_the_reference(seed: int, C: float) -> None:
    g, d = planes(seed, int(np.random.default_rng(seed).integers(1, 8)), 12)
    gram = g @ g.T
    expected = reference.solve_dual(gram, d, C)
    np.testing.assert_allclose(solve_dual(gram, d, C)[0], expected, rtol=0, atol=1e-8 * C)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_the_scale_of_the_kernel_does_not_matter(scale: float) -> None:
    """A kernel times s is the same problem with C / s."""
    g, d = planes(0, 20, 30)
    gram = g @ g.T
    alpha, slack = solve_dual(gram, d, 50.0)
    scaled, same = solve_dual(gram * scale, d, 50.0 / scale)
    np.testing.assert_allclose(scaled * scale, alpha, rtol=1e-7, atol=1e-9)
    assert same == pytest.approx(slack, rel=1e-9)


def test_little_and_much_c() -> None:
    g, d = planes(1, 20, 30)
    alpha, slack = solve_dual(g @ g.T, d, 1e-12)
    assert alpha.tolist() == [1e-12 if j == d.argmax() else 0.0 for j in range(20)]
    assert slack == pytest.approx(d.max())
    alpha, slack = solve_dual(g @ g.T, d, 1e9)  # nothing forbids to satisfy all planes
    assert slack < 1e-9
    assert alpha.sum() < 1e6


def test_without_planes() -> None:
    alpha, slack = solve_dual(np.empty((0, 0)), np.empty(0), 1.0)
    assert alpha.tolist() == []
    assert slack == 0


def test_planes_of_nothing() -> None:
    """Examples that cancel out: whatever rounding left of the plane, it takes all of C."""
    for noise in (0.0, 1e-18, -1e-18):
        alpha, slack = solve_dual(np.array([[noise]]), np.ones(1), 20_000.0)
        assert alpha.tolist() == [20_000.0]
        assert slack == pytest.approx(1.0)
