"""Fixtures and settings for all tests."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from tests.expected import SHARED, Executed, problems
from tests.profiles import FULL

CI = os.environ.get("CI") == "true"

# The first call may load native code and a shared machine may stall: no time limit per example.
# Tests that ask for another number of examples do so through `tests.profiles.n_examples`, which
# scales with the profile.
settings.register_profile("full", settings.get_profile("default"), deadline=None, max_examples=FULL)
settings.register_profile("quick", settings.get_profile("full"), max_examples=20)
# For bugs made on purpose (tools/mutants): that a test fails is enough, the simplest example is not
# looked for.
settings.register_profile(
    "mutants",
    settings.get_profile("quick"),
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
)
# CI draws the same examples for the same tests, so that a commit passes or fails whatever the day.
# New examples are tried by `pytest --hypothesis-profile=full`.
settings.register_profile("ci", settings.get_profile("full"), derandomize=True)
settings.load_profile("ci" if CI else "quick")

# A shell makes its background jobs ignore Ctrl-C. The programs that tests start and interrupt would
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Every core has a worker already. Tests of threads ask for theirs by `n_jobs`.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("FILBERT_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of shared data: $FILBERT_SHARED, else `shared` beside the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared data: {SHARED} is not a folder (set FILBERT_SHARED)")
    return SHARED


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Start no workers for a single file: that would take longer than most files.

    None leaves the number to pytest-xdist.
    """
    files = {argument.partition("::")[0] for argument in config.args}
    return 0 if len(files) == 1 and files.pop().endswith(".py") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests marked `product` or `slow`, except where the user selects tests.

    In CI, those marked `product` are run.
    """
    if config.option.markexpr or any("::" in argument for argument in config.args):
        return
    marks = ("slow",) if CI else ("slow", "product")
    left_out = [item for item in items if any(map(item.get_closest_marker, marks))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


class SharedTests:
    """Counts the tests that need shared data. In CI, none is skipped where the data is there."""

    def __init__(self) -> None:
        self.outcomes = {"passed": 0, "failed": 0, "skipped": 0}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test once: by its call, or by its setup where it gets no further."""
        last = report.when == "call" or (report.when == "setup" and not report.passed)
        if last and "shared" in report.keywords:
            self.outcomes[report.outcome] += 1

    @property
    def _wrongly_skipped(self) -> bool:
        return CI and SHARED.is_dir() and self.outcomes["skipped"] > 0

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how many there were."""
        if not any(self.outcomes.values()):
            return
        counts = ", ".join(f"{n} {outcome}" for outcome, n in self.outcomes.items())
        terminalreporter.line(f"tests with shared data: {counts}")
        if self._wrongly_skipped:
            terminalreporter.line(f"error: tests were skipped although {SHARED} exists", red=True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail in CI where one was skipped without need."""
        if self._wrongly_skipped and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_configure(config: pytest.Config) -> None:
    """Check what the run expects. Count in the process that reports, not in its workers."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    wrong = problems()
    if wrong:
        raise pytest.UsageError("; ".join(wrong))
    config.pluginmanager.register(SharedTests())
    config.pluginmanager.register(Executed())
