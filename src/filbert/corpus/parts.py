"""A corpus in parts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn
from warnings import warn

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from filbert.arrays import is_sparse
from filbert.corpus.form import Form, check_same_form, form_of_rows
from filbert.corpus.local import LocalRunner
from filbert.corpus.pieces import Changed, Chosen, Given, Piece, Rows, hash_of_rows
from filbert.corpus.runners import current_runner
from filbert.corpus.tasks import Work
from filbert.errors import InputTypeError, InvalidParameterError, ParseError, SkippedInputWarning
from filbert.given import InParts, whole_needed

_SHOWN = 5
_MOST_SKIPPED = 100  # errors that a part sends


@dataclass(frozen=True)
class _Known:
    """What one pass over a corpus shows."""

    sizes: NDArray[np.intp]  # of each part
    labels: NDArray[Any] | None  # in the order of the parts


class Parts(InParts):
    """Examples in parts, of which only some are in memory at a time.

    Learners take it in place of X. Make one with :func:`filbert.parts`. Each pass over the corpus
    loads the parts again. The work runs on Dask if there is a client, and on this machine if not.

    ``corpus[index]`` chooses examples by a slice, a mask or an array of numbers, as scikit-learn
    does. `len`, indexing and `labels` need a pass over the corpus the first time.

    Parameters
    ----------
    pieces : sequence of Piece
        The parts, each of which can be loaded as often as needed.
    places : sequence of ndarray of int, optional
        For each part, the numbers that its examples have in the corpus. By default the corpus is in
        the order of the parts.

    Attributes
    ----------
    pieces : tuple of Piece
        The parts, with their names and tokens.

    Examples
    --------
    >>> import filbert
    >>> corpus = filbert.parts([(["(a b)", "(a c)"], [1, 0]), (["(a (c d))"], [0])])
    >>> corpus
    Corpus of 2 parts, 3 examples
      2  part 0
      1  part 1
    >>> corpus[[2, 0]].labels()
    array([0, 1])
    """

    def __init__(
        self, pieces: Sequence[Piece], places: Sequence[NDArray[np.intp]] | None = None
    ) -> None:
        self.pieces = tuple(pieces)
        self._places = places  # of each part's examples in the corpus, if they are not in order
        if self._is_in_memory:
            _ = self._known  # so that errors come early

    def __iter__(self) -> NoReturn:
        raise InputTypeError(
            "a corpus in parts is not a sequence of trees: use corpus.map(function), or "
            "corpus.each(), which yields (X, y) for each part"
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise whole_needed()

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self.pieces)

    @property
    def _is_in_memory(self) -> bool:
        return all(isinstance(piece, Given) for piece in self.pieces)

    @cached_property
    def _known(self) -> _Known:
        """What one pass over the corpus shows. It checks that the parts fit together."""
        if self._is_in_memory:
            found = [_seen(piece.load()) for piece in self.pieces]
        else:
            found = list(self._run(Work("counting", _seen)))
        names = [piece.name for piece in self.pieces]
        check_same_form([seen.form for seen in found], names)
        n_skipped = sum(seen.n_skipped for seen in found)
        sizes = np.array([seen.n for seen in found], dtype=np.intp)
        if n_skipped:
            errors = tuple(error for seen in found for error in seen.skipped)
            warn(SkippedInputWarning(errors, int(sizes.sum()), n_skipped), stacklevel=3)
        return _Known(sizes, _together([seen.labels for seen in found], names))

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of examples in each part."""
        return self._known.sizes

    def labels(self) -> NDArray[Any]:
        """Return the labels of all examples.

        Returns
        -------
        ndarray of shape (len(self),)
            The labels, in the order of the corpus.
        """
        labels = self._known.labels
        if labels is None:
            raise InvalidParameterError("the corpus has no labels: pass y, one label per example")
        return np.asarray(self.in_order(self.split_by_parts(labels)))

    def __len__(self) -> int:
        return int(self.sizes.sum())

    @property
    def shape(self) -> tuple[int]:
        """The number of examples, as a tuple: scikit-learn asks for it."""
        return (len(self),)

    def __repr__(self) -> str:
        n = self.n_parts
        head = f"Corpus of {n:,} part{'' if n == 1 else 's'}"
        sizes = [""] * n
        if "_known" in vars(self):
            head += f", {len(self):,} examples"
            width = len(f"{self.sizes.max(initial=0):,}")
            sizes = [f"{size:{width},}  " for size in self.sizes]
        rows = zip(sizes[:_SHOWN], self.pieces[:_SHOWN], strict=True)
        more = ["  …"] if n > _SHOWN else []
        return "\n".join([head, *(f"  {size}{piece.name}" for size, piece in rows), *more])

    def __getitem__(self, index: Any) -> "Parts":
        numbers = np.arange(len(self))[_checked_index(index, len(self))]
        part_of, row_of = self._homes()
        own = part_of[numbers]
        by_part = np.argsort(own, kind="stable")
        ends = np.searchsorted(own[by_part], np.arange(self.n_parts), side="right")
        chosen, places = [], []
        for piece, here in zip(self.pieces, np.split(by_part, ends[:-1]), strict=False):
            if len(here):
                chosen.append(Chosen(piece, row_of[numbers[here]]))
                places.append(here)
        labels = None if self._known.labels is None else self.labels()[numbers]
        corpus = Parts.__new__(Parts)
        corpus.pieces, corpus._places = tuple(chosen), places
        sizes = np.array([len(here) for here in places], dtype=np.intp)
        if labels is not None:
            labels = np.concatenate([labels[:0], *(labels[here] for here in places)])
        corpus.__dict__["_known"] = _Known(sizes, labels)
        return corpus

    # ---------------------------------------------------------------- work on all parts

    def map(self, function: Callable[[Any], Any], *, verbose: int = 0) -> Iterator[Any]:
        """Yield ``function(X)`` for the examples X of each part, in the order of the parts.

        The function must not depend on anything that changes. On Dask it is sent to the workers.

        Parameters
        ----------
        function : callable
            Takes the examples of a part.
        verbose : int
            If it is positive, show progress.

        Returns
        -------
        iterator
            One result for each part.
        """
        self.warn_of_skipped()
        return self._run(Work("working", apply_to_rows, (function,)), verbose=verbose)

    def warn_of_skipped(self) -> None:
        """Warn if input cannot be read and is skipped. This takes a pass, but only if it may be."""
        if any(piece.skips for piece in self.pieces):
            _ = self._known

    def then(self, function: Callable[[Any], Any], token: str) -> "Parts":
        """Return the corpus of ``function(X)``, which is called whenever a part is loaded.

        The function returns a row for each row of X. Functions with the same `token` are the same.

        Parameters
        ----------
        function : callable
            Takes the examples of a part and returns as many rows.
        token : str
            What tells the function from others, in checkpoints and on Dask.

        Returns
        -------
        Parts
            The changed corpus. Nothing is loaded yet.
        """
        corpus = Parts.__new__(Parts)
        corpus.pieces = tuple(Changed(piece, function, token) for piece in self.pieces)
        corpus._places = self._places
        if "_known" in vars(self):
            corpus.__dict__["_known"] = self._known
        return corpus

    def gather(self, function: Callable[[Any], Any], *, verbose: int = 0) -> Any:
        """Return the rows ``function(X)`` of all parts in one array or sparse matrix.

        Parameters
        ----------
        function : callable
            Takes the examples of a part and returns an array or a sparse matrix with as many rows.
        verbose : int
            If it is positive, show progress.

        Returns
        -------
        ndarray or sparse array
            One row for each example, in the order of the corpus.
        """
        return self.in_order(list(self.map(function, verbose=verbose)))

    def each(self) -> Iterator[Rows]:
        """Yield the examples of each part, in this process, one part after another.

        Yields
        ------
        Rows
            The examples `X` of a part, and their labels `y` or None.
        """
        for piece in self.pieces:
            runner = LocalRunner() if piece.later is None else current_runner()
            yield from runner.map(Work("loading", _as_they_are), [piece], [()])

    def tokens(self) -> list[str]:
        """Return what tells each part from parts with other examples, also in another process.

        What Dask computes is identified by its examples, which takes a pass over these parts: keys
        of delayed calls are random, and other keys do not show whether a database has changed.

        Returns
        -------
        list of str
            One token for each part.
        """
        later = [piece for piece in self.pieces if piece.later is not None]
        nothing: list[tuple[Any, ...]] = [()] * len(later)
        work = Work("identifying", hash_of_rows)
        hashes = iter(list(current_runner().map(work, later, nothing)))
        return [next(hashes) if piece.later is not None else piece.token for piece in self.pieces]

    def _run(
        self, work: Work, own: Sequence[tuple[Any, ...]] | None = None, verbose: int = 0
    ) -> Iterator[Any]:
        nothing: list[tuple[Any, ...]] = [()] * self.n_parts
        return current_runner().map(work, self.pieces, nothing if own is None else own, verbose)

    # ---------------------------------------------------------------- orders of examples

    def split(self, values: ArrayLike, what: str) -> list[NDArray[Any]]:
        """Split values in the order of the corpus by parts.

        Parameters
        ----------
        values : array-like of shape (len(self),)
            One value for each example.
        what : str
            What the values are, for the error if their number is wrong.

        Returns
        -------
        list of ndarray
            The values of each part's examples.
        """
        array = np.asarray(values)
        if array.ndim == 0 or len(array) != len(self):
            raise InvalidParameterError(
                f"the corpus has {len(self):,} examples, but {what} has shape {array.shape}"
            )
        if self._places is not None:
            return [array[places] for places in self._places]
        return self.split_by_parts(array)

    def split_by_parts(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Split values in the order of the parts.

        Parameters
        ----------
        values : ndarray of shape (len(self),)
            One value for each example, part after part.

        Returns
        -------
        list of ndarray
            The values of each part's examples, as views.
        """
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def in_order(self, blocks: Sequence[Any]) -> Any:
        """Join the rows of all parts, in the order of the corpus.

        Parameters
        ----------
        blocks : sequence of ndarray or sparse array
            The rows of each part.

        Returns
        -------
        ndarray or sparse array
            One row for each example.
        """
        if not blocks:
            raise InvalidParameterError("no examples of the corpus are chosen")
        joined = _stack(blocks)
        if not self._places:
            return joined
        order = np.argsort(np.concatenate(self._places), kind="stable")
        return joined[order]

    def numbers(self) -> list[NDArray[np.intp]]:
        """Return the numbers in the corpus of each part's examples.

        Returns
        -------
        list of ndarray of int
            One array for each part.
        """
        return self.split(np.arange(len(self)), "range")

    def numbers_of(
        self, part: NDArray[np.intp], row: NDArray[np.intp], sizes: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Return the numbers in the corpus of some rows of parts, whose sizes are known.

        Parameters
        ----------
        part : ndarray of int
            The part of each row.
        row : ndarray of int
            The number of each row within its part.
        sizes : ndarray of int
            The number of examples of each part.

        Returns
        -------
        ndarray of int
            The number of each row in the corpus.
        """
        begins = np.cumsum(sizes) - sizes
        numbers: NDArray[np.intp] = begins[part] + row
        return numbers if self._places is None else np.concatenate(self._places)[numbers]

    def _homes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the part of each example of the corpus, and its row there."""
        part_of = np.repeat(np.arange(self.n_parts), self.sizes)
        row_of = np.concatenate([np.arange(n) for n in self.sizes] or [np.arange(0)])
        both = self.split_by_parts(part_of), self.split_by_parts(row_of)
        return self.in_order(both[0]), self.in_order(both[1])


def _stack(blocks: Sequence[Any]) -> Any:
    if any(is_sparse(block) for block in blocks):
        return scipy.sparse.vstack(blocks, format="csr")
    return np.concatenate(blocks)


def _checked_index(index: Any, n: int) -> Any:
    """Return a slice, a mask or an array of numbers, in range."""
    if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
        index = index[0]  # scikit-learn's X[indices, ...]
    if isinstance(index, slice):
        return index
    if isinstance(index, str | int | np.integer | tuple):
        raise InputTypeError(
            f"a corpus in parts is indexed by a slice, a mask or an array, not by {index!r}. To "
            "work on examples, use corpus.map"
        )
    chosen = np.asarray(index)
    if chosen.size == 0 and chosen.dtype != bool:
        chosen = chosen.astype(np.intp)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iub":
        raise InputTypeError(
            "a corpus in parts is indexed by a slice, a mask or an array of integers, not by "
            f"{chosen.dtype} of shape {chosen.shape}"
        )
    if chosen.dtype == bool and len(chosen) != n:
        raise InvalidParameterError(
            f"the mask has {len(chosen):,} values for {n:,} examples of the corpus"
        )
    if chosen.dtype != bool and len(chosen) and not -n <= chosen.min() <= chosen.max() < n:
        raise IndexError(f"the corpus has {n:,} examples: numbers go from {-n:,} to {n - 1:,}")
    return chosen


@dataclass(frozen=True)
class _Seen:
    """What a pass shows about one part."""

    n: int
    labels: NDArray[Any] | None
    form: Form | None
    n_skipped: int
    skipped: tuple[ParseError, ...]  # the first of them


def _seen(rows: Rows) -> _Seen:
    skipped = getattr(rows.X, "skipped", ())
    form = form_of_rows(rows.X)
    return _Seen(int(rows.X.shape[0]), rows.y, form, len(skipped), skipped[:_MOST_SKIPPED])


def _as_they_are(rows: Rows) -> Rows:
    return rows


def apply_to_rows(rows: Rows, function: Callable[[Any], Any]) -> Any:
    """Return ``function(X)`` for the examples of a part."""
    return function(rows.X)


def _together(labels: Sequence[Any], names: Sequence[str]) -> NDArray[Any] | None:
    with_labels = [y is not None for y in labels]
    if not any(with_labels):
        return None
    if not all(with_labels):
        bare = names[with_labels.index(False)]
        raise InvalidParameterError(f"{bare} has no labels, but other parts have")
    kinds = {y.dtype.kind in "USO": name for y, name in zip(labels, names, strict=True) if len(y)}
    if len(kinds) > 1:
        raise InvalidParameterError(
            f"the labels of {kinds[True]} are text, those of {kinds[False]} are numbers: pass "
            "labels='text' or labels='numbers'"
        )
    filled = [y for y in labels if len(y)]
    return np.concatenate(filled or labels[:1])
