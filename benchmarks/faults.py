"""Training and prediction over parts give the same bytes when processes are killed.

The corpus is small, and its trees are random. Each section kills processes by SIGKILL at random
moments, and compares the result with that of an undisturbed run on this machine:

- `fit`, `predict`, `search`: one of two workers of a Dask cluster, while the call runs;
- `driver`: the process that trains with a checkpoint, which is then resumed;
- `dask_driver`: the same, for a process that trains on a Dask cluster;
- `threads`: no process, but two trainings at the same time by one client;
- `scheduler`: the scheduler, after which the call must fail with a clear error;
- `silence`: none, but the scheduler is stopped (SIGSTOP), so that it no longer answers.
"""

import argparse
import json
import logging
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask
from distributed import Client, LocalCluster

from benchmarks.measure import write
from filbert import TreeIndex, TreeSVC, parts
from filbert.corpus.parts import Parts
from filbert.errors import ClusterError
from filbert.kernels import SubsetTree

KILLS = 50
LOST_SCHEDULERS = 5
QUERIES = 100
N_PARTS = 6
PER_PART = 400
LIMIT = 120.0  # seconds after which a call hangs


def make_corpus(folder: Path, per_part: int = PER_PART) -> Parts:
    """Write files of random trees, and return them as a corpus."""
    rng = random.Random(0)
    for i in range(N_PARTS):
        lines = []
        for _ in range(per_part):
            label = rng.random() < 0.5
            words = [f"(W{rng.randrange(6)} w{rng.randrange(30)})" for _ in range(8)]
            mark = f"(M m{int(label != (rng.random() < 0.1))})"
            lines.append(f"{int(label)}\t(S (A {' '.join(words[:4])}) (B {mark} {words[5]}))\n")
        (folder / f"part-{i}.tsv").write_text("".join(lines))
    return parts(folder / "part-*.tsv", n_parts=N_PARTS)


def fit(corpus: Parts, checkpoint: Path | None = None) -> TreeSVC:
    return TreeSVC(SubsetTree(), random_state=0, n_jobs=1, C=1.0, loss="hinge").fit(
        corpus, checkpoint=checkpoint
    )


def bytes_of_model(clf: TreeSVC) -> str:
    """Hash all that training gave."""
    arrays = (clf.support_, clf.dual_coef_, clf.intercept_, *(one.gaps for one in clf.rounds_))
    return sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def bytes_of_fit(corpus: Parts) -> str:
    return bytes_of_model(fit(corpus))


def bytes_of_scores(clf: TreeSVC, corpus: Parts) -> str:
    return sha256(clf.decision_function(corpus).tobytes()).hexdigest()


def bytes_of_search(corpus: Parts) -> str:
    """Hash the trees of the corpus that are most similar to some trees."""
    queries = next(corpus.each()).X[:QUERIES]
    values, ids = TreeIndex(SubsetTree(), n_neighbors=10, n_jobs=1).fit(corpus).kneighbors(queries)
    return sha256(values.tobytes() + ids.tobytes()).hexdigest()


# ---------------------------------------------------------------- workers


@contextmanager
def two_workers() -> Iterator[Client]:
    """Start a cluster. By default, a worker that takes 15 s to start again is given up."""
    options = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def kill_workers(
    client: Client, call: Callable[[], str], expected: str, n: int, rng: random.Random
) -> dict[str, Any]:
    """Kill a worker in each of n calls, at a random moment of the call."""
    duration = _duration(client, call)
    same = hung = in_time = 0
    seconds = []
    for _ in range(n):
        victim = rng.choice(_running_workers(client))
        found: list[str] = []
        thread = threading.Thread(target=lambda found=found: found.append(call()), daemon=True)
        start = time.monotonic()
        thread.start()
        thread.join(rng.uniform(0.0, duration))
        in_time += thread.is_alive()
        os.kill(victim, signal.SIGKILL)
        thread.join(LIMIT)
        seconds.append(time.monotonic() - start)
        hung += thread.is_alive()
        same += found == [expected]
        print(f"{len(seconds)} kills, {same} times the same", file=sys.stderr, flush=True)
    return {
        "kills": n,
        "before_the_end": in_time,
        "same_bytes": same,
        "hangs": hung,
        "wall_undisturbed": round(duration, 2),
        "wall_longest": round(max(seconds), 2),
    }


def _running_workers(client: Client, n: int = 2) -> list[int]:
    """Wait until n workers answer, and return their processes.

    A LocalCluster does not replace a worker that is killed while it starts.
    """
    while True:
        client.wait_for_workers(n)
        with suppress(OSError):  # the scheduler may still list a worker that is dead
            processes = list(client.run(os.getpid).values())
            if len(processes) == n:
                return processes
        time.sleep(0.1)


