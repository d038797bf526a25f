"""Files, pipes and lines as streams of bytes, opened once and read only forwards."""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any, BinaryIO, cast

from filbert.errors import InputTypeError, MissingFileError, ParseError
from filbert.read.compression import DAMAGED, is_compressed, opener_for

STANDARD_INPUT = "-"

_START = 16  # first bytes that are looked at
_MARK = b"\xef\xbb\xbf"  # a byte order mark


class Input:
    """A stream of bytes without its byte order mark.

    The first line that is neither blank nor a comment can be inspected before it is read.

    Attributes
    ----------
    name : str
        The name for messages.
    first_line : bytes
        This line without white space around it; empty if there is none.
    start : bytes
        The first bytes, which show what a binary file is.
    """

    def __init__(self, stream: Any, name: str) -> None:
        self.name = name
        self.first_line = self.start = b""
        self._stream = stream
        self._lines = iter(stream)
        self._seen: list[bytes] = []  # lines that are still to be read
        # Read no more lines than needed: the next line of a pipe may take long to arrive.
        for line in self._lines:
            self.start = self.start or line[:_START]
            self._seen.append(line if self._seen else line.removeprefix(_MARK))
            text = self._seen[-1].strip()
            if text and not text.startswith(b"#"):
                self.first_line = text
                break

    def first_row(self) -> bytes:
        """Return the first line that is not blank, without its line end, before it is read."""
        return next((line.rstrip(b"\r\n") for line in self._seen if line.strip()), b"")

    def drop_first_row(self) -> None:
        """Replace the first line that is not blank by a blank line.

        The other lines keep their numbers.
        """
        for i, line in enumerate(self._seen):
            if line.strip():
                self._seen[i] = b"\n"
                return

    def read(self, size: int = -1) -> bytes:
        """Read about `size` bytes; return b"" at the end."""
        start = self._start()
        return start or self._read(size)

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield blocks of whole lines, each of about `size` bytes."""
        start = self._start()
        while block := start + self._read(size):
            start = b""
            yield block if block.endswith(b"\n") else block + self._stream.readline()

    def lines(self, *, keep_ends: bool = False) -> Iterator[bytes]:
        """Yield lines, by default without their line ends."""
        seen, self._seen = self._seen, []
        for line in chain(seen, self._lines):
            yield line if keep_ends else line.rstrip(b"\r\n")

    def read_all(self) -> bytes:
        """Read to the end."""
        return b"".join(self.lines(keep_ends=True))

    def _read(self, size: int) -> bytes:
        """Read `size` bytes, or up to the end, such that Ctrl-C is noticed at once.

        `read` of a buffered file waits for all bytes of a pipe within one call, in which Python
        does not notice a signal that comes between two system calls.
        """
        if size < 0 or not hasattr(self._stream, "read1"):
            return cast(bytes, self._stream.read(size))
        pieces: list[bytes] = []
        while size > 0 and (piece := self._stream.read1(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _start(self) -> bytes:
        start = b"".join(self._seen)
        self._seen = []
        return start


Source = str | os.PathLike[str] | BinaryIO | Iterable[bytes] | Input


@contextmanager
def open_input(source: Source) -> Iterator[Input]:
    """Open a path, ``"-"`` for standard input, an open binary file or lines of bytes.

    Files that are opened here are closed at the end. Files that were open before stay open.
    """
    if isinstance(source, Input):
        yield source
    elif isinstance(source, str | os.PathLike):
        with open_binary(source) as stream:
            yield Input(stream, name_of(source))
    elif isinstance(source, io.TextIOBase | bytes) or not isinstance(source, Iterable):
        raise InputTypeError(
            "examples are read from a path, a file open in binary mode or lines of bytes, "
            f"not from {type(source).__name__}"
        )
    elif isinstance(source, io.RawIOBase):  # without a buffer, a line would be read byte by byte
        buffered = io.BufferedReader(source)
        try:
            yield Input(buffered, name_of(source))
        finally:
            buffered.detach()
    elif hasattr(source, "read"):
        yield Input(source, name_of(source))
    else:
        yield Input(Lines(source), name_of(source))


@contextmanager
def open_binary(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file or pipe for reading; ``"-"`` is standard input.

    Files in the formats of ``gzip``, ``xz``, ``bzip2`` and ``zstd`` are decompressed. If such a
    file is damaged or truncated, opening it or reading from it raises ParseError.
    """
    try:
        if path == STANDARD_INPUT:
            with _unpacked(sys.stdin.buffer, "") as stream:
                yield stream
        else:
            suffix = os.path.splitext(os.fspath(path))[1]
            with open(path, "rb") as file, _unpacked(file, suffix) as stream:
                yield stream
    except FileNotFoundError:
        raise MissingFileError(path) from None
    except DAMAGED as error:
        raise damaged(error, name_of(path)) from None


def damaged(error: BaseException, source: str, **place: int) -> ParseError:
    """Return the ParseError for one of the errors in `DAMAGED`."""
    return ParseError(
        f"the compressed file is damaged or cut short: {error}",
        hint="compress or download it again",
        source=source,
        **place,
    )


def name_of(source: Any) -> str:
    """Return the name of a source for messages."""
    if isinstance(source, str) and source == STANDARD_INPUT:
        return "standard input"
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", "")
    return name if isinstance(name, str) and name else "the stream"


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the extension that shows the format: ``.tsv`` for ``train.tsv.xz``."""
    stem, suffix = os.path.splitext(os.fspath(path))
    if is_compressed(suffix):
        suffix = os.path.splitext(stem)[1]
    return suffix.lower()


@contextmanager
def _unpacked(file: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    # A pipe has no extension, so its first bytes are looked at.
    start = file.peek(_START)[:_START] if isinstance(file, io.BufferedReader) else b""
    opener = opener_for(suffix, start)
    if opener is None:
        yield file
    else:
        with opener(file) as stream:
            yield stream


class Lines:
    """Lines of bytes, checked and read like a file."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def readline(self) -> bytes:
        """Return the next line, or b"" at the end."""
        for line in self._lines:
            if not isinstance(line, bytes):
                raise InputTypeError(
                    f"the lines of a stream must be bytes, not {type(line).__name__}"
                )
            return line if line.endswith(b"\n") else line + b"\n"
        return b""

    def read(self, size: int) -> bytes:
        """Return whole lines of about `size` bytes."""
        lines: list[bytes] = []
        while size > 0 and (line := self.readline()):
            lines.append(line)
            size -= len(line)
        return b"".join(lines)
