"""One thread learns, others read: nobody crashes, and what is read is the model at one time."""

import copy
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from filbert import Forest, TreePerceptron, explain, load, save
from filbert.errors import ConcurrentLearningError, InvalidParameterError
from filbert.kernels import PartialTree, SubsetTree

N_READS = 3  # of each reader, at least, while the other thread learns


def random_trees(n: int) -> Forest:
    rng = Random(0)

    def tree(depth: int) -> str:
        label = rng.choice("abc")
        if depth == 0 or rng.random() < 0.2:
            return label
        return f"({label} {' '.join(tree(depth - 1) for _ in range(rng.randint(1, 3)))})"

    return Forest.from_brackets((tree(3) for _ in range(n)), bare_words=True)


TREES = random_trees(150)
LABELS = np.random.default_rng(0).integers(0, 3, len(TREES))


def started(**parameters: Any) -> TreePerceptron:
    clf = TreePerceptron(n_jobs=2, **parameters)
    return clf.partial_fit(TREES[:20], LABELS[:20], classes=[0, 1, 2])


def while_learning(clf: TreePerceptron, readers: list[Callable[[], Any]]) -> list[list[Any]]:
    """Return what each reader read, in a thread of its own, while this one learnt.

    This thread goes on with the same examples until all readers have read often enough.
    """
    read: list[list[Any]] = [[] for _ in readers]
    errors: list[BaseException] = []
    begin, end = threading.Barrier(len(readers) + 1), threading.Event()

    def run(number: int) -> None:
        begin.wait()
        try:
            while not end.is_set():
                read[number].append(readers[number]())
        except BaseException as error:  # pytest does not see those of threads
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(readers))]
    for thread in threads:
        thread.start()
    begin.wait()
    while min(map(len, read)) < N_READS and not errors:
        clf.partial_fit(TREES, LABELS)
    end.set()
    for thread in threads:
        thread.join()
    assert not errors
    return read


def at(n_seen: int, **parameters: Any) -> TreePerceptron:
    """Return a perceptron after so many examples, in the order of `while_learning`."""
    clf = started(**parameters)
    while clf.n_seen_ < n_seen:
        n = min(n_seen - clf.n_seen_, len(TREES))
        clf.partial_fit(TREES[:n], LABELS[:n])
    return clf


PARAMETERS: list[dict[str, Any]] = [
    {},
    {"kernel": PartialTree(0.4, 0.4)},
    {"kernel": SubsetTree() + 1.0, "fit_intercept": True, "average": False},
    {"max_nodes": 200},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=["subset", "partial", "sum", "forgetting"])
def test_copies_are_the_model_between_two_examples(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    clf = started(**parameters)

    def saved() -> TreePerceptron:
        save(clf, tmp_path / "model")
        return load(tmp_path / "model")

    copiers = [saved, lambda: pickle.loads(pickle.dumps(clf)), lambda: copy.deepcopy(clf)]
    for copies in while_learning(clf, copiers):
        for read in [*copies[:3], copies[-1]]:
            same = at(read.model_.n_seen, **parameters) if "max_nodes" not in parameters else read
            values = read.decision_function(TREES[:50])
            assert values.tolist() == same.decision_function(TREES[:50]).tolist()
            assert read.model_.figures()["n_forgotten"] == same.model_.figures()["n_forgotten"]
            assert read.dual_coef_.shape == (3, len(read.model_.plain()[0]))


@pytest.mark.product
@pytest.mark.parametrize("parameters", PARAMETERS, ids=["subset", "partial", "sum", "forgetting"])
def test_scores_are_those_of_one_time(parameters: dict[str, Any]) -> None:
    clf = started(**parameters)
    once = TREES[:40]
    twice = Forest([*map(str, once), *map(str, once)])
    read = while_learning(
        clf,
        [
            lambda: clf.decision_function(twice),
            lambda: clf.predict(twice),
            lambda: explain(clf, once[:3]).examples,
            lambda: clone(clf).get_params()["n_jobs"],
        ],
    )
    for values in read[0]:
        assert values[:40].tolist() == values[40:].tolist()
    for labels in read[1]:
        assert labels[:40].tolist() == labels[40:].tolist()


def test_learning_is_not_disturbed_by_readers() -> None:
    clf = started()
    while_learning(clf, [lambda: clf.predict(TREES)] * 3)
    same = at(clf.n_seen_)
    assert clf.decision_function(TREES).tolist() == same.decision_function(TREES).tolist()
    assert clf.error_history_.tolist() == same.error_history_.tolist()


def test_only_one_thread_may_learn() -> None:
    clf = started()
    raised: list[BaseException] = []

    def other() -> None:
        for learn in (clf.fit, clf.partial_fit):
            with pytest.raises(ConcurrentLearningError, match="train in one thread only") as error:
                learn(TREES, LABELS)
            raised.append(error.value)

    def trees() -> Iterator[str]:
        """Trees that come while the perceptron learns, which is so until they are all there."""
        other()  # in the same thread, as a signal handler would be
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        yield from ["(a b)", "(c b)"]

    assert clf.partial_fit(trees(), [0, 1]).n_seen_ == 22
    assert len(raised) == 4
    assert clf.partial_fit(TREES, LABELS).n_seen_ == 22 + len(TREES)


def test_after_an_error_one_may_learn_again() -> None:
    clf = started()
    with pytest.raises(InvalidParameterError, match="y"):
        clf.partial_fit(TREES, LABELS[:3])
    assert clf.partial_fit(TREES, LABELS).n_seen_ == 20 + len(TREES)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there is no such signal")
def test_a_signal_handler_may_save_and_predict(tmp_path: Path) -> None:
    clf = started()
    copies: list[TreePerceptron] = []
    handled = threading.Semaphore(0)

    def handle(number: int, frame: Any) -> None:
        clf.predict(TREES[:5])
        save(clf, tmp_path / "model")
        copies.append(load(tmp_path / "model"))
        handled.release()

    def send() -> None:
        for _ in range(N_READS):
            os.kill(os.getpid(), signal.SIGUSR1)
            handled.acquire()

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        sender = threading.Thread(target=send)
        sender.start()
        while len(copies) < N_READS:
            clf.partial_fit(TREES, LABELS)
        sender.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    for read in copies:
        same = at(read.n_seen_)
        assert read.decision_function(TREES).tolist() == same.decision_function(TREES).tolist()