def _duration(client: Client, call: Callable[[], str]) -> float:
    """Return how long a call takes, after one that loads modules on the workers."""
    _running_workers(client)
    call()
    start = time.monotonic()
    call()
    return time.monotonic() - start


def during_fit(folder: Path, n: int) -> list[dict[str, Any]]:
    corpus = make_corpus(folder)
    expected = bytes_of_fit(corpus)
    with two_workers() as client:
        row = kill_workers(client, lambda: bytes_of_fit(corpus), expected, n, random.Random(1))
    return [{"fault": "a worker is killed during fit", **row}]


def during_predict(folder: Path, n: int) -> list[dict[str, Any]]:
    corpus = make_corpus(folder)
    clf = fit(corpus)
    expected = bytes_of_scores(clf, corpus)
    with two_workers() as client:
        row = kill_workers(
            client, lambda: bytes_of_scores(clf, corpus), expected, n, random.Random(2)
        )
    return [{"fault": "a worker is killed during decision_function", **row}]


def during_search(folder: Path, n: int) -> list[dict[str, Any]]:
    corpus = make_corpus(folder)
    expected = bytes_of_search(corpus)
    with two_workers() as client:
        row = kill_workers(client, lambda: bytes_of_search(corpus), expected, n, random.Random(5))
    return [{"fault": "a worker is killed during kneighbors", **row}]


# ---------------------------------------------------------------- the driver


def kill_driver(folder: Path, n: int) -> list[dict[str, Any]]:
    """Kill the training process n times, each time with a new checkpoint that is then resumed."""
    corpus = make_corpus(folder)

    def start(checkpoint: Path) -> Any:
        process = multiprocessing.get_context("fork").Process(target=fit, args=(corpus, checkpoint))
        process.start()
        return process

    row = _kill_and_resume(start, corpus, folder, n, random.Random(3))
    return [{"fault": "the driver is killed, and resumes from its checkpoint", **row}]


def kill_dask_driver(folder: Path, n: int) -> list[dict[str, Any]]:
    """Do the same with a training process that is a client of a Dask cluster.

    It says when it begins, after connecting.
    """
    corpus = make_corpus(folder)
    processes = multiprocessing.get_context("forkserver")  # of a process without a cluster
    processes.set_forkserver_preload(["distributed", "filbert.learners.svm"])
    with two_workers() as client:

        def start(checkpoint: Path) -> Any:
            here, there = processes.Pipe()
            arguments = (client.scheduler.address, corpus, checkpoint, there)
            process = processes.Process(target=_fit_on, args=arguments)
            process.start()
            here.recv()
            return process

        row = _kill_and_resume(start, corpus, folder, n, random.Random(6))
    return [{"fault": "the driver of a cluster is killed, and resumes from its checkpoint", **row}]


def _fit_on(scheduler: str, corpus: Parts, checkpoint: Path, pipe: Any) -> None:
    with Client(scheduler):
        pipe.send("begins")
        fit(corpus, checkpoint)


def _kill_and_resume(
    start: Callable[[Path], Any], corpus: Parts, folder: Path, n: int, rng: random.Random
) -> dict[str, Any]:
    """Kill n processes that train with a checkpoint, and resume from it in this process."""
    expected = bytes_of_fit(corpus)
    begin = time.monotonic()
    fit(corpus, folder / "undisturbed")
    duration = time.monotonic() - begin
    same = in_time = with_results = 0
    for i in range(n):
        checkpoint = folder / f"checkpoint-{i}"
        process = start(checkpoint)
        process.join(rng.uniform(0.0, duration))
        in_time += process.is_alive()
        process.kill()
        process.join()
        with_results += any(checkpoint.glob("*.result"))
        same += bytes_of_model(fit(corpus, checkpoint)) == expected
    row = {"kills": n, "before_the_end": in_time, "with_stored_results": with_results}
    return {**row, "same_bytes": same, "wall_undisturbed": round(duration, 2)}


# ---------------------------------------------------------------- two trainings, no scheduler


