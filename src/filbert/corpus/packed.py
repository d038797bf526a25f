"""Parts that were read, in a form that takes little memory and is unpacked fast."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from filbert.corpus.pieces import Rows
from filbert.forest import Forest

ROOM = 256 << 20  # bytes of packed parts that are kept for several passes


class Packed(NamedTuple):
    """The trees of a part as arrays, without what makes them fast to look up.

    Unpacking takes about a fifth of the time of reading.
    """

    arrays: dict[str, NDArray[Any]]
    y: NDArray[Any] | None

    def rows(self) -> Rows:
        """Return the part as it was."""
        return Rows(Forest.from_arrays(self.arrays), self.y)

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        labels = 0 if self.y is None else self.y.nbytes
        return labels + sum(array.nbytes for array in self.arrays.values())


def packed(rows: Rows, room: int) -> Packed | None:
    """Pack a part. Return None if it is not only trees, or takes more bytes than there is room."""
    if room <= 0 or not isinstance(rows.X, Forest) or rows.X.skipped:
        return None
    found = Packed(rows.X.to_arrays(), rows.y)
    return found if found.nbytes <= room else None
