"""Fuzzing: random bytes to all targets of tests/fuzz, each in a process of its own."""

import re
import subprocess
import sys
from typing import Any

from benchmarks.measure import ROOT
from tests.fuzz.targets import TARGETS

CORE = "core, with ASan and UBSan"
OF_MODELS = ("load", "load-members")  # as they are, and with right checksums
_TOLD = re.compile(r": ([\d,]+) bytes in ([\d,]+) inputs, ([\d,]+) accepted")


def names() -> list[str]:
    """Return the names of all targets."""
    return [CORE, *TARGETS]


def run(name: str, n_bytes: float, n_inputs: int = 0, seed: int = 0) -> dict[str, Any]:
    """Give a target so many bytes, and inputs if it is not the core.

    A process that ends in another way counts as a report.
    """
    module = "tests.fuzz.core" if name == CORE else "tests.fuzz.long"
    command = [sys.executable, "-m", module, "--bytes", str(n_bytes), "--seed", str(seed)]
    if name != CORE:
        command += ["--only", name, "--plain", "--inputs", str(n_inputs)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    told = _TOLD.search(done.stdout)
    counts = [int(count.replace(",", "")) for count in told.groups()] if told else [0, 0, 0]
    return {
        "target": name,
        **dict(zip(("bytes", "inputs", "accepted"), counts, strict=True)),
        "reports": int(done.returncode != 0 or told is None),
        "told": done.stderr[-300:] if done.returncode else "",
    }
