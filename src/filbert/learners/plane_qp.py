"""The quadratic problem over planes: one answer, and to the last digits.

Planes of a few examples are often equal, or sums of each other. Then many dual variables give the
same w, and which of them a solver finds is a matter of rounding. Here the answer is the one of the
smallest norm, so that whoever computes the same planes, in whatever order, gets the same model.
"""

from functools import cache

import numpy as np
import piqp
from numpy.typing import NDArray
from scipy.linalg.lapack import dsysvx
from threadpoolctl import ThreadpoolController

FloatArray = NDArray[np.float64]

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
        share, slack, unique = _equal_slacks(squares, offsets, scale, active, full)
        excess = offsets - squares @ share - slack
        rounding = 1e-14 * float((np.abs(squares) @ np.abs(share)).max())
        if share.min() < -_NO_SHARE * share.max():
            active[share.argmin()] = False
        elif full and slack < -_SLACK - rounding:
            full = False
        elif not full and share.sum() > 1 + _SLACK:
            full = True
        elif excess.max() > _SLACK + rounding:
            if active[excess.argmax()]:
                return None
            active[excess.argmax()] = True
        elif only_one and not (unique and (excess[~active] < -_CLEARLY).all()):
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
) -> tuple[FloatArray, float, bool]:
    """Return the shares by which all active planes have the same slack, and that slack.

    It is 0 unless the shares have to sum up to 1. Of many such shares those of the smallest norm;
    whether there are no others is told too.
    """
    places = np.flatnonzero(active)
    k = len(places)
    matrix = np.zeros((k + full, k + full))
    matrix[:k, :k] = squares[np.ix_(places, places)]
    matrix[k:, :k] = matrix[:k, k:] = scale
    target = np.append(offsets[places], np.full(int(full), scale))
    solution, unique = _smallest_solution(matrix, target, _DEPENDENT * scale)
    share = np.zeros(len(offsets))
    share[places] = solution[:k]
    return share, scale * float(solution[k]) if full else 0.0, unique


def _smallest_solution(
    matrix: FloatArray, target: FloatArray, least: float
) -> tuple[FloatArray, bool]:
    """Solve a symmetric system; where there are many solutions, for that of the smallest norm."""
    n = len(target)
    if n > 1:
        # Mostly there is one solution only, and this is faster than eigenvalues.
        *_, solution, condition, _, _, info = dsysvx(matrix, target[:, None], lwork=64 * n)
        if info == 0 and condition * np.abs(matrix).sum(axis=0).max() > n * least:
            return np.asarray(solution[:, 0]), True
    values, vectors = np.linalg.eigh(matrix)
    kept = np.abs(values) > least
    solution = vectors[:, kept] @ ((vectors[:, kept].T @ target) / values[kept])
    return np.asarray(solution), bool(kept.all())
