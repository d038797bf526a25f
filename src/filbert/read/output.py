"""Files to write: complete or unchanged, compressed by their extension."""

import bz2
import gzip
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, cast

from filbert.atomic import replacing
from filbert.errors import InputTypeError
from filbert.read.compression import zstandard_library

Target = str | os.PathLike[str] | IO[bytes]


@contextmanager
def open_output(target: Target) -> Iterator[IO[bytes]]:
    """Open a file for writing; ``"-"`` is standard output. An open binary file stays open.

    The file gets its name at the end. If an error comes before, a file of that name stays as it is.
    """
    if not isinstance(target, str | os.PathLike):
        if not hasattr(target, "write") or hasattr(target, "encoding"):
            raise InputTypeError(
                "output goes to a path or to a file open in binary mode, not to "
                f"{type(target).__name__}"
            )
        yield target
    elif target == "-":
        yield getattr(sys.stdout, "buffer", None) or cast(IO[bytes], _Decoded())
        sys.stdout.flush()
    else:
        compressed = _COMPRESSORS.get(os.path.splitext(os.fspath(target))[1])
        with replacing(target) as file:
            if compressed is None:
                yield file
            else:
                with compressed(file) as stream:
                    yield stream


class _Decoded:
    """Standard output that takes text only, as in notebooks."""

    def write(self, data: bytes) -> int:
        return sys.stdout.write(data.decode())


def _zst(file: IO[bytes]) -> Any:
    return zstandard_library().ZstdCompressor().stream_writer(file, closefd=False)


_COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".xz": partial(lzma.open, mode="wb"),
    ".bz2": partial(bz2.open, mode="wb"),
    ".zst": _zst,
}
