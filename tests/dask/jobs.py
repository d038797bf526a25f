"""Functions that tests run on workers, and small corpora for them."""

import os
import signal
import time
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from filbert import Forest
from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Given, Rows
from filbert.errors import ParseError
from filbert.kernels import SubsetTree

N_PARTS = 6


def corpus(n_parts: int = N_PARTS) -> Parts:
    """Return a corpus with the number of the part in its trees and labels."""
    return Parts(
        [Given(f"part-{i}", Rows(trees(i), np.full(5, i, dtype=np.int64))) for i in range(n_parts)]
    )


def trees(part: int) -> Forest:
    return Forest([f"(S (A a{part}) (B b{i}))" for i in range(5)])


def wait_for(path: Path) -> None:
    """Wait for a file. A test that fails does not block a worker for ever."""
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def kernel_rows(rows: Rows, factor: float) -> Any:
    """Return numbers whose bytes would show any difference."""
    return SubsetTree()(rows.X) * factor


def number(rows: Rows) -> int:
    assert rows.y is not None
    return int(rows.y[0])


def out_of_order(rows: Rows, folder: Path) -> int:
    """Finish the first part only after the second."""
    if number(rows) == 0:
        wait_for(folder / "1")
    (folder / str(number(rows))).touch()
    return number(rows)


def die_once(rows: Rows, folder: Path) -> int:
    """Kill the worker in the middle of the third part."""
    if number(rows) == 2 and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number(rows)


def die_in_any_part(rows: Rows, folder: Path) -> Any:
    """Kill the worker of the part that is first."""
    try:
        (folder / "died").touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        pass
    return kernel_rows(rows, 1.0)


class Arriving:
    """A number that is noted in the process where it arrives."""

    arrived: ClassVar[list[int]] = []

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        return _arrive, (self.number,)


def _arrive(number: int) -> Arriving:
    Arriving.arrived.append(number)
    return Arriving(number)


def arriving(rows: Rows, folder: Path) -> Arriving:
    """Leave a file for each part that was worked on."""
    (folder / str(number(rows))).touch()
    return Arriving(number(rows))


def die_always(rows: Rows) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(rows: Rows, folder: Path) -> int:
    """Fail in the third part, and earlier in time in the fourth."""
    part = number(rows)
    if part == 2:
        wait_for(folder / "failed")
        raise ParseError("no tree", hint="look", source="a.tsv", line=7, column=3)
    if part == 3:
        (folder / "failed").touch()
        raise ZeroDivisionError("the later error")
    return part


def block(rows: Rows, folder: Path) -> None:
    """Say that the task runs, and wait for its end."""
    (folder / "running").touch()
    wait_for(folder / "end")


def warn(rows: Rows) -> int:
    """Warn twice with the same text, and once with the number of the part."""
    for text in ("the same", "the same", f"part {number(rows)}"):
        warnings.warn(text, UserWarning, stacklevel=2)
    return number(rows)


def total(rows: Rows, values: Any) -> float:
    return float(np.sum(values)) + float(np.sum(rows.X)) if isinstance(rows.X, np.ndarray) else 0.0
