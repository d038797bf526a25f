"""Regression over tree kernels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.corpus.methods import ScoresParts
from filbert.engine import Engine
from filbert.engine.rows import KernelFunction
from filbert.kernels import Kernel
from filbert.learners.certificate import first_kernel_tol
from filbert.learners.dual import DualLearner, Task
from filbert.learners.dual_parameters import (
    check_choice,
    check_common,
    check_kernel,
    check_not_negative,
)
from filbert.learners.targets import checked_targets, checked_weights
from filbert.predictors import SupportVectorRegressor


class TreeSVR(ScoresParts, RegressorMixin, DualLearner):  # type: ignore[misc]
    r"""Regression of trees: predicts a number for each tree.

    Minimises

    .. math:: \tfrac12 \|w\|^2 + \sum_i C_i \max(0, |y_i - w \cdot \phi(x_i) - b| - \epsilon)

    or the same with squared losses, in the feature space of the kernel, by coordinate descent in
    the dual (Ho & Lin 2012). Squared losses with ``epsilon=0`` are kernel ridge regression with
    ``alpha = 1 / (2 C)``. Training stops when the relative gap between the primal and the dual
    objective over all examples is at most `tol`. Engines, pruned factors and the gap are those of
    :class:`~filbert.TreeSVC` with the strategy "exact".

    Parameters
    ----------
    kernel : Kernel or callable, optional
        SubsetTree() by default. SubsetTree, Subtree, PartialTree, and sums of these and of Linear
        and Polynomial. With ``engine="rows"`` any kernel, or a function ``kernel(X, Y)`` that
        returns an array of shape (len(X), len(Y)).
    C : float
        The weight of one example's loss, as in scikit-learn.
    epsilon : float
        Errors up to `epsilon` cost nothing.
    engine : {"auto", "factors", "rows"}
        How kernels are computed, see :class:`~filbert.TreeSVC`.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
    fit_intercept : bool
        Fit an intercept `b`. It is the weight of a constant feature and is regularised like the
        other weights. If the mean of the targets is far from 0, subtract it first.
    kernel_tol : float, optional
        The largest error of kernels in the factors of PartialTree, see
        :class:`~filbert.TreeSVC`. It affects only the time.
    tol : float
        The relative duality gap to reach.
    max_iter : int, optional
        The maximum number of sweeps of coordinate descent over the examples that still change,
        10,000 by default. A warning says if this did not suffice.
    warm_start : bool
        Start `fit` from the last solution if it has the same number of examples.
    max_memory : int, optional
        The maximum number of bytes for the factors or the rows.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        The order in which examples are visited.
    verbose : int
        If positive, show progress.

    Attributes
    ----------
    support_ : ndarray of int
        The training examples that are support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        The dual variables, positive for examples above the predictions and negative below.
    intercept_ : ndarray of shape (1,)
    objective_ : float
        The primal objective. With pruned factors it is that of their kernel.
    duality_gap_ : float
        The relative gap. With pruned factors it is a bound on the gap under the exact kernel.
    kernel_error_ : float
        The largest error of a kernel in the factors, 0 if kernels were exact.
    n_iter_ : int
        The number of sweeps.
    convergence_ : list of Convergence
        The objective and the gap by number of sweeps.
    engine_ : {"factors", "rows"}
        How kernels were computed.
    engine_reason_ : str
        The reason for this engine.
    model_ : SupportVectorModel

    Examples
    --------
    >>> X = ["(S (A a))", "(S (A a) (B b))", "(S (A a) (A a))", "(S (A a) (B b) (B b))"]
    >>> svr = TreeSVR(C=100, epsilon=0.01, random_state=0).fit(X, [0, 1, 0, 2])
    >>> svr.predict(X).round(1) + 0
    array([0., 1., 0., 2.])
    """

    def __init__(
        self,
        kernel: Kernel | KernelFunction | None = None,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        engine: Engine = "auto",
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        fit_intercept: bool = True,
        kernel_tol: float | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        warm_start: bool = False,
        max_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.engine = engine
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.kernel_tol = kernel_tol
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: Any) -> FloatArray:
        """Predict a number for each tree.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples to predict.

        Returns
        -------
        ndarray of shape (len(X),)
            The numbers.
        """
        check_is_fitted(self)
        return SupportVectorRegressor(self.model_, self.engine_, self.n_jobs).predict(X)

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` calls it first. Call it yourself before reading X from a large file.
        """
        check_common("TreeSVR", self.get_params(deep=False))
        check_not_negative("TreeSVR", "epsilon", self.epsilon)
        losses = ("epsilon_insensitive", "squared_epsilon_insensitive")
        check_choice("TreeSVR", "loss", self.loss, losses)
        check_kernel("TreeSVR", self.kernel, self.engine)

    def _prepare(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, Cs: Sequence[float]
    ) -> Task:
        kernel, examples = self._kernel_and_examples(X, Cs)
        n = examples.shape[0]
        targets = checked_targets(y, n)
        weights = checked_weights(sample_weight, n)
        problems = self._problems(np.ones((1, n), dtype=np.int8), weights, self._core_loss())
        problems = replace(problems, targets=targets[np.newaxis], epsilon=float(self.epsilon))
        first = first_kernel_tol(self.tol, max(Cs, default=self.C) * weights)
        return self._task(
            kernel, examples, problems, lambda: self._trainer(kernel, examples, first)
        )

    def _core_loss(self) -> str:
        """Return the core's name of the loss. The squared error is solved by joint steps too."""
        squared = self.loss == "squared_epsilon_insensitive"
        return "squared_error" if squared and self.epsilon == 0 else self.loss
