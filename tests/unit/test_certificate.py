"""The certified duality gap: never below the true gap, and close to it for small errors."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import _core
from filbert.learners.certificate import Certificate
from tests.profiles import n_examples
from tests.reference.losses import TARGETS, conjugate_of, loss_of

Array = Any
LOSSES = _core.loss_names()
EPSILON = 0.1


class Case(NamedTuple):
    """Problems over examples whose kernel K is known only as K~, with an error of at most d."""

    true: Array  # K
    near: Array  # K~
    errors: Array  # d
    rows: Array  # bounds on the sums of the rows of |K - K~|, or empty
    have_sign: bool
    signs: Array  # by problem and example
    costs: Array
    alpha: Array  # by problem and example
    targets: Array  # by problem and example
    loss: str
    intercept: bool

    def problems(self) -> _core.SvmProblems:
        return _core.SvmProblems(
            y=self.signs,
            C=self.costs,
            loss=self.loss,
            epsilon=EPSILON,
            targets=None if self.loss in TARGETS else self.targets,
            intercept=self.intercept,
            tol=1e-3,
            seeds=np.arange(len(self.signs), dtype=np.uint64),
            max_sweeps=10,
        )

    def scores(self, kernel: Array) -> Array:
        weights = (self.alpha * self.signs).T
        return kernel @ weights + (weights.sum(axis=0) if self.intercept else 0.0)

    def gaps(self, kernel: Array) -> Array:
        """The relative gap of each problem, by the definitions of both objectives."""
        scores = self.scores(kernel).T
        found = []
        used = self.costs > 0
        costs = self.costs[used]
        for k, score in enumerate(scores):
            y, alpha, targets = (of[k, used] for of in (self.signs, self.alpha, self.targets))
            norm = (alpha * y) @ score[used]
            loss = costs @ loss_of(self.loss, EPSILON).value(targets - y * score[used])
            conjugate = conjugate_of(self.loss, alpha, costs, EPSILON).sum()
            primal, dual = norm / 2 + loss, targets @ alpha - norm / 2 - conjugate
            found.append((primal - dual) / primal if primal > 0 else 0.0)  # nothing to lose
        return np.array(found)

    def certified(self, errors: Array | None = None) -> Array:
        errors = self.errors if errors is None else errors
        rows = self.rows if errors.any() else np.zeros(len(errors))
        scores = np.ascontiguousarray(self.scores(self.near))
        return _core.certified_gaps(
            self.problems(), self.alpha, scores, errors, rows, self.have_sign
        )


def case(seed: int, loss: str, intercept: bool, have_sign: bool) -> Case:
    """Features of which some were dropped, and dual variables inside and at their bounds."""
    rng = np.random.default_rng(seed)
    n, n_problems = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    features = rng.random((n, 6)) * (rng.random((n, 6)) < 0.7)
    dropped = 10.0 ** rng.uniform(-4, 0) * rng.random((n, 3))
    if not have_sign:
        dropped *= rng.choice([-1.0, 1.0], size=(n, 3))
    lost = dropped @ dropped.T
    true = features @ features.T + lost
    error = lost - np.diag(np.diag(lost))
    costs = 10.0 ** rng.uniform(-1, 1) * rng.choice([0.0, 1.0, 2.0], size=n, p=[0.1, 0.6, 0.3])
    costs[0] = 1.0
    within = np.clip(rng.uniform(-0.5, 1.5, size=(n_problems, n)), 0, 1)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=(n_problems, n))
    errors = np.diag(lost) * rng.choice([1.0, 2.0], size=n)
    rows = np.abs(error).sum(axis=1) * rng.choice([1.0, 2.0], size=n)
    alpha = within * costs / max(1, n)
    targets = np.full(alpha.shape, TARGETS.get(loss, 0.0))
    if loss not in TARGETS:
        targets = rng.normal(size=alpha.shape)
        alpha, signs = alpha * signs, np.ones_like(signs)
    near = true - error
    if rng.random() < 0.3:
        rows = np.empty(0)
    return Case(true, near, errors, rows, have_sign, signs, costs, alpha, targets, loss, intercept)


@pytest.mark.parametrize("have_sign", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@n_examples(25)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_certified_gap_is_never_below_the_true_gap(
    loss: str, intercept: bool, have_sign: bool, seed: int
) -> None:
    some = case(seed, loss, intercept, have_sign)
    certified, true = some.certified(), some.gaps(some.true)
    assert (certified >= true - 1e-12).all()


@pytest.mark.parametrize("loss", LOSSES)
@n_examples(30)
@given(seed=st.integers(0, 2**32 - 1))
def test_without_errors_it_is_the_gap(loss: str, seed: int) -> None:
    some = case(seed, loss, True, True)
    own, certified = some.gaps(some.near), some.certified(np.zeros(len(some.errors)))
    known = np.isfinite(certified)  # unknown if the dual objective is negative
    np.testing.assert_allclose(certified[known], own[known], rtol=1e-9, atol=1e-12)


def test_the_gap_is_reached() -> None:
    """Two free examples of different classes, whose kernel has the largest possible error."""
    alpha = np.array([[0.5, 0.5]])
    near = np.eye(2)
    signs = np.array([[1, -1]], dtype=np.int8)
    errors = np.array([0.04, 0.04])
    true = near + np.array([[0, 0.04], [0.04, 0]])
    ones = np.ones((1, 2))
    some = Case(true, near, errors, np.empty(0), True, signs, ones[0], alpha, ones, "hinge", False)
    loss_of_each = 1 - (0.5 - 0.02)
    norm = 2 * 0.5 * (0.5 - 0.02)
    assert some.gaps(true)[0] == pytest.approx(
        (norm + 2 * loss_of_each - 1) / (norm / 2 + 2 * loss_of_each)
    )
    assert some.certified()[0] == pytest.approx(some.gaps(true)[0], rel=0.05)


def test_errors_of_unknown_sign_may_all_move_the_classes_apart() -> None:
    """The kernel of each pair of different classes is smaller by the largest possible error."""
    n, error = 20, 0.04
    signs = np.array([[1, -1] * (n // 2)], dtype=np.int8)
    near, alpha, ones = 2 * np.eye(n), np.full((1, n), 0.5), np.ones((1, n))
    lost = error * np.outer(signs, signs)
    true = near + lost - np.diag(np.diag(lost))
    some = Case(
        true, near, np.full(n, error), np.empty(0), False, signs, ones[0], alpha, ones, "hinge",
        False,
    )  # fmt: skip
    assert some.gaps(near)[0] < 1e-12
    assert some.gaps(true)[0] <= some.certified()[0] <= 1.1 * some.gaps(true)[0]


def test_examples_far_from_the_hinge_do_not_count() -> None:
    """An example at its bound, or without weight, has no share while its margin stays away from 1.

    The bound on the gap is then no larger than the gap, but for the smaller dual objective.
    """
    rng = np.random.default_rng(0)
    signs = np.array([[1, -1] * 10], dtype=np.int8)
    costs = np.full(20, 0.01)
    near = np.eye(20) + 0.01 * rng.random((20, 20))
    near = (near + near.T) / 2
    alpha = costs[None, :].copy()  # all margins are far below 1
    errors, ones = np.full(20, 1e-2), np.ones((1, 20))
    some = Case(near, near, errors, np.empty(0), True, signs, costs, alpha, ones, "hinge", True)
    assert some.gaps(near)[0] < 1e-12
    assert some.certified()[0] < 1e-12


def test_rows_of_the_errors_make_the_bound_closer() -> None:
    """Pairs of examples share what was dropped: the bound does not grow with their number."""
    n = 200
    error = np.kron(np.eye(n // 2), np.array([[0.0, 1e-3], [1e-3, 0.0]]))
    signs = np.array([[1, -1] * (n // 2)], dtype=np.int8)
    near, alpha = np.eye(n), np.full((1, n), 0.5)
    some = Case(
        near + error, near, np.full(n, 1e-3), error.sum(axis=1), True, signs, np.ones(n), alpha,
        np.ones((1, n)), "hinge", False,
    )  # fmt: skip
    true, own = some.gaps(some.true)[0], some.gaps(near)[0]
    assert true <= some.certified()[0] <= own + 3e-3
    assert some._replace(rows=np.empty(0)).certified()[0] > own + 0.01


def certificate(errors: float, rows: float) -> Certificate:
    """Examples that share what was dropped with one other, so that rows decide."""
    n = 40
    signs = np.array([[1, -1] * (n // 2)], dtype=np.int8)
    alpha, ones = np.full((1, n), 0.5), np.ones((1, n))
    errors_of, rows_of = np.full(n, errors), np.full(n, rows)
    near = np.eye(n)
    some = Case(
        near, near, errors_of, rows_of, True, signs, ones[0], alpha, ones, "hinge", False
    )  # fmt: skip
    scores = np.ascontiguousarray(some.scores(near))
    return Certificate(some.problems(), alpha, scores, some.gaps(near), errors_of, rows_of, True)


@pytest.mark.parametrize(("errors", "rows"), [(1e-2, 1e-2), (1e-3, 1e-1)])
def test_smaller_errors_are_those_of_smaller_arrays(errors: float, rows: float) -> None:
    some = certificate(errors, rows)
    for scale in (0.5, 0.1, 1e-3):
        smaller = certificate(scale * errors, scale * rows)
        np.testing.assert_allclose(some.gaps(scale), smaller.gaps(), rtol=1e-12)
        assert 0 < some.excess(scale) < some.excess()


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-5])
def test_a_finer_kernel_leaves_room_for_the_solver(tol: float) -> None:
    """Errors may take three tenths of `tol`, and are not made smaller than that needs."""
    some = certificate(1e-2, 1e-2)
    scale = some.finer(1e-2, tol) / 1e-2
    assert some.excess(scale) <= 0.3 * tol
    assert scale == pytest.approx(0.1) or some.excess(2 * scale) > 0.3 * tol


@pytest.mark.parametrize("wrong", ["alpha", "scores", "errors", "rows"])
def test_arrays_that_do_not_fit(wrong: str) -> None:
    some = case(0, "hinge", True, True)
    n_problems, n = some.signs.shape
    arrays = {
        "alpha": np.zeros((n_problems, n)),
        "scores": np.zeros((n, n_problems)),
        "errors": np.zeros(n),
        "rows": np.zeros(n),
    }
    arrays[wrong] = arrays[wrong][1:].copy()
    with pytest.raises(ValueError, match="do not fit the problems"):
        _core.certified_gaps(some.problems(), **arrays, have_sign=True)
