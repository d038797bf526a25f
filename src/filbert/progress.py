"""Progress bars for long work in the core."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from tqdm.auto import tqdm


class Progress(Protocol):
    """Moves a bar, and may change what it says."""

    def __call__(self, done: int, total: int, description: str = "") -> None:
        """Tell that so much of the work is done."""


@contextmanager
def progress_bar(description: str, *, show: bool) -> Iterator[Progress | None]:
    """Give a callback ``(done, total)`` that moves a bar; None where none is to be shown."""
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
