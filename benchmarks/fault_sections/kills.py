"""kill -9 at random moments: a file is the old one or the new one, and training resumes.

Processes are forked, so that a kill costs milliseconds. This process computes with one thread and
starts no others before it forks.
"""

import os
import random
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.fault_sections.subjects import LEARNERS, bytes_of, data
from filbert import TreePerceptron, TreeSVC, load, save
from filbert.learners import fit_checkpoints


def killed(work: Callable[[], None], seconds: float) -> bool:
    """Run `work` in a process that is killed after some seconds. Return whether it had ended."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
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


_TRAININGS: dict[str, Callable[[], Any]] = {
    "TreeSVC": lambda: TreeSVC(C=1000.0, tol=1e-9, random_state=0, n_jobs=1),
    "TreeSVC by sdag+": lambda: TreeSVC(strategy="sdag+", max_iter=40, random_state=0, n_jobs=1),
    "TreePerceptron by factors": lambda: TreePerceptron(n_epochs=40, shuffle=True, random_state=0),
    "TreePerceptron that forgets": lambda: LEARNERS["TreePerceptron that forgets"]().set_params(
        shuffle=True, random_state=0, n_epochs=10
    ),
}


def during_fit(folder: Path, n: int, name: str) -> dict[str, Any]:
    """Kill a training with a checkpoint, and resume it until it ends, n kills in all."""
    X, y = data(150)
    learner = _TRAININGS[name]()
    seconds_between = fit_checkpoints.SECONDS
    fit_checkpoints.SECONDS = 0.005  # checkpoints, many in each training
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
        fit_checkpoints.SECONDS = seconds_between
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
