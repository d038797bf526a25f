"""The quadratic program over planes, with a unique solution that is accurate to the last digits.

Planes of a few examples are often equal, or sums of each other. Then many dual variables give the
same w, and rounding decides which of them a solver finds. This module returns the solution of the
smallest norm, so that the same planes in any order give the same model.
"""

from functools import cache

import numpy as np
import piqp
from numpy.typing import NDArray
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs
from threadpoolctl import ThreadpoolController

from filbert.arrays import FloatArray

_RIDGE = 1e-7  # of the largest square of a plane: enough to make the solution unique
_DEPENDENT = 1e-12  # eigenvalues below this share of the largest count as zero
_SLACK = 1e-10  # conditions hold up to this much mean loss
_NO_SHARE = 1e-11  # a dual variable below this share of the sum is zero
_MAX_ROUNDS = 50
_FEW_ROUNDS = 10
_CLEARLY = 1e-8  # a plane with this much less slack has no share in any solution


def solve_dual(
    gram: FloatArray, offsets: FloatArray, C: float, likely: NDArray[np.bool_] | None = None
) -> tuple[FloatArray, float]:
    """Solve the Wolfe dual over the planes; return alpha and the slack of the primal problem.

    The problem is to maximise ``offsets . alpha - alpha . gram alpha / 2`` over alpha >= 0 with a
    sum of at most C. An interior point method, with a ridge that makes the solution unique, finds
    the planes that have a share. For these the optimality conditions are linear and are solved
    without the ridge. If `likely` names the planes that probably have a share, these are tried
    first, and the result is used if no other solution exists.
    """
    if len(offsets) == 0:
        return np.empty(0), 0.0
    with _blas().limit(limits=1, user_api="blas"):  # more threads would only wait for each other
        return _solved(gram, offsets, C, likely)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _solved(
    gram: FloatArray, offsets: FloatArray, C: float, likely: NDArray[np.bool_] | None
) -> tuple[FloatArray, float]:
    squares = C * gram  # in shares of C, so that the scale does not depend on C
    scale = max(1.0, float(squares.diagonal().max()))  # offsets are at most 1
    share = None
    if likely is not None and likely.any():
        share = _polished(squares, offsets, scale, likely.copy(), True, only_one=True)
    if share is None:
        _, active, full = _interior_point(squares, offsets, _RIDGE * scale)
        share = _polished(squares, offsets, scale, active, full, only_one=False)
    if share is None:
        share, _, _ = _interior_point(squares, offsets, 0.0)
    share = np.where(share < _NO_SHARE * share.sum(), 0.0, share)
    share /= max(1.0, float(share.sum()))
    alpha = C * share
    return alpha, max(0.0, float((offsets - gram @ alpha).max()))


def _interior_point(
    squares: FloatArray, offsets: FloatArray, ridge: float
) -> tuple[FloatArray, NDArray[np.bool_], bool]:
    """Return the shares, which of them are non-zero, and whether their sum is at its bound."""
    n = len(offsets)
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = 1e-12
    settings.check_duality_gap = True
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-12
    solver.setup(
        squares + ridge * np.eye(n),
        -offsets,
        None,
        None,
        np.ones((1, n)),
        np.array([-np.inf]),
        np.ones(1),
        np.zeros(n),
    )
    solver.solve()
    found = solver.result
    # Either a variable or the multiplier of its bound is zero.
    return found.x, found.x > found.z_bl, bool(found.z_u[0] > 1 - found.x.sum())


def _polished(
    squares: FloatArray,
    offsets: FloatArray,
    scale: float,
    active: NDArray[np.bool_],
    full: bool,
    *,
    only_one: bool,
) -> FloatArray | None:
    """Solve for the active shares; if the ridge misjudged a plane, correct that and repeat.

    At the optimum all active planes have the same slack, no other plane has more, and the shares
    sum to less than 1 only if that slack is 0. Return None if this is not reached, or if the
    solution must be unique (`only_one`) and there may be others.
    """
    for _ in range(_FEW_ROUNDS if only_one else _MAX_ROUNDS):
        found = _equal_slacks(squares, offsets, scale, active, full, only_one)
        if found is None:
            return None
        share, slack = found
        excess = offsets - squares @ share - slack
        rounding = 1e-14 * float((np.abs(squares) @ np.abs(share)).max())
        if share.min() < -_NO_SHARE * share.max():
            active &= share >= 0 if only_one else np.arange(len(share)) != share.argmin()
        elif full and slack < -_SLACK - rounding:
            full = False
        elif not full and share.sum() > 1 + _SLACK:
            full = True
        elif excess.max() > _SLACK + rounding:
            if active[excess.argmax()]:
                return None
            active |= excess > _SLACK + rounding if only_one else excess == excess.max()
        elif only_one and not (excess[~active] < -_CLEARLY).all():
            return None
        else:
            return share
    return None


def _equal_slacks(
    squares: FloatArray,
    offsets: FloatArray,
    scale: float,
    active: NDArray[np.bool_],
    full: bool,
    only_one: bool,
) -> tuple[FloatArray, float] | None:
    """Return the shares for which all active planes have the same slack, and that slack.

    The slack is 0 unless the shares have to sum to 1. If there are many solutions, return the one
    of the smallest norm, or None if the solution must be unique (`only_one`).
    """
    places = np.flatnonzero(active)
    matrix, target = squares[np.ix_(places, places)], offsets[places]
    found = _only_solution(matrix, target, full, scale)
    if found is None:
        if only_one:
            return None
        found = _smallest_solution(matrix, target, full, scale)
    share = np.zeros(len(offsets))
    share[places] = found[0]
    return share, found[1]


def _only_solution(
    matrix: FloatArray, target: FloatArray, full: bool, scale: float
) -> tuple[FloatArray, float] | None:
    """Solve for shares and slack, or return None if an eigenvalue of the matrix is near zero.

    If the shares sum to 1, a constant may be added to the matrix: it reduces the slack by the same
    constant. A matrix that is small compared with `scale` then does no harm.
    """
    n = len(target)
    added = scale if full else 0.0
    raised = matrix + added
    factor, info = dpotrf(raised, lower=1)
    if n == 0 or info != 0:
        return None
    largest = float(np.abs(raised).sum(axis=0).max())
    condition, _ = dpocon(factor, largest, uplo="L")
    if condition * largest <= n * _DEPENDENT * scale:
        return None
    both, _ = dpotrs(factor, np.stack([target, np.ones(n)], axis=1), lower=1)
    alone, together = both.T
    slack = (float(alone.sum()) - 1.0) / float(together.sum()) if full else 0.0
    return alone - slack * together, slack + added


def _smallest_solution(
    matrix: FloatArray, target: FloatArray, full: bool, scale: float
) -> tuple[FloatArray, float]:
    """Solve for shares and slack; return the solution of the smallest norm."""
    n = len(target)
    bordered = np.zeros((n + full, n + full))
    bordered[:n, :n] = matrix
    bordered[n:, :n] = bordered[:n, n:] = scale
    values, vectors = np.linalg.eigh(bordered)
    kept = np.abs(values) > _DEPENDENT * scale
    parts = vectors[:, kept].T @ np.append(target, np.full(int(full), scale))
    solution = vectors[:, kept] @ (parts / values[kept])
    return solution[:n], scale * float(solution[n]) if full else 0.0
