"""Warnings of one thread, recorded so that another process can show them."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO


class Recorded(NamedTuple):
    """A warning, and the line of code that gave it."""

    message: Warning
    filename: str
    line: int

    def show(self, registry: dict[Any, Any]) -> None:
        """Give the warning in this process, where its filters decide what to do with it."""
        warnings.warn_explicit(
            self.message, type(self.message), self.filename, self.line, registry=registry
        )


# Python has one list of filters and one way to show warnings for all threads of a process. The
# first of several recording threads changes them, and the last one restores them.
_lock = threading.Lock()
_threads: dict[int, list[Recorded]] = {}
_settings: list[Any] = []  # that of the first thread, to restore


@contextmanager
def recorded_warnings() -> Iterator[list[Recorded]]:
    """Record all warnings of this thread. Meanwhile, other threads show all of theirs."""
    record: list[Recorded] = []
    own = threading.get_ident()
    with _lock:
        if not _threads:
            _start()
        _threads[own] = record
    try:
        yield record
    finally:
        with _lock:
            del _threads[own]
            if not _threads:
                _settings.pop().__exit__(None, None, None)


def _start() -> None:
    settings = warnings.catch_warnings()
    settings.__enter__()
    _settings.append(settings)
    show_others = warnings.showwarning

    def show(
        message: Any,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        record = _threads.get(threading.get_ident())
        if record is None:
            show_others(message, category, filename, lineno, file, line)
        else:
            record.append(Recorded(message, filename, lineno))

    warnings.simplefilter("always")
    warnings.showwarning = show
