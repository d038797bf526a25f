"""Runs every benchmark on a small part of each data set, to see that it works.

The figures mean nothing: they go to build/quick/results. ``python -m benchmarks.quick`` runs all,
``python -m benchmarks.quick exact_svm reading`` some of them.
"""

import argparse
import lzma
import os
import runpy
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import islice
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "quick"
os.environ["FILBERT_QUICK_RESULTS"] = str(FOLDER / "results")  # before measure is imported

from benchmarks.measure import shared_data  # noqa: E402

N_LINES = 60  # of each file,
MORE_LINES = {"qc": 900}  # and where a class is rare
LARGE = 1_000_000  # bytes: the first lines of such a file, evenly spaced ones of others

# What to run: the script, and the options that it needs to be short.
COMMANDS: dict[str, list[str]] = {
    "clone_retrieval": [],
    "exact_ptk": ["--only", "questions", "sentences", "matrices", "srl"],
    "exact_svm": ["500", "2000"],
    "factorising": ["qc grct", "glycan", "cslogs 1"],
    "golden": [],
    "growth": ["500", "2000"],
    "kernel_matrix": [],
    "large_costs": ["500"],
    "losses": ["--only", "questions", "one_class", "time", "calibration"],
    "paper_aiolli2007": ["--quick", "--only", "trees"],
    "paper_pighin2010": ["--quick", "--only", "shares"],
    "patterns": ["500", "2000"],
    "quality": ["--quick"],
    "reading": [],
    "recurring": ["100", "200"],
    "svm_light_demo": ["--quick"],
    "tree_features": ["500"],
    "tree_index": [],
}
# What is not run, and why. Of the scripts above, sections that are not named take too long.
LEFT_OUT: dict[str, str] = {
    "certified_factors": "test_pruned_factors.py checks the same bounds on fewer forests",
    "clone_tools": "it needs two other programs",
    "dask_scaling": "it starts clusters and writes a million examples; tests/dask runs its parts",
    "faults": "tests/dask/test_learners.py runs it with --quick",
    "installing": "it builds wheels, which takes minutes",
    "paper_rieck2008": "it was not cut down to the time of a test: run its --quick by hand",
    "paper_severyn2012": "it was not cut down to the time of a test: run its --quick by hand",
    "paper_zanzotto2012": "it was not cut down to the time of a test: run its --quick by hand",
    "predicting": "it is about a million lines, and refuses fewer",
    "two_versions": "it builds another version, which takes minutes",
    "reliability": "tests/faults and tests/fuzz run all of its sections, .ci/threads the races",
}


def small_data(folder: Path) -> Path:
    """Write a small part of each file of the data sets; return the folder to use as shared data."""
    source = shared_data()
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        small = folder / "data" / path.relative_to(source)
        small.parent.mkdir(parents=True, exist_ok=True)
        small.unlink(missing_ok=True)
        if path.suffix == ".xz" and path.stem not in ("dataset_5000.dat", "pairs.tsv"):
            with lzma.open(small, "wb", preset=0) as out:
                out.writelines(some_lines(path))
        else:
            small.symlink_to(path)
    golden = folder / "golden"
    golden.unlink(missing_ok=True)
    golden.symlink_to(source.parent / "golden")
    return folder


def some_lines(path: Path) -> list[bytes]:
    """Return lines of a file; of methods, all that are queries too."""
    with lzma.open(path, "rb") as lines:
        if path.stat().st_size > LARGE:
            return list(islice(lines, N_LINES))
        every = list(lines)
    n = MORE_LINES.get(path.parent.name, N_LINES)
    chosen = every[:: max(1, len(every) // n)][:n]
    return chosen + [line for line in every if b"\tquery\t" in line and line not in chosen]


def run(script: str, shared: Path) -> tuple[bool, float]:
    """Run a benchmark in this process; return whether it worked, and its CPU seconds."""
    sys.argv = [script, *COMMANDS[script]]
    os.environ["FILBERT_SHARED"] = str(shared)
    start = time.process_time()
    told = StringIO()
    try:
        with redirect_stdout(told), redirect_stderr(told):
            runpy.run_module(f"benchmarks.{script}", run_name="__main__")
    except Exception:
        print(told.getvalue()[-2000:], traceback.format_exc(), sep="\n", file=sys.stderr)
        return False, time.process_time() - start
    return True, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=", ".join(COMMANDS))
    chosen = parser.parse_args().scripts or list(COMMANDS)
    shared = small_data(FOLDER / "shared")
    failed = []
    for script in chosen:
        worked, seconds = run(script, shared)
        print(f"{script}: {seconds:.1f} CPU s{'' if worked else ', FAILED'}", flush=True)
        failed += [] if worked else [script]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
