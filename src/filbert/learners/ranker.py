"""Learning to rank over tree kernels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.kernels import Kernel
from filbert.labels import checked_groups
from filbert.learners.certificate import first_kernel_tol
from filbert.learners.dual import DualLearner, Task, checked_costs
from filbert.learners.dual_parameters import check_choice, check_common, check_has_factors
from filbert.learners.pair_planes import OrderedPairs, PairPlaneTrainer
from filbert.learners.pairs import (
    MOST_PAIRS,
    Pairs,
    PairTrainer,
    count_pairs,
    share_in_order,
)
from filbert.learners.targets import checked_targets, checked_weights
from filbert.predictors import SupportVectorRegressor


class TreeRanker(DualLearner):
    r"""Ranking of candidates, such as parses of a sentence or answers to a question.

    A candidate with a larger target should score higher than one of the same group with a smaller
    target. Candidates of different groups are not compared. The ranker minimises

    .. math:: \tfrac12 \|w\|^2 + \sum_{(i, j)} C_{ij} \, \ell(w \cdot \phi(x_i) - w \cdot \phi(x_j))

    over all pairs of the same group with :math:`y_i > y_j`, in the feature space of the kernel
    (Joachims 2002; Collins & Duffy 2002 use such pairs with a perceptron). It uses coordinate
    descent in the dual, on differences of factors that are never stored. Training stops when the
    relative gap between the primal and the dual objective over all pairs is at most `tol`. A group
    of n different targets has n (n - 1) / 2 pairs. More than 33,554,432 pairs are not even listed.
    Then cutting planes minimise the hinge loss (Joachims 2006), to the same gap.

    Parameters
    ----------
    kernel : Kernel, optional
        SubsetTree() by default. SubsetTree, Subtree, PartialTree, and sums of these and of Linear
        and Polynomial, such as ``SubsetTree().on("tree") + Linear().on("features")``.
    C : float
        The weight of the loss of one pair.
    loss : {"hinge", "squared_hinge", "logistic"}
        Of the difference of two scores. With more than 33,554,432 pairs it must be "hinge".
    kernel_tol : float, optional
        The largest error of kernels in the factors of PartialTree, see
        :class:`~filbert.TreeSVC`. It affects only the time.
    tol : float
        The relative duality gap to reach.
    max_iter : int, optional
        The maximum number of sweeps of coordinate descent over the pairs that still change, 10,000
        by default, or of planes, 1,000 by default. A warning says if this did not suffice.
    warm_start : bool
        Start `fit` from the last solution if it has the same number of pairs.
    max_memory : int, optional
        The maximum number of bytes for the factors.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        The order in which pairs are visited.
    verbose : int
        If positive, show progress.

    Attributes
    ----------
    n_pairs_ : int
        The number of pairs.
    has_groups_ : bool
        Whether `fit` had groups.
    support_ : ndarray of int
        The training examples that are support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        For each of them, the dual variables of the pairs in which it is the higher one, minus those
        in which it is the lower one.
    intercept_ : ndarray of shape (1,)
        Always 0: it would not change the order.
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
    engine_ : {"factors"}
    engine_reason_ : str
    model_ : SupportVectorModel

    Examples
    --------
    >>> X = ["(S (NP a) (VP b))", "(S (NP a b))", "(S (NP c) (VP d))", "(S (NP c d))"]
    >>> ranker = TreeRanker(random_state=0).fit(X, [1, 0, 1, 0], group=["one", "one", "two", "two"])
    >>> scores = ranker.predict(["(S (NP e) (VP f))", "(S (NP e f))"])
    >>> bool(scores[0] > scores[1])
    True
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        loss: Literal["hinge", "squared_hinge", "logistic"] = "hinge",
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
        self.loss = loss
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
        group: ArrayLike | None = None,
    ) -> Self:
        """Train on candidates.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The candidates of all groups.
        y : array-like of numbers
            Only the order of the targets of a group matters.
        sample_weight : array-like, optional
            The weight of a pair is C times the product of the weights of its two candidates.
            Candidates with the weight 0 are left out.
        group : array-like, optional
            The group of each candidate, such as the sentence or the question. Strings or numbers,
            in any order. By default all candidates are one group.

        Returns
        -------
        TreeRanker
            Itself.
        """
        y = self._target_of(X, y)
        task = self._prepare(X, y, sample_weight, [self.C], group)
        self._solve(task, self.C, self._warm_alpha(task))
        return self

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        Cs: Iterable[float],
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> list[Self]:
        """Train for several values of C, each starting from the previous solution.

        All values share one factorisation. Returns a fitted copy for each value, in the order of
        `Cs`.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The candidates of all groups.
        y : array-like of numbers
            Their targets, as in `fit`.
        Cs : iterable of float
            The values of C.
        sample_weight : array-like, optional
            As in `fit`.
        group : array-like, optional
            As in `fit`.

        Returns
        -------
        list of TreeRanker
            One for each value of C.
        """
        Cs = checked_costs(Cs)
        y = self._target_of(X, y)
        task = self._prepare(X, y, sample_weight, Cs, group)
        fitted: list[Self] = []
        for C in Cs:
            start = fitted[-1]._alpha if fitted else None
            fitted.append(clone(self).set_params(C=C))
            fitted[-1]._solve(task, C, start)
        return fitted

    def predict(self, X: Any) -> FloatArray:
        """Score candidates. In a group, the best candidate scores highest.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The candidates.

        Returns
        -------
        ndarray of shape (len(X),)
            The scores.
        """
        check_is_fitted(self)
        return SupportVectorRegressor(self.model_, self.engine_, self.n_jobs).predict(X)

    def score(self, X: Any, y: ArrayLike, group: ArrayLike | None = None) -> float:
        """Return the share of pairs in the right order, see `filbert.metrics.pairwise_accuracy`.

        `group` is as in `fit`. If `fit` had groups, they are required here too. In searches of
        scikit-learn, they come by metadata routing: ``set_score_request(group=True)``.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The candidates.
        y : array-like of numbers
            Their targets.
        group : array-like, optional
            As in `fit`.

        Returns
        -------
        float
            From 0 to 1.
        """
        check_is_fitted(self)
        if group is None and self.has_groups_:
            raise InvalidParameterError(
                "TreeRanker was trained with groups, so score needs group, the group of each "
                "candidate. In a search or cross-validation, use sklearn.set_config("
                "enable_metadata_routing=True), set_fit_request(group=True) and "
                "set_score_request(group=True)"
            )
        scores = self.predict(X)
        n = len(scores)
        return share_in_order(checked_targets(y, n), scores, checked_groups(group, n))

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` calls it first. Call it yourself before reading X from a large file.
        """
        check_common("TreeRanker", self.get_params(deep=False))
        check_choice("TreeRanker", "loss", self.loss, ("hinge", "squared_hinge", "logistic"))
        check_has_factors(
            "TreeRanker",
            self.kernel,
            "Use such a sum, or TreePerceptron with Preference for any kernel of trees.",
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _prepare(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        Cs: Sequence[float],
        group: ArrayLike | None = None,
    ) -> Task:
        kernel, examples = self._kernel_and_examples(X, Cs)
        n = examples.shape[0]
        targets = checked_targets(y, n)
        given = checked_weights(sample_weight, n)
        groups = checked_groups(group, n)
        n_pairs = count_pairs(targets, groups, given)
        if n_pairs > MOST_PAIRS:
            pairs = OrderedPairs(targets, groups, given)
            task = self._task_of_many_pairs(kernel, examples, pairs, n_pairs)
        else:
            task = self._task_of_pairs(
                kernel, examples, Pairs.of(targets, groups, given), given, Cs
            )
        return _RankingTask(**vars(task), n_pairs=n_pairs, has_groups=group is not None)

    def _task_of_pairs(
        self, kernel: Any, examples: Any, pairs: Pairs, given: FloatArray, Cs: Sequence[float]
    ) -> Task:
        weights = given[pairs.higher] * given[pairs.lower]
        problems = self._problems(np.ones((1, len(pairs)), dtype=np.int8), weights, self.loss)
        costs = max(Cs, default=self.C) * pairs.most_of_one * weights
        first = first_kernel_tol(self.tol, costs)
        return self._task(
            kernel,
            examples,
            problems,
            lambda: PairTrainer(kernel, examples, pairs=pairs, **self._exact_options(first)),
        )

    def _task_of_many_pairs(
        self, kernel: Any, examples: Any, pairs: OrderedPairs, n_pairs: int
    ) -> Task:
        if self.loss != "hinge":
            raise InvalidParameterError(
                f"there are {n_pairs:,} pairs of examples to compare, and at most "
                f"{MOST_PAIRS:,} fit into memory: use loss='hinge', which does not store pairs, or "
                "fewer candidates per group (those with sample_weight 0 are left out)"
            )
        signs = np.ones((1, len(pairs.weights)), dtype=np.int8)
        problems = self._problems(signs, pairs.weights, self.loss)
        options = self._exact_options(0.0)
        return self._task(
            kernel, examples, problems, lambda: PairPlaneTrainer(kernel, examples, pairs, **options)
        )

    def _keep(self, task: Task, solution: Any) -> None:
        super()._keep(task, solution)
        assert isinstance(task, _RankingTask)
        self.n_pairs_ = task.n_pairs
        self.has_groups_ = task.has_groups


@dataclass(frozen=True)
class _RankingTask(Task):
    n_pairs: int
    has_groups: bool
