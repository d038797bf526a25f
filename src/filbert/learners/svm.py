"""Support vector machines over tree kernels."""

import os
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from filbert.corpus.parts import Parts
from filbert.engine import Engine
from filbert.engine.rows import KernelFunction
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.kernels import Kernel, LocalPatterns, SubsetTree
from filbert.learners.chosen_cost import AUTO, USUAL, chosen_cost
from filbert.learners.dual import Task
from filbert.learners.dual_classifier import DualClassifier
from filbert.learners.fit_checkpoints import fit_checkpoint
from filbert.learners.over_parts import fit_over_parts
from filbert.learners.planes import PlaneTrainer
from filbert.learners.problems import Solution, Trainer
from filbert.learners.svm_parameters import check_parameters

_OF_PLANES = (
    "sample_size_",
    "delta_calls_",
    "delta_computed_",
    "n_planes_",
    "iteration_bound_",
    "history_",
)


class TreeSVC(DualClassifier):
    r"""Support vector classification of trees.

    Minimises

    .. math:: \tfrac12 \|w\|^2 + \sum_i C_i \, \ell(y_i (w \cdot \phi(x_i) + b))

    in the feature space of the kernel. More than two classes are trained one against the rest. The
    strategy "exact" uses coordinate descent in the dual, without sampling. It has two engines. With
    *factors* the kernel matrix is never computed: it is factorised over the fragments that trees
    share. With *rows* it is computed row by row, only for the trees that training needs. Both stop
    when the relative gap between the primal and the dual objective over all examples is at most
    `tol`. Factors of PartialTree are pruned of light fragments. The gap then includes the error
    that this may cause, so it is at most `tol` under the exact kernel too.

    The other strategies are the cutting planes of Severyn & Moschitti 2012. Each plane is found on
    a sample of the examples. They come close to the optimum and differ only in how they store
    planes: as lists of examples ("usvm"), each as a DAG ("sdag"), or all in one DAG ("sdag+"). With
    the same seed all three give the same model.

    Parameters
    ----------
    kernel : Kernel or callable, optional
        ``LocalPatterns(decay=0.7, leaves=3)`` by default for the strategy "exact", and SubsetTree()
        for the others. The strategy "exact" accepts LocalPatterns, SubsetTree, Subtree,
        PartialTree, and sums of these and of Linear and Polynomial. If the kernels name parts, X
        must be :class:`~filbert.Examples`. Polynomials are expanded into products of features, so
        vectors should be sparse. The strategy "usvm" accepts any kernel, and so does "exact" with
        ``engine="rows"``, which then computes the whole kernel matrix. The kernel may be a function
        ``kernel(X, Y)`` that returns an array of shape (len(X), len(Y)). X may then be anything
        with a `shape` that can be indexed by slices and arrays, such as an array or a sparse
        matrix. Tables of pandas become arrays.
    C : float or "auto"
        The weight of one example's loss, as in scikit-learn. The papers' C is n times as large.
        "auto" is 10, which suits clean classes, or 1, which suits noisy ones. A cross-validation on
        at most about 3,000 examples decides: 1 must be better by 1.5 standard errors. It does not
        depend on `random_state`. For training without factors or on a corpus in parts, "auto" is
        10. :class:`TreeSVCCV` searches among more values.
    strategy : {"exact", "usvm", "sdag", "sdag+"}
        How the optimum is found or approximated.
    sample_size : int, optional
        The paper's r: the number of examples on which a plane is found. By default the paper's
        recipe: 5,000 from a million examples on, 1,000 from 100,000 on, else 500. If it is at least
        the number of examples, nothing is sampled, and the planes lead to the optimum.
    engine : {"auto", "factors", "rows"}
        How kernels are computed. "auto" uses factors if finding them takes less work than the rows
        may take. Otherwise it uses rows, as for few, very long or very wide trees with PartialTree.
    loss : {"auto", "hinge", "squared_hinge"}
        "auto" is "squared_hinge" for the strategy "exact" and "hinge" for the others, which have no
        other loss.
    class_weight : dict or "balanced", optional
        Factors of C by class. If planes are sampled, an example is drawn in proportion to its
        factor and its `sample_weight` (cost-proportionate rejection sampling, the paper's
        Algorithm 9).
    fit_intercept : bool
        Fit an intercept `b`. It is the weight of a constant feature and is regularised like the
        other weights. The papers fit none.
    kernel_tol : float, optional
        The largest error of kernels, relative to the kernel of a tree with itself, in the factors
        of PartialTree. It is lowered until the duality gap is at most `tol` under the exact kernel,
        so it affects only the time. By default it is chosen from `tol` and the costs of
        examples. With 0 the factors are exact.
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
    C_ : float
        The C of the training.
    support_ : ndarray of int
        The training examples that are support vectors.
    n_support_ : ndarray of int
        The number of support vectors in each class.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        The dual variables times the label, +1 or -1.
    intercept_ : ndarray of shape (n_problems,)
    objective_ : float
        The primal objective, summed over the problems. With pruned factors it is that of their
        kernel. For planes it is an estimate, with the loss on the last sample.
    duality_gap_ : float
        The relative gap, the largest over the problems. With pruned factors it is a bound on the
        gap under the exact kernel. For planes it is the gap between the
        estimate and the dual objective over the planes found.
    kernel_error_ : float
        The largest error of a kernel in the factors, 0 if kernels were exact. It is relative to the
        kernels of trees with themselves if the kernel is normalised.
    n_iter_ : int
        The number of sweeps or iterations, the largest over the problems. For a corpus in parts,
        the number of rounds over it.
    convergence_ : list of Convergence
        For each problem, the objective and the gap by number of sweeps, iterations or rounds.
    rounds_ : list of Round or None
        For a corpus in parts, the number of candidates and the gap in each round.
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

    C: Any  # a number or "auto"

    def __init__(
        self,
        kernel: Kernel | KernelFunction | None = None,
        *,
        C: float | Literal["auto"] = "auto",
        strategy: Literal["exact", "usvm", "sdag", "sdag+"] = "exact",
        sample_size: int | None = None,
        engine: Engine = "auto",
        loss: str = "auto",
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
        self.strategy = strategy
        self.sample_size = sample_size
        self.engine = engine
        self.loss = loss
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

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Train on trees.

        Parameters
        ----------
        X : Forest, Examples, sequence of trees or bracket strings, or Parts
            A corpus in parts (:func:`filbert.parts`) is trained part by part, on a Dask cluster if
            there is a client, to the same gap over all examples.
        y : array-like, optional
            The class of each example. A corpus in parts may have its own labels.
        sample_weight : array-like, optional
            Factors of C by example.
        checkpoint : path, optional
            A folder that keeps finished results or, for examples in one piece, the state of the
            solver every half minute. After an interruption, the same call continues from there, and
            gives the same model to the last bit.

        Returns
        -------
        TreeSVC
            Itself.
        """
        if isinstance(X, Parts):
            fit_over_parts(self, X, y, sample_weight, checkpoint)
            return self
        if y is None:
            raise InvalidParameterError("TreeSVC needs y, the class of each example")
        if checkpoint is None:
            task = self._prepare(
                X, y, sample_weight, self._known_cost()
            )  # warnings name the caller
            self._solve(task, self._cost_for(task), self._warm_alpha(task))
            return self
        if self.warm_start:
            raise InvalidParameterError(
                "TreeSVC: a checkpoint is for training from the beginning: use warm_start=False"
            )
        kernel, examples = self._kernel_and_examples(X, self._known_cost())
        given = {"y": y, "sample_weight": sample_weight}
        with fit_checkpoint(self, checkpoint, kernel, examples, **given) as kept:
            task = self._prepare(examples, y, sample_weight, self._known_cost())
            self._solve(task, self._cost_for(task), None, kept)
        return self

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` calls it first. Call it yourself before reading X from a large file.
        """
        check_parameters(self.get_params(deep=False))

    def _target_of(self, X: Any, y: ArrayLike | None) -> ArrayLike:
        if isinstance(X, Parts):  # `fit` takes it
            raise InputTypeError(
                "TreeSVC.fit_path needs all examples in one piece, because all values of C share "
                "what it prepares: for a corpus in parts, call set_params(C=C).fit(corpus, "
                "checkpoint=folder) for each C, with a folder of its own"
            )
        return super()._target_of(X, y)

    def _known_cost(self) -> list[float]:
        """Return C, or the largest value that it may get."""
        return [USUAL if self.C == AUTO else self.C]

    def _cost_for(self, task: Any) -> float:
        """Return C for a prepared task."""
        if self.C != AUTO:
            return float(self.C)
        return chosen_cost(self, task) if self.strategy == "exact" else USUAL

    def _default_kernel(self) -> Kernel:
        return LocalPatterns(decay=0.7, leaves=3) if self.strategy == "exact" else SubsetTree()

    def _loss_name(self) -> str:
        if self.loss != "auto":
            return self.loss
        return "squared_hinge" if self.strategy == "exact" else "hinge"

    def _trainer(
        self, kernel: Any, examples: Any, kernel_tol: float, rows_needed: float = 1.0
    ) -> Trainer:
        if self.strategy == "exact":
            return super()._trainer(kernel, examples, kernel_tol, rows_needed)
        return PlaneTrainer(
            self.strategy,
            kernel,
            examples,
            sample_size=self.sample_size,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _keep(self, task: Task, solution: Solution) -> None:
        super()._keep(task, solution)
        self.C_ = self._cost
        self.rounds_ = None
        self._keep_planes(solution.report)
        self.rounds_ = None

    def _keep_planes(self, report: dict[str, Any]) -> None:
        for name in _OF_PLANES:
            setattr(self, name, report.get(name))
