"""What the workers of a Dask cluster run, and how it is sent to them.

Objects are sent as bytes that the workers unpack. The scheduler therefore needs no module of the
user, and a worker can check its version of Filbert before it unpacks anything.
"""

import io
import os
import pickle
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple
from uuid import uuid4

import cloudpickle

from filbert.corpus.dask_memory import free_memory_kept
from filbert.corpus.packed import Packed, packed
from filbert.corpus.pieces import Piece, Rows
from filbert.corpus.recorded import Recorded, recorded_warnings
from filbert.corpus.tasks import Work, load
from filbert.errors import ClusterError

_PROCESS = uuid4().hex


class Sender(NamedTuple):
    """The process that sends tasks."""

    version: str
    process: str

    @classmethod
    def here(cls) -> "Sender":
        """Return this process."""
        return cls(version("filbert"), f"{_PROCESS}-{os.getpid()}")  # a fork has another number


class Outcome(NamedTuple):
    """The result for one part, and the warnings on the way to it."""

    result: Any
    warnings: Sequence[Recorded]


class Kept(NamedTuple):
    """The outcome for one part, packed to take little memory, and the part for other passes."""

    outcome: bytes
    part: Packed | None


def run_part(
    sent_by: str, process: str, content: Any, shared: Any, kept: Kept | None, *sent: bytes
) -> Outcome:
    """Do the work on one part."""

    def rows_of(piece: Piece) -> Rows:
        part = None if kept is None else kept.part
        return load(piece, content) if part is None else part.rows()

    return _run(Sender(sent_by, process), shared, sent, rows_of)


def run_and_keep(room: int, sent_by: str, process: str, shared: Any, *sent: bytes) -> Kept:
    """Do the work on one part, and keep the part if it takes at most `room` bytes."""
    parts: list[Packed | None] = []

    def rows_of(piece: Piece) -> Rows:
        rows = load(piece)
        parts.append(packed(rows, room))
        return rows

    outcome = _run(Sender(sent_by, process), shared, sent, rows_of)
    return Kept(pack(outcome), parts[0])


def outcome_of(kept: Kept) -> Outcome:
    """Return the outcome without the part."""
    outcome: Outcome = unpack([kept.outcome])
    return outcome


def _run(
    sender: Sender, shared: Any, sent: Sequence[bytes], rows_of: Callable[[Piece], Rows]
) -> Outcome:
    _check_version(sender)
    title, function, piece, own = unpack(sent)
    work = Work(title, function, () if shared is None else shared)
    with free_memory_kept():
        if sender == Sender.here():  # a worker in the user's own process: warnings are shown there
            return Outcome(work.on(rows_of(piece), own), ())
        with recorded_warnings() as record:
            result = work.on(rows_of(piece), own)
    return Outcome(result, record)


def unpack_shared(sent_by: str, process: str, *packed: bytes) -> Any:
    """Unpack what all parts share, once on each worker."""
    _check_version(Sender(sent_by, process))
    return unpack(packed)


def keep(data: bytes) -> bytes:
    """Return the data. They are part of the graph, so that Dask can make them again."""
    return data


def _check_version(sender: Sender) -> None:
    here = Sender.here().version
    if here != sender.version:
        from distributed import get_worker  # noqa: PLC0415

        raise ClusterError(
            f"the worker {get_worker().address} has Filbert {here}, but the process that sent the "
            f"work has {sender.version}: install the same version on all machines"
        )


# ---------------------------------------------------------------- objects as bytes


def pack_part(work: Work, piece: Piece, own: tuple[Any, ...]) -> bytes:
    """Pack the work on one part, without what Dask computes for it."""
    file = io.BytesIO()
    kind = _Packer if piece.later is None else _PackerWithout
    packer = kind(file, protocol=pickle.HIGHEST_PROTOCOL)
    packer.left_out = piece.later
    packer.dump((work.title, work.function, piece, own))
    return file.getvalue()


def pack(content: Any) -> bytes:
    """Pack any object, functions of the main program too."""
    packed: bytes = cloudpickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
    return packed


def unpack(packed: Sequence[bytes]) -> Any:
    """Return the object that was packed and cut into pieces."""
    return _Unpacker(io.BytesIO(b"".join(packed))).load()


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    left_out: Any = None


class _PackerWithout(_Packer):
    """Leaves out one object. Python calls `persistent_id` for every object, which takes time."""

    def persistent_id(self, content: Any) -> str | None:
        return "left out" if content is self.left_out else None


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, name: Any) -> None:
        """Put None where an object was left out."""
