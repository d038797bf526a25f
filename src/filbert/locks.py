"""A lock between processes, and between the threads of one: whoever has it writes a folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

if sys.platform != "win32":
    import fcntl


@contextmanager
def exclusive_lock(path: str) -> Iterator[IO[bytes]]:
    """Hold the lock of a file, or raise BlockingIOError if it is held. The file is made, and stays.

    It never waits, because the owner may be the same thread, interrupted by a signal handler. The
    system releases the lock of a process that dies. Where it has no such locks, as on Windows and
    some network file systems, nothing is locked.
    """
    with open(path, "ab") as stream:
        _lock(stream)
        try:
            yield stream
        finally:
            _unlock(stream)


def is_at(stream: IO[bytes], path: str) -> bool:
    """Whether an open file still has its name, and no other file has taken it."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _lock(stream: IO[bytes]) -> None:
    if sys.platform != "win32":
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks
            pass


def _unlock(stream: IO[bytes]) -> None:
    """Release the lock. Closing would not, if a process was forked meanwhile."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(stream, fcntl.LOCK_UN)
