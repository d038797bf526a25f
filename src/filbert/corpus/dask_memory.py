"""Memory of a worker of Dask during a task.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_``, so that glibc returns free memory at once. A
task of ours allocates and frees hundreds of megabytes, array by array. It would take a fifth more
time, in which the system maps the same pages again and again. So free memory is kept until the task
ends, and then returned.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_TRIM, _MAP = -1, -3  # glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD
_KEPT = 64 << 20  # bytes of free memory
_LARGEST = 8 << 20  # bytes of a block; larger ones save little more time
_MAP_DEFAULT = 128 << 10  # bytes

_lock = threading.Lock()
_n_tasks = [0]  # that run at the same time in this process


@contextmanager
def free_memory_kept() -> Iterator[None]:
    """Keep free memory in this process, if the environment tells glibc to return it at once."""
    libc, threshold = _libc(), os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    if libc is None or not threshold.isdecimal():
        yield
        return
    with _lock:
        _n_tasks[0] += 1
        if _n_tasks[0] == 1:
            libc.mallopt(_TRIM, _KEPT)
            libc.mallopt(_MAP, _LARGEST)
    try:
        yield
    finally:
        with _lock:
            _n_tasks[0] -= 1
            if _n_tasks[0] == 0:
                libc.mallopt(_TRIM, int(threshold))
                libc.mallopt(_MAP, _MAP_DEFAULT)
                libc.malloc_trim(0)


@cache
def _libc() -> Any:
    """Return the C library, or None if it is not glibc."""
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
