"""How many threads to use."""

import os
from numbers import Integral

from filbert.errors import InvalidParameterError

_MOST = 1024


def n_threads(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads.

    None means all cores that this process may use, or ``FILBERT_NUM_THREADS`` where that is set; -1
    all cores, -2 all but one. Results never depend on it.
    """
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None:
        n_jobs = _from_environment() or cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InvalidParameterError(
            f"n_jobs must be None or an integer other than 0, got {n_jobs!r}"
        )
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else min(int(n_jobs), _MOST)


def _from_environment() -> int | None:
    value = os.environ.get("FILBERT_NUM_THREADS", "")
    if not value:
        return None
    if not value.isdecimal() or int(value) == 0:
        raise InvalidParameterError(
            f"FILBERT_NUM_THREADS must be a positive integer, got {value!r}"
        )
    return int(value)
