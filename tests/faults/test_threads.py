"""Threads and processes give the same bytes: see fault_sections."""

import pytest

from benchmarks.fault_sections import threads
from benchmarks.fault_sections.subjects import LEARNERS


@pytest.mark.parametrize("name", LEARNERS)
def test_any_number_of_threads_gives_the_same_bytes(name: str) -> None:
    assert threads.same_bytes(name, size=60)["different_bytes"] == 0


def test_a_process_forked_after_use_of_threads() -> None:
    assert threads.after_fork("TreeSVC")
    assert threads.after_fork("TreePerceptron online")


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_in_forked_and_in_new_processes(name: str) -> None:
    assert threads.after_fork(name)
    assert threads.in_spawned(name)


def test_all_models_may_be_used_from_eight_threads() -> None:
    found = threads.free_use(8, 0.5)
    assert found["told"] == []
    assert found["calls"] >= 8 * (len(LEARNERS) - 1)
