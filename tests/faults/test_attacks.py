"""Faults that an attack found. Each test fails without its mend.

Threads and signal handlers have more tests in tests/unit/test_perceptron_threads.py. Some mends are
tested in C++, where they are: readers wait for a thread that learns (tests/cpp/test_turns.cpp), and
neither labels (tests/cpp/test_forest.cpp) nor chosen symbols (tests/cpp/test_select.cpp) have equal
hashes on purpose.
"""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

from benchmarks.fault_sections.subjects import data
from filbert import TreePerceptron, load, save
from filbert.errors import ConcurrentLearningError
from filbert.kernels import RBF, matrices
from filbert.learners import perceptron_model
from filbert.read.numbers import to_target

X, Y = data(60)


# ---------------------------------------------------------------- two threads


def test_two_threads_that_learn_and_two_that_read_do_not_crash() -> None:
    clf = TreePerceptron(max_nodes=80).partial_fit(X[:10], Y[:10], classes=[0, 1])
    outcomes: list[str] = []
    begin = threading.Barrier(4)

    def run(work: Any) -> None:
        begin.wait()
        for _ in range(15):
            try:
                work()
                outcomes.append("done")
            except ConcurrentLearningError:
                outcomes.append("refused")

    works = [lambda: clf.partial_fit(X, Y)] * 2 + [lambda: clf.predict(X), lambda: clf.dual_coef_]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 4 * 15
    assert outcomes.count("done") >= 2 * 15 + 1  # those that read, and one that learns
    assert clf.n_seen_ == 10 + len(X) * (outcomes.count("done") - 2 * 15)


# ---------------------------------------------------------------- a signal handler that saves


def test_a_save_after_one_in_a_signal_handler_has_the_last_model(tmp_path: Path) -> None:
    clf = TreePerceptron().partial_fit(X[:10], Y[:10], classes=[0, 1])
    n_saves = 0

    def handle(*_: Any) -> None:
        nonlocal n_saves
        save(clf, tmp_path / "during")
        n_saves += 1
        signal.setitimer(signal.ITIMER_REAL, 0.002)  # the next one, after this one has ended

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    try:
        while n_saves < 5:
            clf.partial_fit(X, Y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    save(clf, tmp_path / "after")
    again = load(tmp_path / "after")
    assert again.n_seen_ == clf.n_seen_
    assert again.decision_function(X).tolist() == clf.decision_function(X).tolist()
    assert load(tmp_path / "during").n_seen_ <= clf.n_seen_


# ---------------------------------------------------------------- Ctrl-C inside forgetting


class Interrupter:
    """Raises KeyboardInterrupt at the nth line of a function."""

    def __init__(self, name: str, n: int) -> None:
        self.name = name
        self.left = n

    def __call__(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_name != self.name:
            return None
        return self.line

    def line(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.line


def test_forgetting_may_be_interrupted_at_every_line(tmp_path: Path) -> None:
    n, ended = 0, False
    while not ended:
        n += 1
        clf = TreePerceptron(max_nodes=40)
        clf.partial_fit(X[:4], Y[:4], classes=[0, 1])
        before = sys.gettrace()
        sys.settrace(Interrupter(perceptron_model.PerceptronModel._forget.__name__, n))
        try:
            clf.partial_fit(X[4:], Y[4:])
            ended = True
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        save(clf, tmp_path / "model")
        same = load(tmp_path / "model")
        assert same.decision_function(X).tolist() == clf.decision_function(X).tolist()
        assert same.n_seen_ == clf.n_seen_ == clf.model_.n_seen
        assert same.n_forgotten_ == clf.n_forgotten_
        assert clf.n_support_vectors_ == clf.dual_coef_.shape[1]
        for one in (clf, same):
            one.partial_fit(X[:20], Y[:20])
        assert same.decision_function(X).tolist() == clf.decision_function(X).tolist()
    assert n > 10  # lines in which it was interrupted


# ---------------------------------------------------------------- hash flooding


def test_results_do_not_depend_on_the_seed_of_the_hash(tmp_path: Path) -> None:
    """Two processes have different seeds, and write the same bytes."""
    program = (
        "import sys; from benchmarks.fault_sections.subjects import data, fitted, bytes_of\n"
        "from hashlib import sha256\n"
        "X, y = data(40)\n"
        "for name in ('TreeSVC', 'TreeSVC by sdag+', 'TreePerceptron online'):\n"
        "    print(sha256(bytes_of(fitted(name, X, y))).hexdigest())\n"
    )
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(root), *sys.path])
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert found[0].count("\n") == 3
    assert found[0] == found[1]


class Number(int):
    """A number whose hash is that of all others, and that counts comparisons."""

    n_compared = 0

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        type(self).n_compared += 1
        return int(self) == other


def test_labels_that_are_numbers_of_equal_hashes_are_not_compared_with_each_other() -> None:
    """Python's hash of an integer is that modulo 2^61 - 1, in every process."""
    labels = [Number(k) for k in range(1000)]
    assert to_target(labels, "given").tolist() == [str(k) for k in range(1000)]
    assert Number.n_compared <= 10 * len(labels)


# ---------------------------------------------------------------- RBF of dense vectors


def test_the_rbf_of_dense_vectors_looks_at_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy does not look at signals, so it gets little work at a time. Python looks in between."""
    cdist, work = scipy.spatial.distance.cdist, []

    def recorded(x: Any, y: Any, metric: str) -> Any:
        work.append(x.shape[0] * y.shape[0] * y.shape[1])
        return cdist(x, y, metric)

    monkeypatch.setattr(scipy.spatial.distance, "cdist", recorded)
    monkeypatch.setattr(matrices, "_STEPS", 1000)
    RBF()(np.zeros((60, 5)))
    RBF()(np.zeros((60, 5)), np.ones((40, 5)))
    assert max(work) <= 1000
    assert len(work) > 10
