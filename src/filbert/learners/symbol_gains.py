"""The gains of symbols, over trees in one piece or over a corpus in parts.

A gain is a quadratic form ``f^T Delta f`` over the nodes with a symbol, where ``f = X^T y`` are the
weights of nodes. It is no sum over parts: trees of different parts have nodes in common. With
``f = f_1 + f_2 + ...`` for blocks of parts,

    f^T Delta f = sum_i f_i^T Delta f_i + 2 sum_{i < j} f_i^T Delta f_j

    4 f_i^T Delta f_j = (f_i + f_j)^T Delta (f_i + f_j) - (f_i - f_j)^T Delta (f_i - f_j)

so two blocks at a time are enough. A corpus whose different trees fit into one block is as fast as
in one piece.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Rows
from filbert.corpus.runners import current_runner
from filbert.corpus.tasks import Work
from filbert.engine import factorize
from filbert.engine.work import LITTLE_WORK, row_steps, steps_worth_trying
from filbert.errors import OutOfMemoryError, WorkLimitError
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.learners.targets import checked_classes
from filbert.threads import n_threads

MOST_NODES = 4_000_000  # different nodes of a block, unless one part has more


class SymbolGains(NamedTuple):
    """The symbols of nodes that are roots of fragments, in the order of their labels.

    Attributes
    ----------
    symbols : list of tuple of str
        A label, or the labels of a production.
    gains, n_nodes : ndarray of shape (n_symbols,)
        `n_nodes` says how many nodes of all trees have the symbol.
    n_trees : float
    kernel_error : float
        The largest error of a kernel.
    """

    symbols: list[tuple[str, ...]]
    gains: FloatArray
    n_nodes: FloatArray
    n_trees: float
    kernel_error: float


class _Trees(NamedTuple):
    """Trees, and how often each of them is in each class."""

    forest: Forest
    counts: FloatArray


def gains_of(forms: "Forms", trees: Forest, y: ArrayLike) -> SymbolGains:
    """Return the gains of symbols over trees in one piece."""
    classes, coded = checked_classes(y, len(trees), "SymbolSelector")
    sums = _Sums(forms)
    sums.add_block(_compact(_Trees(trees, _one_each(len(classes), coded))))
    return sums.result()


def gains_over_parts(forms: "Forms", corpus: Parts, y: ArrayLike | None) -> SymbolGains:
    """Return the gains of symbols over a corpus in parts."""
    labels = corpus.labels() if y is None else y
    classes, coded = checked_classes(labels, len(corpus), "SymbolSelector")
    by_part = corpus.split(coded, "y")
    sums = _Sums(forms)
    blocks = []
    for parts, block in _blocks(forms.kernel, corpus, by_part, len(classes)):
        blocks.append(parts)
        sums.add_block(block)
    for i, parts in enumerate(blocks[:-1]):
        one = _gathered(forms.kernel, corpus, by_part, len(classes), parts)
        for others in blocks[i + 1 :]:
            sums.add_pair(one, _gathered(forms.kernel, corpus, by_part, len(classes), others))
    return sums.result()


@dataclass(frozen=True)
class Forms:
    """Computes quadratic forms ``f^T Delta f`` of symbols, with the parameters of the selector."""

    kernel: TreeKernel
    by_production: bool
    kernel_tol: float
    n_jobs: int | None

    def symbols(self, forest: Forest) -> tuple[NDArray[np.uint32], list[list[str]]]:
        """Return the symbol of each node, and the labels of each symbol."""
        of_node, names = _core.node_symbols(forest._dag, self.by_production)
        return of_node, names

    def of(
        self, forest: Forest, weights: FloatArray, of_node: NDArray[np.uint32], n_symbols: int
    ) -> tuple[FloatArray, float]:
        """Return the forms by symbol and column of weights, and the largest error of a kernel.

        They are computed by factors, or by pairs of nodes if these are few or factors too many.
        """
        weights = np.ascontiguousarray(weights)
        threads = n_threads(self.n_jobs)
        max_work = None
        if self.kernel.capabilities.factors == "uncertain":
            rows = row_steps(self.kernel, forest)
            max_work = 0.0 if rows < LITTLE_WORK else steps_worth_trying(self.kernel, rows)
        if max_work != 0.0:
            try:
                factors = factorize(
                    self.kernel,
                    forest,
                    max_work=max_work,
                    keep_nodes=True,
                    kernel_tol=self.kernel_tol,
                    n_jobs=self.n_jobs,
                )
                forms = factors.symbol_forms(weights, of_node, n_symbols, threads)
                return forms, float(factors.kernel_errors.max(initial=0.0))
            except (WorkLimitError, OutOfMemoryError):
                pass
        forms = _core.symbol_forms_by_pairs(
            self.kernel._spec(),
            forest._dag,
            forest._roots,
            bool(self.kernel.normalize),
            weights,
            of_node,
            n_symbols,
            threads,
        )
        return forms, 0.0


class _Sums:
    """Sums up gains and numbers of nodes by symbol."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self._gains: dict[tuple[str, ...], float] = defaultdict(float)
        self._nodes: dict[tuple[str, ...], float] = defaultdict(float)
        self._n_trees = 0.0
        self._error = 0.0

    def add_block(self, block: _Trees) -> None:
        """Add trees, with all pairs of them."""
        forest, counts = block
        of_node, names = self._forms.symbols(forest)
        n_nodes = self._n_nodes(forest, counts.sum(axis=1), of_node, len(names))
        forms, error = self._forms.of(forest, _weights(counts), of_node, len(names))
        gains = _combined(forms)
        for s in np.flatnonzero(n_nodes):
            self._gains[tuple(names[s])] += float(gains[s])
            self._nodes[tuple(names[s])] += float(n_nodes[s])
        self._n_trees += float(counts.sum())
        self._error = max(self._error, error)

    def add_pair(self, one: _Trees, other: _Trees) -> None:
        """Add the pairs of a tree of one block and a tree of another."""
        forest = Forest.concat([one.forest, other.forest])
        of_node, names = self._forms.symbols(forest)
        a, b = _weights(one.counts), _weights(other.counts)
        signed = np.hstack([np.vstack([a, b]), np.vstack([a, -b])])
        forms, error = self._forms.of(forest, signed, of_node, len(names))
        n = a.shape[1]
        gains = 0.5 * (_combined(forms[:, :n]) - _combined(forms[:, n:]))
        for s in np.flatnonzero(gains):
            symbol = tuple(names[s])
            if symbol in self._nodes:
                self._gains[symbol] += float(gains[s])
        self._error = max(self._error, error)

    def result(self) -> SymbolGains:
        """Return all gains."""
        symbols = sorted(self._nodes)
        return SymbolGains(
            symbols,
            np.array([self._gains[symbol] for symbol in symbols]),
            np.array([self._nodes[symbol] for symbol in symbols]),
            self._n_trees,
            self._error,
        )

    def _n_nodes(
        self, forest: Forest, n_equal: FloatArray, of_node: NDArray[np.uint32], n_symbols: int
    ) -> FloatArray:
        """Return how many nodes have each symbol. `n_equal` says how often each tree occurs."""
        roots = np.repeat(forest._roots, n_equal.astype(np.intp))
        totals = _core.node_totals(forest._dag, roots)
        if not self._forms.kernel.capabilities.leaves:
            ends = forest._dag.to_arrays()[3].astype(np.int64)
            totals[np.diff(ends, prepend=0) == 0] = 0.0
        return np.asarray(np.bincount(of_node, weights=totals, minlength=n_symbols), np.float64)


