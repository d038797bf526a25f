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
    with tqdm(desc=description, unit=" tiles", leave=False) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update
