"""kill -9 at many moments: a file or an index is the old one or the new one, and training resumes.

Processes are forked, so that a kill costs milliseconds. This process computes with one thread and
starts no others before it forks.
"""

import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.fault_sections.index_update import IndexUpdate
from benchmarks.fault_sections.subjects import LEARNERS, bytes_of, data
from filbert import TreeIndex, TreePerceptron, TreeSVC, atomic, load, locks, save
from filbert.kernels import PartialTree
from filbert.learners import fit_checkpoints
from filbert.persist import archive
from filbert.search import files, lists


def killed(work: Callable[[], None], seconds: float) -> bool:
    """Run `work` in a process that is killed some seconds later. Return whether it had ended."""
    begun, begins = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(begins)
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    os.close(begins)
    os.read(begun, 1)  # ends when the child has closed its end too
    os.close(begun)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return _has_ended(child)


def _has_ended(child: int) -> bool:
    """Wait for a process. Return whether it ended by itself, rather than by a signal."""
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise RuntimeError("the work failed before it was killed")
    return os.WIFEXITED(status)


def during_save(folder: Path, n: int) -> dict[str, Any]:
    """Kill a process that saves two models in turn."""
    X, y = data(200)
    models = [TreeSVC(C=C, random_state=0, n_jobs=1).fit(X, y) for C in (0.1, 10.0)]
    contents = {bytes_of(model) for model in models}
    path = folder / "model.filbert"
    save(models[0], path)
    start = time.perf_counter()
    save(models[1], path)
    one_save = time.perf_counter() - start

    def work() -> None:
        while True:
            for model in models:
                save(model, path)

    rng = random.Random(0)
    lost = 0
    for _ in range(n):
        killed(work, rng.uniform(0.5, 3) * one_save)
        lost += path.read_bytes() not in contents
        load(path)
    return {"fault": "kill -9 during save", "kills": n, "lost": lost}


def during_index_update(folder: Path, n: int) -> dict[str, Any]:
    """Kill a process that saves a changed index, at times that are spread over the save."""
    subject = IndexUpdate(folder)
    durations = []
    for _ in range(5):
        changed = subject.begin()
        start = time.perf_counter()
        changed.save(subject.path)
        durations.append(time.perf_counter() - start)
    longest = 1.5 * sorted(durations)[2]

    def kill(number: int, changed: TreeIndex) -> bool:
        return killed(lambda: changed.save(subject.path), (number + 0.5) / n * longest)

    return {"fault": "kill -9 during an update of an index", **_killed_updates(subject, n, kill)}


def at_steps_of_index_update(folder: Path, n: int) -> dict[str, Any]:
    """Let the process kill itself, at lines of the program that are spread over the save."""
    subject = IndexUpdate(folder)
    whole = _Steps()
    changed = subject.begin()
    with whole:
        changed.save(subject.path)

    def kill(number: int, changed: TreeIndex) -> bool:
        child = os.fork()
        if child == 0:
            with _Steps(1 + number * whole.n // n):
                changed.save(subject.path)
            os._exit(0)
        return _has_ended(child)

    found = _killed_updates(subject, n, kill)
    return {"fault": "kill -9 at steps of an update of an index", "lines": whole.n, **found}


class _Steps:
    """Counts the lines that Filbert runs, and kills the process at one of them."""

    def __init__(self, last: int = 0) -> None:
        self.n = 0
        self._last = last

    def __enter__(self) -> None:
        sys.settrace(self._called)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _called(self, frame: Any, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename in _WRITERS else None

    def _line(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self.n += 1
            if self.n == self._last:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._line


_WRITERS = {module.__file__ for module in (atomic, locks, archive, files, lists)}


def _killed_updates(
    subject: IndexUpdate, n: int, kill: Callable[[int, TreeIndex], bool]
) -> dict[str, Any]:
    counts = {"kills": 0, "old": 0, "new": 0, "lost": 0, "left_by_a_kill": 0, "left_over": 0}
    for number in range(n):
        counts["kills"] += not kill(number, subject.begin())
        counts[subject.state() or "lost"] += 1
        counts["left_by_a_kill"] += subject.n_left_over()
        TreeIndex.load(subject.path, n_jobs=1).save(subject.path)
        counts["left_over"] += subject.n_left_over()
    return {"updates": n, **counts}


_TRAININGS: dict[str, Callable[[], Any]] = {
    "TreeSVC": lambda: TreeSVC(loss="hinge", C=1e4, tol=1e-9, random_state=0, n_jobs=1),
    "TreeSVC on rows": lambda: TreeSVC(
        PartialTree(), engine="rows", C=1000.0, tol=1e-9, random_state=0, n_jobs=1
    ),
    "TreeSVC on rows that give way": lambda: TreeSVC(
        PartialTree(), engine="rows", C=1.0, max_memory=150 * 8 * 50, random_state=0, n_jobs=1
    ),
    "TreeSVC by sdag+": lambda: TreeSVC(strategy="sdag+", max_iter=40, random_state=0, n_jobs=1),
    "TreePerceptron by factors": lambda: TreePerceptron(
        n_epochs=5000, shuffle=True, random_state=0
    ),
    "TreePerceptron that forgets": lambda: LEARNERS["TreePerceptron that forgets"]().set_params(
        shuffle=True, random_state=0, n_epochs=10
    ),
}


# Of trainings that are short. Others have 150.
_N_TREES = {"TreeSVC": 4000, "TreeSVC on rows": 1000, "TreeSVC by sdag+": 1000}


def during_fit(folder: Path, n: int, name: str) -> dict[str, Any]:
    """Kill a training with a checkpoint, and resume it until it ends, n kills in all."""
    X, y = data(_N_TREES.get(name, 150))
    learner = _TRAININGS[name]()
    between = fit_checkpoints.SECONDS, fit_checkpoints.OF_TIME
    fit_checkpoints.SECONDS, fit_checkpoints.OF_TIME = 0.002, 1  # several states in each training
    rng = random.Random(1)
    n_kills = n_trainings = same = resumed = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tol that is not reached
            expected = bytes_of(learner.fit(X, y))
            start = time.perf_counter()
            learner.fit(X, y, checkpoint=folder / f"{name} undisturbed")
            duration = time.perf_counter() - start
            while n_kills < n:
                own = folder / f"{name} {n_trainings}"
                work = lambda own=own: learner.fit(X, y, checkpoint=own)  # noqa: E731
                for _ in range(3):
                    n_kills += not killed(work, rng.uniform(0, 0.7) * duration)
                resumed += len([*own.glob("*.result")]) > 0
                same += bytes_of(learner.fit(X, y, checkpoint=own)) == expected
                n_trainings += 1
    finally:
        fit_checkpoints.SECONDS, fit_checkpoints.OF_TIME = between
    return {
        "fault": f"kill -9 during fit of {name} with a checkpoint",
        "kills": n_kills,
        "trainings": n_trainings,
        "resumed_from_a_state": resumed,
        "lost": n_trainings - same,
    }


def trainings() -> list[str]:
    """Return the names of the trainings with checkpoints."""
    return [*_TRAININGS]