def _weights(counts: FloatArray) -> FloatArray:
    """Return the columns of weights of trees whose forms `_combined` makes into gains.

    For more than two classes, the matrix of +1 for equal and -1 for different classes is twice the
    sum over classes of ``z z^T`` minus a matrix of ones, where `z` is 1 in the class and 0 outside.
    """
    if counts.shape[1] == 2:
        return counts[:, 1:] - counts[:, :1]
    return np.hstack([counts, counts.sum(axis=1, keepdims=True)])


def _combined(forms: FloatArray) -> FloatArray:
    if forms.shape[1] == 1:
        return forms[:, 0]
    return np.asarray(2.0 * forms[:, :-1].sum(axis=1) - forms[:, -1])


# ---------------------------------------------------------------- the trees of parts


def _blocks(
    kernel: TreeKernel, corpus: Parts, coded: Sequence[NDArray[np.intp]], n_classes: int
) -> Iterator[tuple[range, _Trees]]:
    """Yield blocks of consecutive parts, with their trees, in one pass over the corpus."""
    found: list[_Trees] = []
    n_nodes = first = 0
    for part, trees in enumerate(_distinct(kernel, corpus, coded, n_classes, range(len(coded)))):
        if found and n_nodes + trees.forest._dag.size > MOST_NODES:
            yield range(first, part), _together(found)
            found, n_nodes, first = [], 0, part
        found.append(trees)
        n_nodes += trees.forest._dag.size
    yield range(first, len(coded)), _together(found)


def _gathered(
    kernel: TreeKernel,
    corpus: Parts,
    coded: Sequence[NDArray[np.intp]],
    n_classes: int,
    parts: range,
) -> _Trees:
    return _together(list(_distinct(kernel, corpus, coded, n_classes, parts)))


def _distinct(
    kernel: TreeKernel,
    corpus: Parts,
    coded: Sequence[NDArray[np.intp]],
    n_classes: int,
    parts: range,
) -> Iterator[_Trees]:
    work = Work("counting trees", _distinct_in_part, (kernel, n_classes))
    pieces = [corpus.pieces[part] for part in parts]
    yield from current_runner().map(work, pieces, [(coded[part],) for part in parts], 0)


def _distinct_in_part(
    rows: Rows, coded: NDArray[np.intp], kernel: TreeKernel, n_classes: int
) -> _Trees:
    return _each_once(_Trees(kernel.trees_of(rows.X), _one_each(n_classes, coded)))


def _together(blocks: list[_Trees]) -> _Trees:
    forest = Forest.concat([one.forest for one in blocks])
    return _each_once(_Trees(forest, np.concatenate([one.counts for one in blocks])))


def _each_once(trees: _Trees) -> _Trees:
    """Return each different tree once, in the order of their first places, with summed counts."""
    forest, counts = trees
    _, first, number = np.unique(forest._roots, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    summed = np.zeros((len(order), counts.shape[1]))
    np.add.at(summed, place[number], counts)
    return _compact(_Trees(forest[first[order]], summed))


def _compact(trees: _Trees) -> _Trees:
    """Return the same trees in a forest of their own."""
    forest = trees.forest
    return _Trees(Forest._of(*forest._dag.extract(forest._roots)), trees.counts)


def _one_each(n_classes: int, coded: NDArray[np.intp]) -> FloatArray:
    """Return 1 for the class of each tree, and 0 for the other classes."""
    return np.asarray(coded[:, None] == np.arange(n_classes), dtype=np.float64)
