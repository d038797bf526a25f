"""What is run by default and what in CI."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.profiles import n_examples

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("CI", "FILBERT_SHARED", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")


def run_pytest(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=own | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        ((), {}, "no tests collected (4 deselected)"),
        ((), {"CI": "true"}, "4 tests collected"),
        (("-m", "product"), {}, "4 tests collected"),
    ],
)
def test_products_are_left_out_but_in_ci(
    arguments: tuple[str, ...], environment: dict[str, str], told: str
) -> None:
    file = "tests/unit/test_huge_trees.py"
    assert told in run_pytest("--collect-only", file, *arguments, **environment).stdout


@pytest.mark.parametrize(("environment", "code"), [({}, 0), ({"CI": "true"}, 1)])
def test_ci_fails_where_shared_data_is_there_and_not_used(
    tmp_path: Path, environment: dict[str, str], code: int
) -> None:
    test = "tests/unit/test_read_examples.py::test_kelps_own_format_is_refused"
    done = run_pytest(test, FILBERT_SHARED=str(tmp_path), **environment)
    assert "tests with shared data: 0 passed, 0 failed, 1 skipped" in done.stdout
    assert done.returncode == code


@pytest.fixture
def profile() -> Iterator[None]:
    yield
    settings.load_profile("full" if os.environ.get("CI") == "true" else "quick")


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize(
    ("name", "numbers"), [("full", [400, 100, 15, 5]), ("quick", [80, 20, 10, 5])]
)
def test_numbers_of_examples_follow_the_profile(name: str, numbers: list[int]) -> None:
    settings.load_profile(name)
    assert [n_examples(n).max_examples for n in (400, 100, 15, 5)] == numbers
