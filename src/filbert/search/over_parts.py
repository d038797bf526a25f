"""Search in a corpus in parts, and for queries in parts.

Each part is a pure task: it is indexed and searched by itself, wherever it is loaded. The best
results of all parts are merged by similarity and id, as those of segments are.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from filbert.arrays import FloatArray
from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Rows
from filbert.corpus.tasks import Work
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.search.segments import Found, Ids, Segment, Segments, merged


class TreesInParts:
    """The trees of a corpus in parts, by their numbers there. They are not kept in memory.

    It has the methods of `Segments` that search.
    """

    at_a_time = 1 << 15  # queries for which all parts are loaded and indexed once

    def __init__(self, kernel: TreeKernel, corpus: Parts) -> None:
        self.kernel = kernel
        self.corpus = corpus
        self.next_id = len(corpus)

    def __len__(self) -> int:
        return self.next_id

    def ids(self) -> Ids:
        """Return the ids of all trees, ascending."""
        return np.arange(self.next_id, dtype=np.int64)

    def trees(self, ids: Ids) -> Forest:
        """Return trees by id. Unknown ids raise an error."""
        unknown = ids[(ids < 0) | (ids >= self.next_id)]
        if len(unknown):
            raise InvalidParameterError(f"there is no tree {int(unknown[0])} in the index")
        chosen = self.corpus[ids]
        blocks = list(chosen._run(Work("loading", _trees, (self.kernel,))))
        together = Forest.concat(blocks) if blocks else Forest(())
        return together[np.argsort(np.concatenate([*chosen.numbers(), np.zeros(0, np.intp)]))]

    def search(
        self,
        queries: Forest,
        *,
        n_neighbors: int | None,
        least: float,
        excluded: Ids | None = None,
        n_jobs: int | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> Found:
        """Return the most similar trees of each query, with one pass over the corpus."""
        shared = (self.kernel, queries, excluded, n_neighbors, least, n_jobs)
        own = [(numbers.astype(np.int64),) for numbers in self.corpus.numbers()]
        best = merged([], len(queries), n_neighbors)
        results = self.corpus._run(Work("searching", _search_part, shared), own)
        for done, found in enumerate(results, 1):
            best = merged([best, found], len(queries), n_neighbors)
            if progress is not None:
                progress(done * len(queries) // self.corpus.n_parts, len(queries))
        return best

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for what only an index in memory can do."""
        raise InputTypeError(
            f"{what} needs an index in memory, but this one searches a corpus in parts, which it "
            "loads again for each search: fit it on another corpus, or build an index that is kept "
            "with `for X, _ in corpus.each(): index.partial_fit(X)`"
        )


def neighbors_of_parts(
    index: Segments, queries: Parts, n_neighbors: int | None, least: float, n_jobs: int | None
) -> list[Found]:
    """Return the results for the queries of each part. The index is sent to where they are."""
    segments = [(one.arrays, one.ids, one.removed) for one in index.segments]
    shared = (index.kernel, segments, n_neighbors, least, n_jobs)
    return list(queries._run(Work("searching", _search_for_part, shared)))


# ---------------------------------------------------------------- tasks


def _trees(rows: Rows, kernel: TreeKernel) -> Forest:
    return kernel.trees_of(rows.X)


def _search_part(
    rows: Rows,
    numbers: Ids,
    kernel: TreeKernel,
    queries: Forest,
    excluded: Ids | None,
    n_neighbors: int | None,
    least: float,
    n_jobs: int | None,
) -> Found:
    """Index the trees of a part, whose ids are `numbers`, and search them."""
    segments = Segments(kernel)
    segments.add(kernel.trees_of(rows.X), n_jobs)
    here = None if excluded is None else _places(numbers, excluded)
    found = _searched(segments, queries, here, n_neighbors, least, n_jobs)
    found.ids = numbers[found.ids]
    return found


def _search_for_part(
    rows: Rows,
    kernel: TreeKernel,
    segments: list[tuple[Any, Ids, Any]],
    n_neighbors: int | None,
    least: float,
    n_jobs: int | None,
) -> Found:
    """Search an index for the trees of a part."""
    index = Segments(
        kernel,
        [Segment.of(kernel, arrays, ids, removed=removed) for arrays, ids, removed in segments],
    )
    return _searched(index, kernel.trees_of(rows.X), None, n_neighbors, least, n_jobs)


def _searched(
    segments: Segments,
    queries: Forest,
    excluded: Ids | None,
    n_neighbors: int | None,
    least: float,
    n_jobs: int | None,
) -> Found:
    """Search for some queries at a time."""
    found = []
    for first in range(0, len(queries), segments.at_a_time):
        some = slice(first, first + segments.at_a_time)
        found.append(
            segments.search(
                queries[some],
                n_neighbors=n_neighbors,
                least=least,
                excluded=None if excluded is None else excluded[some],
                n_jobs=n_jobs,
            )
        )
    return in_a_row(found)


def in_a_row(found: list[Found]) -> Found:
    """Join the results of different queries."""
    before = np.cumsum([0, *(len(one.ids) for one in found)])
    nothing: Ids = np.zeros(0, np.int64)
    no_values: FloatArray = np.zeros(0)
    return Found(
        np.concatenate([nothing, *(one.ends + n for one, n in zip(found, before, strict=False))]),
        np.concatenate([nothing, *(one.ids for one in found)]),
        np.concatenate([no_values, *(one.values for one in found)]),
        sum(one.n_evaluated for one in found),
        sum(one.n_pairs for one in found),
    )


def _places(numbers: Ids, ids: Ids) -> Ids:
    """Return the places of ids among ascending numbers, or -1 for ids that are not there."""
    if len(numbers) == 0:
        return np.full(len(ids), -1)
    places = np.minimum(np.searchsorted(numbers, ids), len(numbers) - 1)
    return np.where(numbers[places] == ids, places, -1)
