"""Decompression of streams: gzip, xz, bzip2 and zstd, recognised by name or by first bytes."""

import bz2
import gzip
import importlib
import io
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Any, cast

from filbert.errors import MissingLibraryError

_PIECE = 1 << 16
_BZ2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # the start of a block, and the end without any


class DamagedStreamError(Exception):
    """A compressed stream is damaged or ends too early."""


DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, DamagedStreamError)
"""The errors that reading raises if a compressed file is damaged or truncated."""


def is_compressed(suffix: str) -> bool:
    """Return whether an extension, such as ``.gz``, is that of a compressed file."""
    return suffix in _BY_SUFFIX


def opener_for(suffix: str, start: bytes) -> Callable[[IO[bytes]], IO[bytes]] | None:
    """Return what opens a compressed file, by its extension or its first bytes; None for others."""
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if start.startswith(b"BZh") and start[4:10] in _BZ2_BLOCKS:
        return _open_bz2
    return next((opener for magic, opener in _BY_START.items() if start.startswith(magic)), None)


def _open_bz2(file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_Pieces(file, bz2.BZ2Decompressor, (OSError,))))


def zstandard_library() -> Any:
    """Return the module that few files need, or raise MissingLibraryError."""
    try:
        return importlib.import_module("zstandard")
    except ModuleNotFoundError:
        raise MissingLibraryError("a .zst file", "zstandard", "tables") from None


def _open_zst(file: IO[bytes]) -> IO[bytes]:
    zstandard = zstandard_library()
    decompressor = zstandard.ZstdDecompressor()
    return cast(
        IO[bytes],
        io.BufferedReader(_Pieces(file, decompressor.decompressobj, (zstandard.ZstdError,))),
    )


class _Pieces(io.RawIOBase):
    """A stream that is decompressed piece by piece, of one or several frames.

    The streams of these libraries end without an error if the file is cut short, or raise errors
    that cannot be told from those of the disk.
    """

    def __init__(
        self,
        file: IO[bytes],
        new_frame: Callable[[], Any],
        errors: tuple[type[Exception], ...],
    ) -> None:
        super().__init__()
        self._file = file
        self._new_frame = new_frame
        self._errors = errors
        self._frame: Any = None  # None between two frames
        self._rest = b""  # bytes that are still to be decompressed
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._rest:
                self._rest = self._file.read1(_PIECE) if hasattr(self._file, "read1") else (
                    self._file.read(_PIECE)
                )  # fmt: skip
            if not self._rest:
                if self._frame is not None:
                    raise DamagedStreamError("the stream ends too early")
                return 0
            self._ready = self._decompress()
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def _decompress(self) -> bytes:
        self._frame = self._frame or self._new_frame()
        try:
            data: bytes = self._frame.decompress(self._rest)
        except self._errors as error:
            raise DamagedStreamError(str(error)) from None
        self._rest = b""
        if self._frame.eof:
            self._rest, self._frame = self._frame.unused_data, None
        return data


def _open_gzip(file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file, "rb"))


def _open_xz(file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], lzma.open(file, "rb"))


_BY_SUFFIX: dict[str, Callable[[IO[bytes]], IO[bytes]]] = {
    ".gz": _open_gzip,
    ".xz": _open_xz,
    ".bz2": _open_bz2,
    ".zst": _open_zst,
}
_BY_START: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": _open_gzip,
    b"\xfd7zXZ\x00": _open_xz,
    b"\x28\xb5\x2f\xfd": _open_zst,
}
