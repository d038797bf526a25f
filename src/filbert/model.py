"""What learning produces: support vectors with weights, and how they score trees."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from filbert import _core
from filbert.errors import (
    InvalidParameterError,
    KernelOverflowError,
    OutOfMemoryError,
    WorkLimitError,
)
from filbert.forest import Forest
from filbert.kernels import PartialTree, TreeKernel
from filbert.threads import n_threads
from filbert.tree import Tree
from filbert.work import LITTLE_WORK, row_steps_between

FloatArray = NDArray[np.float64]

KernelFunction = Callable[[Any, Any], Any]
Method = Literal["auto", "rows", "pairs", "factors"]

# More trees than this are scored by factors. Both ways take time that grows with the number of
# support vectors, so the number of trees at which they are equal hardly depends on it. CPU time:
# predicate-argument trees take 11-12 us each by rows with 8,155 support vectors, and 0.11 s + 9 us
# each by factors, equal at about 35,000; with 1,055 support vectors at somewhat more than 50,000.
# 857 functions of the standard library, 68 nodes each and ten classes, with 849 support vectors:
# 38 us each by rows, 86 us by factors.
_MANY = 20_000
_SMALL_NORM = 1e-100  # which decays of such a size lead to
_PAIRS_BYTES = 64 << 20  # of the kernel matrix at a time


@dataclass(frozen=True)
class Contributions:
    """What each node of some trees adds to their scores.

    A tree's score, without the intercept, is the sum of ``count * value`` over its entries. Equal
    subtrees of a tree are one entry. Nodes that share no fragment with a support vector add nothing
    and are left out. Entries come tree by tree, children before their parents.

    Attributes
    ----------
    trees : Forest
        The trees that were scored.
    tree : ndarray of int of shape (n,)
        Which of them an entry belongs to.
    count : ndarray of int of shape (n,)
        How often that tree contains the node.
    value : ndarray of shape (n, n_problems)
        What one occurrence adds to each score: the weighted kernels of the fragments rooted there.
    """

    trees: Forest
    tree: NDArray[np.uint32]
    count: NDArray[np.uint32]
    value: FloatArray
    _node: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.tree)

    def node(self, entry: int) -> Tree:
        """Return the node of an entry, with all that is below it."""
        return Tree(self.trees._dag, int(self._node[entry]))

    def sums(self) -> FloatArray:
        """Add up each tree's entries: its scores without the intercept."""
        sums = np.zeros((len(self.trees), self.value.shape[1]))
        np.add.at(sums, self.tree, self.count[:, None] * self.value)
        return sums


