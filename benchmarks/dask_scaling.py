"""Claim: training over parts reaches the gap of one piece, on one machine and on Dask.

1. All boundary examples of `srl-ewt` (rule VB), in one piece, in 8 parts on this machine, and in 8
   parts on Dask with one and two workers of one thread: CPU seconds of all processes, wall seconds,
   peak memory of the driver and of the largest worker, rounds, candidates, gap, and what travels.
2. The training sentences of `srl-onto-unlex` (rule B, 13 million examples), in parts of 850,000:
   the first part, the first four, and all; and prediction and embedding of all.

3. The memory of the one worker of 1. before and after each step, and what it is for.

Each row of 1. and 2. is measured in a process of its own. `python -m benchmarks.dask_scaling ewt`,
`onto` or `workers` runs one of the three; a number after `ewt` is that of runs, 3 by default.
"""

import json
import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import filbert
from benchmarks.datasets import write_boundary
from benchmarks.measure import exponent, in_own_process, peak_mib, shared_data, write
from filbert import DistributedTreeEmbedding, Forest, TreeSVC, read_examples
from filbert.corpus.pieces import Rows
from filbert.corpus.runners import current_runner
from filbert.datasets import srl_boundary
from filbert.kernels import SubsetTree
from filbert.learners import cascade

N_PARTS = 8
PART = 850_000
N_COMPONENTS = 128  # of the embedding, so that the vectors of a part are 0.9 GB


# ---------------------------------------------------------------- one measurement, in this process


def trained(examples: Callable[[], tuple[Any, Any]], n_jobs: int | None = 1) -> dict[str, Any]:
    """Make or read the examples and train on them, and return figures."""
    start, cpu = time.perf_counter(), time.process_time()
    X, y = examples()
    clf = TreeSVC(SubsetTree(), tol=1e-3, random_state=0, n_jobs=n_jobs, C=1.0, loss="hinge").fit(
        X, y
    )
    row: dict[str, Any] = _times(start, cpu) | {
        "peak_mib": peak_mib(),
        "support_vectors": len(clf.support_),
        "objective": round(clf.objective_, 3),
        "gap": clf.duality_gap_,
    }
    if clf.rounds_ is not None:
        row["rounds"] = len(clf.rounds_)
        row["candidates"] = [one.n_candidates for one in clf.rounds_]
        row["violators"] = [one.n_violators for one in clf.rounds_]
        row["gaps"] = [float(f"{one.gap:.2e}") for one in clf.rounds_]
    return row


def one_piece(path: str) -> dict[str, Any]:
    return trained(lambda: read_examples(path, n_jobs=1))


def in_parts(path: str) -> dict[str, Any]:
    return trained(lambda: (filbert.parts(path, n_parts=N_PARTS, n_jobs=1), None))


@contextmanager
def workers(n: int) -> Iterator[Any]:
    """Start a scheduler and workers of one thread as programs, as a cluster does.

    The workers of a LocalCluster would import this module, and all that it imports.
    """
    from distributed import Client  # noqa: PLC0415

    with TemporaryDirectory() as folder:
        file = f"{folder}/scheduler.json"

        def start(name: str, *options: str) -> Any:
            command = [sys.executable, "-m", f"distributed.cli.{name}", "--no-dashboard", *options]
            return subprocess.Popen(
                [*command, "--scheduler-file", file], stderr=subprocess.DEVNULL, cwd=folder
            )

        programs = [start("dask_scheduler", "--port", "0", "--host", "127.0.0.1")]
        try:
            options = ("--nthreads", "1", "--death-timeout", "60")
            programs += [start("dask_worker", *options) for _ in range(n)]
            with Client(scheduler_file=file, timeout=60) as client:
                client.wait_for_workers(n)
                yield client
        finally:
            for program in reversed(programs):
                program.terminate()  # a worker ends its own process
                program.wait()


