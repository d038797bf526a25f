"""The programs in examples/ print what they printed when their output was recorded.

The functions of the standard library differ between versions of Python. So what is printed about
them is compared with the version that it was recorded with, and elsewhere the programs have to run.
To record anew: ``python -m tests.unit.test_examples``.
"""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
OUTPUT = ROOT / "examples" / "output"
RECORDED_WITH = "3.11.7"

_TIME = re.compile(r"\d+(\.\d+)? ?(s|ms|µs|us|seconds)\b")
_SIZE = re.compile(r"\d+(\.\d+)? (kB|KiB|MB|MiB)\b")


def printed(example: Path, folder: Path) -> str:
    """Run a program in a folder of its own; return what it prints, without times and sizes."""
    source = str(ROOT / "src")
    paths = [source] if source in sys.path else []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} if paths else os.environ
    command = [sys.executable, str(example)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return _SIZE.sub("SIZE", _TIME.sub("TIME", done.stdout))


def test_every_example_has_its_output() -> None:
    names = {path.stem for path in EXAMPLES}
    assert {path.stem for path in OUTPUT.glob("*.txt")} == names


@pytest.mark.product
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_was_recorded(example: Path, tmp_path: Path) -> None:
    shown = printed(example, tmp_path)
    recorded = (OUTPUT / f"{example.stem}.txt").read_text("utf-8")
    of_library = "stdlib" in example.read_text("utf-8")
    if of_library and platform.python_version() != RECORDED_WITH:
        assert len(shown.splitlines()) > 1
    else:
        assert shown == recorded


def record() -> None:
    """Write the outputs of all examples."""
    OUTPUT.mkdir(exist_ok=True)
    for example in EXAMPLES:
        with TemporaryDirectory() as folder:
            (OUTPUT / f"{example.stem}.txt").write_text(printed(example, Path(folder)), "utf-8")


if __name__ == "__main__":
    record()
