"""Collecting the examples of a file one by one: trees in one structure, labels and vectors."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import ParseError
from filbert.read.labelled_lines import Usual
from filbert.read.record import Label, Record, SparseVector


class SparseRows(NamedTuple):
    """Concatenated sparse vectors, in the form of SciPy's CSR matrices."""

    row_begin: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    width: int


class Batch(NamedTuple):
    """The examples that were read: trees and vectors by the names of their parts, and labels."""

    dag: _core.Dag
    roots: dict[str, NDArray[np.uint32]]
    vectors: dict[str, SparseRows]
    labels: list[Label | None]  # distinct labels, in any order
    label_of: NDArray[np.uint32]  # for each example

    def __len__(self) -> int:
        return len(self.label_of)


class Gathered:
    """The examples read so far. The trees of all parts go into one structure.

    Parameters
    ----------
    start : Usual, optional
        The examples already read from the same file.
    names, vectors : names, optional
        The names of the trees, by default those of the first example, and the names that feature
        vectors may have, by default any.
    bare_words : bool
        Read a word without brackets as a tree of one node.
    """

    def __init__(
        self,
        start: Usual | None = None,
        *,
        names: tuple[str, ...] | None = None,
        vectors: Collection[str] | None = None,
        bare_words: bool,
    ) -> None:
        self._start = start
        self._reader = _core.TreeReader(
            bare_words=bare_words, start=None if start is None else start.dag
        )
        self._n_trees = 0
        self._names = names
        if start is not None and len(start.roots):
            self._names = ("tree",)
        self._vector_names = vectors
        self._rows: list[int] = []  # the position of each example's first tree in the reader
        self._labels: list[Label | None] = []
        self._vectors: list[dict[str, SparseVector]] = []

    def __len__(self) -> int:
        return len(self._rows) + (0 if self._start is None else len(self._start.roots))

    def add(self, record: Record, line: bytes) -> None:
        """Add one example, or raise ParseError and leave everything unchanged."""
        names = tuple(record.trees)
        self._check_vectors(record)
        if self._names is None:
            self._names = names  # reset if this example turns out to be bad
            try:
                self._add_trees(record, line)
            except ParseError:
                self._names = None
                raise
            return
        if set(names) != set(self._names):
            raise ParseError(
                f"this example has the trees {', '.join(names)}, but the first one has "
                f"{', '.join(self._names)}",
                hint="all examples need the same parts",
                column=1,
            )
        self._add_trees(record, line)

    def finish(self) -> Batch:
        """Return all examples."""
        dag, roots, _ = self._reader.finish()
        rows = np.array(self._rows, dtype=np.intp)
        roots_of = {name: roots[rows + i] for i, name in enumerate(self._names or ("tree",))}
        names = self._vector_names or dict.fromkeys(name for row in self._vectors for name in row)
        empty = SparseVector([], [])
        vectors = {
            name: _sparse_rows([row.get(name, empty) for row in self._vectors]) for name in names
        }
        read = Batch(dag, roots_of, vectors, self._labels, _numbers(0, len(self._labels)))
        return read if self._start is None else _behind(self._start, read)

    def _check_vectors(self, record: Record) -> None:
        if self._vector_names is None:
            return
        for name in record.vectors:
            if name not in self._vector_names:
                raise ParseError(
                    f"this example has the vector {name!r}, but the first batch has none",
                    hint="all batches need the same parts",
                    column=1,
                )

    def _add_trees(self, record: Record, line: bytes) -> None:
        first = self._n_trees
        names = self._names or ()
        for tree_name in names:
            text, column = record.trees[tree_name]
            try:
                self._reader.add_text(text)
            except ParseError as error:
                where = f"in {tree_name!r}: " if len(names) > 1 else ""
                before = 0 if column is None else n_characters(line[: column - 1])
                raise ParseError(
                    where + error.reason, hint=error.hint, column=before + (error.column or 1)
                ) from None
            self._n_trees += 1
        self._rows.append(first)
        self._labels.append(record.label)
        self._vectors.append(record.vectors)


def as_batch(usual: Usual) -> Batch:
    """Return the examples that the core has read as a Batch."""
    row_begin, columns, values = usual.features
    vectors = {}
    if len(columns):
        vectors["features"] = SparseRows(row_begin, columns, values, int(columns.max()) + 1)
    return Batch(usual.dag, {"tree": usual.roots}, vectors, list(usual.labels), usual.label_of)


def n_characters(text: bytes) -> int:
    """Return the number of characters, because users do not count bytes."""
    return len(text) if text.isascii() else len(text.decode(errors="replace"))


def _behind(start: Usual, rest: Batch) -> Batch:
    """Append the rest of a file to its start; the nodes of the rest include those of the start."""
    before = as_batch(start)
    if not len(before):
        return rest
    names = dict.fromkeys([*before.vectors, *rest.vectors])
    return Batch(
        rest.dag,
        {"tree": np.concatenate([start.roots, rest.roots["tree"]])},
        {name: _stacked(_rows_of(before, name), _rows_of(rest, name)) for name in names},
        [*before.labels, *rest.labels],
        np.concatenate([start.label_of, _numbers(len(before.labels), len(rest))]),
    )


def _rows_of(read: Batch, name: str) -> SparseRows:
    empty = _sparse_rows([SparseVector([], [])] * len(read))
    return read.vectors.get(name, empty)


def _stacked(a: SparseRows, b: SparseRows) -> SparseRows:
    return SparseRows(
        np.concatenate([a.row_begin, b.row_begin[1:] + a.row_begin[-1]]),
        np.concatenate([a.columns, b.columns]),
        np.concatenate([a.values, b.values]),
        max(a.width, b.width),
    )


def _sparse_rows(rows: list[SparseVector]) -> SparseRows:
    row_begin = np.cumsum([0] + [len(row.indices) for row in rows], dtype=np.int64)
    columns = np.array([i for row in rows for i in row.indices], dtype=np.int32)
    values = np.array([v for row in rows for v in row.values], dtype=np.float64)
    width = max(
        int(columns.max()) + 1 if len(columns) else 0, max((row.width for row in rows), default=0)
    )
    return SparseRows(row_begin, columns, values, width)


def _numbers(first: int, n: int) -> NDArray[np.uint32]:
    return np.arange(first, first + n, dtype=np.uint32)
