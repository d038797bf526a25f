"""Logistic regression over tree kernels."""

from typing import Any, Literal

from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.engine import Engine
from filbert.engine.rows import KernelFunction
from filbert.kernels import Kernel
from filbert.learners.dual_classifier import DualClassifier
from filbert.learners.dual_parameters import check_common, check_kernel
from filbert.predictors import LogisticClassifier


class TreeLogisticRegression(DualClassifier):
    r"""Logistic regression of trees: classes with probabilities.

    Minimises

    .. math:: \tfrac12 \|w\|^2 + \sum_i C_i \log(1 + \exp(-y_i (w \cdot \phi(x_i) + b)))

    in the feature space of the kernel, by coordinate descent in the dual (Yu, Huang & Lin 2011).
    More than two classes are trained one against the rest. Training stops when the relative gap
    between the primal and the dual objective over all examples is at most `tol`. Engines, pruned
    factors and the gap are those of :class:`~filbert.TreeSVC` with the strategy "exact".

    No example's loss is 0, so nearly all training examples are support vectors. Models are larger
    than those of TreeSVC, and prediction takes longer.

    Parameters
    ----------
    kernel : Kernel or callable, optional
        SubsetTree() by default. SubsetTree, Subtree, PartialTree, and sums of these and of Linear
        and Polynomial. With ``engine="rows"`` any kernel, or a function ``kernel(X, Y)`` that
        returns an array of shape (len(X), len(Y)).
    C : float
        The weight of one example's loss, as in scikit-learn.
    engine : {"auto", "factors", "rows"}
        How kernels are computed, see :class:`~filbert.TreeSVC`.
    class_weight : dict or "balanced", optional
        Factors of C by class.
    fit_intercept : bool
        Fit an intercept `b`. It is the weight of a constant feature and is regularised like the
        other weights.
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
    classes_ : ndarray
    support_ : ndarray of int
        The training examples that are support vectors.
    n_support_ : ndarray of int
        The number of support vectors in each class.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        The dual variables times the label, +1 or -1.
    intercept_ : ndarray of shape (n_problems,)
    objective_ : float
        The primal objective, summed over the problems. With pruned factors it is that of their
        kernel.
    duality_gap_ : float
        The relative gap, the largest over the problems. With pruned factors it is a bound on the
        gap under the exact kernel.
    kernel_error_ : float
        The largest error of a kernel in the factors, 0 if kernels were exact.
    n_iter_ : int
        The number of sweeps, the largest over the problems.
    convergence_ : list of Convergence
        For each problem, the objective and the gap by number of sweeps.
    engine_ : {"factors", "rows"}
        How kernels were computed.
    engine_reason_ : str
        The reason for this engine.
    model_ : SupportVectorModel

    Examples
    --------
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> y = ["statement", "statement", "question", "question"]
    >>> clf = TreeLogisticRegression(C=10, random_state=0).fit(X, y)
    >>> clf.classes_
    array(['question', 'statement'], dtype='<U9')
    >>> clf.predict_proba(["(Q (VP e) (NP a))"]).round(2)
    array([[0.71, 0.29]])
    """

    loss = "logistic"

    def __init__(
        self,
        kernel: Kernel | KernelFunction | None = None,
        *,
        C: float = 1.0,
        engine: Engine = "auto",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
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
        self.engine = engine
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.kernel_tol = kernel_tol
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probability of each class.

        The probability of the second of two classes is 1 / (1 + exp(-score)). Of more classes, each
        has such a probability against the rest, and these are divided by their sum.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples to predict.

        Returns
        -------
        ndarray of shape (len(X), n_classes)
            In the order of `classes_`. Each row sums to 1.
        """
        check_is_fitted(self)
        return self._classifier().predict_proba(X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Predict the logarithm of each probability. It is finite, also if the probability is 0.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples to predict.

        Returns
        -------
        ndarray of shape (len(X), n_classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        return self._classifier().predict_log_proba(X)

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` calls it first. Call it yourself before reading X from a large file.
        """
        check_common("TreeLogisticRegression", self.get_params(deep=False))
        check_kernel("TreeLogisticRegression", self.kernel, self.engine)

    def _classifier(self) -> LogisticClassifier:
        return LogisticClassifier(self.model_, self.engine_, self.n_jobs, self.classes_)
