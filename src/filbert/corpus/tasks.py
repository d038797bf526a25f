"""The one thing that runs on parts: a pure function of a part and of what all parts share.

A task can be run again anywhere and gives the same result. A runner maps a function over parts and
returns the results in the order of the parts. There are two: one on this machine, part by part
(``local.py``), and one on Dask (``dask.py``).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from filbert.corpus.pieces import Piece, Rows
from filbert.errors import ParseError


@dataclass(frozen=True)
class Work:
    """A pure function for each part.

    Attributes
    ----------
    title : str
        Shown with the progress, such as "scoring".
    function : callable
        ``function(rows, *own, *shared)``, a function of a module, so that it can be sent to other
        processes. Its result should be small.
    shared : tuple
        Arguments that are the same for all parts, such as a model.
    """

    title: str
    function: Callable[..., Any]
    shared: tuple[Any, ...] = ()

    def on(self, rows: Rows, own: tuple[Any, ...]) -> Any:
        """Do the work on the examples of one part."""
        return self.function(rows, *own, *self.shared)


def load(piece: Piece, content: Any = None) -> Rows:
    """Load a part. Errors of its input name the part, unless they name a file."""
    try:
        return piece.load(content)
    except ParseError as error:
        raise error if error.source else error.located(source=piece.name) from None


class Runner(Protocol):
    """Maps work over parts."""

    def map(
        self, work: Work, pieces: Sequence[Piece], own: Sequence[tuple[Any, ...]], verbose: int = 0
    ) -> Iterator[Any]:
        """Yield the result for each part, in the order of the parts.

        Parameters
        ----------
        work : Work
        pieces : sequence of Piece
        own : sequence of tuples
            For each part, the arguments that only its task gets.
        verbose : int
            If positive, show progress by part.
        """
