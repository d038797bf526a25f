"""Progress of long work: a bar in terminals and notebooks, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

_SECONDS_BETWEEN_LINES = 10.0


class Progress(Protocol):
    """A callback that updates a progress bar and may change its text."""

    def __call__(self, done: int, total: int, description: str = "") -> None:
        """Report that `done` of `total` units of work are done."""


@contextmanager
def progress_bar(description: str, *, show: bool) -> Iterator[Progress | None]:
    """Yield a callback ``(done, total)`` that updates a bar, or None if no bar is shown.

    If standard error is neither a terminal nor a notebook, such as a file or a pipe, one line with
    the description takes the place of the bar.
    """
    if not show:
        yield None
        return
    opened = open_bar(description)
    if opened is None:
        yield None
        return
    with opened as bar:

        def update(done: int, total: int, description: str = "") -> None:
            if description:
                bar.desc = description
            bar.update(1000 * done // max(1, total) - bar.n)

        yield update


@contextmanager
def part_progress(title: str, total: int, *, show: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback for the number of parts that are done, or None if nothing is shown.

    Where no bar can be drawn, a line is printed every ten seconds.
    """
    if not show:
        yield None
        return
    started = printed = time.monotonic()
    with progress_bar(title, show=True) as bar:

        def report(done: int) -> None:
            nonlocal printed
            now = time.monotonic()
            text = f"{title}: {_speed(done, total, now - started)}"
            if bar is not None:
                bar(done, total, text)
            elif now - printed >= _SECONDS_BETWEEN_LINES:
                printed = now
                print(text, file=sys.stderr)

        yield report


def _speed(done: int, total: int, seconds: float) -> str:
    """Return how many parts are done, their rate, and the time that the others may take."""
    text = f"{done:,} of {total:,} parts"
    if done == 0 or seconds <= 0:
        return text
    left = round((total - done) * seconds / done)
    return f"{text}, {60 * done / seconds:.3g} per minute, {left // 60}:{left % 60:02d} min left"


def open_bar(description: str) -> Any:
    """Return a bar of tqdm, or print a line and return None if a bar cannot be drawn."""
    # Imported here, because it is rarely needed and loads much.
    from tqdm.auto import tqdm  # noqa: PLC0415

    if not (sys.stderr.isatty() or _in_notebook(tqdm)):
        print(f"{description} ...", file=sys.stderr)
        return None
    shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    return tqdm(desc=description, total=1000, bar_format=shape, leave=False)


def _in_notebook(bar: type[Any]) -> bool:
    return any(base.__module__ == "tqdm.notebook" for base in bar.__mro__)
