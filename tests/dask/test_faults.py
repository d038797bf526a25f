"""Workers that die, workers that come late, and schedulers that are lost."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Client, LocalCluster

from filbert.corpus import dask_health
from filbert.corpus.dask import DaskRunner
from filbert.corpus.tasks import Work
from filbert.errors import ClusterError, ClusterWarning
from tests.dask import jobs
from tests.dask.test_runner import run, until


@contextmanager
def at_the_same_time(action: Callable[[], Any]) -> Iterator[None]:
    thread = threading.Thread(target=action)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextmanager
def empty_cluster() -> Iterator[tuple[LocalCluster, Client]]:
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, timeout=5) as client,
    ):
        yield cluster, client


def test_a_worker_that_dies(client: Client, tmp_path: Path) -> None:
    work = Work("dying", jobs.die_once, (tmp_path,))
    assert run(DaskRunner(client), work) == list(range(jobs.N_PARTS))
    assert (tmp_path / "died").exists()


def test_a_part_that_kills_all_workers(
    client: Client, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    pieces = jobs.corpus(1).pieces
    with pytest.raises(ClusterError, match=r"part-0: 1 workers died.*smaller parts"):
        run(DaskRunner(client), Work("dying", jobs.die_always), pieces)


def test_a_worker_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_health, "_QUIET", 0.0)
    found: list[int] = []
    with empty_cluster() as (cluster, client), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work = Work("numbering", jobs.number)
        with at_the_same_time(lambda: found.extend(run(DaskRunner(client), work))):
            until(lambda: caught)
            cluster.scale(1)
    assert found == list(range(jobs.N_PARTS))
    assert [warning.category for warning in caught] == [ClusterWarning]
    assert "the Dask cluster has no workers: waiting" in str(caught[0].message)


def test_a_client_that_is_closed() -> None:
    work = Work("numbering", jobs.number)
    with empty_cluster() as (_, client):

        def close() -> None:
            until(lambda: client.futures)
            client.close()

        with (
            at_the_same_time(close),
            pytest.raises(ClusterError, match="connection to the Dask scheduler is lost"),
        ):
            run(DaskRunner(client), work)
        with pytest.raises(ClusterError, match="the client is closed"):
            run(DaskRunner(client), work)


@contextmanager
def own_scheduler(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Client]]:
    """A scheduler without workers, in a process of its own that is killed at the end."""
    address = folder / "scheduler.json"
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    options = ["--port", "0", "--host", "127.0.0.1", "--scheduler-file", str(address)]
    with subprocess.Popen([*program, *options], stderr=subprocess.DEVNULL) as scheduler:
        try:
            with Client(scheduler_file=str(address), timeout=5) as client:
                try:
                    yield scheduler, client
                finally:
                    scheduler.kill()
        finally:
            scheduler.kill()


def test_a_scheduler_that_is_lost(tmp_path: Path) -> None:
    with own_scheduler(tmp_path) as (scheduler, client):

        def kill() -> None:
            until(lambda: client.futures)
            scheduler.kill()

        with (
            at_the_same_time(kill),
            pytest.raises(ClusterError, match="check that the cluster is running"),
        ):
            run(DaskRunner(client), Work("numbering", jobs.number))


@pytest.mark.filterwarnings("ignore:the Dask cluster has no workers")
def test_a_scheduler_that_no_longer_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_health, "_QUIET", 0.0)
    monkeypatch.setattr(dask_health, "_LOOK", 0.1)
    with own_scheduler(tmp_path) as (scheduler, client):
        client.run_on_scheduler(os.getpid)  # it answers

        def stop() -> None:
            until(lambda: client.futures)
            scheduler.send_signal(signal.SIGSTOP)

        with (
            at_the_same_time(stop),
            pytest.raises(ClusterError, match="has not answered for 2 s: check that its process"),
        ):
            run(DaskRunner(client), Work("numbering", jobs.number))


def test_a_scheduler_that_answers_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it has answered, the looks before its answer do not count."""

    async def late() -> dict[str, int]:
        while health._looks < 2 * dask_health._SILENT:
            await asyncio.sleep(0)
        return {"tcp://worker": 3}

    client = SimpleNamespace(
        status="running", scheduler=SimpleNamespace(ncores=late), loop=SimpleNamespace()
    )
    monkeypatch.setattr(dask_health, "_LOOK", 0.0)
    health = dask_health.Health(client, on_change=lambda: None)
    asyncio.run(health._ask())
    health.check()
    assert health.threads == 3
