"""Memory stays flat: see fault_sections."""

from pathlib import Path

import pytest

from benchmarks.fault_sections import leaks
from benchmarks.fault_sections.subjects import LEARNERS

FEW = ("TreeSVC", "TreePerceptron that forgets", "FragmentVectorizer")


@pytest.mark.parametrize("name", FEW)
def test_no_open_files_and_little_memory_are_left(name: str, tmp_path: Path) -> None:
    found = leaks.run(name, 60, tmp_path)
    assert found["files_more"] == 0
    assert found["megabytes_more"] < 10  # a leak of one model per turn is found by the long run


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_memory_stays_flat(name: str, tmp_path: Path) -> None:
    found = leaks.run(name, 2000, tmp_path)
    assert found["files_more"] == 0
    assert found["megabytes_more"] <= 2
