"""Threads and processes: the same bytes for any number of threads, and no deadlock after a fork."""

import multiprocessing
import os
import threading
import time
import warnings
from typing import Any

from benchmarks.fault_sections.subjects import LEARNERS, data, digest, fitted, values_of

N_THREADS = (1, 2, 3, 8)
_SECONDS = 60.0  # after which a process counts as hanging


def same_bytes(name: str, *, size: int = 120) -> dict[str, Any]:
    """Train with several numbers of threads."""
    X, y = data(size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = set()
        for n in N_THREADS:
            learner = fitted(name, X, y, n)
            if "n_jobs" in learner.get_params(deep=False):
                learner.set_params(n_jobs=None)
            found.add(digest(learner))
    return {"learner": name, "different_bytes": len(found) - 1}


def _work(name: str) -> str:
    warnings.simplefilter("ignore")
    X, y = data(40)
    return digest(fitted(name, X, y, 2))


def _child(name: str, pipe: Any) -> None:
    pipe.send(_work(name))


def after_fork(name: str) -> bool:
    """Whether a process forked after use of threads gives the same bytes in time."""
    return _in_process("fork", name)


def in_spawned(name: str) -> bool:
    """Whether a new process gives the same bytes."""
    return _in_process("spawn", name)


def _in_process(method: str, name: str) -> bool:
    expected = _work(name)
    processes = multiprocessing.get_context(method)
    ours, theirs = processes.Pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks of processes with threads
        process = processes.Process(target=_child, args=(name, theirs), daemon=True)
        process.start()
    theirs.close()
    try:
        return ours.poll(_SECONDS) and ours.recv() == expected
    except EOFError:
        return False
    finally:
        process.kill()
        process.join()


def free_use(n_threads: int, seconds: float) -> dict[str, Any]:
    """Use one model of each kind from threads, while each thread also trains its own."""
    X, y = data(40)
    names = [name for name in LEARNERS if name != "SymbolSelector"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {name: fitted(name, X, y, 1) for name in names}
        values = {name: values_of(model, X).tobytes() for name, model in models.items()}
        digests = {name: digest(model) for name, model in models.items()}
        wrong: list[str] = []
        counts = [0] * n_threads
        end = time.monotonic() + seconds

        def run(number: int) -> None:
            turn = number
            while time.monotonic() < end or counts[number] < len(names):
                name = names[turn % len(names)]
                turn += 1
                try:
                    if turn % 3 == 0:
                        same = digest(fitted(name, X, y, 1)) == digests[name]
                    else:
                        found = values_of(models[name], X)
                        same = found.dtype == object or found.tobytes() == values[name]
                    if not same:
                        wrong.append(name)
                except Exception as error:
                    wrong.append(f"{name}: {type(error).__name__}: {error}")
                counts[number] += 1

        threads = [threading.Thread(target=run, args=(k,)) for k in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return {"threads": n_threads, "calls": sum(counts), "wrong": len(wrong), "told": wrong[:3]}


def n_open_files() -> int:
    """Return the number of open files of this process."""
    return len(os.listdir("/proc/self/fd"))
