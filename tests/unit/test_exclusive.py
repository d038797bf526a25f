"""A claim on an estimator ends with the call that made it, wherever Ctrl-C comes."""

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from filbert import TreePerceptron
from filbert.errors import ConcurrentLearningError
from filbert.learners import exclusive
from filbert.learners.exclusive import Learning

X = ["(S (A a))", "(S (B b))", "(T (A a))", "(T (B b))"]
Y = [0, 0, 1, 1]


def interrupt() -> None:
    raise KeyboardInterrupt


def send_signal() -> None:
    """Python's own handler raises KeyboardInterrupt where the interpreter looks at signals."""
    signal.raise_signal(signal.SIGINT)


class AtStep:
    """Calls a function at the nth opcode of the claim or of a function that uses it."""

    def __init__(self, n: int, call: Callable[[], None]) -> None:
        self.left = n
        self.call = call
        self.file = exclusive.__file__

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self.file and frame.f_code.co_name != "partial_fit":
            return None
        frame.f_trace_opcodes = True
        return self.step

    def step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                self.call()
        return self.step


@pytest.mark.parametrize("call", [interrupt, send_signal])
def test_after_an_interrupt_at_any_step_one_may_learn_again(call: Callable[[], None]) -> None:
    kept: list[BaseException] = []  # as an interactive session keeps them, with their frames
    clf, n, n_left_behind = TreePerceptron().partial_fit(X, Y, classes=[0, 1]), 0, 0
    tracer, before = AtStep(1, call), sys.gettrace()
    while tracer.left <= 0 or n == 0:  # until the function ends before the step
        n += 1
        tracer = AtStep(n, call)
        sys._getframe().f_trace_opcodes = True  # Python 3.12 looks at it when tracing begins
        sys.settrace(tracer)
        try:
            clf.partial_fit(X, Y)
        except KeyboardInterrupt as error:
            kept.append(error)
        finally:
            sys.settrace(before)
        n_left_behind += len(exclusive._claims) > 0
        n_seen = clf.n_seen_
        assert clf.partial_fit(X, Y).n_seen_ == n_seen + len(X)
        assert len(exclusive._claims) == 0
    assert len(kept) > 50
    if call is interrupt:  # which signals cannot do at every step
        assert n_left_behind > 0


def test_a_claim_that_was_left_behind_does_not_concern_new_estimators() -> None:
    """Their memory, and so their ids, may be those of an estimator that is gone."""

    def leave_behind(estimator: object) -> None:
        Learning(estimator).__enter__()

    for _ in range(100):
        leave_behind(object())
        estimator = object()
        with Learning(estimator):
            assert len(exclusive._claims) == 1


def test_a_claim_holds_while_its_function_runs() -> None:
    estimator, other = object(), object()
    refused: list[BaseException] = []

    def try_to_learn() -> None:
        with Learning(other):
            pass
        with pytest.raises(ConcurrentLearningError) as error, Learning(estimator):
            raise AssertionError
        refused.append(error.value)

    with Learning(estimator):
        for _ in range(3):
            try_to_learn()
            thread = threading.Thread(target=try_to_learn)
            thread.start()
            thread.join()
    assert len(refused) == 6
    assert len(exclusive._claims) == 0
    with Learning(estimator):
        pass


def test_of_many_threads_one_learns() -> None:
    estimator = object()
    inside, most, n_done = 0, 0, 0

    def learn() -> None:
        nonlocal inside, most, n_done
        for _ in range(300):
            try:
                with Learning(estimator):
                    inside += 1
                    most = max(most, inside)
                    inside -= 1
                    n_done += 1
            except ConcurrentLearningError:
                pass

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=learn) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert n_done > 0
    assert (most, inside) == (1, 0)
