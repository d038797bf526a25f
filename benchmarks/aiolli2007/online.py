"""Online from a pipe: memory and time per example as the model grows, and its nodes.

The text comes from another process by a pipe, in batches of 1,000, and nothing is kept of it but
the model.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.aiolli2007 import paper
from benchmarks.aiolli2007.data import N_TRAIN, written
from benchmarks.aiolli2007.kernels import kernel
from benchmarks.aiolli2007.section import MODULE, Options, Row, Section
from benchmarks.measure import ROOT, peak_mib
from filbert import TreePerceptron, stream

KERNELS = [("TK", 0.4), ("TK+POLY3", 0.4)]
BATCH = 1_000
POINTS = [10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]


def measured(name: str, decay: str, n_features: str, *points: str) -> list[Row]:
    """Learn from the standard input, in this process."""
    model = TreePerceptron(kernel(name, float(decay)), n_jobs=1)
    rows: list[Row] = []
    before = _resident_mib()
    seen, start, cpu = 0, 0, 0.0
    for X, y in stream("-", BATCH, n_features=int(n_features), n_jobs=1):
        clock = time.process_time()
        model.partial_fit(X, y, classes=[-1, 1])
        cpu += time.process_time() - clock
        seen += len(y)
        if str(seen) in points:
            rows.append(
                {
                    "examples": seen,
                    "microseconds an example": round(1e6 * cpu / (seen - start), 1),
                    "cpu_seconds": round(time.process_time(), 2),  # reading too, from the start
                    "errors so far, %": round(100 * model.n_errors_ / seen, 2),
                    "support vectors": model.n_support_vectors_,
                    "nodes of the model": model.n_nodes_,
                    "nodes of its trees": model.n_tree_nodes_,
                    "times fewer": round(model.n_tree_nodes_ / model.n_nodes_, 2),
                    "MiB at first": before,
                    "MiB": _resident_mib(),
                    "peak_mib": peak_mib(),
                }
            )
            start, cpu = seen, 0.0
    return rows


ONE = {"online": measured}


def _resident_mib() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return 0


def _by_pipe(path: Path, *arguments: object) -> list[Row]:
    command = [sys.executable, "-m", MODULE, "--one", "online", *map(str, arguments)]
    writer = subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE)
    done = subprocess.run(
        command, stdin=writer.stdout, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
    )
    writer.wait()
    rows: list[Row] = json.loads(done.stdout)
    for row in rows:
        print(row, file=sys.stderr, flush=True)
    return rows


def section(options: Options) -> Section:
    result = Section("Online from a pipe, and how it grows; goal: below 450 MB at 100,000 examples")
    points = POINTS[:2] if options.quick else POINTS
    with written(points[-1] if options.quick else N_TRAIN, 1) as data:
        for name, decay in KERNELS:
            rows = _by_pipe(data.train, name, decay, data.n_features, *points)
            result.rows += [{"kernel": name, "lambda": decay} | row for row in rows]
    result.notes = [
        f"Examples of srl-ewt (rule VB) in their order, in batches of {BATCH:,}, one thread. "
        "Microseconds are those of learning since the row above; CPU seconds those of the whole "
        "process, reading the text included.",
        "MiB at first is the process with its libraries and no model. The paper reports no more "
        f"than {paper.MAX_MB} MB after 992,819 examples.",
        "Nodes of the model are distinct, those of its trees are counted with repetition; words "
        "are nodes.",
    ]
    return result
