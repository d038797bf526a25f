"""Scores of trees by weighted support vectors: by rows, by factors or by pairs."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray
from filbert.engine.contributions import Contributions, occurrences
from filbert.engine.in_parts import n_at_a_time, scored_in_parts
from filbert.engine.score_bounds import ScoreBounds, score_bounds
from filbert.engine.tree_factors import factorize, scores_between
from filbert.engine.work import LITTLE_WORK, PRUNED, row_steps_between
from filbert.errors import KernelOverflowError, WorkLimitError
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.threads import n_threads

Method = Literal["auto", "rows", "pairs", "factors"]

# More trees than this are scored by factors. Rows and factors both take time that grows with the
# number of support vectors, so the number of trees at which they are equal hardly depends on it.
# CPU time: predicate-argument trees take 11-12 us each by rows with 8,155 support vectors, and
# 0.11 s + 9 us each by factors. These are equal at about 35,000 trees; with 1,055 support vectors
# at somewhat more than 50,000. 857 functions of the standard library, 68 nodes each and ten
# classes, with 849 support vectors, take 38 us each by rows and 86 us by factors.
_MANY = 20_000
_SMALL_NORM = 1e-100  # tiny decays lead to such norms
# The largest error of scores by pruned factors, where the margin is 1, if all trees shared all that
# was left out. The bounds by rows are some hundred times closer: of 105,668 predicate-argument
# trees, 13 remain undecided.
_REACH = 10.0
_COARSEST = 1e-3  # the largest error of a kernel; little time is saved above


@dataclass(frozen=True)
class TreeScorer:
    """Scores ``sum_i coef_i K(support_i, tree)`` for a tree kernel without a part.

    Attributes
    ----------
    kernel : TreeKernel
    support : Forest of n support vectors
    coef : ndarray of shape (n_problems, n)
    """

    kernel: TreeKernel
    support: Forest
    coef: FloatArray

    def scores(self, trees: Forest, method: Method, n_jobs: int | None) -> FloatArray:
        """Score trees exactly: shape (len(trees), n_problems)."""
        if method == "rows":
            return self._by_rows(trees, n_jobs)
        if method == "factors":
            return self._by_factors(trees, n_jobs)
        if method == "pairs":
            return self._by_pairs(trees, n_jobs)
        return self._by_the_fastest(trees, n_jobs)

    def bounds(self, trees: Forest, n_jobs: int | None) -> ScoreBounds:
        """Bound the scores of trees. Where pruned factors save no time, scores are exact."""
        if self._is_prunable():
            max_work = PRUNED * row_steps_between(self.kernel, self.support, trees)
            if max_work >= LITTLE_WORK:
                try:
                    return self._bounds_by_factors(trees, n_jobs, max_work)
                except (WorkLimitError, KernelOverflowError):
                    pass
        scores = self._by_the_fastest(trees, n_jobs)
        return ScoreBounds(scores, scores)

    def _is_prunable(self) -> bool:
        return self.kernel.capabilities.factors == "uncertain" and bool(self.kernel.normalize)

    def _bounds_by_factors(self, trees: Forest, n_jobs: int | None, max_work: float) -> ScoreBounds:
        """Bound scores by pruned factors. See `_REACH`."""
        n = len(self.support)
        together = Forest.concat([self.support, trees])
        weights = np.zeros((len(together), len(self.coef)))
        weights[:n] = self.coef.T
        factors = factorize(
            self.kernel,
            together,
            max_work=max_work,
            n_first=n,
            kernel_tol=min(_COARSEST, _REACH / max(_REACH, np.abs(self.coef).sum(axis=1).max())),
            row_weights=np.abs(weights).max(axis=1),
            n_jobs=n_jobs,
        )
        scores = factors.scores(weights, n_threads(n_jobs))[n:]
        errors = factors.kernel_errors
        if errors.size == 0:
            return ScoreBounds(scores, scores)
        rows = factors.kernel_error_rows[n:]
        return score_bounds(
            scores,
            errors[n:],
            weights[:n],
            errors[:n],
            have_sign=factors.errors_have_sign,
            rows=rows,
        )

    def contributions(self, trees: Forest, n_jobs: int | None) -> Contributions:
        """Split the scores of trees exactly into contributions of nodes."""
        threads = n_threads(n_jobs)
        known = self.kernel.capabilities
        if len(trees) <= _MANY and known.scorer:
            tree, node, count, value = self._node_scorer(threads).contributions(
                trees._dag, trees._roots, threads, None
            )
            return Contributions(trees, tree, count, value, node)
        if known.factors in ("direct", "likely"):
            return self._contributions_by_factors(trees, n_jobs, None)
        if known.factors == "none":
            return self._contributions_by_subtrees(trees, n_jobs)
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
        """Split scores by node if there are too many fragments for factors.

        The kernel of a subtree is the sum over its nodes. So its root adds the kernel of the
        subtree minus the kernels of its children's subtrees.
        """
        kernel = self._without_norms()
        coef, norms = self.coef, np.ones(len(trees))
        if self.kernel.normalize:
            coef = coef / _norms(kernel, self.support, n_jobs)
            norms = _norms(kernel, trees, n_jobs)
        tree, node, count = occurrences(trees)
        nodes, places = np.unique(node, return_inverse=True)
        subtrees = Forest._of(trees._dag, nodes.astype(np.uint32))
        sums = TreeScorer(kernel, self.support, coef)._by_rows(subtrees, n_jobs)
        own = sums.copy()
        place_of = {int(node): place for place, node in enumerate(nodes)}
        for place, number in enumerate(nodes.tolist()):
            for child in trees._dag.children(number).tolist():
                own[place] -= sums[place_of[child]]
        value = own[places] / norms[tree][:, None]
        return Contributions(trees, tree, count, value, node)

    def _by_the_fastest(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        expected = self.kernel.capabilities.factors
        if expected != "uncertain":
            few = expected == "none" or len(trees) <= _MANY
            return self._by_rows(trees, n_jobs) if few else self._by_factors(trees, n_jobs)
        # All these kernels are needed. A try that fails may cost a tenth of what they take.
        max_work = 0.1 * row_steps_between(self.kernel, self.support, trees)
        if max_work < LITTLE_WORK:
            return self._by_rows(trees, n_jobs)
        try:
            return self._by_factors(trees, n_jobs, max_work)
        except (WorkLimitError, KernelOverflowError):  # a self-kernel may be out of range
            return self._by_rows(trees, n_jobs)

    def _by_rows(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        threads = n_threads(n_jobs)
        if self.kernel.capabilities.scorer:
            return self._node_scorer(threads).scores(trees._dag, trees._roots, threads, None)
        rows = self._kernel_rows(threads)
        n_support = len(self.support)
        out = np.empty((min(len(trees), n_at_a_time(n_support)), n_support))

        def kernels(part: Forest) -> FloatArray:
            return rows.between(part._dag, part._roots, threads, None, out[: len(part)])

        return scored_in_parts(trees, kernels, self.coef)

    def _by_pairs(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        def kernels(part: Forest) -> FloatArray:
            return self.kernel(part, self.support, n_jobs=n_jobs)

        return scored_in_parts(trees, kernels, self.coef)

    def _kernel_rows(self, threads: int) -> _core.TileRows:
        """Return the rows of the support vectors. They are prepared once, then kept."""
        rows: _core.TileRows | None = self.__dict__.get("_made_rows")
        if rows is None:
            spec, support = self.kernel._spec(), self.support
            normalize = bool(self.kernel.normalize)
            rows = _core.TileRows(spec, support._dag, support._roots, normalize, threads, None)
            object.__setattr__(self, "_made_rows", rows)
        return rows

    def _node_scorer(self, threads: int) -> _core.RowScorer:
        """Return the scorer of single trees. It is made when first needed, then kept."""
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
        try:
            return self._between_factors(trees, n_jobs, max_work)
        except KernelOverflowError:
            if not self.kernel.normalize:
                raise  # with norms, the factors below are within range
        factors, weights, _ = self._with_support(trees, n_jobs, keep_nodes=False, max_work=max_work)
        return factors.scores(weights, n_threads(n_jobs))[len(self.support) :]

    def _between_factors(
        self, trees: Forest, n_jobs: int | None, max_work: float | None
    ) -> FloatArray:
        """Score with only the fragments that support vectors share with the trees.

        They do not give a tree's kernel with itself, so norms are computed separately.
        """
        weights, norms = self.coef.T, np.ones(len(trees))
        if self.kernel.normalize:
            norms = self._norms_of(trees, n_jobs)
            weights = weights / self._norms_of_support(n_jobs)[:, None]
        together = Forest.concat([self.support, trees])
        scores = scores_between(
            self._without_norms(),
            together,
            np.ascontiguousarray(weights),
            max_work=max_work,
            n_jobs=n_jobs,
        )
        return scores / norms[:, None]

    def _norms_of_support(self, n_jobs: int | None) -> FloatArray:
        """Return the norms of the support vectors. They are computed once, then kept."""
        norms: FloatArray | None = self.__dict__.get("_made_norms")
        if norms is None:
            norms = self._norms_of(self.support, n_jobs)
            object.__setattr__(self, "_made_norms", norms)
        return norms

    def _norms_of(self, trees: Forest, n_jobs: int | None) -> FloatArray:
        norms = _norms(self._without_norms(), trees, n_jobs)
        if norms.min(initial=1.0) < _SMALL_NORM:
            raise KernelOverflowError("a norm is too small to divide by")
        return norms

    def _without_norms(self) -> TreeKernel:
        return self.kernel.with_params(normalize=False)

    def _with_support(
        self, trees: Forest, n_jobs: int | None, *, keep_nodes: bool, max_work: float | None
    ) -> tuple[_core.KernelOperator, FloatArray, Forest]:
        # A fragment of only one training tree may also be in a new tree. The factors of the
        # training set do not show this, so both are factorised together.
        together = Forest.concat([self.support, trees])
        weights = np.zeros((len(together), len(self.coef)))
        weights[: len(self.support)] = self.coef.T
        factors = factorize(
            self.kernel, together, max_work=max_work, keep_nodes=keep_nodes, n_jobs=n_jobs
        )
        return factors, weights, together


def _norms(kernel: TreeKernel, trees: Forest, n_jobs: int | None) -> FloatArray:
    """Return the norms of trees. A tree without fragments has an infinite norm and scores 0."""
    norms = np.sqrt(kernel.diag(trees, n_jobs=n_jobs))
    return np.where(norms > 0, norms, np.inf)
