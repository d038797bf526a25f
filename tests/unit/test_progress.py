"""Progress is a bar in terminals and a plain line elsewhere."""

import io
import sys

import pytest

from filbert.progress import part_progress, progress_bar


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
