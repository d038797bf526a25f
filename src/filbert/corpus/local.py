"""Work on the parts of a corpus on this machine, one part after another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from filbert.corpus.pieces import Given, Piece, Rows
from filbert.corpus.tasks import Work, load
from filbert.forest import Forest
from filbert.progress import part_progress

_ROOM = 256 << 20  # bytes of packed parts


class LocalRunner:
    """Loads one part at a time. Threads work within a part.

    Parameters
    ----------
    several_passes : bool
        Whether the same parts will be loaded several times. Parts that are only trees are then kept
        in a packed form, as far as there is room, for as long as the runner lives. Unpacking takes
        about a fifth of the time of reading.
    """

    def __init__(self, *, several_passes: bool = False) -> None:
        self._packed: dict[str, _Packed] = {}
        self._room = _ROOM if several_passes else 0

    def map(
        self, work: Work, pieces: Sequence[Piece], own: Sequence[tuple[Any, ...]], verbose: int = 0
    ) -> Iterator[Any]:
        """Yield the result for each part, in the order of the parts."""
        with part_progress(work.title, len(pieces), show=verbose > 0) as report:
            for done, (piece, arguments) in enumerate(zip(pieces, own, strict=True)):
                if report is not None:
                    report(done)
                yield work.on(self._load(piece), arguments)

    def _load(self, piece: Piece) -> Rows:
        if isinstance(piece, Given):
            return load(piece)
        if piece.token in self._packed:
            return self._packed[piece.token].rows()
        rows = load(piece, _computed(piece.later))
        if self._room and isinstance(rows.X, Forest) and not rows.X.skipped:
            packed = _Packed(rows.X.to_arrays(), rows.y)
            if packed.nbytes <= self._room:
                self._room -= packed.nbytes
                self._packed[piece.token] = packed
        return rows


@dataclass(frozen=True)
class _Packed:
    """The trees of a part as arrays, without what makes them fast to look up."""

    arrays: dict[str, NDArray[Any]]
    y: NDArray[Any] | None

    @property
    def nbytes(self) -> int:
        labels = 0 if self.y is None else self.y.nbytes
        return labels + sum(array.nbytes for array in self.arrays.values())

    def rows(self) -> Rows:
        return Rows(Forest.from_arrays(self.arrays), self.y)


def _computed(later: Any) -> Any:
    """Return the content of a Dask object, computed in this thread."""
    if later is None:
        return None
    from dask.local import get_sync  # noqa: PLC0415

    return later.compute(scheduler=get_sync)  # by name, Dask may warn if there is a client
