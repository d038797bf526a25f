"""Tasks in processes of their own, several at a time."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from benchmarks.measure import in_own_process


def each_in_own_process(what: str, names: Iterable[str], n_processes: int) -> list[dict[str, Any]]:
    """Run ``benchmarks.quality --one WHAT NAME`` for each name; return the rows in order."""
    run = partial(in_own_process, "benchmarks.quality", "--one", what)
    with ThreadPoolExecutor(n_processes) as threads:
        return list(threads.map(run, names))
