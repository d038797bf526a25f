"""The state of a Dask cluster while no results come."""

import time
import warnings
from asyncio import wait_for
from typing import Any

from filbert.errors import ClusterError, ClusterWarning

_QUIET = 5.0  # seconds without a result after which the scheduler is asked for its workers
_SILENT = 30.0  # seconds without an answer of the scheduler after which users are told
_LOST = 10.0  # seconds without a connection after which the scheduler is lost


class Health:
    """What is known about a cluster. A lost scheduler is an error, a wait for workers a warning."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._news = ""
        self._asking = self._told = False
        self.is_good()

    def is_good(self) -> None:
        """Note that a result has come."""
        self._quiet_since = self._last_connected = time.monotonic()

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

    def check(self) -> None:
        """Raise an error if the scheduler is lost. Warn once if there are no workers."""
        now = time.monotonic()
        if self.connected:
            self._last_connected = now
        elif self._client.status == "closed" or now - self._last_connected > _LOST:
            raise self.lost()
        if self._told:
            return
        if self._news:
            self._told = True
            warnings.warn(f"{self._news}: waiting", ClusterWarning, stacklevel=2)
        elif self.connected and not self._asking and now - self._quiet_since > _QUIET:
            self._asking = True
            self._quiet_since = now
            self._client.loop.add_callback(self._ask)

    async def _ask(self) -> None:
        """Ask the scheduler for its workers, in the event loop of the client."""
        try:
            threads = await wait_for(self._client.scheduler.ncores(), _SILENT)
            self._news = "" if threads else "the Dask cluster has no workers"
        except TimeoutError:
            self._news = f"the Dask scheduler has not answered for {_SILENT:.0f} s"
        except (OSError, AttributeError):  # no connection: `check` sees that
            pass
        self._asking = False
