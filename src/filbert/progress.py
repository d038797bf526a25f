"""Progress bars for long work in the core."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from tqdm.auto import tqdm


class Progress(Protocol):
    """A callback that updates a progress bar and may change its text."""

    def __call__(self, done: int, total: int, description: str = "") -> None:
        """Report that `done` of `total` units of work are done."""


@contextmanager
def progress_bar(description: str, *, show: bool) -> Iterator[Progress | None]:
    """Yield a callback ``(done, total)`` that updates a bar, or None if no bar is shown."""
    if not show:
        yield None
        return
    shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    with tqdm(desc=description, total=1000, bar_format=shape, leave=False) as bar:

        def update(done: int, total: int, description: str = "") -> None:
            if description:
                bar.desc = description
            bar.update(1000 * done // max(1, total) - bar.n)

        yield update
