"""Read the trees of documents in batches, as they arrive."""

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from typing import Any, NamedTuple

from filbert import _core
from filbert.errors import InvalidParameterError, ParseError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.read.catalogue import TreeFormat
from filbert.read.detection import format_of, selected
from filbert.read.documents import Document, Row, TreeRecord, rows_of
from filbert.read.reader import OnError, check_on_error
from filbert.read.sources import NamedInput, TreeSource, expand, is_single
from filbert.skipped import warn_of_skipped
from filbert.streaming import check_batch_size, with_file


def stream_trees(
    source: TreeSource,
    batch_size: int,
    *,
    format: str | None = None,
    on_error: OnError = "raise",
    **options: Any,
) -> Iterator[Forest | Examples]:
    """Read trees of documents in batches: ``for X in stream_trees("parses.conllu", 1000)``.

    At most one batch is held in memory, and of a document only what its reader needs for the next
    tree: a line or sentence in ``"conllu"``, ``"newick"``, ``"dot-bracket"`` and ``"iupac"``, an
    item in ``"json"`` with ``items=True``, an element in ``"xml"`` with ``each="name"``. Other
    documents are read as a whole, one after another. A batch is returned as soon as its last tree
    has arrived, so that a slow pipe delays it no longer than needed.

    Parameters
    ----------
    source, format, on_error, **options
        As for :func:`filbert.read_trees`. Bracket notation is not streamed by this function:
        :func:`filbert.stream` reads it with labels.
    batch_size : int
        Number of trees per batch; the last batch of a document may have fewer.

    Yields
    ------
    X : Forest or Examples
        As :func:`filbert.read_trees` returns it. Once a tree has had a column, all later batches
        have it.

    Raises
    ------
    ParseError
        At a bad tree, after all trees before it have been returned.

    Examples
    --------
    >>> import io
    >>> for X in stream_trees(io.BytesIO(b"(a,b);(c,d);(e,f);"), 2, format="newick"):
    ...     print([str(tree) for tree in X])
    ['(_ a b)', '(_ c d)']
    ['(_ e f)']
    """
    check_batch_size(batch_size)
    check_on_error(on_error)
    batches = tree_batches(source, batch_size, format, options)

    def trees() -> Iterator[Forest | Examples]:
        with closing(batches):
            for batch in batches:
                errors = tuple(batch.errors.values())
                X = batch.before_errors() if errors and on_error == "raise" else batch.X
                if on_error == "skip":
                    warn_of_skipped(errors, len(batch) - len(errors), stacklevel=2)
                if X is not None:
                    yield X if is_single(source) else with_file(X, batch.name)
                if errors and on_error == "raise":
                    raise errors[0]

    return trees()


class TreeBatch(NamedTuple):
    """Some rows of a document: trees, and the errors of those that could not be read.

    Attributes
    ----------
    X : Forest or Examples, or None if no tree could be read
    errors : dict
        The errors by the position of their row in the batch.
    name : str
        The name of the document.
    lines : list of int
        The line of each row, if the format records the lines of trees.
    """

    X: Any
    errors: dict[int, ParseError]
    name: str
    lines: list[int]

    def __len__(self) -> int:
        return len(self.errors) + (0 if self.X is None else len(self.X))

    def before_errors(self) -> Any:
        """Return the trees before the first error."""
        first = min(self.errors)
        return self.X[:first] if first else None


def tree_batches(
    source: TreeSource, batch_size: int, format: str | None, options: dict[str, Any]
) -> Generator[TreeBatch, None, None]:
    """Yield the rows of documents in batches, each bad tree in its place."""
    kind, inputs = selected(expand(source), format)
    return _Batches(kind, batch_size, options, is_given=format is not None).of(inputs)


class _Batches:
    """The batches of several documents of one format."""

    def __init__(
        self, kind: TreeFormat | None, size: int, options: dict[str, Any], *, is_given: bool
    ) -> None:
        self._kind = kind
        self._size = size
        self._given = options
        self._is_given = is_given
        self._options = None if kind is None else kind.options(options)
        self._columns: dict[str, None] = {}  # all names so far
        self._n = 0  # rows so far

    def of(self, inputs: list[NamedInput]) -> Generator[TreeBatch, None, None]:
        for one in inputs:
            try:
                with one.open() as stream:
                    yield from self._of_document(one, stream)
            except ParseError as error:  # the document cannot be opened, or is damaged
                placed = error if error.source else error.located(source=one.name)
                yield self._batch([placed], one.name)

    def _of_document(self, one: NamedInput, stream: Any) -> Iterator[TreeBatch]:
        kind = format_of(one, stream, self._kind, is_given=self._is_given)
        if kind.native:
            raise InvalidParameterError(
                "bracket notation is not streamed: use read_trees, or stream for labelled trees"
            )
        if self._kind is None:
            self._kind, self._options = kind, kind.options(self._given)
        rows = rows_of(kind.read, Document(one.name, stream), self._options)
        while some := list(islice(rows, self._size)):
            yield self._batch(some, one.name)

    def _batch(self, rows: list[Row], name: str) -> TreeBatch:
        """Return a batch. Texts that the core refuses become errors."""
        records = [row for row in rows if isinstance(row, TreeRecord)]
        reader = _core.TreeReader(skip_errors=True, bare_words=True)
        reader.add_texts([record.text for record in records])
        dag, roots, problems = reader.finish()
        refused = {
            tree: ParseError(reason, hint=hint, source=name) for tree, reason, hint, *_ in problems
        }
        good, errors, n_records = [], {}, 0
        for i, row in enumerate(rows):
            error: ParseError | None
            if isinstance(row, TreeRecord):
                error = refused.get(n_records)
                n_records += 1
                if error is None:
                    good.append(row)
                    continue
            else:
                error = row
            errors[i] = error.located(sample=self._n + i)
        self._n += len(rows)
        X = self._examples(Forest._of(dag, roots), good) if good else None
        if X is not None:
            X.skipped = tuple(errors.values())
        return TreeBatch(X, errors, name, _lines_of(rows))

    def _examples(self, forest: Forest, records: list[TreeRecord]) -> Forest | Examples:
        for record in records:
            self._columns |= dict.fromkeys(record.columns)
        if not self._columns:
            return forest
        columns = {
            column: [record.columns.get(column, "") for record in records]
            for column in self._columns
        }
        return Examples._of({"tree": forest}, columns)


def _lines_of(rows: list[Row]) -> list[int]:
    """Return the lines of rows, or nothing if a tree has no line."""
    lines = []
    for row in rows:
        if isinstance(row, TreeRecord):
            line = row.columns.get("line", "")
            if not line.isdecimal():
                return []
            lines.append(int(line))
        else:
            lines.append(row.line or 1)
    return lines