def on_dask(path: str, n_workers: int) -> dict[str, Any]:
    with workers(n_workers) as client:
        before = client.run(time.process_time)
        corpus = filbert.parts(path, n_parts=N_PARTS)
        row = trained(lambda: (corpus, None))
        after = client.run(time.process_time)
        row["cpu_seconds"] = round(
            row["cpu_seconds"] + sum(after.values()) - sum(before.values()), 2
        )
        row["peak_mib_worker"] = max(one["peak_mib"] for one in client.run(_memory).values())
    return row


def memory_of_worker(path: str) -> list[dict[str, Any]]:
    """Return the memory of a worker of one thread after each step of its work."""
    rows: list[dict[str, Any]] = []
    with workers(1) as client:

        def note(step: str) -> None:
            [row] = client.run(_memory).values()
            rows.append({"step": step, **row})

        client.run(_load_modules)
        note("idle, with the modules of Filbert")
        corpus = filbert.parts(path, n_parts=N_PARTS)
        assert sum(corpus.map(len)) == len(corpus)
        note("reading all parts")
        trained(lambda: (corpus, None))
        note("training")
    return rows


def memory_of_process() -> dict[str, Any]:
    _load_modules()
    return {"step": "a process without Dask, idle, with the modules of Filbert", **_memory()}


