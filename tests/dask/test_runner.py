"""Work on parts on a Dask cluster gives what it gives on one machine."""

import asyncio
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.bag
import numpy as np
import pytest
from distributed import Client, LocalCluster

from filbert import parts
from filbert.corpus import dask as dask_runner
from filbert.corpus import dask_memory, dask_results
from filbert.corpus.dask import DaskRunner, client_here
from filbert.corpus.dask_tasks import Sender
from filbert.corpus.local import LocalRunner
from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Chosen, Given, Piece, Rows
from filbert.corpus.runners import current_runner
from filbert.corpus.tasks import Runner, Work
from filbert.errors import ClusterError, ParseError
from filbert.threads import in_dask_task, n_threads
from tests.dask import jobs


def run(runner: Runner, work: Work, pieces: Any = None) -> list[Any]:
    pieces = jobs.corpus().pieces if pieces is None else pieces
    return list(runner.map(work, pieces, [()] * len(pieces)))


def until(condition: Callable[[], Any]) -> None:
    """Wait, for at most a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def tasks_of(client: Client) -> list[str]:
    """Return the keys of Filbert that the scheduler still has."""
    return [key for key in client.cluster.scheduler.tasks if str(key).startswith("filbert")]


# ---------------------------------------------------------------- results


def test_same_bytes_as_local(client: Client) -> None:
    work = Work("multiplying", jobs.kernel_rows, (np.pi,))
    expected = [matrix.tobytes() for matrix in run(LocalRunner(), work)]
    assert [matrix.tobytes() for matrix in run(DaskRunner(client), work)] == expected
    until(lambda: not tasks_of(client))


@pytest.mark.parametrize("threads", [1, 3])
def test_same_bytes_with_one_worker_in_this_process(threads: int) -> None:
    work = Work("multiplying", jobs.kernel_rows, (np.pi,))
    expected = [matrix.tobytes() for matrix in run(LocalRunner(), work)]
    options = {"n_workers": 1, "threads_per_worker": threads, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **options) as cluster, Client(cluster) as client:
        assert [matrix.tobytes() for matrix in run(DaskRunner(client), work)] == expected


@pytest.fixture
def files(tmp_path: Path) -> Parts:
    path = tmp_path / "trees.tsv"
    path.write_text("".join(f"{i}\t(S (A a{i}) (B b{i % 3}))\n" for i in range(60)))
    return parts(path, n_parts=N_FILES)


N_FILES = 4


def test_parts_of_files_are_read_once_for_several_passes(client: Client, files: Parts) -> None:
    runner = DaskRunner(client, several_passes=True)
    work = Work("multiplying", jobs.kernel_rows, (np.pi,))
    expected = [matrix.tobytes() for matrix in run(LocalRunner(), work, files.pieces)]
    assert [matrix.tobytes() for matrix in run(runner, work, files.pieces)] == expected
    Path(files.pieces[0].name.partition(",")[0]).unlink()
    assert [matrix.tobytes() for matrix in run(runner, work, files.pieces)] == expected
    del runner
    until(lambda: not tasks_of(client))


def test_parts_that_are_too_large_are_read_again(
    client: Client, files: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_runner, "ROOM", 100)
    runner = DaskRunner(client, several_passes=True)
    work = Work("numbering", jobs.kernel_rows, (1.0,))
    for _ in range(2):
        assert len(run(runner, work, files.pieces)) == N_FILES
    Path(files.pieces[0].name.partition(",")[0]).unlink()
    with pytest.raises(FileNotFoundError):
        run(runner, work, files.pieces)


def test_kept_parts_of_a_worker_that_dies_are_read_again(
    client: Client, files: Parts, tmp_path: Path
) -> None:
    runner = DaskRunner(client, several_passes=True)
    run(runner, Work("multiplying", jobs.kernel_rows, (1.0,)), files.pieces)
    work = Work("dying", jobs.die_in_any_part, (tmp_path,))
    expected = run(LocalRunner(), Work("multiplying", jobs.kernel_rows, (1.0,)), files.pieces)
    found = run(runner, work, files.pieces)
    assert [matrix.tobytes() for matrix in found] == [matrix.tobytes() for matrix in expected]
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize("given", [None, "65536"])
def test_free_memory_is_kept_during_tasks_only(
    given: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the environment tells glibc to return it at once, and also if tasks fail."""
    calls: list[tuple[Any, ...]] = []
    libc = SimpleNamespace(
        mallopt=lambda *pair: calls.append(pair), malloc_trim=lambda n: calls.append((n,))
    )
    monkeypatch.setattr(dask_memory, "_libc", lambda: libc)
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if given is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", given)
    with dask_memory.free_memory_kept():
        with pytest.raises(ZeroDivisionError), dask_memory.free_memory_kept():
            raise ZeroDivisionError
        before = len(calls)  # the other task goes on
    if given is None:
        assert calls == []
    else:
        assert before == 2
        assert calls[before:] == [(-1, 65536), (-3, 131072), (0,)]


