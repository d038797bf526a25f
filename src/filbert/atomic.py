"""Atomic replacement of a file: readers see the old file or the new one, never a part of it."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from filbert.errors import MissingFileError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a stream whose content replaces the file when the block ends without an error.

    After an error the file is unchanged. A link stays a link, and an existing file keeps its
    permissions.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as stream:  # a pipe or a device cannot be replaced
            yield stream
        return
    target = os.path.realpath(path)
    check_folder(target)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".{secrets.token_hex(8)}.part")
    # tempfile would make a file that only its owner may read. This one gets default permissions.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise MissingFileError if the folder of a file does not exist.

    Commands call this before long work too.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise MissingFileError(folder, "there is no folder")


def _mode(path: str | os.PathLike[str]) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _sync_folder(folder: str) -> None:
    """Write the new name to disk now. If a system cannot sync folders, it does so later itself."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
