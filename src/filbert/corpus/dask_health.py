"""The state of a Dask cluster while a call waits for results."""

import asyncio
import time
import warnings
from collections.abc import Callable
from typing import Any

from filbert.errors import ClusterError, ClusterWarning

_QUIET = 5.0  # seconds between two questions to the scheduler
_LOOK = 1.0  # seconds between two looks for its answer
_SILENT = 20  # looks without an answer after which the scheduler is lost
_LOST = 10.0  # seconds without a connection after which the scheduler is lost


class Health:
    """What is known about a cluster. A lost scheduler is an error, a wait for workers a warning.

    Parameters
    ----------
    client : distributed.Client
    on_change : callable
        Called in the event loop of the client when the number of threads changes.

    Attributes
    ----------
    threads : int or None
        The number of threads of all workers, or None as long as it is not known.
    """

    def __init__(self, client: Any, on_change: Callable[[], None]) -> None:
        self.threads: int | None = None
        self._client = client
        self._on_change = on_change
        self._asking = self._told = self._closed = False
        self._looks = 0  # without an answer
        self._next_question = 0.0
        self.is_good()

    def is_good(self) -> None:
        """Note that a result has come."""
        self._quiet_since = self._last_connected = time.monotonic()
        self._looks = 0

    @property
    def connected(self) -> bool:
        """Whether the client has a connection to the scheduler."""
        return bool(self._client.status == "running")

    def lost(self) -> ClusterError:
        """Return the error for a lost scheduler."""
        return ClusterError(
            f"the connection to the Dask scheduler is lost (the client is {self._client.status}): "
            "check that the cluster is running, connect again, and repeat the call"
        )

    def ask(self) -> None:
        """Ask the scheduler for its workers now and then. The answer is not waited for."""
        now = time.monotonic()
        if self.connected and not self._asking and now >= self._next_question:
            self._asking = True
            self._next_question = now + _QUIET
            self._client.loop.add_callback(self._ask)

    def check(self) -> None:
        """Raise an error if the scheduler is lost. Warn once if there are no workers."""
        now = time.monotonic()
        if self.connected:
            self._last_connected = now
        elif self._client.status == "closed" or now - self._last_connected > _LOST:
            raise self.lost()
        if self._looks >= _SILENT:
            raise ClusterError(
                f"the Dask scheduler has not answered for {_SILENT * _LOOK:.0f} s: check that its "
                "process runs and its machine can be reached, and repeat the call"
            )
        if self.threads == 0 and not self._told and now - self._quiet_since > _QUIET:
            self._told = True
            warnings.warn("the Dask cluster has no workers: waiting", ClusterWarning, stacklevel=2)

    def close(self) -> None:
        """Wait for no more answers."""
        self._closed = True

    async def _ask(self) -> None:
        """Ask for the workers, in the event loop of the client, and look for the answer.

        Looks are counted instead of seconds: while this process is stopped or busy, its event loop
        does not look, and an answer may be there already.
        """
        answer = asyncio.ensure_future(self._client.scheduler.ncores())
        while not answer.done() and not self._closed:
            await asyncio.wait({answer}, timeout=_LOOK)
            self._looks += 1
        self._looks = 0
        self._asking = False
        if not answer.done():
            answer.cancel()
        elif answer.exception() is None:
            threads = sum(answer.result().values())
            if threads != self.threads:
                self.threads = threads
                self._on_change()
