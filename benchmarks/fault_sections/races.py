"""Data races: all tests of the core under the thread sanitizer."""

import os
import re
import subprocess
from typing import Any

from benchmarks.measure import ROOT

_BUILD = ROOT / "build" / "races"
_PASSED = re.compile(r"Test +#\d+: core\.\w+ \.+ +Passed")
_ALL = re.compile(r"^\d+% tests passed.* out of (\d+)$", re.MULTILINE)


def run() -> dict[str, Any]:
    """Build the tests and run them."""
    environment = {**os.environ, "BUILD": str(_BUILD)}
    done = subprocess.run(
        [str(ROOT / ".ci" / "threads")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    counted = _ALL.search(done.stdout)
    n_all = int(counted[1]) if counted else 0
    n_passed = len(_PASSED.findall(done.stdout))
    return {
        "programs": n_all,
        "failed": n_all - n_passed if n_all else 1,
        "reports": done.stdout.count("WARNING: ThreadSanitizer"),
        "told": "" if done.returncode == 0 else (done.stderr or done.stdout)[-300:],
    }
