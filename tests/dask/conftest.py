"""A cluster of two worker processes for all tests of this folder.

It ends with them: idle workers take much of a core, with all that they tell their scheduler.
"""

import logging
from collections.abc import Iterator

import dask
import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="package")
def cluster() -> Iterator[LocalCluster]:
    """Two workers, with one thread each, that are started again if they die."""
    with (
        dask.config.set(
            {"distributed.deploy.lost-worker-timeout": "10 minutes"}
        ),  # by default 15 s
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    """A client that is the current one."""
    with Client(cluster) as client:
        client.wait_for_workers(2)
        yield client
