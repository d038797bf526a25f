"""The warning of skipped input, unless the caller reports the input itself."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from warnings import warn

from filbert.errors import ParseError, SkippedInputWarning

_reported = ContextVar("reported", default=False)  # of this thread: filters of warnings are not


def warn_of_skipped(errors: Sequence[ParseError], n_read: int, *, stacklevel: int) -> None:
    """Warn of input that was skipped, if there is any. `stacklevel` counts from the caller."""
    if errors and not _reported.get():
        warn(SkippedInputWarning(tuple(errors), n_read), stacklevel=stacklevel + 1)


@contextmanager
def reported_by_caller() -> Iterator[None]:
    """Give no warning of skipped input in this thread, because the caller reports it."""
    token = _reported.set(True)
    try:
        yield
    finally:
        _reported.reset(token)