def test_results_come_in_order(client: Client, tmp_path: Path) -> None:
    work = Work("waiting", jobs.out_of_order, (tmp_path,))
    assert run(DaskRunner(client), work) == list(range(jobs.N_PARTS))


def test_own_arguments(client: Client) -> None:
    pieces = jobs.corpus().pieces
    own = [(float(i),) for i in range(len(pieces))]
    work = Work("multiplying", jobs.kernel_rows)
    expected = [m.tobytes() for m in LocalRunner().map(work, pieces, own)]
    assert [m.tobytes() for m in DaskRunner(client).map(work, pieces, own)] == expected


def test_functions_of_the_main_program(client: Client) -> None:
    offset = 3
    assert list(jobs.corpus().map(lambda X: len(X) + offset)) == [8] * jobs.N_PARTS


def test_no_parts(client: Client) -> None:
    assert list(Parts([]).map(len)) == []


def test_two_maps_at_once(client: Client) -> None:
    factors = [1.0, 2.0, 3.0]
    found: dict[float, list[bytes]] = {}

    def one(factor: float) -> None:
        work = Work("multiplying", jobs.kernel_rows, (factor,))
        found[factor] = [matrix.tobytes() for matrix in run(current_runner(), work)]

    threads = [threading.Thread(target=one, args=(factor,)) for factor in factors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for factor in factors:
        work = Work("multiplying", jobs.kernel_rows, (factor,))
        assert found[factor] == [matrix.tobytes() for matrix in run(LocalRunner(), work)]


# ---------------------------------------------------------------- what is sent


def test_large_objects_are_sent_in_chunks(client: Client) -> None:
    """Dask would warn of a large graph, and warnings are errors in tests."""
    shared = np.arange(1_500_000, dtype=np.float64)
    pieces = [Given(str(i), Rows(shared + i, None)) for i in range(2)]
    work = Work("adding", jobs.total, (shared,))
    assert run(DaskRunner(client), work, pieces) == run(LocalRunner(), work, pieces)


@dataclass(frozen=True)
class Computed:
    """A piece whose labels are computed by Dask."""

    name: str
    later: Any
    token: str = ""
    skips: bool = False

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        """Return the content as labels."""
        assert self.later is None or not in_dask_task()  # the graph itself is not sent
        return Rows(np.zeros(len(content)), np.array(content))


def lazy_pieces() -> dict[str, list[Piece]]:
    lists = [dask.delayed(list)(range(i, i + 3)) for i in range(4)]
    bag = dask.bag.from_sequence(range(12), npartitions=4).map(lambda x: x + 1)
    return {
        "delayed": [Computed(str(i), later) for i, later in enumerate(lists)],
        "bag": [Computed(str(i), later) for i, later in enumerate(bag.to_delayed())],
        "some rows": [Chosen(Computed("0", lists[0]), np.array([2, 0]))],
        "mixed": [*jobs.corpus(2).pieces, Computed("0", lists[3])],
    }


@pytest.mark.parametrize("kind", ["delayed", "bag", "some rows", "mixed"])
def test_what_dask_computes(client: Client, kind: str) -> None:
    pieces = lazy_pieces()[kind]
    work = Work("numbering", jobs.number)
    assert run(DaskRunner(client), work, pieces) == run(LocalRunner(), work, pieces)
    until(lambda: not client.futures)


def test_persisted_content(client: Client) -> None:
    bag = dask.bag.from_sequence(range(6), npartitions=2).persist()
    pieces = [Computed(str(i), later) for i, later in enumerate(bag.to_delayed())]
    assert run(DaskRunner(client), Work("numbering", jobs.number), pieces) == [0, 3]


# ---------------------------------------------------------------- errors and warnings


def test_an_error_is_the_same_as_locally(client: Client, tmp_path: Path) -> None:
    """It is that of the first part that fails, and other tasks are given up."""
    work = Work("failing", jobs.fail, (tmp_path,))
    found = []
    results = DaskRunner(client).map(work, jobs.corpus().pieces, [()] * jobs.N_PARTS)
    with pytest.raises(ParseError, match=r"a\.tsv, line 7, column 3: no tree") as raised:
        found.extend(results)
    assert found == [0, 1]
    assert (raised.value.source, raised.value.line, raised.value.hint) == ("a.tsv", 7, "look")
    until(lambda: not tasks_of(client))


def test_warnings_are_those_of_the_local_run(client: Client) -> None:
    seen = {}
    for runner in (LocalRunner(), DaskRunner(client)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(runner, Work("warning", jobs.warn))
        seen[type(runner)] = [(str(w.message), w.category, w.filename, w.lineno) for w in caught]
    assert len(seen[LocalRunner]) == 3 * jobs.N_PARTS
    assert seen[DaskRunner] == seen[LocalRunner]


def test_a_worker_with_another_version(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sender, "here", lambda: Sender("0.0.7", "elsewhere"))
    with pytest.raises(ClusterError, match=r"the worker tcp://.* has Filbert .*, but .* 0\.0\.7"):
        run(DaskRunner(client), Work("numbering", jobs.number))


# ---------------------------------------------------------------- stopping


def test_interrupt(client: Client, tmp_path: Path) -> None:
    def press() -> None:
        jobs.wait_for(tmp_path / "running")
        if (tmp_path / "running").exists():
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(DaskRunner(client), Work("waiting", jobs.block, (tmp_path,)))
        assert not (tmp_path / "end").exists()
        until(lambda: not client.futures)
    finally:
        (tmp_path / "end").touch()
        thread.join()


def test_a_loop_that_ends_early(client: Client) -> None:
    results = DaskRunner(client).map(
        Work("numbering", jobs.number), jobs.corpus(50).pieces, [()] * 50
    )
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    until(lambda: not tasks_of(client))


# ---------------------------------------------------------------- slow consumers


@contextmanager
def slow_consumer(client: Client, folder: Path) -> Iterator[Iterator[Any]]:
    """Yield 40 results of which one is taken, once the cluster has no more work."""
    jobs.Arriving.arrived.clear()
    work = Work("numbering", jobs.arriving, (folder,))
    results = DaskRunner(client).map(work, jobs.corpus(40).pieces, [()] * 40)
    assert next(results).number == 0
    until(lambda: all(future.done() for future in list(client.futures.values())))
    assert client.submit(int, pure=False).result() == 0  # results are copied one after another
    yield results


def test_the_cluster_waits_for_a_slow_consumer(client: Client, tmp_path: Path) -> None:
    """Two tasks for each of the two threads, and the result that was taken."""
    with slow_consumer(client, tmp_path) as results:
        assert len(list(tmp_path.iterdir())) == 2 * 2 + 1
        assert [result.number for result in results] == list(range(1, 40))
    until(lambda: not tasks_of(client))


def test_most_results_wait_on_the_workers(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_results, "_AHEAD", 2)
    with slow_consumer(client, tmp_path) as results:
        assert sorted(jobs.Arriving.arrived) == [0, 1, 2]
        assert [result.number for result in results] == list(range(1, 40))


@pytest.mark.filterwarnings("ignore:the Dask cluster has no workers")  # they take long to start
def test_results_that_wait_on_a_worker_that_dies(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_results, "_AHEAD", 1)
    with slow_consumer(client, tmp_path) as results:
        for process in client.run(os.getpid).values():
            os.kill(process, signal.SIGKILL)
        assert [result.number for result in results] == list(range(1, 40))


def test_loaded_parts_are_forgotten(client: Client) -> None:
    """Parts that Dask computes are loaded as results are taken, and are not kept."""
    later = [dask.delayed(list)(range(i, i + 3)) for i in range(40)]
    pieces = [Computed(str(i), one) for i, one in enumerate(later)]
    results = DaskRunner(client).map(Work("numbering", jobs.number), pieces, [()] * 40)
    assert next(results) == 0
    until(lambda: all(future.done() for future in list(client.futures.values())))
    loads = [t for k, t in client.cluster.scheduler.tasks.items() if str(k).startswith("list-")]
    assert len(loads) <= 5
    until(lambda: all(task.state == "released" for task in loads))
    assert list(results) == list(range(1, 40))


# ---------------------------------------------------------------- where there is a client


def test_without_a_client_work_is_local() -> None:
    assert client_here() is None
    assert isinstance(current_runner(), LocalRunner)


def test_the_current_client(client: Client, cluster: LocalCluster) -> None:
    assert client_here() is client
    with Client(cluster, set_as_default=False) as other:
        assert client_here() is client
        with other.as_current():
            assert client_here() is other
    assert client_here() is client


def test_within_a_task_there_is_no_client(client: Client) -> None:
    def local() -> bool:
        return client_here() is None and list(jobs.corpus(2).map(len)) == [5, 5]

    assert client.submit(local, pure=False).result()


def test_a_client_in_the_event_loop_is_refused() -> None:
    async def fit() -> None:
        options = {"processes": False, "dashboard_address": ":0", "asynchronous": True}
        async with (
            LocalCluster(n_workers=1, **options) as cluster,
            Client(cluster, asynchronous=True),
        ):
            with pytest.raises(ClusterError, match="another thread"):
                jobs.corpus().map(len)
            assert await asyncio.to_thread(lambda: list(jobs.corpus(2).map(len))) == [5, 5]

    asyncio.run(fit())


# ---------------------------------------------------------------- threads


def test_a_task_uses_one_thread_unless_told(client: Client) -> None:
    assert client.submit(n_threads, None, pure=False).result() == 1
    assert client.submit(n_threads, 3, pure=False).result() == 3
