"""The fragments that decide: what a model has learnt, tree by tree of its feature space."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, overload
from warnings import warn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import (
    FewFragmentsWarning,
    InputTypeError,
    InvalidParameterError,
    TooManyFragmentsError,
)
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.kernels.algebra import is_number
from filbert.model import SupportVectorModel
from filbert.threads import n_threads

FloatArray = NDArray[np.float64]
Criterion = Literal["gradient", "chi2"]
Search = Literal["greedy", "complete"]

_NOTHING = 1e-12  # of the best base fragment: what is lighter is rounding


@dataclass(frozen=True)
class Fragment:
    """One fragment, its nodes in preorder.

    Attributes
    ----------
    labels : tuple of str
    parents : tuple of int
        -1 for the root.
    open : tuple of bool
        Subset trees: whether a node's children are cut off, that is, whether it has some in a tree
        in which the fragment was found. A subset tree matches a node without children of its own
        wherever the label is right, so this is for the eye.
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]
    open: tuple[bool, ...]

    def __str__(self) -> str:
        """Return it in brackets; an open node is written ``(NP …)``."""
        arity = np.bincount(np.array(self.parents[1:], dtype=np.intp), minlength=len(self.parents))
        return _core.fragment_text(list(self.labels), arity.tolist(), list(self.open))


