"""The number of threads to use."""

import os
import sys
from multiprocessing import parent_process
from numbers import Integral

from filbert.errors import InvalidParameterError

_MOST = 1024


def n_threads(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads.

    A positive number is the number of threads. -1 means all cores that this process may use, -2
    all cores except one. None means the first of these rules that applies:

    1. If the environment variable ``FILBERT_NUM_THREADS`` is set, its value.
    2. In a task of Dask, 1: a worker runs several tasks at the same time.
    3. In a task of ``joblib.Parallel``, such as a fold of ``GridSearchCV(n_jobs=2)``, its share of
       the machine. A worker process uses the ``OMP_NUM_THREADS`` that joblib sets there (the cores
       divided by the number of workers, or ``inner_max_num_threads``). A worker thread uses 1.
    4. In ``with joblib.parallel_config(n_jobs=...)``, that number. The backend "dask" is an
       exception, because its number is that of the cores of the cluster.
    5. Otherwise all cores, or ``OMP_NUM_THREADS`` if that is set and smaller.

    Results never depend on the number of threads.
    """
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None:
        n_jobs = _from_environment("FILBERT_NUM_THREADS") or (
            1 if in_dask_task() else _from_joblib(cores)
        )
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InvalidParameterError(
            f"n_jobs must be None or an integer other than 0, got {n_jobs!r}"
        )
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else min(int(n_jobs), _MOST)


def in_dask_task() -> bool:
    """Return whether this thread runs a task on a worker of Dask."""
    distributed = sys.modules.get("distributed.worker")  # without it, this is no worker
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _from_joblib(cores: int) -> int:
    joblib = sys.modules.get("joblib.parallel")  # without it, this is no task of joblib
    backend, n_jobs = (None, None) if joblib is None else joblib.get_active_backend()
    if backend is not None and backend.nesting_level > 0:  # one of several tasks at the same time
        limit = _openmp_limit() if parent_process() is not None else None
        return min(cores, limit or 1)
    of_a_cluster = type(backend).__name__ == "DaskDistributedBackend"
    if joblib is not None and n_jobs is not None and not of_a_cluster:
        return int(joblib.effective_n_jobs(None))
    return min(cores, _openmp_limit() or cores)


def _openmp_limit() -> int | None:
    """Return the first number of OMP_NUM_THREADS, or None for a value that OpenMP ignores."""
    value = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(value) or None if value.isdecimal() else None


def _from_environment(name: str) -> int | None:
    value = os.environ.get(name, "")
    if not value:
        return None
    if not value.isdecimal() or int(value) == 0:
        raise InvalidParameterError(f"{name} must be a positive integer, got {value!r}")
    return int(value)
