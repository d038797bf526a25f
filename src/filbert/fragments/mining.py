"""Mining: find the heaviest fragments of a model."""

from collections.abc import Callable
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np

from filbert import _core
from filbert.errors import (
    FewFragmentsWarning,
    InputTypeError,
    InvalidParameterError,
    TooManyFragmentsError,
)
from filbert.forest import Forest
from filbert.fragments.data import Fragments
from filbert.fragments.mined import Criterion, MinedFragments
from filbert.fragments.rules import Search, check_rules
from filbert.kernels.algebra import is_number
from filbert.model import SupportVectorModel
from filbert.threads import n_threads
from filbert.unpack import learner_in

_NOTHING = 1e-12  # times the best base fragment: lighter fragments are rounding errors


def mine(
    model: Any,
    *,
    problem: int | None = None,
    max_ratio: float = 50.0,
    n_fragments: int | None = None,
    norm_share: float | None = None,
    criterion: Criterion = "gradient",
    min_frequency: int = 3,
    search: Search = "greedy",
    max_fragments: int = 1_000_000,
    n_jobs: int | None = None,
    progress: Any = None,
) -> MinedFragments:
    r"""Find the heaviest fragments of a model (Pighin & Moschitti 2010).

    A fragment's weight is :math:`w_f = \sum_i \alpha_i y_i t_{i,f} \lambda^{s(f)/2} / \|x_i\|`
    (Eq. 6), where :math:`t_{i,f}` is the number of its occurrences in the `i`-th support vector and
    `s` its number of productions. Fragments with :math:`|w_f| \ge B / L` are kept, where `B` is the
    weight of the heaviest base fragment. A base fragment is a node with its children, under
    PartialTree a single node, under Subtree any subtree.

    Parameters
    ----------
    model : TreeSVC, or TreePerceptron without votes
        Fitted with one tree kernel. It may also be a pipeline that ends with such a learner, a
        search over them, or a SupportVectorModel.
    problem : int, optional
        The decision function, as the number of the class in `classes_`. A model of two classes has
        only one. With more classes this parameter is required.
    max_ratio : float
        The paper's `L`: how many times lighter than the heaviest base fragment a fragment may be.
    n_fragments : int, optional
        Find this many fragments instead of using a fixed ratio. `L` starts at `max_ratio` and is
        doubled until enough fragments are found. The most relevant are kept.
    norm_share : float, optional
        Find the smallest number of fragments that have this share of the norm of the weight vector,
        also by doubling `L`.
    criterion : {"gradient", "chi2"}
        The measure of relevance: the weight, or chi-square of occurrence in support vectors with
        positive and negative coefficients.
    min_frequency : int
        Fragments with fewer occurrences in the support vectors are left out.
    search : {"greedy", "complete"}
        ``"greedy"`` is the paper's Algorithm 5.1, which only grows fragments that are relevant
        themselves. ``"complete"`` finds all relevant fragments, including those that grow from
        irrelevant ones, and may take much longer.
    max_fragments : int
        More fragments raise :class:`~filbert.errors.TooManyFragmentsError`, and so does a search
        that visits a hundred times as many. With `n_fragments` and `norm_share`, this limit ends
        the doubling instead.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Returns
    -------
    MinedFragments
        The most relevant first.

    Warns
    -----
    FewFragmentsWarning
        If `n_fragments` or `norm_share` cannot be reached.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> y = ["statement", "statement", "question", "question"]
    >>> clf = TreeSVC(SubsetTree(), C=1.0, loss="hinge", random_state=0).fit(X, y)
    >>> found = mine(clf, min_frequency=2)
    >>> str(found.fragments[0]), int(found.frequency[0])
    ('(Q (VP …) (NP …))', 2)
    """
    own = _checked_model(model, problem)
    check_rules(
        max_ratio=max_ratio,
        n_fragments=n_fragments,
        norm_share=norm_share,
        criterion=criterion,
        min_frequency=min_frequency,
        search=search,
        max_fragments=max_fragments,
    )
    miner = _Miner(own, criterion, search, int(min_frequency), int(max_fragments), n_jobs, progress)
    if n_fragments is not None:
        return miner.first(int(n_fragments), float(max_ratio))
    if norm_share is not None:
        return miner.share(float(norm_share), float(max_ratio))
    return miner.mine(float(max_ratio))[0]


