"""What the benchmarks share: timing, the machine's description, and where results go."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn

import filbert

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


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


def machine() -> dict[str, Any]:
    """Describe where the figures were measured."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "filbert": filbert.__version__,
    }


def write(name: str, claim: str, figures: list[dict[str, Any]]) -> None:
    """Store figures with the machine beside them, and print them."""
    RESULTS.mkdir(exist_ok=True)
    result = {
        "claim": claim,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "figures": figures,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    for row in figures:
        print("  ".join(f"{key}={value}" for key, value in row.items()))


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