def _memory() -> dict[str, int]:
    """Return the memory of this process. Workers run it, so it needs no module of ours.

    The peak that `resource` reports is at least that of the process that started this one.
    """
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    status = Path("/proc/self/status").read_text()
    return {"mib": resident // 2**20, "peak_mib": int(status.split("VmHWM:")[1].split()[0]) >> 10}


def _load_modules() -> None:
    """Do what a task does, on next to nothing, with what a worker imports for it."""
    from filbert.learners.cascade_tasks import (  # noqa: PLC0415
        Machine,
        Weighting,
        choose_candidates,
    )

    X, y = Forest(["(a b)", "(a c)"]), np.array([0, 1])
    machine = Machine(SubsetTree(), 1.0, "hinge", "auto", True, None, 1e-3, None, None, 1)
    choose_candidates(Rows(X, y), None, None, [0], machine, Weighting())


def travelling(path: str) -> dict[str, Any]:
    """What travels between the driver and the parts, in bytes as pickled, by kind."""
    sent: Counter[str] = Counter()

    class Counting:
        def map(self, work: Any, pieces: Any, own: Any, verbose: int = 0) -> Iterator[Any]:
            sent[f"{work.title}: shared by all parts"] += len(pickle.dumps(work.shared, 5))
            for result in current_runner().map(work, pieces, own, verbose):
                sent[f"{work.title}: results"] += len(pickle.dumps(result, 5))
                yield result

    cascade.current_runner = lambda **_: Counting()  # type: ignore[attr-defined, assignment]
    in_parts(path)
    return {f"{kind}, MiB": round(n / 2**20, 1) for kind, n in sent.items()}


def many(folder: str, n_parts: int) -> dict[str, Any]:
    """Train on the first parts of the large corpus, with all threads."""
    return trained(lambda: (filbert.parts(_first_parts(folder, n_parts)), None), n_jobs=None)


def applied(folder: str, n_parts: int, method: str) -> dict[str, Any]:
    """Predict or embed the large corpus with a model of its first part."""
    corpus = filbert.parts(_first_parts(folder, n_parts))
    if method == "predict":
        learner: Any = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(
            filbert.parts(_first_parts(folder, 1))
        )
        work = learner.predict
    else:
        work = DistributedTreeEmbedding(N_COMPONENTS, random_state=0).fit([]).transform
    start, cpu = time.perf_counter(), time.process_time()
    n = sum(len(rows) for rows in corpus.map(work))
    return {"examples": n} | _times(start, cpu) | {"peak_mib": peak_mib()}


def _first_parts(folder: str | Path, n: int) -> list[str]:
    return sorted(map(str, Path(folder).glob("*.tsv")))[:n]


def _n_lines(paths: Sequence[str | Path]) -> int:
    return sum(Path(path).read_bytes().count(b"\n") for path in paths)


def _times(start: float, cpu: float) -> dict[str, float]:
    return {
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "wall_seconds": round(time.perf_counter() - start, 2),
    }


# ---------------------------------------------------------------- all of them


def compare_ewt(folder: Path, repeat: int) -> None:
    path = write_boundary(shared_data(), "train", folder / "train.tsv")
    modes = {
        "one piece": ["one", path],
        f"{N_PARTS} parts, this machine": ["parts", path],
        f"{N_PARTS} parts, Dask, 1 worker": ["dask", path, 1],
        f"{N_PARTS} parts, Dask, 2 workers": ["dask", path, 2],
    }
    n = {"examples": _n_lines([path])}
    rows = [{"training": name, **n, **_run(*mode, repeat=repeat)} for name, mode in modes.items()]
    for row in rows:
        row["CPU, times one piece"] = round(row["cpu_seconds"] / rows[0]["cpu_seconds"], 2)
    moved = _run("travelling", path)
    moved.pop("runs")
    write(
        "dask_scaling",
        "goal: 8 parts take at most 2.5 times the CPU of one piece, Dask at most 1.25 times that",
        rows,
        notes=["What travels: " + "; ".join(f"{kind} {n}" for kind, n in moved.items()) + "."],
        command=f"dask_scaling ewt {repeat}",
    )


def compare_workers(folder: Path) -> None:
    path = write_boundary(shared_data(), "train", folder / "train.tsv")
    write(
        "dask_scaling_workers",
        "what the memory of a worker is for",
        [_run("idle"), *_run("workers", path)["rows"]],
        notes=[f"{N_PARTS} parts, one worker of one thread. Steps follow each other."],
        command="dask_scaling workers",
    )


def grow_onto(folder: Path) -> None:
    n_parts = write_onto(folder)
    rows = []
    for n in (1, 4, n_parts):
        n_examples = _n_lines(_first_parts(folder, n))
        rows.append({"work": "training", "examples": n_examples, **_run("many", folder, n)})
    growth = exponent([r["examples"] for r in rows], [r["cpu_seconds"] for r in rows])
    rows += [{"work": one, **_run("applied", folder, n_parts, one)} for one in ("predict", "embed")]
    write(
        "dask_scaling_onto",
        "goal: thirteen million trees in parts on one machine, below 3 GB",
        rows,
        notes=[
            f"Fitted growth of training: CPU seconds n^{growth:.2f}.",
            f"Embedding: {N_COMPONENTS} components.",
        ],
        command="dask_scaling onto",
    )


def write_onto(folder: Path) -> int:
    """Write the training examples of `srl-onto-unlex` (rule B), and return the number of files."""
    n = 0
    for part in ("wsj.train", "other.train"):
        source = shared_data() / f"srl-onto-unlex/{part}.jsonl.xz"
        examples = srl_boundary(source, rule="B", leaves="tags")
        while lines := [f"{label}\t{tree}\n" for label, tree in islice(examples, PART)]:
            (folder / f"{n:03d}.tsv").write_text("".join(lines), encoding="utf-8")
            n += 1
    return n


def _run(*arguments: object, repeat: int = 1) -> dict[str, Any]:
    return in_own_process("benchmarks.dask_scaling", "--one", *arguments, repeat=repeat)


_ONE = {
    "one": one_piece,
    "parts": in_parts,
    "dask": lambda path, n: on_dask(path, int(n)),
    "travelling": travelling,
    "idle": memory_of_process,
    "workers": lambda path: {"rows": memory_of_worker(path)},
    "many": lambda folder, n: many(folder, int(n)),
    "applied": lambda folder, n, method: applied(folder, int(n), method),
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_ONE[sys.argv[2]](*sys.argv[3:])))
    else:
        wanted, runs = sys.argv[1:2], [int(n) for n in sys.argv[2:3]] or [3]
        sections: dict[str, Callable[[Path], None]] = {
            "ewt": lambda folder: compare_ewt(folder, repeat=runs[0]),
            "workers": compare_workers,
            "onto": grow_onto,
        }
        for section in wanted or sections:
            with TemporaryDirectory() as name:
                sections[section](Path(name))
