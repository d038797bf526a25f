"""A way to run commands."""

import sys
import warnings
from pathlib import Path

import pytest

from filbert.cli import main
from tests.cli.commands import Done, Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as its process would."""

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["filbert", *map(str, arguments)])
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            with pytest.raises(SystemExit) as stop:
                main()
        code = stop.value.code
        assert isinstance(code, int)
        return Done(code, *capsys.readouterr())

    return run