class _Miner:
    """A search in one decision function, for a series of thresholds."""

    def __init__(
        self,
        model: SupportVectorModel,
        criterion: Criterion,
        search: Search,
        min_frequency: int,
        max_fragments: int,
        n_jobs: int | None,
        progress: Any,
    ) -> None:
        kernel: Any = model.kernel
        trees = kernel.trees_of(model.support)
        self._kernel = kernel
        self._criterion: Criterion = criterion
        self._complete = search == "complete"
        self._min_frequency = min_frequency
        self._max_fragments = max_fragments
        self._threads = n_threads(n_jobs)
        self._progress = progress
        self._norm = weight_norm(model, n_jobs=n_jobs)
        self._core = _core.FragmentMiner(
            kernel._spec(),
            trees._dag,
            trees._roots,
            np.ascontiguousarray(model.coef[0]),
            bool(kernel.normalize),
            criterion == "chi2",
            self._threads,
            None,
        )
        self._base = self._core.base(min_frequency)

    def mine(self, factor: float) -> tuple[MinedFragments, float]:
        """Return the fragments for a threshold, and the best relevance below it."""
        threshold = self._base / factor
        dag, roots, open, weight, relevance, frequency, rejected = self._core.mine(
            self._complete,
            threshold,
            self._min_frequency,
            self._max_fragments,
            self._threads,
            self._progress,
        )
        found = MinedFragments(
            Fragments(self._kernel, Forest._of(dag, roots), open.view(bool)),
            weight,
            relevance,
            frequency.astype(np.int64),
            self._base,
            threshold,
            self._norm,
            self._criterion,
        )
        return found, rejected

    def first(self, n: int, factor: float) -> MinedFragments:
        """Return the n most relevant fragments."""
        found = self._until(lambda found: found.n >= n, factor)
        if found.n < n:
            self._warn(found, f"n_fragments={n:,}", n, found.n)
        return found.first(n)

    def share(self, wanted: float, factor: float) -> MinedFragments:
        """Return the smallest number of fragments that have this share of the norm."""
        found = self._until(lambda found: found.norm_share >= wanted, factor)
        if found.norm_share < wanted:
            self._warn(found, f"norm_share={wanted:g}", wanted, found.norm_share)
            return found
        if found.norm == 0:
            return found.first(0)
        shares = np.sqrt(np.cumsum(found.weight**2)) / found.norm
        return found.first(min(int(np.searchsorted(shares, wanted)) + 1, found.n))

    def _until(self, enough: Callable[[MinedFragments], bool], factor: float) -> MinedFragments:
        """Double the factor until enough fragments are found or no more exist."""
        found, rejected = self.mine(factor)
        while not enough(found) and rejected > _NOTHING * self._base:
            factor *= 2
            while self._base / factor > rejected:  # these factors would find the same fragments
                factor *= 2
            try:
                found, rejected = self.mine(factor)
            except TooManyFragmentsError:
                break
        return found

    def _warn(self, found: MinedFragments, wish: str, wanted: float, reached: float) -> None:
        what = (
            f"{wish} is out of reach: the fragments found at least {self._min_frequency} times in "
            f"the support vectors ({found.n:,} fragment{'' if found.n == 1 else 's'}) have "
            f"{found.norm_share:.1%} of the norm. Lower min_frequency, raise max_fragments, or use "
            "search='complete'"
        )
        warn(FewFragmentsWarning(what, wanted, reached), stacklevel=4)


def weight_norm(model: SupportVectorModel, *, n_jobs: int | None = None) -> float:
    """Return the exact norm of the weight vector of a model's first decision function.

    Parameters
    ----------
    model : SupportVectorModel
        The model, such as `model_` of a learner.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    float
        The norm.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVC(SubsetTree(), C=1.0, loss="hinge", random_state=0).fit(X, [0, 0, 1, 1])
    >>> round(weight_norm(clf.model_), 2)
    1.85
    """
    used = np.flatnonzero(model.coef[0])
    if len(used) == 0:
        return 0.0
    coef = model.coef[:1, used]
    own = SupportVectorModel(model.kernel, model.support[used], coef, np.zeros(1))
    return float(
        np.sqrt(max(0.0, coef[0] @ own.decision_function(own.support, n_jobs=n_jobs)[:, 0]))
    )


def _checked_model(model: Any, problem: Any) -> SupportVectorModel:
    """Return one decision function as a separate model."""
    learner = learner_in(model)
    known = getattr(learner, "model_", learner)
    if hasattr(known, "scorer") and not getattr(learner, "vote", False):  # a perceptron
        known = known.scorer(averaged=bool(getattr(learner, "average", True)))
    if not isinstance(known, SupportVectorModel) or not known.is_of_trees:
        raise InputTypeError(
            "fragments are mined from a fitted TreeSVC or TreePerceptron with one tree kernel, or "
            f"from the model of one, not from {type(learner).__name__} with the kernel "
            f"{getattr(known, 'kernel', None)!r}: train with only SubsetTree, Subtree or "
            "PartialTree, and a TreePerceptron with vote=False"
        )
    n = len(known.coef)
    if problem is None and n > 1:
        raise InvalidParameterError(_which_problem(n, getattr(learner, "classes_", None)))
    problem = 0 if problem is None else problem
    if not is_number(problem, Integral) or not 0 <= problem < n:
        raise InvalidParameterError(f"problem must be from 0 to {n - 1}, got {problem!r}")
    one = slice(int(problem), int(problem) + 1)
    return SupportVectorModel(known.kernel, known.support, known.coef[one], known.intercept[one])


def _which_problem(n: int, classes: Any) -> str:
    names = [] if classes is None else classes[:10].tolist()
    listed = ", ".join(f"{k} ({name!r})" for k, name in enumerate(names)) or f"0 to {n - 1}"
    more = ", ..." if 0 < len(names) < n else ""
    return (
        f"the model has {n:,} decision functions, one for each class: choose one with problem=k, "
        f"where k is {listed}{more}. FragmentVectorizer mines all of them"
    )
