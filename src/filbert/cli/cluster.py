"""A Dask cluster for one command."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from filbert.errors import ClusterError, MissingLibraryError

_SECONDS = 15  # to wait for a scheduler


@contextmanager
def connected(scheduler: str | None) -> Iterator[None]:
    """Work on the cluster of a scheduler, or on this machine if there is none."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise MissingLibraryError("--scheduler", "distributed", "dask") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are raised as well
    try:
        client = Client(scheduler, timeout=_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        raise ClusterError(
            f"there is no Dask scheduler at {scheduler!r} ({_one_line(error)}): check the address, "
            "such as tcp://10.0.0.5:8786, and that it runs"
        ) from None
    with client, client.as_current():
        yield


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
