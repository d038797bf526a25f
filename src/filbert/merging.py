"""Several streams of batches as one."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from queue import Queue
from threading import Event, Thread
from typing import Literal, TypeVar, get_args

from filbert.errors import InvalidParameterError

Order = Literal["turns", "ready"]

_T = TypeVar("_T")


def merge_streams(*streams: Iterable[_T], order: Order = "turns") -> Iterator[_T]:
    """Put several streams of batches into one, so that none has to wait for another's end.

    Parameters
    ----------
    streams
        Iterators such as :func:`filbert.stream` gives.
    order : {"turns", "ready"}
        ``"turns"``: one batch of each in turn, in the order of the arguments; a stream that ends
        drops out. The order depends on the streams alone, but a slow one is waited for.
        ``"ready"``: for pipes. Each stream is read in a thread of its own, one batch ahead, and the
        batch that is there first comes first; since a stream has one batch waiting at most, none
        is passed over for long. The order depends on who writes when.

    An error in one of the streams is raised when its turn comes, and ends all.

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
                    return  # nobody may be left to take it
                taken.wait()
                taken.clear()
                if stop.is_set():
                    return
            ready.put((taken, None, None))
        except BaseException as error:
            ready.put((taken, None, error))

    # Daemons: a thread that waits for a pipe cannot be told to stop.
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
