"""Files, plain or compressed, as streams of bytes."""

import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from filbert.errors import MissingFileError, ParseError

DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
"""What reading from a compressed file raises when it is damaged or cut short."""

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


@contextmanager
def open_binary(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading; ``.gz`` and ``.xz`` are unpacked on the way.

    A compressed file that is damaged or cut short raises ParseError, here or in reading from it.
    """
    name = os.fspath(path)
    opener = _OPENERS.get(os.path.splitext(name)[1], open)
    try:
        with cast(IO[bytes], opener(path, "rb")) as stream:
            yield stream
    except FileNotFoundError:
        raise MissingFileError(path) from None
    except DAMAGED as error:
        raise ParseError(
            f"the compressed file is damaged or cut short: {error}",
            hint="make or fetch it again",
            source=name,
        ) from None


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the extension that tells the format: ``.tsv`` for ``train.tsv.xz``."""
    stem, suffix = os.path.splitext(os.fspath(path))
    if suffix in _OPENERS:
        suffix = os.path.splitext(stem)[1]
    return suffix.lower()
