"""Read labelled examples in batches, as they arrive."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple, cast

import scipy
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError, ParseError
from filbert.examples import Examples
from filbert.read.files import Source, open_input
from filbert.read.formats import Columns, Empty, Format, Header, LabelColumn, Labels, Layout
from filbert.read.gathered import Batch, Vocabulary
from filbert.read.numbers import LabelKind, to_target, type_name
from filbert.read.reader import (
    Block,
    Bounds,
    ExampleReader,
    OnError,
    Reading,
    Rows,
    check_number,
    check_on_error,
)
from filbert.read.record import Label, Record
from filbert.read.sources import TreeSource
from filbert.reading import Labelled, examples_of, parts_of
from filbert.several_files import is_several, labelled_files
from filbert.skipped import warn_of_skipped
from filbert.threads import n_threads


def stream(
    source: Source | TreeSource,
    batch_size: int,
    *,
    format: Format | None = None,
    label: LabelColumn = None,
    tree: Columns = None,
    features: Columns = None,
    header: Header = "auto",
    bare_words: bool = False,
    labels: Labels = "auto",
    empty: Empty | None = None,
    tree_format: str | None = None,
    n_features: int | None = None,
    vocabulary: Vocabulary | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
    **options: Any,
) -> Iterator[Labelled]:
    """Read labelled examples in batches: ``for X, y in stream("trees.tsv", 1000)``.

    At most one batch is held in memory. It is returned as soon as its last line has arrived, so a
    slow pipe delays a batch no longer than needed.

    Parameters
    ----------
    source : path, "-", open binary file, iterable of lines, pattern, folder or list of paths
        As for :func:`filbert.read_examples`. Files are opened when their first batch is requested,
        one after another.
    batch_size : int
        Number of examples per batch; the last batch of a file may have fewer.
    format, label, tree, features, header, bare_words, labels, empty, tree_format, n_jobs
        As for :func:`filbert.read_examples`. If the labels of JSON Lines and typed tables are read
        as they are, all must be texts, or all numbers, or all booleans, as the first one is.
    n_features : int, optional
        The width of the feature matrices, the same in all batches. Required if there are numbered
        features.
    vocabulary : mapping, optional
        As for :func:`filbert.read_examples`. Required if there are named features.
    on_error : {"raise", "skip"}
        Whether a bad line raises :class:`~filbert.errors.ParseError`, or is skipped with a warning
        and listed in the batch's ``X.skipped``.
    **options
        The options of `tree_format`.

    Yields
    ------
    X : Forest or Examples
        As :func:`filbert.read_examples` returns it. The parts are the same in all batches.
    y : ndarray
        The labels; None with ``label=False``.

    Raises
    ------
    ParseError
        At a bad line, at a last line that ends within a tree, or if a compressed file ends too
        early. The error has the number of the line and of the example. All examples before it are
        returned first; those of the same batch form a shorter batch.

    Examples
    --------
    >>> lines = [b"1 |BT| (a b) |ET| 3:1", b"-1 |BT| (a c) |ET| 1:0.5", b"1 |BT| (a b) |ET|"]
    >>> for X, y in stream(lines, 2, n_features=3):
    ...     print(y, X["tree"][0], X["features"].toarray().tolist())
    [ 1 -1] (a b) [[0.0, 0.0, 1.0], [0.5, 0.0, 0.0]]
    [1] (a b) [[0.0, 0.0, 0.0]]
    """
    batches = read_batches(
        source,
        batch_size,
        format=format,
        label=label,
        tree=tree,
        features=features,
        header=header,
        bare_words=bare_words,
        labels=labels,
        empty=empty,
        tree_format=tree_format,
        n_features=n_features,
        vocabulary=vocabulary,
        on_error=on_error,
        n_jobs=n_jobs,
        **options,
    )

    def labelled() -> Iterator[Labelled]:
        for batch in batches:
            n = 0 if batch.X is None else len(batch.X)
            warn_of_skipped(batch.skipped, n, stacklevel=2)
            if n:
                yield batch.X, batch.y

    return labelled()


class StreamBatch(NamedTuple):
    """The rows of one batch: those that could be read, and the errors of the others.

    Attributes
    ----------
    X : Forest or Examples, or None if no row could be read
    y : ndarray or None
    skipped : tuple of ParseError
    lines : list of int
        The line of each row, also of those that were skipped, from 1. Tables without lines
        (Parquet, Arrow) have the numbers of their rows.
    """

    X: Any
    y: Any
    skipped: tuple[ParseError, ...]
    lines: list[int]


def read_batches(
    source: Source | TreeSource,
    batch_size: int,
    *,
    vocabulary: Vocabulary | None = None,
    n_features: int | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
    **options: Any,
) -> Iterator[StreamBatch]:
    """Read batches with their errors and lines; the arguments are those of :func:`stream`."""
    check_batch_size(batch_size)
    check_on_error(on_error)
    if n_features is not None and n_features < 1:
        raise InvalidParameterError(f"n_features must be at least 1, got {n_features}")
    names = {field.name for field in fields(Layout)}
    places = {name: options.pop(name) for name in [*options] if name in names}
    layout = Layout(**places, tree_options=options)
    batches = _Batches(layout, batch_size, n_features, vocabulary, on_error, n_threads(n_jobs))
    return batches.of(source)


def check_batch_size(batch_size: int) -> None:
    """Raise InvalidParameterError for anything but a positive integer."""
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise InvalidParameterError(f"batch_size must be a positive integer, got {batch_size!r}")


class _Batches:
    """The batches of all files of a stream. They have the same parts and kind of labels."""

    def __init__(
        self,
        layout: Layout,
        size: int,
        n_features: int | None,
        vocabulary: Vocabulary | None,
        on_error: OnError,
        n_threads: int,
    ) -> None:
        self._layout = layout
        self._size = size
        self._n_features = n_features
        self._given = vocabulary
        self._on_error = on_error
        self._n_threads = n_threads
        self._vocabulary: Vocabulary = {}
        self._label_kind: LabelKind | None = None
        self._label_type = ""  # of labels that are read as they are, set by the first one
        self._trees: tuple[str, ...] | None = None  # names of parts, set by the first batch
        self._vectors: tuple[str, ...] | None = None
        self._columns: dict[str, None] = {}  # all names so far

    def of(self, source: Source | TreeSource) -> Iterator[StreamBatch]:
        """Read one or several files."""
        if not is_several(source):
            yield from self._of_file(cast(Source, source))
            return
        for file in labelled_files(source, self._layout.format):
            for batch in self._of_file(file.place):
                yield batch._replace(X=with_file(batch.X, file.name))

    def _of_file(self, source: Source) -> Iterator[StreamBatch]:
        with open_input(source) as opened:
            reader = ExampleReader(
                opened, self._layout, self._on_error, self._n_threads, self._given
            )
            self._vocabulary = reader.vocabulary
            self._label_kind = self._label_kind or reader.label_kind
            for block in reader.blocks_of(self._size):
                reading = self._read(reader, block)
                yield self._batch(reader, reading, block.numbers)
                if reading.failure is not None:
                    raise reading.failure

    def _read(self, reader: ExampleReader, block: Block | Rows) -> Reading:
        """Read some lines. Examples that do not match the earlier batches are bad lines."""
        quick = reader.read_quickly(block) if self._trees in (None, ("tree",)) else None
        if quick is not None and self._fits(quick):
            reading = Reading(quick)
        else:
            check = partial(self._check, reader=reader)
            reading = reader.read_lines(block, Bounds(self._trees, self._vectors, check))
        reader.count(len(reading.batch) + len(reading.skipped))
        return reading

    def _batch(self, reader: ExampleReader, reading: Reading, lines: list[int]) -> StreamBatch:
        """Return a batch with the parts of the first batch, and its labels."""
        batch = reading.batch
        if not len(batch):
            return StreamBatch(None, None, reading.skipped, lines)
        parts = parts_of(batch, self._n_features, reader.name)
        if self._trees is None:
            self._trees = tuple(batch.roots)
            default = () if self._n_features is None else ("features",)
            self._vectors = tuple(batch.vectors) or tuple(self._vocabulary) or default
            if not reader.has_vectors:
                self._vectors = ()
        for name in self._vectors or ():
            if name not in parts:
                width = len(self._vocabulary.get(name, ())) or self._n_features or 0
                parts[name] = scipy.sparse.csr_array((len(batch), width))
        self._columns |= dict.fromkeys(batch.columns)
        missing = {name: [""] * len(batch) for name in self._columns if name not in batch.columns}
        X = examples_of(parts, batch, {**batch.columns, **missing})
        X.skipped = reading.skipped
        y = self._target(batch.labels)[batch.label_of] if reader.has_labels else None
        return StreamBatch(X, y, reading.skipped, lines)

    def _fits(self, batch: Batch) -> bool:
        """Return whether a batch matches the earlier ones as a whole."""
        for name, rows in batch.vectors.items():
            known = self._vectors is None or name in self._vectors
            if not known or rows.width > (self._n_features or 0):
                return False
        return True

    def _check(self, record: Record, reader: ExampleReader) -> None:
        """Raise ParseError if an example does not match the earlier batches."""
        for name, vector in record.vectors.items():
            if name in self._vocabulary:
                continue
            if vector.names:
                raise InvalidParameterError(
                    f"{reader.name} has named features: pass vocabulary={{{name!r}: [...]}}, "
                    "the names of all features"
                )
            width = max([vector.width, *(i + 1 for i in vector.indices[-1:])])
            if self._n_features is None and width:
                raise InvalidParameterError(
                    f"{reader.name} has features: pass n_features, the width of all batches"
                )
            if width > (self._n_features or 0):
                raise ParseError(
                    f"feature {width} is beyond n_features={self._n_features}",
                    hint="increase n_features",
                    column=1,
                )
        if reader.label_kind == "given" and record.label is not None:
            self._check_type(record.label)
        if self._label_kind == "numbers":
            check_number(record.label)

    def _check_type(self, label: Label) -> None:
        """Raise ParseError if a label has another type than the first: they might be one class."""
        type_of_label = type_name(label)
        self._label_type = self._label_type or type_of_label
        if type_of_label != self._label_type:
            raise ParseError(
                f"the label {label!r:.40} is {type_of_label}, but the first label of the stream is "
                f"{self._label_type}",
                hint="write all labels in the same way, or pass labels='text'",
            )

    def _target(self, labels: Sequence[Label | None]) -> NDArray[Any]:
        assert self._label_kind is not None
        y = to_target(labels, self._label_kind)
        if self._label_kind == "given" and len(labels):
            self._label_kind = "text" if y.dtype.kind == "U" else "numbers"
        return y


def with_file(X: Any, name: str) -> Any:
    """Return the examples of a batch with the name of their file in the column ``file``."""
    if X is None:
        return None
    named = X if isinstance(X, Examples) else Examples(tree=X)
    column = "file" if "file" not in {*named.columns, *named.parts} else "file_name"
    together = named.with_columns(**{column: [name] * len(named)})
    together.skipped = X.skipped
    return together
