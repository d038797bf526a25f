"""Messages about rows that cannot be read: the first ones, and a summary."""

from types import TracebackType
from typing import Self

from filbert.cli import console

_MOST = 10  # messages


class Unread:
    """Prints the first errors at once, and at the end how many there were."""

    def __init__(self) -> None:
        self.n_rows = 0  # also of those that were read
        self._n = 0

    def __enter__(self) -> Self:
        return self

    def add(self, error: Exception) -> None:
        """Print an error, unless there were many before."""
        self._n += 1
        if self._n <= _MOST:
            console.bad_input(str(error))
        elif self._n == _MOST + 1:
            console.bad_input("more input cannot be read; only the number will be printed")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._n > _MOST:
            hint = ""
            if self._n == self.n_rows:
                hint = ": check the columns (--label, --tree) and --format"
            console.bad_input(f"{self._n:,} of {self.n_rows:,} could not be read{hint}")
