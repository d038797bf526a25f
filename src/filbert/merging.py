"""Merge several streams of batches into one."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from queue import Queue
from threading import Event, Thread
from typing import Literal, TypeVar, get_args

from filbert.errors import InvalidParameterError

Order = Literal["turns", "ready"]

_T = TypeVar("_T")


def merge_streams(*streams: Iterable[_T], order: Order = "turns") -> Iterator[_T]:
    """Merge several streams of batches into one, so that none waits for the end of another.

    An error in one of the streams is raised when its turn comes, and ends the merged stream.

    Parameters
    ----------
    *streams : iterables
        Iterators such as those of :func:`filbert.stream`.
    order : {"turns", "ready"}
        ``"turns"`` takes one batch from each stream in turn, in the order of the arguments, and
        drops streams that end. The order depends only on the streams, but a slow stream delays the
        others. ``"ready"`` is for pipes: a separate thread reads each stream, one batch ahead, and
        the batch that is ready first comes first. Each stream has at most one batch waiting, so
        none waits for long. The order depends on when the writers write.

    Yields
    ------
    object
        The batches of the streams.

    Examples
    --------
    >>> list(merge_streams("abc", "x", "12"))
    ['a', 'x', '1', 'b', '2', 'c']
    """
    if order not in get_args(Order):
        raise InvalidParameterError(f"order must be 'turns' or 'ready', got {order!r}")
    return _in_turns(streams) if order == "turns" else _as_ready(streams)


def _in_turns(streams: Iterable[Iterable[_T]]) -> Iterator[_T]:
    waiting = deque(iter(stream) for stream in streams)
    while waiting:
        for batch in waiting[0]:
            yield batch
            waiting.rotate(-1)
            break
        else:
            waiting.popleft()


def _as_ready(streams: Sequence[Iterable[_T]]) -> Iterator[_T]:
    ready: Queue[tuple[Event, _T | None, BaseException | None]] = Queue()
    stop = Event()

    def read(stream: Iterable[_T]) -> None:
        taken = Event()
        try:
            for batch in stream:
                ready.put((taken, batch, None))
                if stop.is_set():
                    return  # the consumer may be gone
                taken.wait()
                taken.clear()
                if stop.is_set():
                    return
            ready.put((taken, None, None))
        except BaseException as error:
            ready.put((taken, None, error))

    # Daemon threads, because a thread that waits for a pipe cannot be stopped.
    for stream in streams:
        Thread(target=read, args=(stream,), daemon=True).start()
    n_left = len(streams)
    last = Event()
    try:
        while n_left:
            last, batch, error = ready.get()
            if error is not None:
                raise error
            if batch is None:
                n_left -= 1
            else:
                yield batch
            last.set()
    finally:
        stop.set()
        last.set()
        while not ready.empty():
            ready.get()[0].set()
