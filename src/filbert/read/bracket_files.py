"""Files of trees in bracket notation, which the core parses."""

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import ParseError

_PIECE = 1 << 20

Problem = tuple[int | None, str, str, int, int]


def read_brackets(
    stream: IO[Any], *, skip: bool, bare_words: bool
) -> tuple[_core.Dag, NDArray[np.uint32], list[Problem]]:
    """Return the trees of a file, and with `skip` what could not be read.

    With `skip`, a bracket in the first column opens a new tree, so that one missing bracket does
    not swallow the rest of the file. A file without errors, whose trees may go on in the first
    column, must not be read in another way for that: it is first read as it is. A pipe cannot be
    read again.
    """
    seekable = getattr(stream, "seekable", None)
    if skip and seekable is not None and seekable():
        start = stream.tell()
        try:
            return _read(stream, skip=False, bare_words=bare_words)
        except ParseError:
            stream.seek(start)
    return _read(stream, skip=skip, bare_words=bare_words)


def _read(
    stream: IO[Any], *, skip: bool, bare_words: bool
) -> tuple[_core.Dag, NDArray[np.uint32], list[Problem]]:
    reader = _core.TreeReader(skip_errors=skip, bare_words=bare_words)
    # read1 waits for one part of a pipe only, so that Ctrl-C is noticed between the parts.
    read = getattr(stream, "read1", stream.read)
    while piece := read(_PIECE):
        is_text = isinstance(piece, str)
        reader.feed(piece.encode(errors="surrogatepass") if is_text else piece)
    return reader.finish()
