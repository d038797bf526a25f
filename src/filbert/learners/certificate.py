"""The duality gap under the exact kernel of a solution that was found on pruned factors.

``docs/certified-factors.md`` derives the bound.
"""

from dataclasses import dataclass

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray

# Measured on questions, sentences and up to 1.1 million predicate-argument trees: with this
# factor, errors of the kernel raised the gap by 0.01 to 0.4 tol.
_FIRST = 0.1
_COARSEST = 1e-4  # hardly any time is saved above
_LATER = 0.3  # the share of tol that errors should take at most, if the first ones were too large
_FINEST = 1e-12  # below this, exact factors are used


def first_kernel_tol(tol: float, costs: FloatArray) -> float:
    """Guess the largest error of a normalised kernel for which a gap of `tol` can be certified.

    The errors of an example's margin grow with the costs, and hardly with the number of examples,
    because an example shares what was left out with few others.

    Parameters
    ----------
    tol : float
    costs : ndarray of shape (n,)
    """
    total = float(costs.sum())  # not by costs @ costs: see row_steps
    typical = float(np.square(costs).sum()) / total if total > 0 else 0.0  # weighted by the costs
    return min(_COARSEST, _usable(_FIRST * tol / max(1.0, typical)))


@dataclass(frozen=True)
class Certificate:
    """A bound on the relative duality gap of each problem.

    Attributes
    ----------
    problems : SvmProblems
    alpha : ndarray of shape (n_problems, n)
    scores : ndarray of shape (n, n_problems)
        By the pruned factors, with the intercept.
    own : ndarray of shape (n_problems,)
        The gaps under the kernel of the pruned factors.
    errors : ndarray of shape (n,)
        The errors of the kernel.
    rows : ndarray of shape (n,)
        Bounds on the sums of the errors of each example with all others. May be empty.
    have_sign : bool
        Whether no kernel of the pruned factors is above the exact one.
    """

    problems: _core.SvmProblems
    alpha: FloatArray
    scores: FloatArray
    own: FloatArray
    errors: FloatArray
    rows: FloatArray
    have_sign: bool

    def gaps(self, scale: float = 1.0) -> FloatArray:
        """Return the bounds, as if all errors were `scale` times as large."""
        return _core.certified_gaps(
            self.problems,
            self.alpha,
            self.scores,
            scale * self.errors,
            scale * self.rows,
            self.have_sign,
        )

    def excess(self, scale: float = 1.0) -> float:
        """Return by how much the errors of the kernel raise a gap at most."""
        return float((self.gaps(scale) - self.own).max())

    def finer(self, kernel_tol: float, tol: float) -> float:
        """Return a smaller `kernel_tol` for which this solution leaves room for the solver."""
        scale = 0.1
        while self.excess(scale) > _LATER * tol and kernel_tol * scale > _FINEST:
            scale /= 2
        return _usable(kernel_tol * scale)


def _usable(kernel_tol: float) -> float:
    """Return 0, for exact factors, where pruning would save little."""
    return kernel_tol if np.isfinite(kernel_tol) and kernel_tol > _FINEST else 0.0
