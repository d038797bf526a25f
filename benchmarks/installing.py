"""Goals: ``pip install .`` within 60 s on two cores; a wheel within 10 s, without a compiler.

``python -m benchmarks.installing PYTHON...`` does this with each interpreter, on a copy of the last
commit: build the wheel as ``pip install .`` does, install it in a fresh environment in which no
compiler is found, and train a first model there. auditwheel and abi3audit judge the wheel; they
must be installed.
"""

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import ROOT, write

# What the page of the first steps shows, as short as possible.
FIRST = """
from filbert import TreeSVC
X = ["(S (NP (D the) (N dog)) (VP (V barks)))", "(Q (V is) (NP (D the) (N dog)) (A asleep))"]
print(*TreeSVC().fit(X, ["statement", "question"]).predict(X))
"""
COMPILERS = ("c++", "g++", "clang++", "cc", "gcc", "clang")


def ran(command: list[str | Path], **options: Any) -> tuple[float, float, str]:
    """Run a program; return wall seconds, CPU seconds with its children's, and the output."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(wall, 2), round(cpu, 2), done.stdout


def measured(python: str, folder: Path) -> dict[str, Any]:
    """Build, install and try a wheel with one interpreter."""
    source, wheels = folder / "source", folder / "wheels"
    ran(["git", "clone", "--quiet", ROOT, source])
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    build = {k: v for k, v in environment.items() if k != "CMAKE_CXX_COMPILER_LAUNCHER"}
    ran([python, "-m", "venv", folder / "builder"])
    pip = [folder / "builder" / "bin" / "python", "-m", "pip"]
    command = [*pip, "wheel", "--no-deps", "--no-cache-dir", "-w", wheels, source]
    wall_build, cpu_build, _ = ran(command, env=build)
    [wheel] = wheels.glob("*.whl")
    version = ran([python, "-c", "import platform; print(platform.python_version())"])[2].strip()
    return {
        "python": version,
        "wheel": wheel.name,
        "wheel_kib": round(wheel.stat().st_size / 1024),
        "wall_seconds_to_build": wall_build,
        "cpu_seconds_to_build": cpu_build,
        **installed(python, wheel, folder / "fresh", environment),
        **judged(wheel),
    }


def installed(python: str, wheel: Path, fresh: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Install a wheel where no compiler is found, and train a first model."""
    ran([python, "-m", "venv", fresh])
    own = {**environment, "PATH": str(fresh / "bin")}
    for compiler in COMPILERS:
        assert not (fresh / "bin" / compiler).exists()
    pip = [fresh / "bin" / "python", "-m", "pip", "install", "--quiet"]
    wall_all, _, _ = ran([*pip, wheel], env=own)  # with the libraries that Filbert needs
    again = [*pip, "--no-deps", "--force-reinstall", wheel]
    wall_alone, _, _ = ran(again, env=own)
    wall_first, cpu_first, out = ran([fresh / "bin" / "python", "-c", FIRST], env=own)
    assert out == "statement question\n"
    return {
        "wall_seconds_to_install_with_libraries": wall_all,
        "wall_seconds_to_install": wall_alone,
        "wall_seconds_to_first_result": wall_first,
        "cpu_seconds_to_first_result": cpu_first,
    }


def judged(wheel: Path) -> dict[str, Any]:
    """What auditwheel and abi3audit say of a wheel."""
    shown = ran(["auditwheel", "show", wheel])[2]
    [tag] = re.findall(r'tag:\s+"([^"]+)"', shown)
    if "abi3" not in wheel.name:
        return {"platform": tag}
    report = json.loads(ran(["abi3audit", "--strict", "--report", wheel])[2])
    [found] = next(iter(report["specs"].values()))["wheel"]
    return {
        "platform": tag,
        "abi3_baseline": found["result"]["computed"],
        "symbols_outside_abi3": len(found["result"]["non_abi3_symbols"]),
    }


def main(pythons: list[str]) -> None:
    figures = []
    for python in pythons:
        with TemporaryDirectory() as folder:
            figures.append(measured(python, Path(folder)))
    write(
        "installing",
        "pip install . within 60 s on two cores; a wheel within 10 s, without a compiler",
        figures,
        notes=[
            "Building includes pip's fetching of the build tools, as in pip install.",
            "The platform is what auditwheel says of a wheel that was built on this system. The "
            "wheels of a release are built on manylinux_2_28.",
        ],
    )


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
