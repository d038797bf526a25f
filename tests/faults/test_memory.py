"""Memory that runs out is a MemoryError, and the interpreter and all objects stay usable."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.fault_sections import memory, shim
from benchmarks.stamp import ROOT
from filbert import _core
from filbert.kernels import SubsetTree

NEEDS_COMPILER = pytest.mark.skipif(shim.compiler() is None, reason="there is no C++ compiler")
FEW = ("TreeSVC on rows", "TreePerceptron that forgets")


@NEEDS_COMPILER
@pytest.mark.parametrize("name", FEW)
def test_an_allocation_that_fails_in_the_core_is_a_memory_error(tmp_path: Path, name: str) -> None:
    found = memory.run(tmp_path, name, 40)
    assert found["crashes"] == 0, found
    assert found["memory_errors"] >= 30
    assert found["wrong_errors"] == found["unusable"] == 0


@NEEDS_COMPILER
def test_a_list_that_does_not_fit_is_a_memory_error(tmp_path: Path) -> None:
    found = memory.with_lists(tmp_path)
    assert "crash" not in found, found
    assert min(found.values()) > 0, found


class Made(Sequence[str]):
    """A sequence that makes its items as they are asked for."""

    def __len__(self) -> int:
        return 300

    def __getitem__(self, i: int) -> str:  # type: ignore[override]
        if i >= 300:
            raise IndexError
        return f"a label of some length, number {i}"


def test_items_of_a_sequence_live_as_long_as_they_are_needed() -> None:
    made, zeros = Made(), [0] * 300
    expected = _core.fragment_text(list(made), zeros, [False] * 300)
    assert _core.fragment_text(made, zeros, [False] * 300) == expected
    spec = SubsetTree()._spec()
    assert spec.rooted_in([made], True) is not None


def test_a_limit_of_the_system_is_a_memory_error() -> None:
    """Under RLIMIT_AS, a matrix that does not fit is an error, and the next one is computed."""
    program = """
import resource
from filbert import Forest
from filbert.kernels import SubsetTree
large, small = Forest(f"(a{i} b)" for i in range(20_000)), Forest(["(a b)", "(a c)"])
SubsetTree()(small, n_jobs=2)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))
try:
    SubsetTree()(large, n_jobs=2)
except MemoryError:
    print("MemoryError", SubsetTree()(small, n_jobs=2).shape)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "MemoryError (2, 2)\n"
