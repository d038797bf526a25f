"""Progress bars for long work in the core."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm.auto import tqdm

Progress = Callable[[int, int], None]


@contextmanager
def progress_bar(description: str, *, show: bool) -> Iterator[Progress | None]:
    """Give a callback ``(done, total)`` that moves a bar; None where none is to be shown."""
    if not show:
        yield None
        return
    shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    with tqdm(desc=description, total=1000, bar_format=shape, leave=False) as bar:

        def update(done: int, total: int) -> None:
            bar.update(1000 * done // max(1, total) - bar.n)

        yield update
