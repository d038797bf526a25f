"""Ctrl-C at random moments leaves a learner usable: see fault_sections."""

import pytest

from benchmarks.fault_sections import interrupts
from benchmarks.fault_sections.subjects import LEARNERS


@pytest.mark.parametrize("name", LEARNERS)
def test_an_interrupted_learner_is_usable(name: str) -> None:
    found = interrupts.run(name, 4, size=60)
    assert found["unusable"] == 0


def test_a_long_training_is_interrupted() -> None:
    found = interrupts.run("TreeSVC by usvm", 3, size=100)
    assert found["interrupts"] > 0
    assert found["unusable"] == 0
