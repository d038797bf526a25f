"""Examples in batches, from files and pipes that need not end, one or several at a time."""

import io
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Queue
from threading import Event, Thread
from typing import Any, BinaryIO, Literal, TypeVar, get_args
from warnings import warn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    ParseError,
    SkippedInputWarning,
)
from filbert.examples import Examples
from filbert.forest import Forest, OnError
from filbert.gathering import (
    Format,
    Gathered,
    Part,
    known_format,
    line_parser,
    lines_of,
    parsed,
    usual_parts,
)
from filbert.read import labelled_lines
from filbert.read.files import DAMAGED, open_binary
from filbert.read.numbers import to_target
from filbert.read.record import Label, Record
from filbert.threads import n_threads

Source = str | os.PathLike[str] | BinaryIO | Iterable[bytes]
Batch = tuple[Any, NDArray[Any]]
Order = Literal["turns", "ready"]

_T = TypeVar("_T")
_Line = tuple[int, bytes]  # its number, from 1


def stream(
    source: Source,
    batch_size: int,
    *,
    format: Format | None = None,
    label: str | int | None = None,
    tree: str | int | Sequence[str] | None = None,
    features: str | Sequence[str] | None = None,
    n_features: int | None = None,
    text_labels: bool | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
) -> Iterator[Batch]:
    """Read labelled examples a batch at a time: ``for X, y in stream("trees.tsv", 1000)``.

    No more than a batch is held in memory. It is given as soon as its last line is there, so a
    pipe that is slow is waited for and no longer.

    Parameters
    ----------
    source : path, "-", open binary file or iterable of lines
        ``.gz`` and ``.xz`` are unpacked; ``"-"`` is the standard input; a path may be a named pipe.
        It is opened when the first batch is asked for.
    batch_size : int
        Examples in a batch; the last one may have fewer.
    format, label, tree, features, n_jobs
        As for :func:`filbert.read_examples`.
    n_features : int, optional
        The width of the feature matrices, the same in all batches. Needed where there are features.
    text_labels : bool, optional
        Whether labels are text. By default the first batch tells, as for
        :func:`filbert.read_examples`.
    on_error : {"raise", "skip"}
        Whether a bad line raises :class:`~filbert.errors.ParseError`, or is left out, with a
        warning and a note in the batch's ``X.skipped``.

    Yields
    ------
    X : Forest or Examples
        As :func:`filbert.read_examples` gives it. The parts are the same in all batches.
    y : ndarray
        The labels.

    Raises
    ------
    ParseError
        At a bad line, a last one that ends within a tree, or where a compressed file ends too
        early, with the number of the line and of the example. All examples before it have been
        given then, those of the same batch as a shorter one.

    Examples
    --------
    >>> lines = [b"1 |BT| (a b) |ET| 3:1", b"-1 |BT| (a c) |ET| 1:0.5", b"1 |BT| (a b) |ET|"]
    >>> for X, y in stream(lines, 2, n_features=3):
    ...     print(y, X["tree"][0], X["features"].toarray().tolist())
    [ 1 -1] (a b) [[0.0, 0.0, 1.0], [0.5, 0.0, 0.0]]
    [1] (a b) [[0.0, 0.0, 0.0]]
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise InvalidParameterError(f"batch_size must be a whole number from 1, got {batch_size!r}")
    if on_error not in get_args(OnError):
        raise InvalidParameterError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
    if n_features is not None and n_features < 1:
        raise InvalidParameterError(f"n_features must be at least 1, got {n_features}")
    threads = n_threads(n_jobs)

    def batches() -> Iterator[Batch]:
        with _opened(source) as (name, raw):
            kind, lines = known_format(lines_of(raw), name, format)
            columns = label, tree, features
            reader = _Reader(name, kind, columns, n_features, text_labels, on_error, threads)
            yield from reader.batches(lines, batch_size)

    return batches()


def merged(*streams: Iterable[_T], order: Order = "turns") -> Iterator[_T]:
    """Put several streams of batches into one, so that none has to wait for another's end.

    Parameters
    ----------
    streams
        Iterators such as :func:`stream` gives.
    order : {"turns", "ready"}
        ``"turns"``: one batch of each in turn, in the order of the arguments; a stream that ends
        drops out. The order depends on the streams alone, but a slow one is waited for.
        ``"ready"``: for pipes. Each stream is read in a thread of its own, one batch ahead, and the
        batch that is there first comes first; since a stream has one batch waiting at most, none
        is passed over for long. The order depends on who writes when.

    An error in one of the streams is raised when its turn comes, and ends all.

    >>> list(merged("abc", "x", "12"))
    ['a', 'x', '1', 'b', '2', 'c']
    """
    if order not in get_args(Order):
        raise InvalidParameterError(f"order must be 'turns' or 'ready', got {order!r}")
    return _in_turns(streams) if order == "turns" else _as_ready(streams)


def _in_turns(streams: Iterable[Iterable[_T]]) -> Iterator[_T]:
    waiting = deque(iter(stream) for stream in streams)
    while waiting:
        for batch in waiting[0]:
            yield batch
            waiting.rotate(-1)
            break
        else:
            waiting.popleft()


def _as_ready(streams: Sequence[Iterable[_T]]) -> Iterator[_T]:
    ready: Queue[tuple[Event, _T | None, BaseException | None]] = Queue()
    stop = Event()

    def read(stream: Iterable[_T]) -> None:
        taken = Event()
        try:
            for batch in stream:
                ready.put((taken, batch, None))
                if stop.is_set():
                    return  # nobody may be left to take it
                taken.wait()
                taken.clear()
                if stop.is_set():
                    return
            ready.put((taken, None, None))
        except BaseException as error:
            ready.put((taken, None, error))

    # Daemons: a thread that waits for a pipe cannot be told to stop.
    for stream in streams:
        Thread(target=read, args=(stream,), daemon=True).start()
    n_left = len(streams)
    last = Event()
    try:
        while n_left:
            last, batch, error = ready.get()
            if error is not None:
                raise error
            if batch is None:
                n_left -= 1
            else:
                yield batch
            last.set()
    finally:
        stop.set()
        last.set()
        while not ready.empty():
            ready.get()[0].set()


class _Reader:
    """What is the same for all batches of a stream: parts, the kind of labels, places of errors."""

    def __init__(
        self,
        name: str,
        kind: Format,
        columns: tuple[Any, Any, Any],
        n_features: int | None,
        text_labels: bool | None,
        on_error: OnError,
        threads: int,
    ) -> None:
        self._name = name
        self._kind = kind
        self._label, self._tree, _ = columns
        self._parse = line_parser(kind, *columns)
        self._n_features = n_features
        self._text_labels = text_labels
        self._on_error = on_error
        self._threads = threads
        self._trees: tuple[str, ...] | None = None  # names of parts; the first batch tells
        self._vectors: tuple[str, ...] | None = None
        self._n_examples = 0  # so far, bad ones included
        self._n_lines = 0

    def batches(self, lines: Iterator[bytes], batch_size: int) -> Iterator[Batch]:
        examples = self._examples(lines)
        while True:
            batch, damage = _taken(examples, batch_size)
            if batch:
                yield from self._read(batch)
                self._n_examples += len(batch)
            if damage is not None:
                raise ParseError(
                    f"the compressed file is damaged or cut short: {damage}",
                    hint="make or fetch it again",
                    source=self._name,
                    line=self._n_lines + 1,
                    sample=self._n_examples,
                )
            if len(batch) < batch_size:
                return

    def _examples(self, lines: Iterator[bytes]) -> Iterator[_Line]:
        """Leave out blank lines and comments, as the formats have them."""
        for number, line in enumerate(lines, 1):
            self._n_lines = number
            text = line.strip()
            if text and not (self._kind == "svmlight-tk" and text.startswith(b"#")):
                yield number, line

    def _read(self, batch: list[_Line]) -> Iterator[Batch]:
        quick = self._by_core(batch)
        if quick is not None:
            yield quick
        else:
            yield from self._line_by_line(batch)

    def _by_core(self, batch: list[_Line]) -> Batch | None:
        """None: something is unusual, and is to be read line by line."""
        if self._kind == "jsonl" or self._trees not in (None, ("tree",)):
            return None
        text = b"\n".join(line for _, line in batch)
        usual = labelled_lines.read_text(text, self._kind, self._label, self._tree, self._threads)
        if usual is None or len(usual.roots) < len(batch):
            return None
        _, columns, _ = usual.features
        if len(columns) and (
            self._vectors not in (None, ("features",))
            or int(columns.max()) >= (self._n_features or 0)
        ):
            return None
        if self._text_labels is False and not all(map(_is_number, usual.labels)):
            return None
        parts = usual_parts(usual, self._n_features, self._name)
        return self._finished(parts, self._target(usual.labels)[usual.label_of])

    def _line_by_line(self, batch: list[_Line]) -> Iterator[Batch]:
        gathered = Gathered(self._trees, self._vectors)
        errors: list[ParseError] = []
        failure: ParseError | None = None
        for i, (number, line) in enumerate(batch):
            try:
                record = parsed(self._parse, line)
                if record is not None:
                    self._check(record)
                    gathered.add(record, line)
            except ParseError as error:
                sample = self._n_examples + i
                placed = error.located(source=self._name, line=number, sample=sample)
                if self._on_error == "raise":
                    failure = placed
                    break
                errors.append(placed)
        if len(gathered) or errors:
            parts, labels = gathered.finish(self._n_features, self._name)
            X, y = self._finished(parts, self._target(labels))
            X.skipped = tuple(errors)
            if errors:
                warn(SkippedInputWarning(X.skipped, len(y)), stacklevel=4)
            if len(gathered):
                yield X, y
        if failure is not None:
            raise failure

    def _check(self, record: Record) -> None:
        """Refuse what does not go with the batches before."""
        for vector in record.vectors.values():
            width = max([vector.width, *(i + 1 for i in vector.indices[-1:])])
            if self._n_features is None and width:
                raise InvalidParameterError(
                    f"{self._name} has features: pass n_features, the width of all batches"
                )
            if width > (self._n_features or 0):
                raise ParseError(
                    f"feature {width} is beyond n_features={self._n_features}",
                    hint="raise n_features",
                    column=1,
                )
        if self._text_labels is False and not _is_number(record.label):
            raise ParseError(
                f"the label {str(record.label)[:40]!r} is no number, and those before it are",
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

    def _finished(self, parts: dict[str, Part], y: NDArray[Any]) -> Batch:
        """Give all batches the parts that the first one has."""
        vectors = tuple(name for name, part in parts.items() if not isinstance(part, Forest))
        if self._trees is None and len(y):
            self._trees = tuple(name for name in parts if name not in vectors)
            default = () if self._n_features is None else ("features",)
            self._vectors = vectors or default
        for name in self._vectors or ():
            if name not in parts:
                parts[name] = sp.csr_array((len(y), self._n_features or 0))
        return (parts["tree"] if parts.keys() == {"tree"} else Examples._of(parts)), y


def _taken(lines: Iterator[_Line], n: int) -> tuple[list[_Line], BaseException | None]:
    """Take some lines, and what ended them too early."""
    batch: list[_Line] = []
    try:
        for line in lines:
            batch.append(line)
            if len(batch) == n:
                break
    except DAMAGED as error:
        return batch, error
    return batch, None


def _is_number(label: Label | None) -> bool:
    return not isinstance(label, str) or to_target([label]).dtype.kind != "U"


@contextmanager
def _opened(source: Source) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Open what is not open yet; only that is closed in the end."""
    if source == "-":
        yield "standard input", sys.stdin.buffer
    elif isinstance(source, str | os.PathLike):
        with open_binary(source) as lines:
            yield os.fspath(source), lines
    elif isinstance(source, io.TextIOBase) or not isinstance(source, Iterable):
        raise InputTypeError(
            "a stream is read from a path, a file open in binary mode or lines of bytes, "
            f"not from {type(source).__name__}"
        )
    elif isinstance(source, io.RawIOBase):  # not buffered: a line would be read byte by byte
        buffered = io.BufferedReader(source)
        try:
            yield _name_of(source), buffered
        finally:
            buffered.detach()
    else:
        yield _name_of(source), _only_bytes(source)


def _name_of(source: Any) -> str:
    name = getattr(source, "name", "")
    return name if isinstance(name, str) and name else "the stream"


def _only_bytes(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        if not isinstance(line, bytes):
            raise InputTypeError(f"the lines of a stream are bytes, not {type(line).__name__}")
        yield line
