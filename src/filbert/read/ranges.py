"""Ranges of a file of lines, each read as if it were in the whole file.

The first line of the file decides about its format, its header and its columns in all ranges.
"""

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from filbert.read.compression import opener_for
from filbert.read.files import Input, Lines
from filbert.read.formats import Layout, known_format

LINE_FORMATS = ("svmlight-tk", "klp", "tsv", "jsonl")  # a line end always ends an example

_BLOCK = 1 << 20
_START = 16


class _LaterLines(Input):
    """Lines that come after the first line of a source."""

    def __init__(self, stream: Any, head: Input) -> None:
        self.name, self.first_line, self.start = head.name, head.first_line, head.start
        self._row = head.first_row()
        self._stream = stream
        self._lines = iter(stream)
        self._seen = []

    def first_row(self) -> bytes:
        """Return the first row of the source."""
        return self._row

    def drop_first_row(self) -> None:
        """Do nothing: the first row is not among these lines."""


class _Window(io.RawIOBase):
    """Some bytes of a file, from its present position on."""

    def __init__(self, file: io.FileIO, size: int) -> None:
        super().__init__()
        self._file = file
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(memoryview(buffer)[: self._left]) or 0
        self._left -= n
        return n


@contextmanager
def open_window(path: str, begin: int, end: int) -> Iterator[BinaryIO]:
    """Open some bytes of a file."""
    with open(path, "rb", buffering=0) as file:
        file.seek(begin)
        with io.BufferedReader(_Window(file, end - begin), _BLOCK) as stream:
            yield cast(BinaryIO, stream)


@contextmanager
def open_range(path: str, begin: int, end: int) -> Iterator[Input]:
    """Open some lines of a file that is not compressed. `begin` and `end` follow line ends."""
    with open_window(path, begin, end) as stream:
        if begin == 0:
            yield Input(stream, path)
        else:
            with open(path, "rb") as file:
                head = Input(file, path)
            yield _LaterLines(stream, head)


def lines_after(first_row: bytes, lines: Iterable[bytes], name: str) -> Input:
    """Return lines that are read as if they came after `first_row`, which is not among them."""
    return _LaterLines(Lines(lines), Input(Lines([first_row]), name))


def n_lines_before(path: str, position: int) -> int:
    """Return the number of line ends before a position of a file."""
    n = 0
    with open_window(path, 0, position) as stream:
        while block := stream.read(_BLOCK):
            n += block.count(b"\n")
    return n


def has_ranges(path: str, layout: Layout) -> bool:
    """Return whether a file can be split at line ends: its format has lines, uncompressed."""
    with open(path, "rb") as file:
        if opener_for(os.path.splitext(path)[1], file.peek(_START)[:_START]) is not None:
            return False
        source = Input(file, path)
        return bool(source.first_line) and known_format(layout, source) in LINE_FORMATS


def range_ends(path: str, size: int, n: int, *, opening: bytes = b"") -> list[int]:
    """Return the ends of at most n ranges of a file, of about the same size.

    The first line that is not blank is always in the first range. If `opening` is given, a line
    that begins a range begins with it.
    """
    ends: list[int] = []
    with open(path, "rb") as file:
        Input(file, path)
        least = file.tell()
        for i in range(1, n):
            file.seek(max(least, size * i // n) - 1)
            file.readline()
            end = file.tell()
            while opening and (line := file.readline()) and not line.startswith(opening):
                end = file.tell()
            if least <= end < size and end > (ends[-1] if ends else 0):
                ends.append(end)
    return [*ends, size]
