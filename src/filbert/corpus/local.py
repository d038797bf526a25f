"""Work on the parts of a corpus on this machine, one part after another."""

from collections.abc import Iterator, Sequence
from typing import Any

from filbert.corpus.packed import ROOM, Packed, packed
from filbert.corpus.pieces import Given, Piece, Rows
from filbert.corpus.tasks import Work, load
from filbert.progress import part_progress


class LocalRunner:
    """Loads one part at a time. Threads work within a part.

    Parameters
    ----------
    several_passes : bool
        Whether the same parts will be loaded several times. Parts that are only trees are then kept
        in a packed form, as far as there is room, for as long as the runner lives.
    """

    def __init__(self, *, several_passes: bool = False) -> None:
        self._packed: dict[str, Packed] = {}
        self._room = ROOM if several_passes else 0

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
        kept = packed(rows, self._room)
        if kept is not None:
            self._room -= kept.nbytes
            self._packed[piece.token] = kept
        return rows


def _computed(later: Any) -> Any:
    """Return the content of a Dask object, computed in this thread."""
    if later is None:
        return None
    from dask.local import get_sync  # noqa: PLC0415

    return later.compute(scheduler=get_sync)  # by name, Dask may warn if there is a client
