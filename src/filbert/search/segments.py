"""Trees in segments, each of which is searched by itself. Segments are never changed."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import CorruptForestError, InvalidParameterError
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.kernels.algebra import is_number
from filbert.threads import n_threads

Ids = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]

_NOWHERE = np.uint32(2**32 - 1)
_ROUNDING = 1e-9  # kernel values of nearly equal trees
_DAMAGED = "the index is damaged: build it again"
_NONE_REMOVED = np.zeros(0, dtype=np.uint8)


def new_identity() -> str:
    """Return a random number that no other content has, as text."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Notes:
    """What the command line keeps with an index: JSON values, and arrays."""

    values: dict[str, Any] = field(default_factory=dict)
    columns: Arrays = field(default_factory=dict)
    identity: str = field(default_factory=new_identity)


@dataclass(frozen=True)
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
    identity, removed_identity : str
        Random numbers that stand for the arrays and ids, and for `removed`. What is on disk under
        the same number is not written again.
    """

    arrays: Arrays
    ids: Ids
    searcher: _core.SegmentSearcher
    removed: NDArray[np.uint8] = field(default_factory=_NONE_REMOVED.copy)
    identity: str = field(default_factory=new_identity)
    removed_identity: str = field(default_factory=new_identity)

    @classmethod
    def of(cls, kernel: TreeKernel, arrays: Arrays, ids: Ids, **more: Any) -> "Segment":
        """Make a segment of the arrays of the core."""
        searcher = _core.SegmentSearcher(kernel._spec(), arrays, bool(kernel.normalize))
        return cls(arrays, ids, searcher, **more)

    def without(self, positions: NDArray[np.int64]) -> "Segment":
        """Return the segment without some more trees."""
        removed = np.zeros(len(self.ids), dtype=np.uint8)
        removed[: len(self.removed)] = self.removed
        removed[positions] = 1
        return replace(self, removed=removed, removed_identity=new_identity())

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

    def check_positions(self, positions: NDArray[Any]) -> None:
        """Check positions that come from a file."""
        if positions.max(initial=0) >= max(1, len(self.ids)):
            raise CorruptForestError(_DAMAGED)

    def trees(self, positions: NDArray[Any]) -> Forest:
        """Return trees by position."""
        tree_of = np.zeros(len(self.ids), dtype=np.uint32)
        order = self.arrays["positions"]
        self.check_positions(order)
        ends: Ids = self.arrays["position_ends"].astype(np.int64)
        counts: Ids = np.diff(ends, prepend=0)
        if (counts < 0).any() or counts.sum() != len(order):
            raise CorruptForestError(_DAMAGED)
        tree_of[order] = np.repeat(np.arange(len(counts)), counts)
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
    """Trees with ids, in the order in which they were added.

    Attributes
    ----------
    kernel : TreeKernel
    segments : list of Segment
        It is replaced, never changed.
    next_id : int
        It is beyond all ids at any time, also for a signal handler or another thread.
    notes : Notes
    settings : dict
        Parameters of the object that searches, as JSON values. They are stored with the trees.
    known : set of (folder, hash)
        The lists on disk that these trees were loaded from or saved as.
    """

    at_a_time = 512  # queries

    def __init__(
        self,
        kernel: TreeKernel,
        segments: Iterable[Segment] = (),
        next_id: int = 0,
        notes: Notes | None = None,
    ):
        self.kernel = kernel
        self.segments = list(segments)
        self.next_id = next_id
        self.notes = Notes() if notes is None else notes
        self.settings: dict[str, Any] = {}
        self.known: set[tuple[str, str]] = set()

    def __getstate__(self) -> dict[str, Any]:
        """Return the arrays. The core makes its own objects of them again."""
        names = ("identity", "removed_identity")
        segments = [
            (
                {name: np.array(array) for name, array in one.arrays.items()},
                {"ids": one.ids, "removed": np.array(one.removed)}
                | {name: getattr(one, name) for name in names},
            )
            for one in self.segments
        ]
        return {**self.__dict__, "segments": segments}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.segments = [
            Segment.of(self.kernel, arrays, **more) for arrays, more in state["segments"]
        ]

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
        self.next_id += n_new
        self.segments = segments

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
        self.segments = [
            segment.without(at[at >= 0]) if (at >= 0).any() else segment
            for segment, at in zip(self.segments, places, strict=True)
        ]

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
        most = len(self) if n_neighbors is None else min(n_neighbors, len(self))
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
            segment.check_positions(positions)
            n_pairs = len(queries) * segment.searcher.n_trees
            ids = segment.ids[positions]
            found.append(Found(ends.astype(np.int64), ids, values, n_evaluated, n_pairs))
        return merged(found, len(queries), n_neighbors)


def checked_similarity(value: Any, kernel: TreeKernel) -> float:
    """Return a lowest similarity. NaN, and more than equal trees have, would find nothing."""
    if not is_number(value, Real) or not np.isfinite(value):
        raise InvalidParameterError(f"min_similarity must be a number, got {value!r}")
    if kernel.normalize and value > 1 + _ROUNDING:
        raise InvalidParameterError(
            f"min_similarity must be at most 1, the similarity of equal trees, got {value!r}: "
            "pass 0.8 for 80 %"
        )
    return float(value)


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