def two_threads(folder: Path, n: int) -> list[dict[str, Any]]:
    corpus = make_corpus(folder)
    expected = bytes_of_fit(corpus)
    found: list[str] = []
    with two_workers():
        for _ in range(n):
            threads = [
                threading.Thread(target=lambda: found.append(bytes_of_fit(corpus)), daemon=True)
                for _ in range(2)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(LIMIT)
    return [
        {
            "fault": "none, but two fits at the same time",
            "fits": 2 * n,
            "same_bytes": found.count(expected),
            "hangs": 2 * n - len(found),
        }
    ]


def lose_scheduler(folder: Path, n: int) -> list[dict[str, Any]]:
    """Kill the scheduler at a random moment of fit."""
    row = _without_scheduler(folder, n, signal.SIGKILL, random.Random(4))
    return [{"fault": "the scheduler is killed during fit", **row}]


def silence_scheduler(folder: Path, n: int) -> list[dict[str, Any]]:
    """Stop the scheduler at a random moment of fit. Its connections stay open."""
    row = _without_scheduler(folder, n, signal.SIGSTOP, random.Random(7))
    return [{"fault": "the scheduler is stopped during fit", **row}]


def _without_scheduler(
    folder: Path, n: int, how: signal.Signals, rng: random.Random
) -> dict[str, Any]:
    """Send a signal to the scheduler in the first half of each of n calls."""
    corpus = make_corpus(folder)
    seconds: list[float] = []
    in_time = 0
    for i in range(n):
        with _own_scheduler(folder / f"scheduler-{i}.json") as (scheduler, client):
            duration = _duration(client, lambda: bytes_of_fit(corpus))
            outcome: list[tuple[BaseException | None, float]] = []

            def call(client: Client = client, outcome: Any = outcome) -> None:
                error = None
                try:
                    with client.as_current():
                        fit(corpus)
                except ClusterError as one:
                    error = one
                outcome.append((error, time.monotonic()))

            thread = threading.Thread(target=call, daemon=True)
            thread.start()
            thread.join(rng.uniform(0.0, duration / 2))
            in_time += thread.is_alive()
            sent = time.monotonic()
            scheduler.send_signal(how)
            thread.join(LIMIT)
            scheduler.kill()  # a client cannot be closed while its scheduler is stopped
            if outcome and outcome[0][0] is not None:
                seconds.append(outcome[0][1] - sent)
    return {
        "kills": n,
        "before_the_end": in_time,
        "clear_errors": len(seconds),
        "wall_longest": round(max(seconds, default=0.0), 2),
    }


@contextmanager
def _own_scheduler(file: Path) -> Iterator[tuple[Any, Client]]:
    """Start a scheduler and two workers as programs of their own."""

    def start(name: str, *options: str) -> Any:
        command = [sys.executable, "-m", f"distributed.cli.{name}", "--no-dashboard", *options]
        return subprocess.Popen(
            [*command, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL
        )

    scheduler = start("dask_scheduler", "--port", "0", "--host", "127.0.0.1")
    workers = [
        start("dask_worker", "--nthreads", "1", "--no-nanny", "--death-timeout", "20")
        for _ in range(2)
    ]
    try:
        with Client(scheduler_file=str(file), timeout=5) as client:
            yield scheduler, client
    finally:
        for process in (scheduler, *workers):
            process.kill()
            process.wait()


SECTIONS: dict[str, tuple[Callable[[Path, int], list[dict[str, Any]]], int, str]] = {
    # First, because it forks, which is not safe once a cluster has started threads.
    "driver": (kill_driver, KILLS, "a driver that is killed resumes and gives the same bytes"),
    "fit": (during_fit, KILLS, "training gives the same bytes if a worker is killed"),
    "predict": (during_predict, KILLS, "scores are the same bytes if a worker is killed"),
    "search": (during_search, KILLS, "neighbours are the same bytes if a worker is killed"),
    "dask_driver": (
        kill_dask_driver,
        KILLS,
        "a driver of a cluster that is killed resumes and gives the same bytes",
    ),
    "threads": (two_threads, 5, "two trainings at the same time give the same bytes"),
    "scheduler": (lose_scheduler, LOST_SCHEDULERS, "a lost scheduler is an error within 30 s"),
    "silence": (
        silence_scheduler,
        LOST_SCHEDULERS,
        "a scheduler that does not answer is an error within 30 s",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS], default=[*SECTIONS])
    parser.add_argument("--quick", action="store_true", help="three of each; nothing is written")
    chosen = parser.parse_args()
    for name in chosen.only:
        section, n, claim = SECTIONS[name]
        with TemporaryDirectory() as folder:
            figures = section(Path(folder), 3 if chosen.quick else n)
        if chosen.quick:
            print(json.dumps(figures[0]), file=sys.stderr, flush=True)
        else:
            notes = ["Wall times are those of single calls on a machine with other work."]
            write(f"faults_{name}", claim, figures, notes=notes)


if __name__ == "__main__":
    main()
