"""Ctrl-C at random moments of training: it ends soon, and the learner is usable afterwards."""

import random
import signal
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.fault_sections.subjects import LEARNERS, data, digest, trained, values_of
from filbert import Forest

_MOST_SECONDS = 0.5  # of the CPU, for a training
_MOST_TURNS = 5  # for each interrupt: others come after the end
_FEW = Forest(["(a (b u) (c v))", "(b (a u))", "(c (d w))"])


def interrupted(learner: Any, X: Forest, y: Any, seconds: float) -> float | None:
    """Train, with Ctrl-C after some seconds. Return how long it took to end, or None."""
    sent: list[float] = []

    def interrupt(*_: Any) -> None:
        sent.append(time.perf_counter())
        raise KeyboardInterrupt

    # The signal of a timer, handled as that of Ctrl-C. It comes when the kernel says, and the
    # handler runs when Python or the core looks: the delay counts from the time it was due.
    before = signal.signal(signal.SIGALRM, interrupt)
    due = time.perf_counter() + seconds
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        try:
            trained(learner, X, y)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)  # the signal may come just before
        return None
    except KeyboardInterrupt:
        return time.perf_counter() - due
    finally:
        signal.signal(signal.SIGALRM, before)


def _cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def run(name: str, n: int, *, size: int = 200) -> dict[str, Any]:
    """Interrupt a learner n times; count those that could not be used afterwards.

    There are fewer interrupts if nearly all trainings end before. A training that takes long gets
    fewer examples.

    Usable: it is not fitted, or predicts as before or, if training was over, as it does then. A
    perceptron predicts with what it has learnt so far. Trained again, it gives the same bytes as a
    new one.
    """
    X, y = data(size, depth=4)
    rng = random.Random(0)
    delays: list[float] = []
    bad = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while _cpu_seconds(partial(trained, LEARNERS[name](), X, y)) > _MOST_SECONDS:
            X, y = X[::2], y[::2]
        learner = trained(LEARNERS[name](), X, y)
        expected = digest(learner)
        values_then = values_of(learner, _FEW)
        start = time.perf_counter()
        trained(LEARNERS[name](), X, y)
        duration = time.perf_counter() - start
        for turn in range(_MOST_TURNS * n):
            if len(delays) == n:
                break
            learner = LEARNERS[name]()
            was_fitted = turn % 2 == 0
            if was_fitted:
                trained(learner, X[:40], y[:40])
                values = values_of(learner, _FEW)
            took = interrupted(learner, X, y, max(1e-4, rng.random() * duration))
            if took is None:
                continue
            delays.append(took)
            try:
                if was_fitted and "Perceptron" not in name:
                    now = values_of(learner, _FEW)
                    known = any(np.array_equal(now, one) for one in (values, values_then))
                    bad += not (now.dtype == object or known)
                elif was_fitted:
                    bad += not np.isfinite(values_of(learner, _FEW)).all()
                bad += digest(trained(learner, X, y)) != expected
            except Exception:
                bad += 1
    return {
        "learner": name,
        "examples": len(X),
        "interrupts": len(delays),
        "unusable": bad,
        "wall_median": round(float(np.median(delays)), 4) if delays else None,
        "wall_longest": round(max(delays), 4) if delays else None,
    }
