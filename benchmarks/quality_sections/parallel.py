"""Tasks in processes of their own, several at a time."""

import json
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.measure import ROOT


def each_in_own_process(what: str, names: Iterable[str], n_processes: int) -> list[dict[str, Any]]:
    """Run ``benchmarks.quality --one WHAT NAME`` for each name; return the rows in order."""

    def run(name: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "benchmarks.quality", "--one", what, name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        row: dict[str, Any] = json.loads(done.stdout)
        print(row, file=sys.stderr, flush=True)
        return row

    with ThreadPoolExecutor(n_processes) as threads:
        return list(threads.map(run, names))
