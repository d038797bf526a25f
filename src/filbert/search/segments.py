"""Trees in segments, each of which is searched by itself. Segments are never changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.threads import n_threads

Ids = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]

_NOWHERE = np.uint32(2**32 - 1)
_NONE_REMOVED = np.zeros(0, dtype=np.uint8)


@dataclass
class Segment:
    """Some trees of an index.

    Attributes
    ----------
    arrays : dict
        The arrays of the core.
    ids : ndarray of shape (n_positions,)
        The ids of the trees, ascending.
    searcher : SegmentSearcher
    removed : ndarray of shape (n_positions,) or (0,)
        Nonzero for trees that were removed. Empty if none were.
    file : str, optional
        The name of the file that holds the arrays.
    """

    arrays: Arrays
    ids: Ids
    searcher: _core.SegmentSearcher
    removed: NDArray[np.uint8] = field(default_factory=_NONE_REMOVED.copy)
    file: str | None = None

    @classmethod
    def of(cls, kernel: TreeKernel, arrays: Arrays, ids: Ids, **more: Any) -> "Segment":
        """Make a segment of the arrays of the core."""
        searcher = _core.SegmentSearcher(kernel._spec(), arrays, bool(kernel.normalize))
        return cls(arrays, ids, searcher, **more)

    def kept(self) -> NDArray[np.bool_]:
        """Return by position whether a tree is still there."""
        if len(self.removed) == 0:
            return np.ones(len(self.ids), dtype=bool)
        return np.equal(self.removed, 0)

    def positions(self, ids: Ids) -> NDArray[np.int64]:
        """Return the positions of ids, or -1 for ids that are not here or were removed."""
        if len(self.ids) == 0:
            return np.full(len(ids), -1)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where((self.ids[places] == ids) & self.kept()[places], places, -1)

    def trees(self, positions: NDArray[Any]) -> Forest:
        """Return trees by position."""
        tree_of = np.zeros(len(self.ids), dtype=np.uint32)
        counts = np.diff(self.arrays["position_ends"], prepend=np.uint64(0)).astype(np.int64)
        tree_of[self.arrays["positions"]] = np.repeat(np.arange(len(counts)), counts)
        dag, roots = self.searcher.trees(tree_of[positions])
        return Forest._of(dag, roots)


@dataclass
class Found:
    """The results of a search, query by query, the most similar trees first.

    Attributes
    ----------
    ends : ndarray of shape (n_queries,)
        The end of each query's results.
    ids : ndarray
    values : ndarray
    n_evaluated, n_pairs : int
        The number of pairs of a query and a distinct tree that were compared, and of all pairs.
    """

    ends: Ids
    ids: Ids
    values: FloatArray
    n_evaluated: int
    n_pairs: int


class Segments:
    """Trees with ids, in the order in which they were added."""

    at_a_time = 512  # queries

    def __init__(self, kernel: TreeKernel, segments: Iterable[Segment] = (), next_id: int = 0):
        self.kernel = kernel
        self.segments = list(segments)
        self.next_id = next_id

    def __len__(self) -> int:
        return sum(int(segment.kept().sum()) for segment in self.segments)

    def ids(self) -> Ids:
        """Return the ids of all trees, ascending."""
        parts = [segment.ids[segment.kept()] for segment in self.segments]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def add(self, trees: Forest, n_jobs: int | None, progress: Any = None) -> None:
        """Add trees as a segment. Neighbouring segments of about the same size become one."""
        n_new = len(trees)
        ids = np.arange(self.next_id, self.next_id + n_new, dtype=np.int64)
        segments = list(self.segments)
        # As in a binary counter, each tree is moved a few times, and there are few segments.
        while n_new and segments and len(segments[-1].ids) < 2 * len(ids):
            last = segments.pop()
            kept = last.kept()
            trees = Forest.concat([last.trees(np.flatnonzero(kept)), trees])
            ids = np.concatenate([last.ids[kept], ids])
        if len(ids):
            segments.append(self._built(trees, ids, n_jobs, progress))
        self.segments, self.next_id = segments, self.next_id + n_new

    def _built(self, trees: Forest, ids: Ids, n_jobs: int | None, progress: Any) -> Segment:
        arrays = _core.build_segment(
            self.kernel._spec(), trees._dag, trees._roots, n_threads(n_jobs), progress
        )
        return Segment.of(self.kernel, arrays, ids)

    def remove(self, ids: Ids) -> None:
        """Remove trees. Unknown ids raise an error, and nothing is removed."""
        places = [segment.positions(ids) for segment in self.segments]
        known = np.zeros(len(ids), dtype=bool)
        for at in places:
            known |= at >= 0
        if not known.all():
            raise InvalidParameterError(f"there is no tree {int(ids[~known][0])} in the index")
        for segment, at in zip(self.segments, places, strict=True):
            if (at >= 0).any():
                removed = np.zeros(len(segment.ids), dtype=np.uint8)
                removed[: len(segment.removed)] = segment.removed
                removed[at[at >= 0]] = 1
                segment.removed = removed

    def trees(self, ids: Ids) -> Forest:
        """Return trees by id. Unknown ids raise an error."""
        parts, order = [], []
        for segment in self.segments:
            at = segment.positions(ids)
            there = np.flatnonzero(at >= 0)
            if len(there):
                parts.append(segment.trees(at[there]))
                order.append(there)
        places = np.concatenate([np.zeros(0, np.int64), *order])
        if len(places) < len(ids):
            missing = np.setdiff1d(np.arange(len(ids)), places)
            raise InvalidParameterError(f"there is no tree {int(ids[missing[0]])} in the index")
        together = Forest.concat(parts) if parts else Forest(())
        return together[np.argsort(places)]

    def search(
        self,
        queries: Forest,
        *,
        n_neighbors: int | None,
        least: float,
        excluded: Ids | None = None,
        n_jobs: int | None = None,
        progress: Any = None,
    ) -> Found:
        """Return the most similar trees of each query.

        Parameters
        ----------
        queries : Forest
        n_neighbors : int, optional
            The most results of a query; None for all.
        least : float
            The lowest similarity.
        excluded : ndarray of shape (len(queries),), optional
            An id for each query that is not among its results.
        n_jobs : int, optional
        progress : callable, optional
        """
        most = 2**32 if n_neighbors is None else n_neighbors
        found = []
        for segment in self.segments:
            left_out = np.zeros(0, dtype=np.uint32)
            if excluded is not None:
                at = segment.positions(excluded)
                left_out = np.where(at >= 0, at, _NOWHERE).astype(np.uint32)
            ends, positions, values, n_evaluated = segment.searcher.search(
                queries._dag,
                queries._roots,
                most,
                least,
                segment.removed,
                left_out,
                n_threads(n_jobs),
                progress,
            )
            n_pairs = len(queries) * segment.searcher.n_trees
            ids = segment.ids[positions]
            found.append(Found(ends.astype(np.int64), ids, values, n_evaluated, n_pairs))
        return merged(found, len(queries), n_neighbors)


def merged(found: Sequence[Found], n: int, n_neighbors: int | None) -> Found:
    """Merge results for the same `n` queries in different trees.

    Equal similarities are in the order of the ids, as in one piece.
    """
    queries = [np.repeat(np.arange(n), np.diff(one.ends, prepend=0)) for one in found]
    query = np.concatenate([np.zeros(0, np.int64), *queries])
    ids = np.concatenate([np.zeros(0, np.int64), *(one.ids for one in found)])
    values = np.concatenate([np.zeros(0), *(one.values for one in found)])
    order = np.lexsort((ids, -values, query))
    query, ids, values = query[order], ids[order], values[order]
    if n_neighbors is not None:
        kept = np.arange(len(query)) - np.searchsorted(query, np.arange(n))[query] < n_neighbors
        query, ids, values = query[kept], ids[kept], values[kept]
    n_evaluated = sum(one.n_evaluated for one in found)
    n_pairs = sum(one.n_pairs for one in found)
    return Found(np.cumsum(np.bincount(query, minlength=n)), ids, values, n_evaluated, n_pairs)
