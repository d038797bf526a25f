"""The linear program that chooses symbols: maximise the sum of gains under constraints.

Rieck, Brefeld & Krueger 2008, Eq. 5 and section 3.2. They solve it with variables between 0 and 1.
If that gives a fractional value, the program is solved again with integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from filbert.arrays import FloatArray
from filbert.errors import FilbertError, InvalidParameterError

_WHOLE = 1e-6  # the solver's tolerance
_INFEASIBLE = 2


@dataclass(frozen=True)
class Constraint:
    """``low <= rows @ chosen <= high``, and its name in error messages."""

    name: str
    rows: FloatArray
    low: float
    high: float


def exactly(n: int, n_symbols: int) -> Constraint:
    """Require that exactly n symbols are chosen."""
    return Constraint(f"n_symbols={n}", np.ones((1, n_symbols)), n, n)


def bounded(cost: FloatArray, most: float) -> Constraint:
    """Require that the chosen symbols cost at most this much in total."""
    return Constraint(f"max_nodes_per_tree={most:g}", cost[None, :], -np.inf, most)


def together(name: str, places: Sequence[int | None], n_symbols: int) -> Constraint:
    """Require all or none of a group. None stands for a symbol that cannot be chosen."""
    known = [place for place in places if place is not None]
    rows = np.zeros((len(places) - 1, n_symbols))
    if len(known) < len(places):  # so no symbol of the group can be chosen
        rows = np.zeros((len(known), n_symbols))
        rows[range(len(known)), known] = 1.0
    else:
        steps = range(len(rows))
        rows[steps, known[:-1]] += 1.0
        rows[steps, known[1:]] -= 1.0
    return Constraint(name, rows, 0.0, 0.0)


def one_of(
    name: str, places: Sequence[int | None], n_symbols: int, *, only_one: bool
) -> Constraint:
    """Require at least or exactly one of a group. None stands for one that cannot be chosen."""
    rows = np.zeros((1, n_symbols))
    rows[0, [place for place in places if place is not None]] = 1.0
    return Constraint(name, rows, 1.0, 1.0 if only_one else np.inf)


def best_choice(gains: FloatArray, constraints: Sequence[Constraint]) -> NDArray[np.bool_]:
    """Choose the symbols with the largest sum of gains.

    Parameters
    ----------
    gains : ndarray of shape (n,)
    constraints : sequence of Constraint

    Raises
    ------
    InvalidParameterError
        If no choice fulfils all constraints. The message names a minimal set of constraints that
        cannot be fulfilled together.
    """
    largest = float(np.abs(gains).max(initial=0.0))
    costs = -gains / largest if largest > 0 else -gains
    chosen = _solved(costs, constraints, whole=False)
    if chosen is not None and np.abs(chosen - np.round(chosen)).max(initial=0.0) > _WHOLE:
        chosen = _solved(costs, constraints, whole=True)
    if chosen is None:
        names = " and ".join(c.name for c in _conflict(len(gains), constraints))
        raise InvalidParameterError(f"no choice of symbols fulfils {names}: change or drop one")
    return np.asarray(chosen > 0.5)


def _conflict(n: int, constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return a minimal set of constraints that cannot be fulfilled together."""
    kept = list(constraints)
    for constraint in constraints:
        others = [c for c in kept if c is not constraint]
        if _solved(np.zeros(n), others, whole=True) is None:
            kept = others
    return kept


def _solved(
    costs: FloatArray, constraints: Sequence[Constraint], *, whole: bool
) -> FloatArray | None:
    """Return the choice of minimum cost, or None if no choice is feasible."""
    rows: list[Any] = [LinearConstraint(c.rows, c.low, c.high) for c in constraints if c.rows.size]
    result = milp(
        costs,
        constraints=rows,
        bounds=Bounds(0.0, 1.0),
        integrality=np.full(len(costs), int(whole)),
        options={"mip_rel_gap": 0.0},
    )
    if result.x is not None:
        return np.asarray(result.x)
    if result.status != _INFEASIBLE:
        raise FilbertError(f"the choice of symbols could not be solved: {result.message}")
    return None
