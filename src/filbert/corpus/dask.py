"""Work on the parts of a corpus on a Dask cluster.

Each part is one task, and what all parts share is one more. Tasks are pure, none is tied to a
worker, and everything that they need is in the graph. If a worker dies, Dask can therefore run its
tasks again on another one. Tasks are submitted as results are taken (``dask_results.py``).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any
from uuid import uuid4

from filbert.corpus.dask_results import Results
from filbert.corpus.dask_tasks import (
    Sender,
    keep,
    outcome_of,
    pack,
    pack_part,
    run_and_keep,
    run_part,
    unpack_shared,
)
from filbert.corpus.packed import ROOM
from filbert.corpus.pieces import Given, Piece
from filbert.corpus.tasks import Work
from filbert.errors import ClusterError
from filbert.progress import part_progress
from filbert.threads import in_dask_task

_CHUNK = 4 << 20  # bytes; Dask warns of graphs with more than 10 MB
_KeptParts = dict[int, tuple[Piece, Any]]  # by id: a piece, and the future of what read it


def client_here() -> Any:
    """Return the current Dask client, or None. Within a task of Dask there is none."""
    from distributed import Client  # noqa: PLC0415

    if in_dask_task():
        return None
    try:
        client = Client.current()  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    if client.asynchronous:
        raise ClusterError(
            "the current Dask client runs in the event loop of this thread, which the call would "
            "block: make a Client without asynchronous=True, or call from another thread, such as "
            "by asyncio.to_thread"
        )
    return client


class DaskRunner:
    """Runs one task for each part on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
    several_passes : bool
        Whether the same parts will be loaded several times. Parts of files that are only trees are
        then kept in a packed form among the results of the cluster, if there is room for all. Dask
        prefers the worker that has a part, and computes a part that is lost again.
    """

    def __init__(self, client: Any, *, several_passes: bool = False) -> None:
        self._client = client
        self._kept: _KeptParts | None = {} if several_passes else None

    def map(
        self, work: Work, pieces: Sequence[Piece], own: Sequence[tuple[Any, ...]], verbose: int = 0
    ) -> Iterator[Any]:
        """Yield the result for each part, in the order of the parts."""
        names = [piece.name for piece in pieces]
        tasks = _Tasks(self._client, self._kept).submit(work, pieces, own)
        with (
            part_progress(work.title, len(pieces), show=verbose > 0) as report,
            closing(Results(self._client, names, tasks, report)) as results,
        ):
            for number in range(len(pieces)):
                outcome = results.take(number)
                for warning in outcome.warnings:
                    warning.show(globals().setdefault("__warningregistry__", {}))
                yield outcome.result


class _Tasks:
    """Makes the tasks of one map. All keys are new, so that maps at the same time share none."""

    def __init__(self, client: Any, kept: _KeptParts | None) -> None:
        self._client = client
        self._kept = kept
        self._sender = Sender.here()

    def submit(
        self, work: Work, pieces: Sequence[Piece], own: Sequence[tuple[Any, ...]]
    ) -> Generator[Any]:
        """Submit a task for the next part at each step, and yield its future."""
        shared = None
        if work.shared:
            shared = self._task(unpack_shared, *self._sender, *self._chunks(pack(work.shared)))
        for piece, arguments in zip(pieces, own, strict=True):
            yield self._part(work, piece, arguments, shared, ROOM // len(pieces))

    def _part(self, work: Work, piece: Piece, own: tuple[Any, ...], shared: Any, room: int) -> Any:
        """Return the future of one part.

        What Dask computes itself gets a lower priority than our tasks: a worker loads a part only
        when no loaded part waits for its work. The future of the content is dropped here, so that
        a worker forgets the content after its task.
        """
        content = None
        if piece.later is not None:
            content = self._client.compute(piece.later, priority=-1)
        packed = self._chunks(pack_part(work, piece, own))
        if self._kept is None or content is not None or isinstance(piece, Given):
            return self._task(run_part, *self._sender, content, shared, None, *packed)
        if id(piece) in self._kept:
            _, kept = self._kept[id(piece)]
            return self._task(run_part, *self._sender, None, shared, kept, *packed)
        kept = self._task(run_and_keep, room, *self._sender, shared, *packed)
        self._kept[id(piece)] = piece, kept
        return self._task(outcome_of, kept)

    def _chunks(self, data: bytes) -> list[Any]:
        """Return data for the graph, in tasks of their own if they are large."""
        if len(data) <= _CHUNK:
            return [data]
        starts = range(0, len(data), _CHUNK)
        return [self._task(keep, data[start : start + _CHUNK]) for start in starts]

    def _task(self, function: Any, *arguments: Any) -> Any:
        key = f"filbert-{function.__name__}-{uuid4().hex}"
        # In the order of submission: without a timeout, Dask may reorder tasks of the same moment.
        return self._client.submit(function, *arguments, key=key, pure=False, fifo_timeout="0s")
