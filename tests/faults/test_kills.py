"""kill -9 loses nothing: see fault_sections. Processes are forked from one without threads."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fault_sections import kills
from benchmarks.stamp import ROOT

FEW = ("TreeSVC", "TreePerceptron by factors")


def in_own_process(folder: Path, *calls: str) -> list[dict[str, Any]]:
    """Evaluate calls of `kills` in a process that no test has started threads in."""
    program = (
        "import json; from pathlib import Path; from benchmarks.fault_sections import kills\n"
        f"folder = Path({str(folder)!r})\n"
        f"print(json.dumps([{', '.join(f'kills.{call}' for call in calls)}]))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_killed_saves_and_trainings_lose_nothing(tmp_path: Path) -> None:
    trainings = [f"during_fit(folder, 2, {name!r})" for name in FEW]
    saves, *fits = in_own_process(tmp_path, "during_save(folder, 10)", *trainings)
    assert saves["kills"] == 10
    assert saves["lost"] == 0
    for found in fits:
        assert found["kills"] >= 2
        assert found["lost"] == 0


def test_killed_updates_of_an_index_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "steps").mkdir()
    timed, stepped = in_own_process(
        tmp_path,
        "during_index_update(folder, 6)",
        "at_steps_of_index_update(folder / 'steps', 24)",
    )
    assert stepped["kills"] == 24
    assert min(stepped["old"], stepped["new"]) > 0
    assert stepped["left_by_a_kill"] > 0
    for found in (timed, stepped):
        assert found["old"] + found["new"] == found["updates"]
        assert found["lost"] == found["left_over"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", kills.trainings())
def test_a_training_that_is_killed_often(tmp_path: Path, name: str) -> None:
    [found] = in_own_process(tmp_path, f"during_fit(folder, 50, {name!r})")
    assert found["kills"] >= 50
    assert found["resumed_from_a_state"] > 0
    assert found["lost"] == 0
