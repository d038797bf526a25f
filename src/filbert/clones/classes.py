"""Clone classes of whole trees: equal trees, and trees above a similarity."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as linked
from scipy.sparse.csgraph import connected_components

from filbert.clones.pairs import similar_pairs
from filbert.errors import InvalidParameterError, MatrixTooLargeError
from filbert.forest import Forest
from filbert.kernels import SubsetTree, TreeKernel
from filbert.kernels.algebra import is_number

Linkage = Literal["single", "complete"]
_MOST_LINKED = 8192  # distinct trees of a component that complete linkage splits


@dataclass(frozen=True)
class CloneClass:
    """Trees that are equal or similar.

    Attributes
    ----------
    members : tuple of int
        The positions of the trees, ascending.
    n_distinct : int
        The number of distinct trees among them. It is 1 if all members are equal.
    similarity : float
        The lowest similarity of two members. With single linkage it may be below the threshold.
    size : int
        The number of nodes of the first member.

    Examples
    --------
    >>> [group] = clone_classes(["(S (A a))", "(S (A b))", "(S (A a))"], min_similarity=1)
    >>> group.members, group.is_exact
    ((0, 2), True)
    """

    members: tuple[int, ...]
    n_distinct: int
    similarity: float
    size: int

    @property
    def is_exact(self) -> bool:
        """Whether all members are equal."""
        return self.n_distinct == 1


def clone_classes(
    X: Any,
    *,
    kernel: TreeKernel | None = None,
    min_similarity: float = 0.8,
    linkage: Linkage = "single",
    min_size: int = 1,
    n_jobs: int | None = None,
    progress: Any = None,
) -> list[CloneClass]:
    """Return the classes of at least two trees that are equal or similar.

    Equal trees are recognised by the number of their subtree and cost nothing. If `min_similarity`
    is 1, only these are found, and no kernel is computed. Otherwise the pairs of similar distinct
    trees are found by an index, see :func:`similar_pairs`. Equal trees are in one class, also if
    the kernel finds no fragment in them.

    Parameters
    ----------
    X : Forest, or sequence of trees or bracket strings
        The trees to compare with each other.
    kernel : tree kernel, optional
        SubsetTree() by default. It must normalise.
    min_similarity : float
        From 0 (excluded) to 1.
    linkage : {"single", "complete"}
        ``"single"``: the connected components of the graph of similar pairs. ``"complete"``: all
        pairs of a class are similar. Classes are then merged from the most similar ones on, as long
        as this holds.
    min_size : int
        Leave out trees with fewer nodes.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Returns
    -------
    list of CloneClass
        By the number of nodes that could be saved, the largest first, then by the first member. A
        tree is in at most one class.

    Examples
    --------
    >>> trees = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q d)", "(S (NP a) (VP b))"]
    >>> clone_classes(trees, min_similarity=1)
    [CloneClass(members=(0, 3), n_distinct=1, similarity=1.0, size=5)]
    >>> [c.members for c in clone_classes(trees, min_similarity=0.3)]
    [(0, 1, 3)]
    """
    kernel = _checked_kernel(kernel)
    if not is_number(min_similarity, Real) or not 0 < min_similarity <= 1:
        raise InvalidParameterError(f"min_similarity must be in (0, 1], got {min_similarity!r}")
    if linkage not in ("single", "complete"):
        raise InvalidParameterError(f"linkage must be 'single' or 'complete', got {linkage!r}")
    if not is_number(min_size, Integral) or min_size < 1:
        raise InvalidParameterError(f"min_size must be a positive integer, got {min_size!r}")
    forest = X if isinstance(X, Forest) else kernel.trees_of(X)
    sizes = np.asarray(forest._dag.sizes(forest._roots))
    kept = np.flatnonzero(sizes >= min_size)
    _, first, number = np.unique(forest._roots[kept], return_index=True, return_inverse=True)
    order = np.argsort(first)  # distinct trees in the order of their first members
    number = np.argsort(order)[number]
    distinct = forest[kept[first[order]]]
    labels = np.arange(len(distinct))
    if min_similarity < 1 and len(distinct) > 1:
        i, j, values = similar_pairs(
            kernel, distinct, float(min_similarity), n_jobs=n_jobs, progress=progress
        )
        similar = _graph(i, j, values, len(distinct))
        labels = connected_components(similar, directed=False)[1].astype(np.int64)
        if linkage == "complete":
            labels = _split(labels, similar)
    else:
        similar = _graph([], [], [], len(distinct))
    lowest = _Lowest(kernel, distinct, similar, n_jobs)
    found = [
        _class(kept[number_of], kept, number, sizes, lowest)
        for number_of in _groups(labels[number])
    ]
    return sorted(found, key=lambda c: (-c.size * (len(c.members) - 1), c.members[0]))


def _class(
    members: NDArray[np.int64],
    kept: NDArray[np.int64],
    number: NDArray[np.int64],
    sizes: NDArray[Any],
    lowest: "_Lowest",
) -> CloneClass:
    own = np.unique(number[np.searchsorted(kept, members)])
    return CloneClass(tuple(members.tolist()), len(own), lowest(own), int(sizes[members[0]]))


@dataclass(frozen=True)
class _Lowest:
    """Finds the lowest similarity of some distinct trees."""

    kernel: TreeKernel
    trees: Forest
    similar: sp.csr_array
    n_jobs: int | None

    def __call__(self, own: NDArray[np.int64]) -> float:
        if len(own) == 1:
            return 1.0
        known = self.similar[own][:, own]
        if known.nnz == len(own) * (len(own) - 1) // 2:
            return float(known.data.min())
        trees = self.trees[own]
        lowest = 1.0
        for start in range(0, len(own), 256):  # bounded memory
            K = self.kernel(trees[start : start + 256], trees, n_jobs=self.n_jobs)
            lowest = min(lowest, float(K.min()))
        return lowest


def _groups(labels: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the places of each label that is there at least twice."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    groups = np.split(order, starts[1:]) if len(order) else []
    return [group for group in groups if len(group) > 1]


def _graph(i: Any, j: Any, values: Any, n: int) -> sp.csr_array:
    """Return the similarities of similar pairs i < j as a sparse matrix."""
    return sp.coo_array((np.asarray(values, dtype=np.float64), (i, j)), shape=(n, n)).tocsr()


def _split(labels: NDArray[np.int64], similar: sp.csr_array) -> NDArray[np.int64]:
    """Split components until all pairs of a class are similar, by complete linkage."""
    result = np.arange(len(labels))
    for group in _groups(labels):
        if len(group) > _MOST_LINKED:
            raise MatrixTooLargeError(
                f"{len(group):,} distinct trees are connected, and complete linkage takes at most "
                f"{_MOST_LINKED:,}: raise min_similarity, or use linkage='single'"
            )
        known = similar[group][:, group].tocoo()
        distances = np.full((len(group), len(group)), 2.0)
        distances[known.row, known.col] = 1.0 - known.data
        split = fcluster(
            linked(distances[np.triu_indices(len(group), 1)], "complete"), 1.5, "distance"
        )
        for label in np.unique(split):
            result[group[split == label]] = group[split == label].min()
    return result


def _checked_kernel(kernel: Any) -> TreeKernel:
    kernel = SubsetTree() if kernel is None else kernel
    if not isinstance(kernel, TreeKernel) or not kernel.normalize:
        raise InvalidParameterError(
            "similarity is the value of a normalised tree kernel: pass kernel=SubsetTree(), "
            f"Subtree() or PartialTree() with normalize=True, not {kernel!r}"
        )
    return kernel
