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

    in the feature space of the kernel, many classes by one against the rest. The strategy "exact"
    does so by coordinate descent in the dual, without sampling. There are two ways to compute with
    the kernel. By *factors* the kernel matrix is never computed: it is factorised over the
    fragments that trees share. By *rows* it is computed row by row, for the trees that turn out to
    matter. Both stop when the relative gap between the primal and the dual objective, computed over
    all examples, is at most `tol`.

    The others are the cutting planes of Severyn & Moschitti 2012, each plane found on a sample of
    the examples. They come close to the optimum and differ only in how planes are stored: as lists
    of examples ("usvm"), each as a DAG ("sdag"), or all in one DAG ("sdag+"). From the same seed
    all give the same model.

    Parameters
    ----------
    kernel : Kernel or callable, optional
        SubsetTree() by default. The strategy "exact" takes SubsetTree, Subtree and PartialTree, and
        sums of these and of Linear and Polynomial, with X being :class:`~filbert.Examples` where
        they name parts. Polynomials are written out in products of features, so vectors should be
        sparse. The strategy "usvm", and "exact" with ``engine="rows"`` by the whole kernel matrix,
        take any kernel, also a function ``kernel(X, Y)`` that returns an array of shape
        (len(X), len(Y)). X may then be anything that has a `shape` and takes slices and arrays of
        indices, such as an array or a sparse matrix. Tables of pandas become arrays.
    C : float
        The weight of one example's loss, as in scikit-learn; the papers' C is n times that.
    strategy : {"exact", "usvm", "sdag", "sdag+"}
        How the optimum is found, or nearly found.
    sample_size : int, optional
        The paper's r: how many examples a plane is found on. By default the paper's recipe: 5,000
        from a million examples on, 1,000 from 100,000 on, else 500. As many as there are, or more:
        nothing is sampled, and the planes lead to the optimum.
    engine : {"auto", "factors", "rows"}
        How kernels are computed. By default by factors where these are found with less work than
        the rows may take, as for many short trees that share much; else by rows, as for whole
        sentences and programs under PartialTree.
    loss : {"hinge", "squared_hinge"}
    class_weight : dict or "balanced", optional
        Factors of C by class. Where planes are sampled, an example is drawn as often as its
        factor says (cost-proportionate rejection sampling, the paper's Algorithm 9); so is one with
        a `sample_weight`.
    fit_intercept : bool
        Whether there is a `b`. It is the weight of a constant feature, regularised like the others.
        False is what the papers do.
    tol : float
        The relative duality gap to reach. For planes the paper's epsilon: how much mean loss a
        plane must add.
    max_iter : int, optional
        The most sweeps of coordinate descent, each over the examples that are not at rest, 10,000
        by default; or the most iterations, each with a plane, 300 by default. A warning tells when
        they did not suffice.
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
        The primal objective; of many classes, the sum. For planes the loss is that on the last
        sample, an estimate.
    duality_gap_ : float
        The relative gap; of many classes, the largest. For planes between the estimate and the dual
        over the planes that there are.
    n_iter_ : int
        Sweeps or iterations; of many classes, the most.
    convergence_ : list of Convergence
        For each problem the objective and the gap after so many sweeps or iterations.
    engine_ : {"factors", "rows", "planes"}
        How kernels were computed.
    engine_reason_ : str
        Why so, in a sentence.
    model_ : SupportVectorModel
    sample_size_ : int or None
        The sample size that was used; None for "exact", as what follows.
    delta_calls_ : int or None
        How often Delta was called, as the paper counts it; None for callable kernels.
    delta_computed_ : int or None
        How often it was computed: equal subtrees of a tree are computed once.
    n_planes_ : int or None
        Planes in the end; of many classes, the sum.
    iteration_bound_ : float or None
        What Theorem 3 says that the iterations cannot exceed; None for callable kernels.
    history_ : list of lists of Iteration, or None
        What was known after each iteration, for each problem.

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

        One factorisation, or the same rows, serve all; planes are found anew for each. Returns a
        fitted copy for each value, in their order.
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
        # What was hard to factorise in training is not factorised in prediction.
        hard = capabilities_of(self.model_.kernel).factors == "uncertain"
        method: Method = "rows" if hard and self.engine_ == "rows" else "auto"
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
    """What is the same for all values of C."""

    kernel: Any
    examples: Any  # as the kernel takes them
    trainer: Trainer
    classes: NDArray[Any]
    coded: NDArray[np.intp]
    signs: NDArray[np.int8]  # by problem and example
    weights: FloatArray  # by example: what C is multiplied with


def classes_by_score(classes: NDArray[Any], values: FloatArray) -> NDArray[Any]:
    """Return the class of each tree: by the sign of its score, or by the largest of several."""
    chosen = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
    predicted: NDArray[Any] = classes[chosen]
    return predicted
