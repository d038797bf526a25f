"""Read forests and examples from files, pipes and lines, all at once or in batches."""

from collections.abc import Iterator, Sequence
from typing import Any
from warnings import warn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError, ParseError, SkippedInputWarning
from filbert.examples import Examples, Part
from filbert.forest import Forest
from filbert.read.files import Source, open_input
from filbert.read.formats import Format, Header, Layout
from filbert.read.gathered import Batch
from filbert.read.numbers import to_target
from filbert.read.reader import Block, Bounds, ExampleReader, OnError, Reading, check_on_error
from filbert.read.record import Label, Record
from filbert.threads import n_threads

Labelled = tuple[Any, NDArray[Any]]


def read_examples(
    source: Source,
    *,
    format: Format | None = None,
    label: str | int | None = None,
    tree: str | int | Sequence[str] | None = None,
    features: str | Sequence[str] | None = None,
    header: Header = "auto",
    bare_words: bool = False,
    n_features: int | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
) -> Labelled:
    r"""Read labelled trees from a file.

    Parameters
    ----------
    source : path, "-", open binary file or iterable of lines
        It is opened once and read only forwards, so a path may be a named pipe. ``"-"`` is
        standard input. Data in the formats of gzip and xz are decompressed.
    format : {"svmlight-tk", "tsv", "jsonl"}, optional
        By default, it is detected from the extension or the first line.
    label : str or int, optional
        JSON Lines: the key of the label (default ``"label"``). TSV: its column (default the first).
    tree : str, int or list of str, optional
        JSON Lines: the key or keys of trees, ``"trees.grct"`` for nested ones (default ``"tree"``,
        or all of ``"trees"``). TSV: the column of the tree (default the second of two).
    features : str or list of str, optional
        JSON Lines: the key or keys of feature vectors (default ``"features"`` if it exists).
    header : {"auto"} or bool
        TSV: whether the first line has column names instead of an example. ``"auto"`` takes it as
        column names if it has no bracket in the column of trees.
    bare_words : bool
        Read a word without brackets, such as ``dog``, as a tree of one node. By default, such a
        word is an error, because a wrong column is more likely. ``(dog)`` is always a tree of one
        node. Between ``|BT|`` and ``|ET|`` in SVM-light-TK files, words are always trees.
    n_features : int, optional
        The width of the feature matrices; by default the largest feature number.
    on_error : {"raise", "skip"}
        Whether a bad line raises :class:`~filbert.errors.ParseError`, or is skipped with a warning
        and listed in ``X.skipped``.
    n_jobs : int, optional
        Number of threads for TSV and SVM-light-TK files with one tree and one vector per line; all
        cores by default. Results do not depend on it.

    Returns
    -------
    X : Forest or Examples
        A forest if each example is one tree. Otherwise Examples with the parts ``tree`` or
        ``tree_1``, ``tree_2``, ... (JSON: the keys), and ``features`` as sparse matrices.
    y : ndarray
        The labels: integers or floats if all labels are numbers, otherwise strings.

    Examples
    --------
    >>> X, y = read_examples([b"label\ttree", b"yes\t(a b)", b"no\t(a c)"])
    >>> X[1], y.tolist()
    (<Tree (a c)>, ['yes', 'no'])
    """
    check_on_error(on_error)
    layout = Layout(format, label, tree, features, header, bare_words)
    threads = n_threads(n_jobs)
    with open_input(source) as opened:
        reader = ExampleReader(opened, layout, on_error, threads)
        reading = reader.read_all()
    if reading.failure is not None:
        raise reading.failure
    batch = reading.batch
    X = _examples(_parts(batch, n_features, reader.name))
    y = to_target(batch.labels)[batch.label_of]
    X.skipped = reading.skipped
    if reading.skipped:
        warn(SkippedInputWarning(reading.skipped, len(y)), stacklevel=2)
    return X, y


