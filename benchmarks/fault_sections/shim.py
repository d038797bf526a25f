"""Processes in which calls fail on demand: shim.cpp, compiled and preloaded."""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

_SOURCE = Path(__file__).with_name("shim.cpp")


def compiler() -> str | None:
    """Return a C++ compiler, or None if there is none."""
    return shutil.which("c++") or shutil.which("g++")


def run_with_faults(module: str, folder: Path, *arguments: str) -> Any:
    """Run ``python -m module`` with the library preloaded; return the JSON of its last line.

    A process that ends by a signal is a result too: ``{"crash": ...}``.
    """
    library = folder / "shim.so"
    if not library.exists():
        found = compiler()
        assert found is not None
        options = ["-std=c++20", "-O1", "-fPIC", "-shared", "-o", str(library)]
        subprocess.run([found, *options, str(_SOURCE), "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    command = [sys.executable, "-X", "faulthandler", "-m", module, *arguments]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, cwd=ROOT, check=False
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        told = lines[-1] if lines else ""
        return {"crash": done.returncode, "told": told, "stderr": done.stderr[-3000:]}
    return json.loads(lines[-1])


@cache
def faults() -> Any:
    """Return the functions of the library, in a process that it was preloaded into."""
    library = ctypes.CDLL(None)
    library.fail_file_call_at.argtypes = [ctypes.c_long, ctypes.c_int]
    library.fail_allocation_at.argtypes = [ctypes.c_long, ctypes.c_int]
    for name in ("n_file_calls", "n_allocations"):
        getattr(library, name).restype = ctypes.c_long
    return library
