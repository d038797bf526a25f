"""The quadratic problem over planes: one answer, and to the last digits.

Planes of a few examples are often equal, or sums of each other. Then many dual variables give the
same w, and which of them a solver finds is a matter of rounding. Here the answer is the one of the
smallest norm, so that whoever computes the same planes, in whatever order, gets the same model.
"""

from functools import cache

import numpy as np
import piqp
from numpy.typing import NDArray
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs
from threadpoolctl import ThreadpoolController

from filbert.arrays import FloatArray

_RIDGE = 1e-7  # of the largest square of a plane: enough to tell apart what rounding cannot
_DEPENDENT = 1e-12  # eigenvalues below, as a part of the largest, are zeros
_SLACK = 1e-10  # conditions hold up to this much mean loss
_NO_SHARE = 1e-11  # of all: a dual variable below is zero
_MAX_ROUNDS = 50
_FEW_ROUNDS = 10
_CLEARLY = 1e-8  # a plane that has less slack by so much has no share in any answer


def solve_dual(
    gram: FloatArray, offsets: FloatArray, C: float, likely: NDArray[np.bool_] | None = None
) -> tuple[FloatArray, float]:
    """Solve the Wolfe dual over the planes: alpha, and the slack of the primal problem.

    Maximises ``offsets . alpha - alpha . gram alpha / 2`` over alpha >= 0 with a sum of at most C.
    An interior point method, with a ridge that makes the answer unique, tells which planes have a
    share; for these the conditions of optimality are linear, and are solved without the ridge.
    Where it is known which planes are `likely` to have one, that is tried first, and taken where
    there is no other answer.
    """
    if len(offsets) == 0:
        return np.empty(0), 0.0
    with _blas().limit(limits=1, user_api="blas"):  # threads only wait for each other here
        return _solved(gram, offsets, C, likely)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _solved(
    gram: FloatArray, offsets: FloatArray, C: float, likely: NDArray[np.bool_] | None
) -> tuple[FloatArray, float]:
    squares = C * gram  # in shares of C, which are of one size whatever C is
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
    """Return shares, which of them are not zero, and whether their sum is at its bound."""
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
    # Of a variable and the multiplier of its bound one is zero.
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
    """Solve for the active shares; where the ridge misjudged a plane, correct that and repeat.

    At the optimum all active planes have the same slack, none has more, and the shares sum up to
    less than 1 only where that slack is 0. Returns None where that is not reached, or where
    `only_one` answer will do and there may be others.
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
    """Return the shares by which all active planes have the same slack, and that slack.

    It is 0 unless the shares have to sum up to 1. Of many such shares those of the smallest norm;
    or None, where there has to be `only_one` answer.
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
    """Solve for shares and slack where no eigenvalue of the matrix is near zero, else None.

    Where the shares sum up to 1, a constant may be added to the matrix: the slack is less by it.
    Then a matrix that is small beside its `scale` does no harm.
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
    """Solve for shares and slack; of many solutions take that of the smallest norm."""
    n = len(target)
    bordered = np.zeros((n + full, n + full))
    bordered[:n, :n] = matrix
    bordered[n:, :n] = bordered[:n, n:] = scale
    values, vectors = np.linalg.eigh(bordered)
    kept = np.abs(values) > _DEPENDENT * scale
    parts = vectors[:, kept].T @ np.append(target, np.full(int(full), scale))
    solution = vectors[:, kept] @ (parts / values[kept])
    return solution[:n], scale * float(solution[n]) if full else 0.0