@dataclass(frozen=True)
class SupportVectorModel:
    """A decision function ``sum_i coef_i K(support_i, tree) + intercept``, one for each problem.

    Attributes
    ----------
    kernel : TreeKernel
    support : Forest of n support vectors
    coef : ndarray of shape (n_problems, n)
    intercept : ndarray of shape (n_problems,)
    """

    kernel: TreeKernel
    support: Forest
    coef: FloatArray
    intercept: FloatArray

    def __post_init__(self) -> None:
        # Only the nodes that support vectors have: the training set need not be kept in memory, and
        # a model that was stored scores the same to the last bit, for its nodes are numbered alike.
        dag, roots = self.support._dag.extract(self.support._roots)
        object.__setattr__(self, "support", Forest._of(dag, roots))

    def decision_function(
        self, X: Any, *, method: Method = "auto", n_jobs: int | None = None
    ) -> FloatArray:
        """Score trees, exactly: shape (len(X), n_problems).

        Parameters
        ----------
        X : Forest, or sequence of trees or bracket strings
        method : {"auto", "rows", "factors", "pairs"}
            Few trees are compared with all support vectors at once ("rows"), many are factorised
            together with them ("factors"); "pairs" is the plain kernel matrix, a part at a time.
            All give the same values up to rounding. By default the fastest for the kernel and the
            number of trees; for many under PartialTree that is found out by trying to factorise,
            for a part of the time that rows may take.
        n_jobs : int, optional
            Threads; the values do not depend on it.
        """
        trees = self.kernel.trees_of(X)
        if method not in ("auto", "rows", "pairs", "factors"):
            raise InvalidParameterError(
                f"method must be 'auto', 'rows', 'pairs' or 'factors', got {method!r}"
            )
        if len(self.support) == 0 or len(trees) == 0:
            return np.tile(self.intercept, (len(trees), 1))
        if method == "rows":
            values = self._by_rows(trees, n_jobs)
        elif method == "factors":
            values = self._by_factors(trees, n_jobs)
        elif method == "pairs":
            values = self._by_pairs(trees, n_jobs)
        else:
            values = self._by_the_fastest(trees, n_jobs)
        return np.asarray(values + self.intercept)

    def contributions(self, X: Any, *, n_jobs: int | None = None) -> Contributions:
        """Split the scores of trees up by node, exactly.

        Parameters
        ----------
        X : Forest, or sequence of trees or bracket strings
        n_jobs : int, optional
            Threads; the values do not depend on it.

        Returns
        -------
        Contributions
            What each node adds: ``decision_function(X) == contributions(X).sums() + intercept``, up
            to rounding.
        """
        trees = self.kernel.trees_of(X)
        threads = n_threads(n_jobs)
        if len(trees) <= _MANY and not isinstance(self.kernel, PartialTree):
            tree, node, count, value = self._scorer(threads).contributions(
                trees._dag, trees._roots, threads, None
            )
            return Contributions(trees, tree, count, value, node)
        if not isinstance(self.kernel, PartialTree):
            return self._contributions_by_factors(trees, n_jobs, None)
        max_work = max(LITTLE_WORK, 0.5 * row_steps_between(self.kernel, self.support, trees))
        try:
            return self._contributions_by_factors(trees, n_jobs, max_work)
        except (WorkLimitError, KernelOverflowError):
            return self._contributions_by_subtrees(trees, n_jobs)

    def _contributions_by_factors(
        self, trees: Forest, n_jobs: int | None, max_work: float | None
    ) -> Contributions:
        factors, weights, together = self._with_support(
            trees, n_jobs, keep_nodes=True, max_work=max_work
        )
        n_support = len(self.support)
        tree, node, count, value = factors.contributions(weights, n_support, n_threads(n_jobs))
        return Contributions(together[n_support:], tree, count, value, node)

    def _contributions_by_subtrees(self, trees: Forest, n_jobs: int | None) -> Contributions:
        """Split scores up by node where there are too many fragments for factors.

        The kernel of a subtree is the sum over its nodes, so what its root adds is the rest when
        the kernels of its children's subtrees are taken off.
        """
        kernel = clone(self.kernel.whole()).set_params(normalize=False)
        coef, norms = self.coef, np.ones(len(trees))
        if self.kernel.normalize:
            coef = coef / np.sqrt(kernel.diag(self.support, n_jobs=n_jobs))
            norms = np.sqrt(kernel.diag(trees, n_jobs=n_jobs))
        tree, node, count = _occurrences(trees)
        nodes, places = np.unique(node, return_inverse=True)
        subtrees = Forest._of(trees._dag, nodes.astype(np.uint32))
        plain = SupportVectorModel(kernel, self.support, coef, np.zeros(len(coef)))
        sums = plain._by_rows(subtrees, n_jobs)
        own = sums.copy()
        place_of = {int(node): place for place, node in enumerate(nodes)}
        for place, number in enumerate(nodes.tolist()):
            for child in trees._dag.children(number).tolist():
                own[place] -= sums[place_of[child]]
        value = own[places] / norms[tree][:, None]
        return Contributions(trees, tree, count, value, node)

    def _by_the_fastest(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        if not isinstance(self.kernel, PartialTree):
            by = self._by_rows if len(trees) <= _MANY else self._by_factors
            return by(trees, n_jobs)
        # All these kernels are needed, so half of what they take is what a try may cost.
        max_work = 0.5 * row_steps_between(self.kernel, self.support, trees)
        if max_work < LITTLE_WORK:
            return self._by_rows(trees, n_jobs)
        try:
            return self._by_factors(trees, n_jobs, max_work)
        except (WorkLimitError, KernelOverflowError):  # a tree with itself may be out of range
            return self._by_rows(trees, n_jobs)

    def _by_rows(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        threads = n_threads(n_jobs)
        if isinstance(self.kernel, PartialTree):
            rows = self._kernel_rows(threads)
            n_support = len(self.support)
            out = np.empty((min(len(trees), _n_at_a_time(n_support)), n_support))

            def kernels(part: Forest) -> FloatArray:
                return rows.between(part._dag, part._roots, threads, None, out[: len(part)])

            return _scored_in_parts(trees, kernels, self.coef)
        return self._scorer(threads).scores(trees._dag, trees._roots, threads, None)

    def _by_pairs(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        kernel = self.kernel.whole()

        def kernels(part: Forest) -> FloatArray:
            return kernel(part, self.support, n_jobs=n_jobs)

        return _scored_in_parts(trees, kernels, self.coef)

    def _kernel_rows(self, threads: int) -> _core.KernelRows:
        """Return what compares trees with the support vectors, which it has prepared once."""
        rows: _core.KernelRows | None = self.__dict__.get("_made_rows")
        if rows is None:
            spec, support = self.kernel._spec(), self.support
            normalize = bool(self.kernel.normalize)
            rows = _core.KernelRows(spec, support._dag, support._roots, normalize, threads, None)
            object.__setattr__(self, "_made_rows", rows)
        return rows

    def _scorer(self, threads: int) -> _core.RowScorer:
        """Return what scores single trees. It is made when first needed, then kept."""
        scorer: _core.RowScorer | None = self.__dict__.get("_made_scorer")
        if scorer is None:
            spec, support = self.kernel._spec(), self.support
            coef, normalize = np.ascontiguousarray(self.coef), bool(self.kernel.normalize)
            scorer = _core.RowScorer(
                spec, support._dag, support._roots, coef, normalize, threads, None
            )
            object.__setattr__(self, "_made_scorer", scorer)
        return scorer

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if "_made_" not in name}

    def _by_factors(
        self, trees: Forest, n_jobs: int | None, max_work: float | None = None
    ) -> FloatArray:
        if isinstance(self.kernel, PartialTree):
            try:
                return self._between_factors(trees, n_jobs, max_work)
            except KernelOverflowError:
                if not self.kernel.normalize:
                    raise  # else factors that include the norms are within range
        factors, weights, _ = self._with_support(trees, n_jobs, keep_nodes=False, max_work=max_work)
        return factors.scores(weights, n_threads(n_jobs))[len(self.support) :]

    def _between_factors(
        self, trees: Forest, n_jobs: int | None, max_work: float | None
    ) -> FloatArray:
        """Score by the fragments that support vectors share with the trees, and by no others.

        Those are not enough for a tree's kernel with itself, so norms come from elsewhere.
        """
        kernel = clone(self.kernel.whole()).set_params(normalize=False)
        together = Forest.concat([self.support, trees])
        n = len(self.support)
        norms = np.ones(len(together))
        if self.kernel.normalize:
            norms = np.sqrt(kernel.diag(together, n_jobs=n_jobs))
            if norms.min() < _SMALL_NORM:
                raise KernelOverflowError("a norm is too small to divide by")
        weights = np.zeros((len(together), len(self.coef)))
        weights[:n] = self.coef.T / norms[:n, None]
        factors = factorize(kernel, together, max_work=max_work, n_first=n, n_jobs=n_jobs)
        return np.asarray(factors.scores(weights, n_threads(n_jobs))[n:] / norms[n:, None])

    def _with_support(
        self,
        trees: Forest,
        n_jobs: int | None,
        *,
        keep_nodes: bool,
        max_work: float | None = None,
    ) -> tuple[_core.KernelOperator, FloatArray, Forest]:
        # A fragment that only one training tree has may well be in a new tree: the factors of the
        # training set do not tell, those of both together do.
        together = Forest.concat([self.support, trees])
        weights = np.zeros((len(together), len(self.coef)))
        weights[: len(self.support)] = self.coef.T
        factors = factorize(
            self.kernel, together, max_work=max_work, keep_nodes=keep_nodes, n_jobs=n_jobs
        )
        return factors, weights, together


def _occurrences(
    trees: Forest,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return how often each tree contains each of its distinct nodes, children first."""
    entries: list[tuple[int, int, int]] = []
    for tree, root in enumerate(trees._roots.tolist()):
        counts = {root: 1}
        waiting = [-root]  # the largest number first: then all parents have been seen
        while waiting:
            node = -heappop(waiting)
            for child in trees._dag.children(node).tolist():
                if child not in counts:
                    counts[child] = 0
                    heappush(waiting, -child)
                counts[child] += counts[node]
        entries.extend((tree, node, counts[node]) for node in sorted(counts))
    tree_of, node_of, count_of = np.array(entries, dtype=np.uint32).reshape(-1, 3).T
    return tree_of.copy(), node_of.copy(), count_of.copy()


@dataclass(frozen=True)
class CallableKernelModel:
    """A decision function ``sum_i coef_i kernel(support_i, x) + intercept`` for any kernel.

    Attributes
    ----------
    kernel : callable
        ``kernel(X, Y)`` returns an array of shape (len(X), len(Y)).
    support : what X is, with n support vectors
    coef : ndarray of shape (n_problems, n)
    intercept : ndarray of shape (n_problems,)
    """

    kernel: KernelFunction
    support: Any
    coef: FloatArray
    intercept: FloatArray

    def decision_function(self, X: Any) -> FloatArray:
        """Score examples: shape (len(X), n_problems)."""
        n = X.shape[0]
        if self.coef.shape[1] == 0 or n == 0:
            return np.tile(self.intercept, (n, 1))

        def kernels(part: Any) -> FloatArray:
            return checked_kernel_values(self.kernel, part, self.support)

        return _scored_in_parts(X, kernels, self.coef) + self.intercept


def _n_at_a_time(n_support: int) -> int:
    return max(1, _PAIRS_BYTES // (8 * n_support))


def _scored_in_parts(X: Any, kernels: Callable[[Any], FloatArray], coef: FloatArray) -> FloatArray:
    """Score by kernels with all support vectors, not more of them at a time than fit."""
    n = _n_at_a_time(coef.shape[1])
    parts = (X[i : i + n] for i in range(0, X.shape[0], n))
    return np.vstack([kernels(part) @ coef.T for part in parts])


def checked_kernel_values(kernel: KernelFunction, X: Any, Y: Any) -> FloatArray:
    """Call a kernel that is not ours, and trust its result only when it is a matrix of numbers."""
    shape = (X.shape[0], Y.shape[0])
    values = np.asarray(kernel(X, Y))
    if values.shape != shape or values.dtype.kind not in "fiu":
        raise InvalidParameterError(
            f"kernel {kernel!r} returned an array of shape {values.shape} and type {values.dtype} "
            f"for {shape[0]} and {shape[1]} examples: it must return floats of shape {shape}"
        )
    values = values.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        raise InvalidParameterError(f"kernel {kernel!r} returned values that are not finite")
    return values


def factorize(
    kernel: TreeKernel,
    forest: Forest,
    *,
    max_memory: int | None = None,
    max_work: float | None = None,
    budget: float = 1.0,
    keep_nodes: bool = False,
    n_first: int = 0,
    n_jobs: int | None = None,
    progress: Any = None,
) -> _core.KernelOperator:
    """Factorise the kernel matrix of a forest's trees.

    Parameters
    ----------
    kernel : SubsetTree, Subtree or PartialTree
    forest : Forest
    max_memory : int, optional
        The most bytes that the factors may take.
    max_work : float, optional
        The most steps that finding the factors may take, of about a nanosecond each. Whether they
        suffice depends on the trees and the kernel alone, not on threads or the machine.
    budget : float
        How many steps the nodes of a production, or for PartialTree of a label, may take before
        they are compared pair by pair, as a multiple of what the pairs would take. 0: always pairs.
        The values are the same.
    keep_nodes : bool
        Whether node contributions can be asked for. Nodes are then numbered as in the forest.
    n_first : int
        Where it is not 0, and under PartialTree: only scores of the trees after the first `n_first`
        by weights of these are asked for, which takes less work.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Raises
    ------
    OutOfMemoryError
        Where `max_memory` does not suffice.
    WorkLimitError
        Where `max_work` does not.
    """
    dag, roots = forest._dag, forest._roots
    if not keep_nodes and forest.n_subtrees < 0.7 * dag.size:  # leave the rest out
        dag, roots = dag.extract(roots)
    limit = 2**63 if max_memory is None else max_memory

    def factors_of(dag: _core.Dag, roots: NDArray[np.uint32]) -> _core.KernelOperator:
        return _core.KernelOperator(
            kernel._spec(),
            dag,
            roots,
            bool(kernel.normalize),
            budget,
            limit,
            np.inf if max_work is None else max_work,
            keep_nodes,
            n_first,
            n_threads(n_jobs),
            progress,
        )

    try:
        return factors_of(dag, roots)
    except OutOfMemoryError as error:
        what = error.what
    raise OutOfMemoryError(f"{what}; {_what_would_fit(factors_of, dag, roots, limit)}")


def _what_would_fit(
    factors_of: Callable[[_core.Dag, NDArray[np.uint32]], _core.KernelOperator],
    dag: _core.Dag,
    roots: NDArray[np.uint32],
    limit: int,
) -> str:
    """Tell how many of the trees fit into memory, from parts of them that do.

    Factors grow a little faster than the number of trees, like its power of 1.1 or less.
    """
    growth = 1.1
    step = 16
    while step <= len(roots):
        part = roots[::step]
        try:
            n_bytes = factors_of(*dag.extract(part)).peak_bytes
        except (OutOfMemoryError, WorkLimitError):
            step *= 16
            continue
        n_fit = min(len(part) * (limit / n_bytes) ** (1 / growth), len(roots) - 1)
        need = n_bytes * (len(roots) / len(part)) ** growth
        return (
            f"about {float(f'{n_fit:.2g}'):,.0f} of the {len(roots):,} trees would fit, "
            f"and all of them into about {float(f'{need / 2**20:.2g}'):,.0f} MiB"
        )
    return f"not even a few of the {len(roots):,} trees would fit"
