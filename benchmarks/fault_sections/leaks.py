"""Leaks: memory and open files after many trainings, predictions, saves and loads."""

import gc
import os
import warnings
from pathlib import Path
from typing import Any

from benchmarks.fault_sections.subjects import LEARNERS, data, trained, values_of
from benchmarks.fault_sections.threads import n_open_files
from filbert import load, save

_WARM = 0.2  # the share of turns before the first look


def resident_mb() -> float:
    """Return the memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def run(name: str, n: int, folder: Path) -> dict[str, Any]:
    """Train, predict, save and load n times. Memory is looked at after a fifth and at the end."""
    X, y = data(12, depth=2)
    path = folder / "model.filbert"
    at_first, files_at_first = 0.0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in range(n):
            if turn == int(_WARM * n):
                gc.collect()
                at_first, files_at_first = resident_mb(), n_open_files()
            learner = trained(LEARNERS[name](), X, y)
            values_of(learner, X)
            save(learner, path)
            values_of(load(path), X[:2])
    gc.collect()
    return {
        "learner": name,
        "turns": n,
        "megabytes_more": round(resident_mb() - at_first, 2),
        "files_more": n_open_files() - files_at_first,
    }
