"""Run the tests of one mutant after the other, each in a process of its own.

The process is a copy of this one, which has loaded the large libraries already. Filbert itself is
loaded from a copy of the sources in which one place is changed.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.mutants.tests_of import ROOT

_CPU_SECONDS = 240  # of the tests of one mutant: those that take longer never end
_WALL_SECONDS = 1500
_BYTES = 8 << 30  # of addresses: a bug may take memory without end
_PASSED, _FAILED = 0, 1
# An editable installation would put the sources before the copy, here and in the programs that
# tests start.
_SITE = """\
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in type(f).__module__]
"""
_OPTIONS = [
    "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no",
    "--hypothesis-profile=mutants", "-m", "not product and not shared and not browser",
]  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How a run of tests ended: passed, failed, crashed or late; and the first test that failed."""

    ended: str
    by: str
    cpu_seconds: float


class Copy:
    """A copy of the package, in a folder of its own."""

    def __init__(self, folder: Path, core: Path | None = None) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(ROOT / "src/filbert", folder / "filbert", ignore=ignored)
        (folder / "sitecustomize.py").write_text(_SITE, encoding="utf-8")
        [module] = (core or _installed_package()).glob("_core*.so")
        shutil.copy(module, folder / "filbert")

    @contextlib.contextmanager
    def changed(self, file: str, text: str) -> Iterator[None]:
        """Change one file for a while."""
        path = self.folder / "filbert" / file
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(before, encoding="utf-8")

    def run(self, tests: list[str], **variables: str) -> Outcome:
        """Run files of tests up to the first that fails."""
        log = self.folder / "log.txt"
        child = os.fork()
        if child == 0:
            self._run_here(tests, log, variables)
        status, cpu = _wait(child)
        by = _first_failure(log)
        if os.WIFSIGNALED(status):
            is_late = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
            return Outcome("late" if is_late else "crashed", by, cpu)
        code = os.WEXITSTATUS(status)
        if code in (_PASSED, _FAILED):
            return Outcome("passed" if code == _PASSED else "failed", by, cpu)
        if code == 2:  # a file of tests cannot be imported
            return Outcome("failed", by, cpu)
        raise RuntimeError(f"pytest ended with {code}: {log.read_text()[-2000:]}")

    def _run_here(self, tests: list[str], log: Path, variables: dict[str, str]) -> None:
        os.setsid()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS + 10))
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
        os.chdir(ROOT)
        os.environ.update(variables, PYTHONPATH=str(self.folder), PYTHONDONTWRITEBYTECODE="1")
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.folder))
        code = 3
        try:
            self._check_that_it_is_used()
            code = int(pytest.main([*_OPTIONS, *tests]))
        except BaseException:  # it would be seen in the process that waits for this one
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def _check_that_it_is_used(self) -> None:
        spec = importlib.util.find_spec("filbert")
        if spec is None or spec.origin != str(self.folder / "filbert/__init__.py"):
            raise RuntimeError(f"the tests would not run the copy in {self.folder}, but {spec}")


def _installed_package() -> Path:
    return Path(str(importlib.metadata.distribution("filbert").locate_file("filbert")))


def preload() -> None:
    """Import what all tests need but Filbert itself."""
    exec(_SITE)
    for name in ("numpy", "pandas", "scipy.sparse", "sklearn.svm"):  # and no plugins of pytest
        __import__(name)
    if any(name.partition(".")[0] == "filbert" for name in sys.modules):
        raise RuntimeError("Filbert is loaded already")


def _wait(child: int) -> tuple[int, float]:
    end = time.monotonic() + _WALL_SECONDS
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            _, status, used = os.wait4(child, 0)
            break
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):  # what tests have started and not ended
        os.killpg(child, signal.SIGKILL)
    return status, used.ru_utime + used.ru_stime


def _first_failure(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in lines:
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" ", 1)[1].partition(" - ")[0]
    return ""
