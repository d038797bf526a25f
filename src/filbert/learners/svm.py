"""Support vector machines over tree kernels."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.engine import Engine
from filbert.engine.rows import KernelFunction
from filbert.engine.tree_scorer import Method
from filbert.errors import InvalidParameterError
from filbert.kernels import Kernel, SubsetTree
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.inputs import rows_for, warn_without_fragments
from filbert.learners.exact import ExactTrainer
from filbert.learners.kernel_parameter import KernelParameter
from filbert.learners.planes import PlaneTrainer
from filbert.learners.problems import Problems, Trainer
from filbert.learners.svm_parameters import check_cost, check_parameters
from filbert.learners.targets import checked_classes, checked_weights, class_factors, signs_of
from filbert.model import SupportVectorModel

_OF_PLANES = (
    "sample_size_",
    "delta_calls_",
    "delta_computed_",
    "n_planes_",
    "iteration_bound_",
    "history_",
)


class TreeSVC(KernelParameter, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Support vector classification of trees.

    Minimises

    .. math:: \tfrac12 \|w\|^2 + \sum_i C_i \, \ell(y_i (w \cdot \phi(x_i) + b))

    in the feature space of the kernel. More than two classes are trained one against the rest. The
    strategy "exact" uses coordinate descent in the dual, without sampling. It has two engines. With
    *factors* the kernel matrix is never computed: it is factorised over the fragments that trees
    share. With *rows* it is computed row by row, only for the trees that training needs. Both stop
    when the relative gap between the primal and the dual objective over all examples is at most
    `tol`.

    The other strategies are the cutting planes of Severyn & Moschitti 2012. Each plane is found on
    a sample of the examples. They come close to the optimum and differ only in how they store
    planes: as lists of examples ("usvm"), each as a DAG ("sdag"), or all in one DAG ("sdag+"). With
    the same seed all three give the same model.

    Parameters
    ----------
    kernel : Kernel or callable, optional
        SubsetTree() by default. The strategy "exact" accepts SubsetTree, Subtree, PartialTree, and
        sums of these and of Linear and Polynomial. If the kernels name parts, X must be
        :class:`~filbert.Examples`. Polynomials are expanded into products of features, so vectors
        should be sparse. The strategy "usvm" accepts any kernel, and so does "exact" with
        ``engine="rows"``, which then computes the whole kernel matrix. The kernel may be a function
        ``kernel(X, Y)`` that returns an array of shape (len(X), len(Y)). X may then be anything
        with a `shape` that can be indexed by slices and arrays, such as an array or a sparse
        matrix. Tables of pandas become arrays.
    C : float
        The weight of one example's loss, as in scikit-learn. The papers' C is n times as large.
    strategy : {"exact", "usvm", "sdag", "sdag+"}
        How the optimum is found or approximated.
    sample_size : int, optional
        The paper's r: the number of examples on which a plane is found. By default the paper's
        recipe: 5,000 from a million examples on, 1,000 from 100,000 on, else 500. If it is at least
        the number of examples, nothing is sampled, and the planes lead to the optimum.
    engine : {"auto", "factors", "rows"}
        How kernels are computed. "auto" uses factors if finding them takes less work than the rows
        may take, as for many short trees that share much. Otherwise it uses rows, as for whole
        sentences and programs with PartialTree.
    loss : {"hinge", "squared_hinge"}
    class_weight : dict or "balanced", optional
        Factors of C by class. If planes are sampled, an example is drawn in proportion to its
        factor and its `sample_weight` (cost-proportionate rejection sampling, the paper's
        Algorithm 9).
    fit_intercept : bool
        Fit an intercept `b`. It is the weight of a constant feature and is regularised like the
        other weights. The papers fit none.
    tol : float
        The relative duality gap to reach. For planes, the paper's epsilon: training stops when no
        plane adds more mean loss than this.
    max_iter : int, optional
        The maximum number of sweeps of coordinate descent over the examples that still change,
        10,000 by default. For planes, the maximum number of iterations with one plane each, 300 by
        default. A warning says if this did not suffice.
    warm_start : bool
        Start `fit` from the last solution if it has the same number of examples.
    max_memory : int, optional
        The maximum number of bytes for the factors or the rows. Rows that do not fit are computed
        again when they are needed again. By default rows may take 672 MiB.
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
        The primal objective, summed over the problems. For planes it is an estimate, with the loss
        on the last sample.
    duality_gap_ : float
        The relative gap, the largest over the problems. For planes it is the gap between the
        estimate and the dual objective over the planes found.
    n_iter_ : int
        The number of sweeps or iterations, the largest over the problems.
    convergence_ : list of Convergence
        For each problem, the objective and the gap by number of sweeps or iterations.
    engine_ : {"factors", "rows", "planes"}
        How kernels were computed.
    engine_reason_ : str
        The reason for this engine.
    model_ : SupportVectorModel
    sample_size_ : int or None
        The sample size used. This and the following attributes are None for "exact".
    delta_calls_ : int or None
        How often Delta was called, as the paper counts it; None for callable kernels.
    delta_computed_ : int or None
        How often Delta was computed. Equal subtrees of a tree are computed once.
    n_planes_ : int or None
        The final number of planes, summed over the problems.
    iteration_bound_ : float or None
        The bound of Theorem 3 on the number of iterations; None for callable kernels.
    history_ : list of lists of Iteration, or None
        The figures after each iteration, for each problem.

    Examples
    --------
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVC().fit(X, ["statement", "statement", "question", "question"])
    >>> clf.predict(["(Q (VP e) (NP a))"])
    array(['question'], dtype='<U9')
    """

    def __init__(
        self,
        kernel: Kernel | KernelFunction | None = None,
        *,
        C: float = 1.0,
        strategy: Literal["exact", "usvm", "sdag", "sdag+"] = "exact",
        sample_size: int | None = None,
        engine: Engine = "auto",
        loss: str = "hinge",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        fit_intercept: bool = True,
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
        self.strategy = strategy
        self.sample_size = sample_size
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
        """Train on trees `X` with classes `y`. `sample_weight` multiplies C for each example."""
        task = self._prepare(X, y, sample_weight)
        start = getattr(self, "_alpha", None) if self.warm_start else None
        if start is not None and start.shape != task.signs.shape:
            start = None
        self._solve(task, self.C, start)
        return self

    def fit_path(
        self, X: Any, y: ArrayLike, Cs: Iterable[float], sample_weight: ArrayLike | None = None
    ) -> list[Self]:
        """Train for several values of C, each starting from the previous solution.

        All values share one factorisation, or the same rows. Planes are found again for each value.
        Returns a fitted copy for each value, in the order of `Cs`.
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
        # If factorising was too expensive in training, prediction does not try it.
        hard = capabilities_of(self.model_.kernel).factors == "uncertain"
        method: Method = "rows" if hard and self.engine_ == "rows" else "auto"
        values = self.model_.decision_function(X, method=method, n_jobs=self.n_jobs)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each tree."""
        values = self.decision_function(X)
        return classes_by_score(self.classes_, values)

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` calls it first. Call it yourself before reading X from a large file.
        """
        check_parameters(self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ---------------------------------------------------------------- training

    def _prepare(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> "_Task":
        self.check_parameters()
        kernel = SubsetTree() if self.kernel is None else clone(self.kernel, safe=False)
        examples = rows_for(kernel, X)
        n = examples.shape[0]
        classes, coded = checked_classes(y, n, "TreeSVC")
        weights = checked_weights(sample_weight, n)
        weights = weights * class_factors(self.class_weight, classes, coded)
        if not weights.any():
            raise InvalidParameterError("all weights are zero: there is nothing to learn from")
        signs = signs_of(coded, len(classes))
        warn_without_fragments(kernel, examples, stacklevel=4)
        trainer = self._trainer(kernel, examples)
        if self.verbose > 0:
            print(trainer.plan, file=sys.stderr)
        return _Task(kernel, examples, trainer, classes, coded, signs, weights)

    def _trainer(self, kernel: Any, examples: Any) -> Trainer:
        if self.strategy == "exact":
            return ExactTrainer(
                kernel,
                examples,
                engine=self.engine,
                max_memory=self.max_memory,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        return PlaneTrainer(
            self.strategy,
            kernel,
            examples,
            sample_size=self.sample_size,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _solve(self, task: "_Task", C: float, start: FloatArray | None) -> None:
        check_cost(C)
        rng = check_random_state(self.random_state)
        seeds = rng.randint(0, 2**63 - 1, size=len(task.signs), dtype=np.int64).astype(np.uint64)
        solution = task.trainer.train(
            Problems(
                signs=task.signs,
                weights=task.weights,
                C=float(C),
                loss=self.loss,
                intercept=bool(self.fit_intercept),
                tol=float(self.tol),
                max_iter=self.max_iter,
                seeds=seeds,
                start=start,
            )
        )
        self.support_ = np.flatnonzero(solution.coef.any(axis=0))
        coef = solution.coef[:, self.support_]
        support = task.examples[self.support_]
        self.model_ = SupportVectorModel(task.kernel, support, coef, solution.intercept)
        self.classes_ = task.classes
        self.n_support_ = np.bincount(task.coded[self.support_], minlength=len(task.classes))
        self.dual_coef_ = coef
        self.intercept_ = solution.intercept
        self.objective_ = solution.objective
        self.duality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.convergence_ = solution.convergence
        self.engine_ = task.trainer.plan.name
        self.engine_reason_ = task.trainer.plan.reason
        self._alpha = solution.alpha
        for name in _OF_PLANES:
            setattr(self, name, solution.report.get(name))


@dataclass
class _Task:
    """The data that all values of C share."""

    kernel: Any
    examples: Any  # in the form that the kernel needs
    trainer: Trainer
    classes: NDArray[Any]
    coded: NDArray[np.intp]
    signs: NDArray[np.int8]  # by problem and example
    weights: FloatArray  # by example: factors of C


def classes_by_score(classes: NDArray[Any], values: FloatArray) -> NDArray[Any]:
    """Return the class of each tree, by the sign of its score or by the largest of several."""
    chosen = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
    predicted: NDArray[Any] = classes[chosen]
    return predicted