class Fragments:
    """Fragments of a kernel's feature space, and how often trees have them.

    Parameters
    ----------
    kernel : SubsetTree, Subtree or PartialTree
    trees : Forest
        The fragments as trees. Of a subset tree, nodes that are not grown are leaves here.
    open : ndarray of bool, optional
        Which nodes of all fragments, in preorder and one fragment after another, are open.
    """

    def __init__(
        self, kernel: TreeKernel, trees: Forest, open: NDArray[np.bool_] | None = None
    ) -> None:
        sizes = trees._dag.sizes(trees._roots)
        self.kernel = kernel
        self.trees = trees
        self._ends = np.cumsum(sizes, dtype=np.int64)
        n_nodes = int(self._ends[-1]) if len(sizes) else 0
        self.open = np.zeros(n_nodes, dtype=bool) if open is None else open
        if self.open.shape != (n_nodes,) or self.open.dtype != bool:
            raise InvalidParameterError(f"open must be {n_nodes} bools, one for each node")

    def __len__(self) -> int:
        return len(self.trees)

    @overload
    def __getitem__(self, index: int) -> Fragment: ...
    @overload
    def __getitem__(self, index: slice | NDArray[Any]) -> "Fragments": ...

    def __getitem__(self, index: Any) -> "Fragment | Fragments":
        """Return one fragment; or several, by a slice, a mask or an array of indices."""
        if isinstance(index, Integral):
            return self._fragment(range(len(self))[int(index)])
        chosen = np.arange(len(self))[index]
        if isinstance(index, slice) and index.indices(len(self))[2] == 1:  # no need to take apart
            bounds = np.concatenate([[0], self._ends])[index.indices(len(self))[0] :]
            return Fragments(
                self.kernel, self.trees[chosen], self.open[bounds[0] : bounds[len(chosen)]]
            )
        open = self.open_by_fragment()
        nodes = [np.zeros(0, dtype=bool), *(open[i] for i in chosen.tolist())]
        return Fragments(self.kernel, self.trees[chosen], np.concatenate(nodes))

    def __iter__(self) -> Iterator[Fragment]:
        return (self._fragment(i) for i in range(len(self)))

    def open_by_fragment(self) -> list[NDArray[np.bool_]]:
        """Return which nodes of each fragment are open: views of `open`."""
        return np.split(self.open, self._ends[:-1]) if len(self) else []

    def _fragment(self, i: int) -> Fragment:
        labels, arity = _core.fragment_nodes(self.trees._dag, int(self.trees._roots[i]))
        open = self.open[self._ends[i] - len(labels) : self._ends[i]]
        return Fragment(tuple(labels), _parents(arity), tuple(open.tolist()))

    def texts(self) -> list[str]:
        """Return the fragments in brackets, as ``str`` of each would."""
        flags = self.open.view(np.uint8)
        return _core.fragment_texts(self.trees._dag, self.trees._roots, flags)

    def count(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        """Count how often trees have each fragment: int64 of shape (len(X), len(self)).

        A partial tree may occur at one node in several ways; each of them counts.

        Parameters
        ----------
        X : Forest, or sequence of trees or bracket strings
        n_jobs : int, optional
            Threads; the result does not depend on it.
        """
        trees = self.kernel.trees_of(X)
        spec, mine = self.kernel._spec(), self.trees
        rows = _core.count_fragments(
            spec, mine._dag, mine._roots, trees._dag, trees._roots, n_threads(n_jobs), None
        )
        return self._matrix(rows, len(trees), np.int64)

    def features(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        r"""Return trees in the kernel's space, as far as these fragments span it.

        An entry is :math:`t \lambda^{s/2} / \|x\|` (Pighin & Moschitti 2010, Eq. 5) with `t` the
        count and `s` the fragment's number of productions; for partial trees the sum of the weights
        of all occurrences. Without the norm where the kernel does not normalise. The dot product of
        two such rows over *all* fragments is the kernel.

        Parameters
        ----------
        X : Forest, or sequence of trees or bracket strings
        n_jobs : int, optional
            Threads; the result does not depend on it.
        """
        trees = self.kernel.trees_of(X)
        spec, mine, normalize = self.kernel._spec(), self.trees, bool(self.kernel.normalize)
        threads = n_threads(n_jobs)
        rows = _core.fragment_features(
            spec, mine._dag, mine._roots, trees._dag, trees._roots, normalize, threads, None
        )
        return self._matrix(rows, len(trees), np.float64)

    def _matrix(self, rows: tuple[Any, Any, Any], n: int, dtype: Any) -> sp.csr_array:
        begins, columns, values = rows
        if begins[-1] < 2**31:
            begins = begins.astype(np.int32)
        data = values.astype(dtype, copy=False)
        return sp.csr_array((data, columns, begins), shape=(n, len(self)))

    def __repr__(self) -> str:
        shown = [f"  {text}" for text in self[:3].texts()]
        return "\n".join(
            [
                f"Fragments: {len(self):,} of {self.kernel!r}",
                *shown,
                *(["  …"] if len(self) > 3 else []),
            ]
        )


def _parents(arity: list[int]) -> tuple[int, ...]:
    """Find the parents of nodes in preorder from their numbers of children."""
    parents: list[int] = []
    to_come = [-1]  # the parents of the nodes that are still to come, the next one last
    for node, n_children in enumerate(arity):
        parents.append(to_come.pop())
        to_come.extend([node] * n_children)
    return tuple(parents)


@dataclass(frozen=True)
class MinedFragments:
    """The fragments that weigh most in a model, the most relevant first, then by text.

    Attributes
    ----------
    fragments : Fragments
    weight : ndarray of shape (n,)
        The component of the model's weight vector (Pighin & Moschitti 2010, Eq. 6).
    relevance : ndarray of shape (n,)
        What they were chosen by: the weight, or chi-square.
    frequency : ndarray of int of shape (n,)
        How many nodes of the support vectors they are rooted at.
    base : float
        The paper's B: the relevance of the best base fragment.
    threshold : float
        B / L: what is less relevant was left out.
    norm : float
        The norm of the model's weight vector, over all fragments there are.
    """

    fragments: Fragments
    weight: FloatArray
    relevance: FloatArray
    frequency: NDArray[np.int64]
    base: float
    threshold: float
    norm: float
    criterion: Criterion = "gradient"

    @property
    def n(self) -> int:
        """The number of fragments."""
        return len(self.fragments)

    @property
    def norm_in(self) -> float:
        """The norm of the part of the weight vector that these fragments span."""
        return float(np.sqrt(np.sum(self.weight**2)))

    @property
    def norm_share(self) -> float:
        """The share of the norm that is kept; 1 where there is nothing to keep."""
        return self.norm_in / self.norm if self.norm > 0 else 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The paper's bounds of `norm_in`: B/L and B, times the root of the number of fragments.

        The upper one takes for granted that no fragment is heavier than the best base fragment, as
        the paper does. By chi-square there are no such bounds: 0 and `norm`.
        """
        if self.criterion == "chi2":
            return 0.0, self.norm
        root = float(np.sqrt(self.n))
        return self.threshold * root, self.base * root

    def first(self, n: int) -> "MinedFragments":
        """Return the most relevant of them."""
        return MinedFragments(
            self.fragments[:n],
            self.weight[:n],
            self.relevance[:n],
            self.frequency[:n],
            self.base,
            self.threshold,
            self.norm,
            self.criterion,
        )

    def __repr__(self) -> str:
        head = f"{self.n:,} fragments with {self.norm_share:.1%} of the norm {self.norm:.6g}"
        texts = self.fragments[:10].texts()
        rows = [
            f"  {weight:+.4g}  {n:,}x  {text}"
            for weight, n, text in zip(self.weight, self.frequency, texts, strict=False)
        ]
        return "\n".join([head, *rows, *(["  …"] if self.n > 10 else [])])


def mine(
    model: Any,
    *,
    problem: int = 0,
    threshold: float = 50.0,
    n_fragments: int | None = None,
    norm_share: float | None = None,
    criterion: Criterion = "gradient",
    min_frequency: int = 3,
    search: Search = "greedy",
    max_fragments: int = 1_000_000,
    n_jobs: int | None = None,
    progress: Any = None,
) -> MinedFragments:
    r"""Find the fragments that weigh most in a model (Pighin & Moschitti 2010).

    A fragment's weight is :math:`w_f = \sum_i \alpha_i y_i t_{i,f} \lambda^{s(f)/2} / \|x_i\|`
    (Eq. 6), with :math:`t_{i,f}` the number of its occurrences in the `i`-th support vector and
    `s` its number of productions. Kept are those with :math:`|w_f| \ge B / L`, where `B` is the
    weight of the heaviest base fragment: of a node with its children, under PartialTree of a single
    node, under Subtree of any subtree.

    Parameters
    ----------
    model : SupportVectorModel, or a fitted learner with such a `model_`
    problem : int
        Which decision function: 0 of a model of two classes, else the number of the class.
    threshold : float
        The paper's `L`.
    n_fragments : int, optional
        Find so many, in place of a fixed threshold: `L` is doubled, from `threshold` on, until
        there are enough, and the most relevant are kept.
    norm_share : float, optional
        Find as few as have this share of the norm of the weight vector, by doubling `L` as well.
    criterion : {"gradient", "chi2"}
        What relevance is: the weight, or chi-square of occurrence in support vectors of positive
        and negative coefficients.
    min_frequency : int
        Fragments with fewer occurrences in the support vectors are left out.
    search : {"greedy", "complete"}
        The paper's Algorithm 5.1, which grows fragments that are relevant themselves; or all that
        are relevant, also those that only light ones lead to, which may take much longer.
    max_fragments : int
        More of them raise :class:`~filbert.errors.TooManyFragmentsError`.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Warns
    -----
    FewFragmentsWarning
        Where `n_fragments` or `norm_share` cannot be reached.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVC().fit(X, ["statement", "statement", "question", "question"])
    >>> found = mine(clf, min_frequency=2)
    >>> str(found.fragments[0]), found.frequency[0]
    ('(S (NP …) (VP …))', 2)
    """
    own = _checked_model(model, problem)
    check_rules(
        threshold=threshold,
        n_fragments=n_fragments,
        norm_share=norm_share,
        criterion=criterion,
        min_frequency=min_frequency,
        search=search,
        max_fragments=max_fragments,
    )
    miner = _Miner(own, criterion, search, int(min_frequency), int(max_fragments), n_jobs, progress)
    if n_fragments is not None:
        return miner.first(int(n_fragments), float(threshold))
    if norm_share is not None:
        return miner.share(float(norm_share), float(threshold))
    return miner.mine(float(threshold))[0]


class _Miner:
    """The searches of one decision function, for one threshold after another."""

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
        self._kernel = model.kernel
        self._criterion: Criterion = criterion
        self._complete = search == "complete"
        self._min_frequency = min_frequency
        self._max_fragments = max_fragments
        self._threads = n_threads(n_jobs)
        self._progress = progress
        self._norm = weight_norm(model, n_jobs=n_jobs)
        self._core = _core.FragmentMiner(
            model.kernel._spec(),
            model.support._dag,
            model.support._roots,
            np.ascontiguousarray(model.coef[0]),
            bool(model.kernel.normalize),
            criterion == "chi2",
            self._threads,
            None,
        )
        self._base = self._core.base(min_frequency)

    def mine(self, factor: float) -> tuple[MinedFragments, float]:
        """Return what is found for a threshold, and the best relevance that it left out."""
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
        """Return the n most relevant."""
        found = self._until(lambda found: found.n >= n, factor)
        if found.n < n:
            self._warn(found, f"n_fragments={n:,}", n, found.n)
        return found.first(n)

    def share(self, wanted: float, factor: float) -> MinedFragments:
        """Return as few as have this share of the norm."""
        found = self._until(lambda found: found.norm_share >= wanted, factor)
        if found.norm_share < wanted:
            self._warn(found, f"norm_share={wanted:g}", wanted, found.norm_share)
            return found
        if found.norm == 0:
            return found.first(0)
        shares = np.sqrt(np.cumsum(found.weight**2)) / found.norm
        return found.first(min(int(np.searchsorted(shares, wanted)) + 1, found.n))

    def _until(self, enough: Any, factor: float) -> MinedFragments:
        """Double the factor until there is enough, or no more to be found."""
        found, rejected = self.mine(factor)
        while not enough(found) and rejected > _NOTHING * self._base:
            factor *= 2
            while self._base / factor > rejected:  # would find the same
                factor *= 2
            try:
                found, rejected = self.mine(factor)
            except TooManyFragmentsError:
                break
        return found

    def _warn(self, found: MinedFragments, wish: str, wanted: float, reached: float) -> None:
        what = (
            f"{wish} is out of reach: the {found.n:,} fragments that were found, each at least "
            f"{self._min_frequency} times in the support vectors, have {found.norm_share:.1%} of "
            "the norm. Lower min_frequency, raise max_fragments, or use search='complete'"
        )
        warn(FewFragmentsWarning(what, wanted, reached), stacklevel=4)


def weight_norm(model: SupportVectorModel, *, n_jobs: int | None = None) -> float:
    """Compute the norm of the weight vector of a model's first decision function, exactly."""
    used = np.flatnonzero(model.coef[0])
    if len(used) == 0:
        return 0.0
    coef = model.coef[:1, used]
    own = SupportVectorModel(model.kernel.whole(), model.support[used], coef, np.zeros(1))
    return float(
        np.sqrt(max(0.0, coef[0] @ own.decision_function(own.support, n_jobs=n_jobs)[:, 0]))
    )


# ---------------------------------------------------------------- checks


def _checked_model(model: Any, problem: Any) -> SupportVectorModel:
    """Return one decision function as a model of its own."""
    known = getattr(model, "model_", model)
    if not isinstance(known, SupportVectorModel):
        raise InputTypeError(
            f"fragments are mined from a SupportVectorModel or a learner that has one, not from "
            f"{type(known).__name__}: train with SubsetTree, Subtree or PartialTree alone"
        )
    n = len(known.coef)
    if not is_number(problem, Integral) or not 0 <= problem < n:
        raise InvalidParameterError(f"problem must be from 0 to {n - 1}, got {problem!r}")
    one = slice(int(problem), int(problem) + 1)
    return SupportVectorModel(known.kernel, known.support, known.coef[one], known.intercept[one])


def check_rules(
    *,
    threshold: Any,
    n_fragments: Any,
    norm_share: Any,
    criterion: Any,
    min_frequency: Any,
    search: Any,
    max_fragments: Any,
) -> None:
    """Raise InvalidParameterError where a parameter of :func:`mine` cannot be what it is."""
    _check_choice("criterion", criterion, ("gradient", "chi2"))
    _check_choice("search", search, ("greedy", "complete"))
    if not is_number(threshold, Real) or not 0 < threshold < np.inf:
        raise InvalidParameterError(f"threshold must be a positive number, got {threshold!r}")
    if n_fragments is not None and norm_share is not None:
        raise InvalidParameterError("give n_fragments or norm_share, not both")
    _check_count("min_frequency", min_frequency)
    _check_count("max_fragments", max_fragments)
    if n_fragments is not None:
        _check_count("n_fragments", n_fragments)
        if n_fragments > max_fragments:
            raise InvalidParameterError(
                f"n_fragments={n_fragments!r} exceeds max_fragments={max_fragments!r}"
            )
    if norm_share is not None and not (is_number(norm_share, Real) and 0 < norm_share <= 1):
        raise InvalidParameterError(f"norm_share must be in (0, 1], got {norm_share!r}")


def _check_count(name: str, value: Any) -> None:
    if not is_number(value, Integral) or not 1 <= value < 2**31:
        raise InvalidParameterError(f"{name} must be a positive integer, got {value!r}")


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        known = " or ".join(repr(choice) for choice in choices)
        raise InvalidParameterError(f"{name} must be {known}, got {value!r}")
