"""What the benchmarks share: timing, the machine's description, and where results go."""

import json
import os
import platform
import re
import resource
import runpy
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import filbert
from benchmarks.stamp import RESULTS, ROOT, stamp

__all__ = [
    "QUICK",
    "RESULTS",
    "ROOT",
    "WRITTEN",
    "Clock",
    "exponent",
    "has_times",
    "in_own_process",
    "machine",
    "n_runs",
    "peak_mib",
    "program_alone",
    "shared_data",
    "timed",
    "used",
    "write",
]


# Where results are written. `benchmarks.quick` sets another folder, and runs all in one process.
QUICK = "FILBERT_QUICK_RESULTS" in os.environ
WRITTEN = Path(os.environ.get("FILBERT_QUICK_RESULTS", RESULTS))


def shared_data() -> Path:
    """Return the folder of data sets: $FILBERT_SHARED/data, or ``shared/data`` beside the clone."""
    folder = Path(os.environ.get("FILBERT_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        raise SystemExit(f"no data sets in {folder}: set FILBERT_SHARED")
    return folder


def timed(work: Callable[[], Any], *, repeat: int = 5) -> dict[str, float]:
    """Run `work` several times; medians of CPU seconds (all threads) and wall seconds."""
    cpu, wall = [], []
    for _ in range(repeat):
        start_wall, start_cpu = time.perf_counter(), time.process_time()
        work()
        cpu.append(time.process_time() - start_cpu)
        wall.append(time.perf_counter() - start_wall)
    return {
        "cpu_seconds": round(statistics.median(cpu), 6),
        "wall_seconds": round(statistics.median(wall), 6),
        "repeat": repeat,
    }


class Clock:
    """CPU seconds (all threads) and wall seconds since the last look."""

    def __init__(self) -> None:
        self.at = time.process_time(), time.perf_counter()

    def lap(self) -> tuple[float, float]:
        """Look at it."""
        before, self.at = self.at, (time.process_time(), time.perf_counter())
        return round(self.at[0] - before[0], 4), round(self.at[1] - before[1], 4)


def exponent(n: Sequence[float], values: Sequence[float]) -> float:
    """Fit b in values = a n^b by least squares on logarithms."""
    return float(np.polyfit(np.log(n), np.log(values), 1)[0])


def peak_mib() -> int:
    """Return the most memory that this process has had.

    On Linux, `ru_maxrss` starts with the memory of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# On Linux, the memory of a process starts with that of the one that started it. This one is small.
_STARTS = """
import json, os, sys
report, *command = sys.argv[1:]
process = os.posix_spawnp(command[0], command, os.environ)
_, status, used = os.wait4(process, 0)  # of this program and what it started
with open(report, "w") as file:
    json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], file)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


def program_alone(command: Sequence[str], report: Path) -> list[str]:
    """Return a command that runs a program, and writes what `used` reads to a file at the end."""
    return [sys.executable, "-I", "-S", "-c", _STARTS, str(report), *command]


def used(report: Path) -> dict[str, float]:
    """Return CPU seconds and the peak of memory of a program, without those of this process."""
    cpu, peak = json.loads(report.read_text())
    return {"cpu_seconds": round(cpu, 2), "peak_mib": round(peak, 1)}


def in_own_process(module: str, *arguments: object, repeat: int = 1) -> dict[str, Any]:
    """Run a benchmark's module with arguments; it prints one row of figures as JSON.

    Of several runs, the medians of seconds and the largest peak of memory.
    """
    run = _in_this_process if QUICK else _in_new_process
    rows = [run(module, [*map(str, arguments)]) for _ in range(1 if QUICK else repeat)]
    row = rows[0]
    for key in row:
        if key.startswith(("cpu_", "wall_")):
            row[key] = round(statistics.median(other[key] for other in rows), 4)
        elif key == "peak_mib":
            row[key] = max(other[key] for other in rows)
    row["runs"] = repeat
    print(row, file=sys.stderr, flush=True)
    return row


def _in_new_process(module: str, arguments: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def _in_this_process(module: str, arguments: list[str]) -> dict[str, Any]:
    """Run a module without the time of starting a process; times and memory mean nothing."""
    before, sys.argv = sys.argv, [module, *arguments]
    out = StringIO()
    try:
        with redirect_stdout(out):
            runpy.run_module(module, run_name="__main__")
    finally:
        sys.argv = before
    row: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return row


def machine() -> dict[str, Any]:
    """Describe where the figures were measured."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "filbert": filbert.__version__,
    }


def write(
    name: str,
    claim: str,
    figures: list[dict[str, Any]],
    *,
    notes: Sequence[str] = (),
    command: str | None = None,
    folder: Path | None = None,
) -> None:
    """Store figures with the machine beside them and a stamp, and print them.

    `notes` are sentences that the page shows below the table. `command` is what measures the
    figures, a module of benchmarks with its arguments: `name` by default. Rows with times that say
    nothing about "runs" or "repeat" are of one run.
    """
    for row in figures:
        if has_times(row) and n_runs(row) is None:
            row["runs"] = 1
    folder = WRITTEN if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "claim": claim,
        "command": command or name,
        "notes": list(notes),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "figures": figures,
    }
    result["stamp"] = stamp(result)
    if result["stamp"]["uncommitted_changes"]:
        print("the sources have uncommitted changes: this result is for you only", file=sys.stderr)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    for row in figures:
        print("  ".join(f"{key}={value}" for key, value in row.items()))
    for note in notes:
        print(note)


def has_times(row: dict[str, Any]) -> bool:
    """Whether a row says how long something took."""
    return any(re.search(r"^(cpu|wall)_|second|\(s\)", key) for key in row)


def n_runs(row: dict[str, Any]) -> int | None:
    """How many runs a row's times are the median of, where that was recorded."""
    runs: int | None = row.get("runs", row.get("repeat"))
    return runs


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
