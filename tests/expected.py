"""What a run of the tests has to have: data, a browser, libraries, and a number of tests.

``FILBERT_EXPECTS="shared browser"`` names what must be there. Without it, tests that need something
that is missing are skipped. ``FILBERT_MIN_TESTS`` is the least number of tests that must be run.
"""

import importlib.util
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("FILBERT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
_MODULES = {
    "bench": ["matplotlib"],
    "browser": ["playwright"],
    "dask": ["dask", "distributed"],
    "objects": ["networkx", "nltk"],
    "shared": [],
}


def problems() -> list[str]:
    """Say what is wrong with the data path, and what is expected and missing."""
    found = []
    named = os.environ.get("FILBERT_SHARED")
    if named is not None and not Path(named).is_dir():
        found.append(f"FILBERT_SHARED={named} is not a folder: correct it, or unset it")
    browser = os.environ.get("FILBERT_CHROMIUM")
    if browser and chromium() is None:
        found.append(f"FILBERT_CHROMIUM={browser} is no program: correct it, or unset it")
    for name in os.environ.get("FILBERT_EXPECTS", "").split():
        if name not in _MODULES:
            found.append(f"FILBERT_EXPECTS={name} is not one of {', '.join(_MODULES)}: correct it")
            continue
        missing = [one for one in _MODULES[name] if importlib.util.find_spec(one) is None]
        if missing:
            found.append(f"{' and '.join(missing)} missing: install them, {_or_not(name)}")
        if name == "shared" and not (SHARED / "data").is_dir():
            found.append(f"no shared data in {SHARED}: set FILBERT_SHARED, {_or_not(name)}")
        if name == "browser" and chromium() is None:
            found.append(f"chromium is missing: install it, {_or_not(name)}")
    return found


def _or_not(name: str) -> str:
    return f"or leave {name!r} out of FILBERT_EXPECTS"


def chromium() -> str | None:
    """Return the browser: $FILBERT_CHROMIUM, or the one that is installed."""
    return shutil.which(os.environ.get("FILBERT_CHROMIUM") or "chromium")


class Executed:
    """Counts the tests that were run, and fails if they are fewer than FILBERT_MIN_TESTS."""

    def __init__(self) -> None:
        self.least = int(os.environ.get("FILBERT_MIN_TESTS", "0"))
        self.outcomes: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test once: by its call, or by its setup where it gets no further."""
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self.outcomes[report.outcome] += 1

    @property
    def n_run(self) -> int:
        """The number of tests that were not skipped."""
        return self.outcomes["passed"] + self.outcomes["failed"]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how many were run, if a number is required."""
        if self.least == 0:
            return
        text = f"{self.n_run:,} tests were run, and {self.outcomes['skipped']:,} were skipped"
        terminalreporter.line(text)
        if self.n_run < self.least:
            terminalreporter.line(f"error: FILBERT_MIN_TESTS={self.least} should be run", red=True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail if they are too few."""
        if self.n_run < self.least and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