def stream(
    source: Source,
    batch_size: int,
    *,
    format: Format | None = None,
    label: str | int | None = None,
    tree: str | int | Sequence[str] | None = None,
    features: str | Sequence[str] | None = None,
    header: Header = "auto",
    bare_words: bool = False,
    n_features: int | None = None,
    text_labels: bool | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
) -> Iterator[Labelled]:
    """Read labelled examples in batches: ``for X, y in stream("trees.tsv", 1000)``.

    At most one batch is held in memory. It is returned as soon as its last line has arrived, so a
    slow pipe delays a batch no longer than needed.

    Parameters
    ----------
    source : path, "-", open binary file or iterable of lines
        As for :func:`filbert.read_examples`. It is opened when the first batch is requested.
    batch_size : int
        Number of examples per batch; the last batch may have fewer.
    format, label, tree, features, header, bare_words, n_jobs
        As for :func:`filbert.read_examples`.
    n_features : int, optional
        The width of the feature matrices, the same in all batches. Required if there are features.
    text_labels : bool, optional
        Whether labels are text. By default, the first batch decides, by the rule of
        :func:`filbert.read_examples`.
    on_error : {"raise", "skip"}
        Whether a bad line raises :class:`~filbert.errors.ParseError`, or is skipped with a warning
        and listed in the batch's ``X.skipped``.

    Yields
    ------
    X : Forest or Examples
        As :func:`filbert.read_examples` returns it. The parts are the same in all batches.
    y : ndarray
        The labels.

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
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise InvalidParameterError(f"batch_size must be a positive integer, got {batch_size!r}")
    check_on_error(on_error)
    if n_features is not None and n_features < 1:
        raise InvalidParameterError(f"n_features must be at least 1, got {n_features}")
    layout = Layout(format, label, tree, features, header, bare_words)
    threads = n_threads(n_jobs)

    def batches() -> Iterator[Labelled]:
        with open_input(source) as opened:
            reader = ExampleReader(opened, layout, on_error, threads)
            batches = _Batches(reader, n_features, text_labels)
            for block in reader.blocks_of(batch_size):
                reading = batches.read(block)
                if reading.skipped:
                    warning = SkippedInputWarning(reading.skipped, len(reading.batch))
                    warn(warning, stacklevel=2)
                if len(reading.batch):
                    yield batches.labelled(reading)
                if reading.failure is not None:
                    raise reading.failure

    return batches()


class _Batches:
    """The properties that all batches of a stream share: their parts, and the kind of labels."""

    def __init__(
        self, reader: ExampleReader, n_features: int | None, text_labels: bool | None
    ) -> None:
        self._reader = reader
        self._n_features = n_features
        self._text_labels = text_labels
        self._trees: tuple[str, ...] | None = None  # names of parts, set by the first batch
        self._vectors: tuple[str, ...] | None = None

    def read(self, block: Block) -> Reading:
        """Read some lines. Examples that do not match the earlier batches are bad lines."""
        quick = self._reader.read_quickly(block) if self._trees in (None, ("tree",)) else None
        if quick is not None and self._fits(quick):
            reading = Reading(quick)
        else:
            bounds = Bounds(self._trees, self._vectors, self._check)
            reading = self._reader.read_lines(block, bounds)
        self._reader.count(len(reading.batch) + len(reading.skipped))
        return reading

    def labelled(self, reading: Reading) -> Labelled:
        """Return a batch with the parts of the first batch, and its labels."""
        batch = reading.batch
        y = self._target(batch.labels)[batch.label_of]
        parts = _parts(batch, self._n_features, self._reader.name)
        if self._trees is None:
            self._trees = tuple(batch.roots)
            default = () if self._n_features is None else ("features",)
            self._vectors = tuple(batch.vectors) or default
        for name in self._vectors or ():
            if name not in parts:
                parts[name] = sp.csr_array((len(y), self._n_features or 0))
        X = _examples(parts)
        X.skipped = reading.skipped
        return X, y

    def _fits(self, batch: Batch) -> bool:
        """Return whether a batch matches the earlier ones as a whole."""
        for name, rows in batch.vectors.items():
            known = self._vectors is None or name in self._vectors
            if not known or rows.width > (self._n_features or 0):
                return False
        return self._text_labels is not False or all(map(_is_number, batch.labels))

    def _check(self, record: Record) -> None:
        """Raise ParseError if an example does not match the earlier batches."""
        for vector in record.vectors.values():
            width = max([vector.width, *(i + 1 for i in vector.indices[-1:])])
            if self._n_features is None and width:
                raise InvalidParameterError(
                    f"{self._reader.name} has features: pass n_features, the width of all batches"
                )
            if width > (self._n_features or 0):
                raise ParseError(
                    f"feature {width} is beyond n_features={self._n_features}",
                    hint="increase n_features",
                    column=1,
                )
        if self._text_labels is False and not _is_number(record.label):
            raise ParseError(
                f"the label {str(record.label)[:40]!r} is not a number, but those before it are",
                hint="pass text_labels=True",
                column=1,
            )

    def _target(self, labels: Sequence[Label | None]) -> NDArray[Any]:
        y = to_target(labels)
        if self._text_labels is None and len(labels):
            self._text_labels = y.dtype.kind == "U"
        if self._text_labels:
            return np.array([str(label) for label in labels])
        return np.array(labels, dtype=np.float64) if y.dtype.kind == "U" else y


def _parts(batch: Batch, n_features: int | None, source: str) -> dict[str, Part]:
    """Return forests and sparse matrices by their names."""
    parts: dict[str, Part] = {
        name: Forest._of(batch.dag, roots) for name, roots in batch.roots.items()
    }
    for name, rows in batch.vectors.items():
        if n_features is not None and rows.width > n_features:
            raise InvalidParameterError(
                f"{source} has feature {rows.width}, but n_features is {n_features}: increase it"
            )
        parts[name] = sp.csr_array(
            (rows.values, rows.columns, rows.row_begin),
            shape=(len(batch), n_features or rows.width),
        )
    return parts


def _examples(parts: dict[str, Part]) -> "Forest | Examples":
    return parts["tree"] if parts.keys() == {"tree"} else Examples._of(parts)


def _is_number(label: Label | None) -> bool:
    return not isinstance(label, str) or to_target([label]).dtype.kind != "U"
