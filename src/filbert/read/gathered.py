"""Collecting the examples of a file one by one: trees in one structure, labels and vectors."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import ParseError
from filbert.read.labelled_lines import Usual
from filbert.read.record import Label, Record, SparseVector
from filbert.read.sparse_rows import EMPTY, FeatureNaming, SparseRows, sparse_rows, stacked

Vocabulary = Mapping[str, Sequence[str]]  # names of features, by the name of their vector


class Batch(NamedTuple):
    """The examples that were read: trees, vectors and columns by name, and labels."""

    dag: _core.Dag
    roots: dict[str, NDArray[np.uint32]]
    vectors: dict[str, SparseRows]
    labels: list[Label | None]  # distinct labels, in any order
    label_of: NDArray[np.uint32]  # for each example
    columns: dict[str, list[str]]

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
    columns : names
        Columns that there are even without examples.
    vocabulary : mapping, optional
        The names of the features of vectors, by default all that occur.
    bare_words : bool
        Read a word without brackets as a tree of one node.
    """

    def __init__(
        self,
        start: Usual | None = None,
        *,
        names: tuple[str, ...] | None = None,
        vectors: Collection[str] | None = None,
        columns: Collection[str] = (),
        vocabulary: Vocabulary | None = None,
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
        self._column_names = columns
        self._vocabulary = vocabulary or {}
        self._naming = FeatureNaming(self._vocabulary)
        if start is not None and len(start.features[1]):
            self._naming.numbered("features")
        self._rows: list[int] = []  # the position of each example's first tree in the reader
        self._labels: list[Label | None] = []
        self._vectors: list[dict[str, SparseVector]] = []
        self._columns: list[dict[str, str]] = []

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
        vectors = {
            name: sparse_rows(
                [row.get(name, EMPTY) for row in self._vectors], self._vocabulary.get(name)
            )
            for name in names
        }
        labels = _numbers(0, len(self._labels))
        columns = _by_name(self._column_names, self._columns)
        read = Batch(dag, roots_of, vectors, self._labels, labels, columns)
        return read if self._start is None else _behind(self._start, read)

    def _check_vectors(self, record: Record) -> None:
        for name, vector in record.vectors.items():
            self._naming.check(name, vector)
            if self._vector_names is not None and name not in self._vector_names:
                raise ParseError(
                    f"this example has the vector {name!r}, but the first batch has none",
                    hint="all batches need the same parts",
                    column=1,
                )

    def _add_trees(self, record: Record, line: bytes) -> None:
        first = self._n_trees
        names = self._names or ()
        for tree_name in names:
            try:
                self._reader.add_text(record.trees[tree_name].text)
            except ParseError as error:
                raise in_line(error, record, tree_name, line) from None
            self._n_trees += 1
        self._rows.append(first)
        self._labels.append(record.label)
        self._vectors.append(record.vectors)
        self._columns.append(record.columns)


def as_batch(usual: Usual) -> Batch:
    """Return the examples that the core has read as a Batch."""
    row_begin, columns, values = usual.features
    vectors = {}
    if len(columns):
        vectors["features"] = SparseRows(row_begin, columns, values, int(columns.max()) + 1)
    return Batch(
        usual.dag,
        {"tree": usual.roots},
        vectors,
        list(usual.labels),
        usual.label_of,
        usual.columns,
    )


def without_features(usual: Usual) -> Usual:
    """Return the examples that the core has read without their vectors."""
    row_begin, columns, values = usual.features
    return usual._replace(features=(np.zeros_like(row_begin), columns[:0], values[:0]))


def in_line(error: ParseError, record: Record, tree: str, line: bytes) -> ParseError:
    """Return the error of a tree with its column in the line of its example."""
    where = f"in {tree!r}: " if len(record.trees) > 1 else ""
    column = record.trees[tree].column
    before = 0 if column is None else n_characters(line[: column - 1])
    return ParseError(where + error.reason, hint=error.hint, column=before + (error.column or 1))


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
        {name: stacked(_rows_of(before, name), _rows_of(rest, name)) for name in names},
        [*before.labels, *rest.labels],
        np.concatenate([start.label_of, _numbers(len(before.labels), len(rest))]),
        _columns_behind(before, rest),
    )


def _columns_behind(before: Batch, rest: Batch) -> dict[str, list[str]]:
    names = dict.fromkeys([*before.columns, *rest.columns])
    return {
        name: before.columns.get(name, [""] * len(before))
        + rest.columns.get(name, [""] * len(rest))
        for name in names
    }


def _by_name(known: Collection[str], rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the known columns and others; a value that a row does not have is empty."""
    names = dict.fromkeys([*known, *(name for row in rows for name in row)])
    return {name: [row.get(name, "") for row in rows] for name in names}


def _rows_of(read: Batch, name: str) -> SparseRows:
    return read.vectors.get(name) or sparse_rows([EMPTY] * len(read))


def _numbers(first: int, n: int) -> NDArray[np.uint32]:
    return np.arange(first, first + n, dtype=np.uint32)
