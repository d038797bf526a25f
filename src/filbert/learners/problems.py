"""The problems that learners solve and their solutions, for any strategy."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from filbert._core import SvmProblems
from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.engine import Plan


@dataclass(frozen=True)
class Problems:
    """Problems over the same examples, each of two classes or a regression."""

    signs: NDArray[np.int8]  # by problem and example
    weights: FloatArray  # by example: factors of C
    C: float
    loss: str  # one of filbert._core.loss_names()
    intercept: bool
    tol: float
    max_iter: int | None
    seeds: NDArray[np.uint64]  # by problem
    start: FloatArray | None = None  # dual variables by problem and example
    targets: FloatArray | None = None  # by problem and example, for losses of regression
    epsilon: float = 0.0  # of losses that have one

    def on_core(
        self, max_sweeps: int, places: NDArray[np.uint64] | None = None, pause: int = 2**32 - 1
    ) -> SvmProblems:
        """Return the same problems for the core's trainers.

        Parameters
        ----------
        max_sweeps : int
        places : array, optional
            Where the solver paused; `start` is of that time.
        pause : int
            The number of sweeps after which a solver on factors pauses. On rows, any number lets it
            pause whenever it has done all that it can with the rows that are there.
        """
        return SvmProblems(
            y=self.signs,
            C=self.C * self.weights,
            loss=self.loss,
            epsilon=self.epsilon,
            intercept=self.intercept,
            tol=self.tol,
            seeds=self.seeds,
            max_sweeps=max_sweeps,
            targets=self.targets,
            start=self.start,
            places=places,
            pause=pause,
        )


@dataclass(frozen=True)
class Convergence:
    """How training converged to the optimum of one problem.

    Attributes
    ----------
    steps : ndarray of int
        The numbers of sweeps or iterations.
    objective : ndarray of float
        The primal objective after this many steps.
    gap : ndarray of float
        The relative gap between the primal and the dual objective then.
    """

    steps: NDArray[np.int64]
    objective: FloatArray
    gap: FloatArray


@dataclass(frozen=True)
class Solution:
    """Weights of the examples, the quality of the solution, and the strategy's report."""

    coef: FloatArray  # by problem and example, with the sign
    intercept: FloatArray  # by problem
    objective: float
    gap: float
    n_iter: int
    convergence: list[Convergence]  # by problem
    alpha: FloatArray | None = None  # the start for another training
    kernel_error: float = 0.0  # the largest error of the kernel; it is part of the gap
    report: dict[str, Any] = field(default_factory=dict)


class Trainer(Protocol):
    """A strategy with prepared data that solves problems for several values of C."""

    plan: Plan

    def train(self, problems: Problems, kept: Checkpoint | None = None) -> Solution:
        """Solve the problems, and warn if `tol` was not reached.

        With a checkpoint, begin where it is, and store the state every so often.
        """
