"""TreeIndex: nearest neighbours among trees, with the conventions of scikit-learn."""

import os
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from filbert.arrays import FloatArray
from filbert.corpus.parts import Parts
from filbert.errors import InputTypeError, InvalidParameterError, ModelFileError
from filbert.forest import Forest
from filbert.kernels import SubsetTree, TreeKernel
from filbert.kernels.algebra import is_number
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.inputs import warn_without_fragments
from filbert.learners.kernel_parameter import KernelParameter
from filbert.progress import progress_bar
from filbert.search.files import open_segments, save_segments
from filbert.search.over_parts import TreesInParts, in_a_row, neighbors_of_parts
from filbert.search.queries import batches, check_not_excluded, checked_ids, ids_or_none
from filbert.search.segments import Found, Ids, Segments, checked_similarity

Metric = Literal["similarity", "distance"]
Mode = Literal["connectivity", "similarity", "distance"]

_SAVED = ("metric", "n_neighbors")


class Neighbors(NamedTuple):
    """The results of one query, the most similar tree first."""

    values: FloatArray
    ids: Ids


class TreeIndex(KernelParameter, BaseEstimator):  # type: ignore[misc]
    r"""Find the trees that are most similar to a query, exactly.

    Similarity is the value of a tree kernel, normalised by default: equal trees then have
    similarity 1.
    Results are those of comparing a query with every tree by the kernel matrix. Most trees are
    skipped: upper bounds of their similarity, computed from lists of trees by subtree, production
    or label, show that they cannot be among the results.

    Equal similarities are in the order of the ids. Equal trees always have equal similarities. A
    tree without any fragment of the kernel, such as a single node under SubsetTree, has similarity
    0 to every tree.
    Similarities do not depend on the number of threads, nor on the other trees of the index, except
    for the last digits of very large trees and of ApproximateTree, which are compared by rows.

    Parameters
    ----------
    kernel : tree kernel, optional
        SubsetTree() by default. Also Subtree, PartialTree, LocalPatterns and ApproximateTree.
    n_neighbors : int
        The number of neighbours that :meth:`kneighbors` returns by default.
    metric : {"similarity", "distance"}
        What is returned: kernel values, the largest first, or distances
        :math:`\sqrt{2 - 2K}`, the smallest first. Distances need a normalised kernel.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.
    verbose : int
        If positive, show progress.

    Attributes
    ----------
    n_trees_ : int
        The number of trees.
    ids_ : ndarray of shape (n_trees,)
        Their ids, ascending. :meth:`fit` gives 0, 1, ..., and :meth:`partial_fit` continues. Ids of
        removed trees are not used again.
    share_skipped_ : float
        The share of pairs of a query and a distinct tree that were not compared in the last search.
        With Subtree, SubsetTree and LocalPatterns, the lists of trees give the kernel itself. These
        pairs then count as skipped unless they are near the results.

    Examples
    --------
    >>> index = TreeIndex().fit(["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q d)"])
    >>> similarity, ids = index.kneighbors(["(S (NP a) (VP b))"], n_neighbors=2)
    >>> ids
    array([[0, 1]])
    >>> similarity.round(3)
    array([[1.   , 0.606]])
    >>> index.partial_fit(["(S (NP a) (VP b))"]).radius_neighbors(["(Q d)"], 0.5)[1][0]
    array([2])
    """

    _segments: Segments | TreesInParts

    def __init__(
        self,
        kernel: TreeKernel | None = None,
        *,
        n_neighbors: int = 5,
        metric: Metric = "similarity",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---------------------------------------------------------------- trees

    def fit(self, X: Any, y: Any = None) -> Self:
        """Index trees. What was there before is forgotten.

        Parameters
        ----------
        X : Forest, Examples, sequence of trees or bracket strings, or Parts
            The trees of a corpus in parts (:func:`filbert.parts`) are not kept. Each search loads
            and indexes every part, on a Dask cluster if there is a client, with the same results.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        TreeIndex
            Itself.
        """
        if isinstance(X, Parts):
            self._segments = TreesInParts(self._checked_kernel(), X)
            return self
        segments = Segments(self._checked_kernel())
        self._add(segments, X)
        self._segments = segments
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add trees.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The trees to add. Their ids follow those given so far.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        TreeIndex
            Itself.
        """
        if not hasattr(self, "_segments"):
            return self.fit(X)
        self._add(self._in_memory("partial_fit"), X)
        return self

    def remove(self, ids: Any) -> Self:
        """Remove trees by their ids. An unknown id raises an error, and nothing is removed.

        Parameters
        ----------
        ids : int or sequence of int
            The ids of the trees.

        Returns
        -------
        TreeIndex
            Itself.
        """
        self._in_memory("remove").remove(np.unique(checked_ids(ids)))
        return self

    def trees(self, ids: Any) -> Forest:
        """Return trees by their ids.

        Parameters
        ----------
        ids : int or sequence of int
            The ids of the trees.

        Returns
        -------
        Forest
            The trees, in the order of the ids.
        """
        return self._fitted().trees(checked_ids(ids))

    @property
    def n_trees_(self) -> int:
        """The number of trees."""
        return len(self._fitted())

    @property
    def ids_(self) -> Ids:
        """The ids of the trees, ascending."""
        return self._fitted().ids()

    # ---------------------------------------------------------------- search

    def kneighbors(
        self,
        queries: Any = None,
        n_neighbors: int | None = None,
        *,
        exclude_self: bool | None = None,
    ) -> tuple[FloatArray, Ids]:
        """Return the most similar trees of each query.

        Parameters
        ----------
        queries : Forest, Examples, sequence of trees or bracket strings, sequence of ids, or Parts
            Ids stand for trees of the index. By default, all trees of the index are queries. The
            results for a corpus in parts are in its order.
        n_neighbors : int, optional
            The number of results for each query. The parameter of the index by default.
        exclude_self : bool, optional
            If queries are trees of the index, whether each is left out of its own results. True by
            default.

        Returns
        -------
        values : ndarray of shape (n_queries, n_neighbors)
            Similarities, or distances if that is the `metric`; the most similar tree first.
        ids : ndarray of shape (n_queries, n_neighbors)
            The ids of these trees.
        """
        k = self._checked_k(n_neighbors)
        if isinstance(queries, Parts):
            self._check_there_are(k, self.n_trees_)
            by_part = self._search_for_parts(queries, exclude_self, k, -np.inf)
            values = queries.in_order([found.values.reshape(-1, k) for found in by_part])
            ids = queries.in_order([found.ids.reshape(-1, k) for found in by_part])
            return self._measured(values), ids
        trees, own, n = self._queries(queries, exclude_self)
        if n:
            self._check_there_are(k, self.n_trees_ - (own is not None))
        values, ids = np.empty((n, k)), np.empty((n, k), dtype=np.int64)
        for first, found in self._search(trees, own, k, -np.inf):
            last = first + len(found.ends)
            values[first:last] = found.values.reshape(-1, k)
            ids[first:last] = found.ids.reshape(-1, k)
        return self._measured(values), ids

    def radius_neighbors(
        self,
        queries: Any = None,
        min_similarity: float = 0.8,
        *,
        exclude_self: bool | None = None,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return all trees with at least some similarity to each query.

        Parameters
        ----------
        queries : trees, ids or Parts
            As in :meth:`kneighbors`.
        min_similarity : float
            The lowest kernel value, whatever the `metric`.
        exclude_self : bool, optional
            As in :meth:`kneighbors`.

        Returns
        -------
        values : ndarray of shape (n_queries,) of ndarrays
            Similarities, or distances if that is the `metric`; the most similar tree first.
        ids : ndarray of shape (n_queries,) of ndarrays
            The ids of these trees.
        """
        least = checked_similarity(min_similarity, self._fitted().kernel)
        if isinstance(queries, Parts):
            by_part = self._search_for_parts(queries, exclude_self, None, least)
            blocks = [self._as_objects(found) for found in by_part]
            values = queries.in_order([own for own, _ in blocks])
            return values, queries.in_order([own for _, own in blocks])
        trees, own, _ = self._queries(queries, exclude_self)
        return self._as_objects(in_a_row([f for _, f in self._search(trees, own, None, least)]))

    def kneighbors_graph(
        self,
        queries: Any = None,
        n_neighbors: int | None = None,
        mode: Mode = "connectivity",
        *,
        exclude_self: bool | None = None,
    ) -> sp.csr_array:
        """Return the graph of the most similar trees as a sparse matrix.

        Parameters
        ----------
        queries, n_neighbors
            As in :meth:`kneighbors`.
        mode : {"connectivity", "similarity", "distance"}
            The entries: 1, similarities or distances.
        exclude_self : bool, optional
            As in :meth:`kneighbors`.

        Returns
        -------
        sparse array of shape (n_queries, n)
            Columns are ids. `n` is the id that the next tree gets, so that the columns of removed
            trees are there, and empty.
        """
        if mode not in ("connectivity", "similarity", "distance"):
            raise InvalidParameterError(
                f"mode must be 'connectivity', 'similarity' or 'distance', got {mode!r}"
            )
        if mode == "distance":
            self._check_distances()
        k = self._checked_k(n_neighbors)
        values, ids = self._as("similarity").kneighbors(queries, k, exclude_self=exclude_self)
        entries = np.ones_like(values) if mode == "connectivity" else values
        if mode == "distance":
            entries = _distances(values)
        n = len(values)
        return sp.csr_array(
            (entries.ravel(), ids.ravel(), np.arange(n + 1) * k),
            shape=(n, self._fitted().next_id),
        )

    def stream(
        self,
        queries: Iterable[Any],
        n_neighbors: int | None = None,
        *,
        min_similarity: float | None = None,
    ) -> Iterator[Neighbors]:
        """Yield the results of any number of queries, one after another, in bounded memory.

        Parameters
        ----------
        queries : Forest, or iterable of trees or bracket strings
            An iterator is read as results are taken.
        n_neighbors : int, optional
            The most results of a query. If neither this nor `min_similarity` is given, the
            parameter of the index.
        min_similarity : float, optional
            The lowest similarity of a result.

        Yields
        ------
        Neighbors
            The ids and similarities of one query, the most similar tree first.
        """
        kernel = self._fitted().kernel
        least = -np.inf if min_similarity is None else checked_similarity(min_similarity, kernel)
        both = n_neighbors is None and min_similarity is not None
        k = None if both else self._checked_k(n_neighbors)
        if isinstance(queries, str | bytes) or not isinstance(queries, Iterable):
            raise InputTypeError("stream takes a Forest or an iterable of trees: pass [tree]")
        segments = self._fitted()
        for batch in batches(queries, segments.at_a_time):
            trees = kernel.trees_of(batch)
            for _, found in self._search(trees, None, k, least):
                yield from self._results(found)

    # ---------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a folder, which :meth:`load` opens in milliseconds.

        The kernel, `metric` and `n_neighbors` are stored too.

        Segments that the folder already has are not written again: after :meth:`partial_fit`, only
        the new trees are. If writing fails or is interrupted, the folder holds the index as it was.

        An index that is in the folder is replaced. But if this index was loaded from the folder or
        saved there, and another object or process has saved there since,
        :class:`~filbert.errors.ConcurrentSaveError` is raised and nothing is written. The same
        happens while another process or thread saves there.

        Parameters
        ----------
        path : path
            The folder. It is made if it does not exist.
        """
        segments = self._in_memory("save")
        self._check_metric()
        segments.settings = {"metric": self.metric, "n_neighbors": self._checked_k(None)}
        save_segments(segments, path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, check: bool = False, n_jobs: int | None = None
    ) -> Self:
        """Open an index that :meth:`save` wrote.

        The arrays stay in the files and are mapped into memory, so that processes share them.
        Nothing in the files is executed. An index that is open does not change if others save to
        the folder or delete it. Its files must not be shortened or overwritten in place: Filbert
        never does so.

        Parameters
        ----------
        path : path
            The folder.
        check : bool
            Read all files and compare their checksums, which takes about a second per gigabyte.
            Otherwise, damage that makes an array inconsistent raises an error when it is met, but a
            flipped bit in a long array may go unnoticed and change results.
        n_jobs : int, optional
            Threads; the result does not depend on it.
        """
        segments = open_segments(path, check=check)
        index = cls(segments.kernel, n_jobs=n_jobs)
        try:
            index.set_params(**{k: segments.settings.get(k, getattr(index, k)) for k in _SAVED})
            index._check_metric()
            index._checked_k(None)
        except InvalidParameterError as error:
            raise ModelFileError(str(error)).located(path) from None
        index._segments = segments
        return index

    # ---------------------------------------------------------------- inside

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_segments")

    def __len__(self) -> int:
        return self.n_trees_

    def _fitted(self) -> Segments | TreesInParts:
        if not hasattr(self, "_segments"):
            raise NotFittedError("this TreeIndex has no trees yet: call fit")
        return self._segments

    def _in_memory(self, method: str) -> Segments:
        """Return the trees for a method that an index of a corpus in parts does not have."""
        segments = self._fitted()
        if isinstance(segments, TreesInParts):
            segments.refuse(f"TreeIndex.{method}")
        return segments

    def _as(self, metric: Metric) -> "TreeIndex":
        other = TreeIndex(
            self.kernel,
            n_neighbors=self.n_neighbors,
            metric=metric,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        other._segments = self._fitted()
        return other

    def _checked_kernel(self) -> TreeKernel:
        kernel = SubsetTree() if self.kernel is None else self.kernel
        if not isinstance(kernel, TreeKernel) or not capabilities_of(kernel).in_core:
            raise InvalidParameterError(
                "TreeIndex needs a tree kernel, such as SubsetTree(), PartialTree() or "
                f"LocalPatterns(), not {kernel!r}"
            )
        kernel._check()
        return kernel

    def _add(self, segments: Segments, X: Any) -> None:
        trees = segments.kernel.trees_of(X)
        warn_without_fragments(segments.kernel, trees, stacklevel=4)
        with progress_bar("indexing", show=self.verbose > 0) as progress:
            segments.add(trees, self.n_jobs, progress)

    def _queries(self, queries: Any, exclude_self: bool | None) -> tuple[Forest, Ids | None, int]:
        """Return the queries as trees, and their ids if they are to be left out."""
        segments = self._fitted()
        ids = segments.ids() if queries is None else ids_or_none(queries)
        if ids is None:
            check_not_excluded(exclude_self)
            trees = segments.kernel.trees_of(queries)
            return trees, None, len(trees)
        trees = segments.trees(ids)
        return trees, ids if exclude_self is None or exclude_self else None, len(trees)

    def _search(
        self, trees: Forest, own: Ids | None, k: int | None, least: float
    ) -> Iterator[tuple[int, Found]]:
        """Yield the results of some queries at a time, with the number of the first."""
        self._check_metric()
        if self.metric == "distance":
            self._check_distances()
        segments = self._fitted()
        n_evaluated = n_pairs = 0
        with progress_bar("searching", show=self.verbose > 0) as progress:
            for first in range(0, len(trees), segments.at_a_time):
                part = slice(first, first + segments.at_a_time)
                found = segments.search(
                    trees[part],
                    n_neighbors=k,
                    least=least,
                    excluded=None if own is None else own[part],
                    n_jobs=self.n_jobs,
                    progress=_part_of(progress, first, len(trees)),
                )
                n_evaluated += found.n_evaluated
                n_pairs += found.n_pairs
                self.share_skipped_ = 1.0 - n_evaluated / max(1, n_pairs)
                yield first, found

    def _search_for_parts(
        self, queries: Parts, exclude_self: bool | None, k: int | None, least: float
    ) -> list[Found]:
        """Return the results for the queries of each part."""
        check_not_excluded(exclude_self)
        self._check_metric()
        if self.metric == "distance":
            self._check_distances()
        queries.warn_of_skipped()
        segments = self._fitted()
        if isinstance(segments, Segments):
            by_part = neighbors_of_parts(segments, queries, k, least, self.n_jobs)
        else:
            parts = (segments.kernel.trees_of(rows.X) for rows in queries.each())
            by_part = [in_a_row([f for _, f in self._search(X, None, k, least)]) for X in parts]
        together = in_a_row(by_part)
        self.share_skipped_ = 1.0 - together.n_evaluated / max(1, together.n_pairs)
        return by_part

    def _as_objects(self, found: Found) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the values and the ids of each query as an array in an array of objects."""
        n = len(found.ends)
        values, ids = np.empty(n, dtype=object), np.empty(n, dtype=object)
        for i, result in enumerate(self._results(found)):
            values[i], ids[i] = result
        return values, ids

    def _results(self, found: Found) -> Iterator[Neighbors]:
        begin = 0
        for end in found.ends.tolist():
            yield Neighbors(self._measured(found.values[begin:end]), found.ids[begin:end])
            begin = end

    def _measured(self, values: FloatArray) -> FloatArray:
        return _distances(values) if self.metric == "distance" else values

    def _check_metric(self) -> None:
        if self.metric not in ("similarity", "distance"):
            raise InvalidParameterError(
                f"metric must be 'similarity' or 'distance', got {self.metric!r}"
            )

    def _check_distances(self) -> None:
        kernel = self._fitted().kernel
        if not kernel.normalize:
            raise InvalidParameterError(
                f"distances need a normalised kernel, not {kernel!r}: use normalize=True, or "
                "metric='similarity'"
            )

    def _check_there_are(self, k: int, n: int) -> None:
        if k > n:
            raise InvalidParameterError(
                f"n_neighbors must be at most {max(0, n):,}, the number of trees, got {k:,}"
            )

    def _checked_k(self, n_neighbors: int | None) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not is_number(k, Integral) or k < 1:
            raise InvalidParameterError(f"n_neighbors must be a positive integer, got {k!r}")
        return int(k)


def _part_of(progress: Any, first: int, n: int) -> Any:
    """Return a callback for the progress of some queries, from number `first` of `n`."""
    if progress is None:
        return None
    return lambda done, total: progress(min(first + done, n), n)


def _distances(values: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(0.0, 2.0 - 2.0 * values))
