"""Every benchmark runs on a small part of the data: nobody measures with a script that fails."""

import subprocess
import sys

import pytest

from benchmarks import measure, quick

SCRIPTS = {
    path.stem
    for path in (measure.ROOT / "benchmarks").glob("*.py")
    if 'if __name__ == "__main__"' in path.read_text("utf-8")
}
TOOLS = {"page", "quick", "sources"}  # they measure nothing


def test_every_script_is_run_or_left_out_for_a_reason() -> None:
    assert {*quick.COMMANDS} | {*quick.LEFT_OUT} == SCRIPTS - TOOLS
    assert all(len(reason) > 20 for reason in quick.LEFT_OUT.values())


@pytest.mark.product
@pytest.mark.usefixtures("shared_dir")
def test_every_benchmark_runs_on_little_data() -> None:
    command = [sys.executable, "-m", "benchmarks.quick"]
    done = subprocess.run(command, cwd=measure.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.count("CPU s") == len(quick.COMMANDS)
