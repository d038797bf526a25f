"""Progress is a bar in terminals and a plain line elsewhere."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from filbert import Forest
from filbert.kernels import PartialTree
from filbert.progress import part_progress, progress_bar
from tests.reference.trees import write
from tests.strategies import random_trees


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar("training", show=True) as progress:
        if progress is not None:
            progress(1, 2)
            progress(2, 2, "nearly done")
    return stream.getvalue()


def test_files_and_pipes_get_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(io.StringIO(), monkeypatch) == "training ...\n"


def test_terminals_get_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(Terminal(), monkeypatch)
    assert "training   0%" in text
    assert "\r" in text


def test_nothing_is_shown_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar("training", show=False) as progress:
        assert progress is None
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_parts_are_told_with_their_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 30.0, 31.0])
    monkeypatch.setattr("filbert.progress.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with part_progress("scoring", 4, show=True) as report:
        assert report is not None
        for done in (0, 1, 2):
            report(done)
    line = "scoring: 1 of 4 parts, 2 per minute, 1:30 min left\n"
    assert sys.stderr.getvalue() == f"scoring ...\n{line}"  # type: ignore[attr-defined]


def test_the_core_tells_how_much_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells so every 30 ms. One of these kernel matrices takes long enough on any machine."""
    told: list[tuple[int, int]] = []

    @contextmanager
    def bar(title: str, *, show: bool) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: told.append((done, total))

    monkeypatch.setattr("filbert.kernels.tree.progress_bar", bar)
    for n in (500, 1000, 2000, 4000):
        PartialTree()(Forest(map(write, random_trees(1, n, 20))), n_jobs=1, verbose=1)
        if any(done > 0 for done, _ in told):
            break
    assert any(done > 0 for done, _ in told)
    assert all(done <= total for done, total in told)
