"""The runner for the present context: Dask where there is a client, else this machine."""

import sys

from filbert.corpus.local import LocalRunner
from filbert.corpus.tasks import Runner


def current_runner(*, several_passes: bool = False) -> Runner:
    """Return the runner of the current Dask client, or that of this machine.

    Within a task of Dask, parts run on this machine: a task that waits for other tasks would block
    the thread that they need.
    """
    if "distributed" not in sys.modules:  # then there is no client
        return LocalRunner(several_passes=several_passes)
    from filbert.corpus.dask import DaskRunner, client_here  # noqa: PLC0415

    client = client_here()
    return (
        LocalRunner(several_passes=several_passes)
        if client is None
        else DaskRunner(client, several_passes=several_passes)
    )
