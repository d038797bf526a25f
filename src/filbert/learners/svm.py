"""Support vector machines over tree kernels."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from filbert._core import KernelOperator, RowTrainer
from filbert.errors import InvalidParameterError, WorkLimitError
from filbert.forest import Forest, as_forest
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.model import Method, SupportVectorModel, factorize
from filbert.progress import progress_bar
from filbert.threads import n_threads
from filbert.work import LITTLE_WORK, row_steps, steps_worth_trying

FloatArray = NDArray[np.float64]

Engine = Literal["auto", "factors", "rows"]

_ROWS_KEPT = 672 << 20  # bytes: all rows of 12,000 trees, and with the program less than 1 GB


class TreeSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Support vector classification of trees.

    Minimises, exactly and without sampling,

    .. math:: \tfrac12 \|w\|^2 + \sum_i C_i \, \ell(y_i (w \cdot \phi(x_i) + b))

    in the feature space of the kernel, many classes by one against the rest, by coordinate descent
    in the dual. There are two ways to compute with the kernel. By *factors* the kernel matrix is
    never computed: it is factorised over the fragments that trees share. By *rows* it is computed
    row by row, for the trees that turn out to matter. Both stop when the relative gap between the
    primal and the dual objective, computed over all examples, is at most `tol`.

    Parameters
    ----------
    kernel : SubsetTree, Subtree or PartialTree, optional
        SubsetTree() by default.
    C : float
        The weight of one example's loss, as in scikit-learn; the papers' C is n times that.
    strategy : {"exact"}
        How the optimum is found.
    engine : {"auto", "factors", "rows"}
        How kernels are computed. By default by factors where these are found with less work than
        the rows may take, as for many short trees that share much; else by rows, as for whole
        sentences and programs under PartialTree.
    loss : {"hinge", "squared_hinge"}
    class_weight : dict or "balanced", optional
        Factors of C by class.
    fit_intercept : bool
        Whether there is a `b`. It is the weight of a constant feature, regularised like the others.
        False is what the papers do.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        The most sweeps of coordinate descent, each over the examples that are not at rest; a
        warning tells when they did not suffice.
    warm_start : bool
        Whether `fit` begins at the last solution, where it has the same number of examples.
    max_memory : int, optional
        The most bytes that the factors or the rows may take. Rows that do not fit are computed
        again when they are needed again; by default they may take 672 MiB.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        The order in which examples are visited.
    verbose : int
        Whether to show progress.

    Attributes
    ----------
    classes_ : ndarray
    support_ : ndarray of int
        The training examples that are support vectors.
    n_support_ : ndarray of int
        Their number in each class.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        The dual variables times the label, +1 or -1.
    intercept_ : ndarray of shape (n_problems,)
    objective_ : float
        The primal objective; of many classes, the sum.
    duality_gap_ : float
        The relative gap; of many classes, the largest.
    n_iter_ : int
        Sweeps; of many classes, the most.
    engine_ : str
        How kernels were computed, and why.
    model_ : SupportVectorModel

    Examples
    --------
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVC().fit(X, ["statement", "statement", "question", "question"])
    >>> clf.predict(["(Q (VP e) (NP a))"])
    array(['question'], dtype='<U9')
    """

    def __init__(
        self,
        kernel: TreeKernel | None = None,
        *,
        C: float = 1.0,
        strategy: Literal["exact"] = "exact",
        engine: Engine = "auto",
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        warm_start: bool = False,
        max_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.strategy = strategy
        self.engine = engine
        self.loss = loss
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on trees `X` with classes `y`; `sample_weight` multiplies C example by example."""
        task = self._prepare(X, y, sample_weight)
        start = getattr(self, "_alpha", None) if self.warm_start else None
        if start is not None and start.shape != task.signs.shape:
            start = None
        self._solve(task, self.C, start)
        return self

    def fit_path(
        self, X: Any, y: ArrayLike, Cs: Iterable[float], sample_weight: ArrayLike | None = None
    ) -> list[Self]:
        """Train for several values of C, each from the solution before.

        One factorisation, or the same rows, serve all. Returns a fitted copy for each value, in
        their order.
        """
        task = self._prepare(X, y, sample_weight)
        fitted: list[Self] = []
        if not isinstance(Cs, Iterable):
            raise InvalidParameterError(f"Cs must be several values of C, got {Cs!r}")
        for C in Cs:
            start = fitted[-1]._alpha if fitted else None
            fitted.append(clone(self).set_params(C=C))
            fitted[-1]._solve(task, C, start)
        return fitted

    def decision_function(self, X: Any) -> FloatArray:
        """Score trees: shape (len(X),) for two classes, (len(X), n_classes) for more."""
        check_is_fitted(self)
        # Partial trees that were not factorised in training are not in prediction.
        by_rows = isinstance(self.model_.kernel, PartialTree) and self.engine_.startswith("rows")
        method: Method = "rows" if by_rows else "auto"
        values = self.model_.decision_function(X, method=method, n_jobs=self.n_jobs)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each tree."""
        values = self.decision_function(X)
        return classes_by_score(self.classes_, values)

    def check_parameters(self) -> None:
        """Raise InvalidParameterError where a parameter has a value that it cannot have.

        `fit` does so first. By itself it is of use before X is read from a long file.
        """
        _check_cost(self.C)
        if self.strategy != "exact":
            raise InvalidParameterError(f"TreeSVC: strategy must be 'exact', got {self.strategy!r}")
        if self.engine not in ("auto", "factors", "rows"):
            raise InvalidParameterError(
                f"TreeSVC: engine must be 'auto', 'factors' or 'rows', got {self.engine!r}"
            )
        if not isinstance(self.kernel, SubsetTree | Subtree | PartialTree | None):
            raise InvalidParameterError(
                f"TreeSVC: kernel must be a SubsetTree, Subtree or PartialTree, got {self.kernel!r}"
            )
        if self.kernel is not None:
            self.kernel._spec()
        if self.loss not in ("hinge", "squared_hinge"):
            raise InvalidParameterError(
                f"TreeSVC: loss must be 'hinge' or 'squared_hinge', got {self.loss!r}"
            )
        if not _is_real(self.tol) or not 0 < self.tol < 1:
            raise InvalidParameterError(f"TreeSVC: tol must be in (0, 1), got {self.tol!r}")
        for name, least, most in (("max_iter", 1, 2**32), ("max_memory", 1, 2**63)):
            value = getattr(self, name)
            if value is None and name == "max_memory":
                continue
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            if not whole or not least <= value < most:
                raise InvalidParameterError(
                    f"TreeSVC: {name} must be a positive integer, got {value!r}"
                )
        for name in ("fit_intercept", "warm_start"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InvalidParameterError(
                    f"TreeSVC: {name} must be True or False, got {getattr(self, name)!r}"
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ---------------------------------------------------------------- training

    def _prepare(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> "_Task":
        self.check_parameters()
        forest = as_forest(X)
        classes, coded = _checked_classes(y, len(forest))
        weights = _checked_weights(sample_weight, len(forest))
        weights = weights * _class_factors(self.class_weight, classes, coded)
        if not weights.any():
            raise InvalidParameterError("all weights are zero: there is nothing to learn from")
        # One problem for two classes, else one for each class against the rest.
        positives = [1] if len(classes) == 2 else range(len(classes))
        signs = np.array([np.where(coded == c, 1, -1) for c in positives], dtype=np.int8)
        kernel = SubsetTree() if self.kernel is None else clone(self.kernel)
        matrix, engine = self._matrix(kernel, forest)
        if self.verbose > 0:
            print(engine, file=sys.stderr)
        return _Task(kernel, forest, matrix, engine, classes, coded, signs, weights)

    def _matrix(
        self, kernel: TreeKernel, forest: Forest
    ) -> tuple[KernelOperator | RowTrainer, str]:
        """Return what computes kernels, which engine that is and why.

        Nobody knows how much work it is to factorise but by doing it. So it is tried, and given up
        where it takes more than a part of what the rows may take.
        """
        if self.engine == "factors":
            return self._factors(kernel, forest, None), "factors: as asked for"
        if self.engine == "rows":
            return self._rows(kernel, forest), "rows: as asked for"
        if isinstance(kernel, Subtree):
            return self._factors(kernel, forest, None), "factors: those of Subtree take no search"
        rows = row_steps(kernel, forest)
        if isinstance(kernel, PartialTree) and rows < LITTLE_WORK:
            reason = f"the whole kernel matrix takes about {rows:.1e} steps only"
            return self._rows(kernel, forest), f"rows: {reason}"
        max_work = steps_worth_trying(kernel, rows)
        try:
            factors = self._factors(kernel, forest, max_work)
        except WorkLimitError:
            reason = (
                f"factorising was given up after {max_work:.1e} steps, "
                f"the whole kernel matrix takes about {rows:.1e}"
            )
            return self._rows(kernel, forest), f"rows: {reason}"
        reason = (
            f"factorising took less than {max_work:.1e} steps, "
            f"the whole kernel matrix would take about {rows:.1e}"
        )
        return factors, f"factors: {reason}"

    def _factors(
        self, kernel: TreeKernel, forest: Forest, max_work: float | None
    ) -> KernelOperator:
        with progress_bar("factorising", show=self.verbose > 0) as progress:
            return factorize(
                kernel,
                forest,
                max_memory=self.max_memory,
                max_work=max_work,
                n_jobs=self.n_jobs,
                progress=progress,
            )

    def _rows(self, kernel: TreeKernel, forest: Forest) -> RowTrainer:
        with progress_bar("preparing", show=self.verbose > 0) as progress:
            return RowTrainer(
                kernel._spec(),
                forest._dag,
                forest._roots,
                bool(kernel.normalize),
                _ROWS_KEPT if self.max_memory is None else self.max_memory,
                n_threads(self.n_jobs),
                progress,
            )

    def _solve(self, task: "_Task", C: float, start: FloatArray | None) -> None:
        _check_cost(C)
        rng = check_random_state(self.random_state)
        seeds = rng.randint(0, 2**63 - 1, size=len(task.signs), dtype=np.int64).astype(np.uint64)
        bounds = np.broadcast_to(C * task.weights, task.signs.shape)
        with progress_bar("training", show=self.verbose > 0) as progress:
            alpha, intercept, primal, _, gap, sweeps = task.matrix.train(
                task.signs,
                np.ascontiguousarray(bounds),
                start,
                self.loss == "squared_hinge",
                bool(self.fit_intercept),
                float(self.tol),
                seeds,
                int(self.max_iter),
                n_threads(self.n_jobs),
                progress,
            )
        if gap.max() > self.tol:
            warn(
                f"TreeSVC stopped after max_iter={self.max_iter} sweeps at a relative duality gap "
                f"of {gap.max():.1e}, above tol={self.tol:g}: raise max_iter, or lower C",
                ConvergenceWarning,
                stacklevel=3,
            )
        coef = alpha * task.signs
        self.support_ = np.flatnonzero(alpha.any(axis=0))
        self.model_ = SupportVectorModel(
            task.kernel, task.forest[self.support_], coef[:, self.support_], intercept
        )
        self.classes_ = task.classes
        self.n_support_ = np.bincount(task.coded[self.support_], minlength=len(task.classes))
        self.dual_coef_ = self.model_.coef
        self.intercept_ = intercept
        self.objective_ = float(primal.sum())
        self.duality_gap_ = float(gap.max())
        self.n_iter_ = int(sweeps.max())
        self.engine_ = task.engine
        self._alpha = alpha


@dataclass
class _Task:
    """What is the same for all values of C."""

    kernel: TreeKernel
    forest: Forest
    matrix: KernelOperator | RowTrainer  # of the trees' kernels
    engine: str
    classes: NDArray[Any]
    coded: NDArray[np.intp]
    signs: NDArray[np.int8]  # by problem and example
    weights: FloatArray  # by example: what C is multiplied with


def classes_by_score(classes: NDArray[Any], values: FloatArray) -> NDArray[Any]:
    """Return the class of each tree: by the sign of its score, or by the largest of several."""
    chosen = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
    predicted: NDArray[Any] = classes[chosen]
    return predicted


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_cost(C: Any) -> None:
    if not _is_real(C) or not 0 < C < np.inf:
        raise InvalidParameterError(f"TreeSVC: C must be positive, got {C!r}")


def _checked_classes(y: ArrayLike, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    labels = column_or_1d(y, warn=True)
    if len(labels) != n:
        raise InvalidParameterError(f"X has {n:,} trees, but y has {len(labels):,} labels")
    if n == 0:
        raise InvalidParameterError("there are no examples to learn from")
    check_classification_targets(labels)
    try:
        classes, coded = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InvalidParameterError(
            f"labels must be of one kind, got {kinds}: fill in missing ones, or use strings"
        ) from None
    if len(classes) < 2:
        raise InvalidParameterError(
            f"TreeSVC needs two classes at least, but all labels are {classes[0]}"
        )
    return classes, coded


def _checked_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InvalidParameterError(
            f"sample_weight must have one number for each of {n:,} trees, got shape {weights.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InvalidParameterError(
            f"sample_weight must be finite and not negative; that of sample {bad[0]} is "
            f"{weights[bad[0]]}"
        )
    return weights


def _class_factors(class_weight: Any, classes: NDArray[Any], coded: NDArray[np.intp]) -> FloatArray:
    if class_weight is None:
        return np.ones(len(coded))
    factors = compute_class_weight(class_weight, classes=classes, y=classes[coded])
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise InvalidParameterError(
            f"class_weight must be finite and not negative, got {class_weight!r}"
        )
    return np.asarray(factors, dtype=np.float64)[coded]
