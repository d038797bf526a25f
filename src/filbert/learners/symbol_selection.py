"""Symbol selection for approximate tree kernels (Rieck, Brefeld & Krueger 2008)."""

from collections.abc import Sequence
from math import ceil
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from filbert.arrays import FloatArray
from filbert.corpus.parts import Parts
from filbert.errors import InvalidParameterError
from filbert.kernels import ApproximateTree, SubsetTree, TreeKernel
from filbert.kernels.algebra import is_number
from filbert.kernels.approximate import Symbol, labels_of
from filbert.kernels.capabilities import capabilities_of
from filbert.learners.at_once import at_once
from filbert.learners.kernel_parameter import KernelParameter
from filbert.learners.symbol_gains import Forms, gains_of, gains_over_parts
from filbert.learners.symbol_program import (
    Constraint,
    best_choice,
    bounded,
    exactly,
    one_of,
    together,
)
from filbert.learners.tolerance import check_kernel_tol

Groups = Sequence[Sequence[Symbol]]


class SymbolSelector(KernelParameter, BaseEstimator):  # type: ignore[misc]
    r"""Choose the symbols whose subtrees distinguish the classes, for a faster kernel.

    The gain of a symbol measures how well the fragments rooted in it agree with the labels,

    .. math:: a_s = \sum_{ij} y_i y_j \sum_{u \in T_i, \ell(u) = s} \; \sum_{v \in T_j, \ell(v) = s}
              \Delta(u, v)

    For more than two classes, :math:`y_i y_j` is +1 for equal classes and -1 for different ones.
    The selector chooses the symbols with the largest sum of gains under the constraints (Eq. 5 and
    section 3.2 of the paper). If the kernel normalises, trees are divided by their norms under the
    exact kernel, so that large trees do not dominate. The paper leaves this open.

    Parameters
    ----------
    kernel : SubsetTree, Subtree or PartialTree, optional
        SubsetTree() by default.
    n_symbols : int, or float in (0, 1], optional
        The number of symbols to choose. A float is a share of all symbols, rounded to at least one.
        With None the number is free: without other constraints, all symbols with a positive gain
        are chosen. For two classes no gain is negative.
    max_nodes_per_tree : float, optional
        The paper's `b`: the maximum number of chosen nodes per tree, on average over the trees.
    together : sequence of groups of symbols
        All symbols of a group are chosen, or none.
    at_least_one : sequence of groups of symbols
        At least one of each group is chosen.
    exactly_one : sequence of groups of symbols
        Exactly one of each group is chosen.
    by : {"label", "production"}
        The kind of symbols; see :class:`~filbert.kernels.ApproximateTree`.
    kernel_tol : float
        The largest error of kernels in the factors of PartialTree, relative to the kernel of a tree
        with itself. Larger values save time. With 0 the factors are exact.
    n_jobs : int, optional
        Threads; None for all cores, within what joblib grants (see :mod:`filbert.threads`). The
        result does not depend on it.

    Attributes
    ----------
    candidates_ : tuple
        The symbols of nodes that are roots of fragments, sorted. Constraints may name symbols that
        do not occur in the trees; these cannot be chosen.
    gains_ : ndarray of shape (n,)
        The gains :math:`a_s` of these symbols.
    frequencies_ : ndarray of shape (n,)
        The average number of nodes with the symbol per tree.
    symbols_ : tuple
        The chosen symbols, sorted.
    kernel_ : ApproximateTree
    kernel_error_ : float
        The largest error of a kernel in the factors, 0 if kernels were exact.
    speedup_ : float
        The paper's `q` (Eq. 6) over all pairs of the trees: the number of pairs of nodes with the
        same symbol, divided by the number of pairs with the same chosen symbol. Only nodes that are
        roots of fragments count. Infinite if no symbol is chosen.

    Examples
    --------
    >>> trees = ["(S (A x) (B y))", "(S (A x) (B z))", "(S (A w) (B y))", "(S (A w) (B z))"]
    >>> selector = SymbolSelector(n_symbols=1).fit(trees, [1, 1, 0, 0])
    >>> selector.symbols_
    ('A',)
    >>> selector.speedup_
    3.0
    """

    def __init__(
        self,
        kernel: TreeKernel | None = None,
        n_symbols: float | None = None,
        *,
        max_nodes_per_tree: float | None = None,
        together: Groups = (),
        at_least_one: Groups = (),
        exactly_one: Groups = (),
        by: Literal["label", "production"] = "label",
        kernel_tol: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_symbols = n_symbols
        self.max_nodes_per_tree = max_nodes_per_tree
        self.together = together
        self.at_least_one = at_least_one
        self.exactly_one = exactly_one
        self.by = by
        self.kernel_tol = kernel_tol
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Choose symbols from labelled trees.

        Parameters
        ----------
        X : Forest, sequence of trees or bracket strings, or Parts
            The different trees of a corpus in parts (:func:`filbert.parts`) are gathered in blocks
            of some million nodes. If there are several blocks, they are compared pair by pair, so
            that time grows with their square, and memory does not grow.
        y : array of n labels of at least two classes
            A corpus in parts may have its own.

        Returns
        -------
        SymbolSelector
            Itself.
        """
        self.check_parameters()
        kernel = SubsetTree() if self.kernel is None else clone(self.kernel)
        forms = Forms(kernel.whole(), self.by == "production", float(self.kernel_tol), self.n_jobs)
        if isinstance(X, Parts):
            found = gains_over_parts(forms, X, y)
        elif y is None:
            raise InvalidParameterError("SymbolSelector needs y, the class of each tree")
        else:
            found = gains_of(forms, kernel.trees_of(X), y)
        if not found.symbols:
            raise InvalidParameterError(
                f"SymbolSelector: no node of the trees is the root of a fragment of {kernel!r}"
            )
        names = tuple(self._symbol(labels) for labels in found.symbols)
        frequencies = found.n_nodes / found.n_trees
        chosen = self._choose(names, found.gains, frequencies)
        own = tuple(symbol for symbol, yes in zip(names, chosen, strict=True) if yes)
        chosen_kernel = ApproximateTree(kernel, own, by=self.by)
        with at_once(self) as draft:
            draft._take(chosen_kernel, names, found.gains, frequencies, found.kernel_error)
        return self

    def _take(
        self,
        kernel: ApproximateTree,
        candidates: tuple[Symbol, ...],
        gains: FloatArray,
        frequencies: FloatArray,
        kernel_error: float,
    ) -> None:
        self.kernel_error_ = kernel_error
        self.candidates_ = candidates
        self.gains_ = gains
        self.frequencies_ = frequencies
        self.symbols_ = kernel.symbols
        self.kernel_ = kernel
        known = set(kernel.symbols)
        chosen = np.array([symbol in known for symbol in candidates])
        pairs = frequencies**2
        with np.errstate(divide="ignore", invalid="ignore"):
            self.speedup_ = float(pairs.sum() / pairs[chosen].sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.target_tags.required = True
        return tags

    def _symbol(self, labels: Sequence[str]) -> Symbol:
        return tuple(labels) if self.by == "production" else labels[0]

    # ---------------------------------------------------------------- the choice

    def _choose(
        self, symbols: tuple[Symbol, ...], gains: FloatArray, frequencies: FloatArray
    ) -> NDArray[np.bool_]:
        wanted = self._n_wanted(len(symbols))
        constraints = self._constraints(symbols, frequencies)
        if len(constraints) > (wanted is not None):
            return best_choice(gains, constraints)
        # Without other constraints, sorting is enough.
        if wanted is None:
            return np.asarray(gains > 0)
        chosen = np.zeros(len(symbols), dtype=bool)
        chosen[np.argsort(-gains, kind="stable")[:wanted]] = True
        return chosen

    def _n_wanted(self, n: int) -> int | None:
        wanted = self.n_symbols
        if wanted is None:
            return None
        if not isinstance(wanted, Integral):
            return max(1, ceil(round(float(wanted) * n, 9)))
        if wanted > n:
            raise InvalidParameterError(
                f"SymbolSelector: n_symbols={wanted}, but the trees have only {n} symbols"
            )
        return int(wanted)

    def _constraints(
        self, symbols: tuple[Symbol, ...], frequencies: FloatArray
    ) -> list[Constraint]:
        n = len(symbols)
        wanted = self._n_wanted(n)
        constraints = [] if wanted is None else [exactly(wanted, n)]
        if self.max_nodes_per_tree is not None:
            constraints.append(bounded(frequencies, float(self.max_nodes_per_tree)))
        place_of = {symbol: place for place, symbol in enumerate(symbols)}
        for kind in _GROUPS:
            for group in getattr(self, kind):
                own = list(dict.fromkeys(self._symbol(self._labels(s)) for s in group))
                places = [place_of.get(symbol) for symbol in own]
                name = f"{kind}={tuple(own)!r}"
                if None in places:
                    name += f" (no tree has {own[places.index(None)]!r})"
                if kind == "together":
                    constraints.append(together(name, places, n))
                else:
                    only_one = kind == "exactly_one"
                    constraints.append(one_of(name, places, n, only_one=only_one))
        return constraints

    def _labels(self, symbol: Any) -> list[str]:
        return labels_of(symbol, self.by)

    # ---------------------------------------------------------------- parameters

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        known = capabilities_of(self.kernel)
        if self.kernel is not None and not (known.tree_in_core and known.all_roots):
            _refuse("kernel", self.kernel, "a SubsetTree, Subtree or PartialTree")
        if self.by not in ("label", "production"):
            _refuse("by", self.by, "'label' or 'production'")
        check_kernel_tol("SymbolSelector", self.kernel_tol)
        wanted = self.n_symbols
        if wanted is not None:
            whole = is_number(wanted, Integral) and wanted >= 1
            share = is_number(wanted, Real) and not is_number(wanted, Integral) and 0 < wanted <= 1
            if not whole and not share:
                _refuse("n_symbols", wanted, "a positive integer, a share in (0, 1] or None")
        most = self.max_nodes_per_tree
        if most is not None and (not is_number(most) or not 0 < most < np.inf):
            _refuse("max_nodes_per_tree", most, "a positive number or None")
        for kind in _GROUPS:
            self._check_groups(kind, getattr(self, kind))

    def _check_groups(self, kind: str, groups: Any) -> None:
        what = "a sequence of groups, each a sequence of symbols"
        if isinstance(groups, str) or not hasattr(groups, "__iter__"):
            _refuse(kind, groups, what)
        for group in groups:
            if isinstance(group, str) or not hasattr(group, "__iter__") or not list(group):
                _refuse(kind, groups, what)
            for symbol in group:
                self._labels(symbol)


_GROUPS = ("together", "at_least_one", "exactly_one")


def _refuse(name: str, value: Any, wanted: str) -> None:
    raise InvalidParameterError(f"SymbolSelector: {name} must be {wanted}, got {value!r}")
