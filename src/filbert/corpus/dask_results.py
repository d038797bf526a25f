"""The results of tasks of Dask, fetched as they complete and given out in order."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from queue import Empty, SimpleQueue
from typing import Any

from filbert.corpus.dask_health import Health
from filbert.errors import ClusterError

_POLL = 0.2  # seconds between two looks at the state of the client
_PER_THREAD = 2  # tasks that are submitted for each thread of the cluster
_FEWEST = 4  # tasks that are submitted before there are workers
_AHEAD = 8  # results that wait in this process


class Results:
    """The results of numbered tasks, within two windows that move with the results that are taken.

    Tasks are submitted for about twice the threads of the cluster. A few results after the next one
    are copied to this process, so that a worker that dies later takes none of them with it. All
    others wait on the workers. So a slow consumer of large results slows the cluster down, and no
    process fills its memory. If task i fails, the tasks after it are given up, and `take` raises
    the error when it comes to i: users see the same error as without Dask.

    Parameters
    ----------
    client : distributed.Client
    names : sequence of str
        The names of the parts, for messages.
    tasks : generator
        Submits a task at each step, and yields its future.
    report : callable or None
        Called with the number of results that are there.
    """

    def __init__(
        self,
        client: Any,
        names: Sequence[str],
        tasks: Generator[Any],
        report: Callable[[int], None] | None,
    ) -> None:
        self._client = client
        self._names = names
        self._tasks = tasks
        self._report = report
        self._futures: dict[int, Any] = {}
        self._arrived: SimpleQueue[tuple[int, Any, BaseException | None] | None] = SimpleQueue()
        self._results: dict[int, Any] = {}
        self._errors: dict[int, BaseException] = {}
        self._n_submitted = self._n_fetched = self._done = 0
        self._end = len(names)  # the tasks from here on are not wanted
        self._health = Health(client, on_change=lambda: self._arrived.put(None))

    def take(self, number: int) -> Any:
        """Wait for a result, and return it. Results are taken in order."""
        while number not in self._results:
            if number in self._errors:
                raise self._explained(number)
            self._move_to(number)
            try:
                arrived = self._arrived.get(timeout=_POLL)
            except Empty:
                self._health.check()
                continue
            if arrived is not None:
                self._health.is_good()
                self._keep(*arrived)
        self._move_to(number + 1)
        return self._results.pop(number)

    def close(self) -> None:
        """Give up all tasks that are not done. Dask runs none that nobody waits for."""
        self._health.close()
        self._tasks.close()
        self._give_up_after(-1)

    def _move_to(self, number: int) -> None:
        """Let both windows begin at a task: submit tasks, and fetch results when they are there."""
        self._health.ask()
        window = max(_FEWEST, _PER_THREAD * (self._health.threads or 0))
        try:
            while self._n_submitted < min(number + window, self._end):
                self._futures[self._n_submitted] = next(self._tasks)
                self._n_submitted += 1
        except Exception:
            if self._client.status in ("closing", "closed"):  # then nothing can be sent
                raise self._health.lost() from None
            raise
        while self._n_fetched < min(number + _AHEAD, self._n_submitted, self._end):
            future = self._futures[self._n_fetched]
            self._client.loop.add_callback(self._fetch, self._n_fetched, future)
            self._n_fetched += 1

    def _keep(self, number: int, result: Any, error: BaseException | None) -> None:
        future = self._futures.pop(number, None)
        if future is None:  # given up
            return
        future.release()
        if error is not None:
            self._errors[number] = error
            self._give_up_after(number)
            return
        self._results[number] = result
        self._done += 1
        if self._report is not None:
            self._report(self._done)

    def _give_up_after(self, last: int) -> None:
        self._end = last + 1
        for number in [number for number in self._futures if number > last]:
            self._futures.pop(number).release()

    async def _fetch(self, number: int, future: Any) -> None:
        """Run in the event loop of the client."""
        try:
            [result] = await self._client.gather([future], asynchronous=True)
        except Exception as error:  # `take` raises it
            self._arrived.put((number, None, error))
        else:
            self._arrived.put((number, result, None))

    def _explained(self, number: int) -> BaseException:
        from distributed import KilledWorker  # noqa: PLC0415
        from distributed.comm.core import CommClosedError  # noqa: PLC0415

        error = self._errors[number]
        part = self._names[number]
        if isinstance(error, KilledWorker):
            told = ClusterError(
                f"{part}: {error.allowed_failures + 1} workers died while they worked on it, the "
                f"last one was {error.last_worker.address}. Most likely, they ran out of memory: "
                "make smaller parts, or give the workers more memory, and look into their logs"
            )
        elif isinstance(error, CommClosedError) or (
            isinstance(error, CancelledError | OSError) and not self._health.connected
        ):
            told = self._health.lost()
        elif isinstance(error, CancelledError):
            told = ClusterError(f"{part}: Dask cancelled the task: {error}")
        else:
            return error
        told.__cause__ = error
        return told
