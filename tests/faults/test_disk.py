"""A disk that fails gives an error and leaves the previous file: see fault_sections."""

from pathlib import Path

import pytest

from benchmarks.fault_sections import disk, shim

pytestmark = pytest.mark.skipif(shim.compiler() is None, reason="there is no C++ compiler")


def test_every_call_of_a_save_may_fail(tmp_path: Path) -> None:
    full, short = disk.run(tmp_path, "save", "the disk is full", "a short write")
    assert full["calls"] > 10
    assert full["errors"] > 10
    assert short["saved"] == short["calls"] + 1
    for row in (full, short):
        assert row["lost"] == row["left_over"] == 0


def test_every_call_of_a_save_of_an_index_may_fail(tmp_path: Path) -> None:
    [row] = disk.run(tmp_path, "index", "the disk is full")
    assert row["errors"] > 20
    assert row["lost"] == row["left_over"] == row["unusable"] == 0


@pytest.mark.parametrize("what", ["checkpoint", "rows"])
def test_training_goes_on_if_a_checkpoint_cannot_be_stored(tmp_path: Path, what: str) -> None:
    [row] = disk.run(tmp_path, what, "the disk is full")
    assert row["warnings"] > 0
    assert row["lost"] == row["os_errors"] == 0
    assert row["same_model"] + row["refused"] == row["calls"] + 1
