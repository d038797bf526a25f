"""What is run by default and what in CI."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import expected
from tests.expected import problems
from tests.profiles import n_examples

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (
    "CI",
    "FILBERT_EXPECTS",
    "FILBERT_MIN_TESTS",
    "FILBERT_SHARED",
    "PYTEST_ADDOPTS",
    "PYTEST_XDIST_WORKER",
)


TESTS = """
import pytest

@pytest.mark.product
def test_product():
    pass

@pytest.mark.shared
def test_shared():
    pytest.skip("as if there were no data")
"""


def run_pytest(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `TESTS` in a folder of their own, under the settings of these tests."""
    (folder / "test_some.py").write_text(TESTS)
    own = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    quiet = ("-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestUnknownMarkWarning")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", *quiet, *arguments],
        cwd=folder,
        env=own | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.product
@pytest.mark.parametrize(
    ("environment", "told", "code"),
    [({}, "1 skipped, 1 deselected", 0), ({"CI": "true"}, "1 passed, 1 skipped", 1)],
)
def test_in_ci_products_are_run_and_skipped_tests_of_shared_data_fail(
    tmp_path: Path, environment: dict[str, str], told: str, code: int
) -> None:
    done = run_pytest(tmp_path, FILBERT_SHARED=str(tmp_path), **environment)
    assert told in done.stdout
    assert "tests with shared data: 0 passed, 0 failed, 1 skipped" in done.stdout
    assert done.returncode == code


@pytest.mark.product
def test_products_are_run_where_they_are_selected(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "-m", "product")
    assert "1 passed, 1 deselected" in done.stdout


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"FILBERT_SHARED": "no-such-folder"}, "FILBERT_SHARED=no-such-folder is not a folder"),
        (
            {"FILBERT_EXPECTS": "shraed"},
            "FILBERT_EXPECTS=shraed is not one of bench, browser, dask",
        ),
        (
            {"FILBERT_CHROMIUM": "/no/such/browser"},
            "FILBERT_CHROMIUM=/no/such/browser is no program: correct it, or unset it",
        ),
        (
            {"FILBERT_EXPECTS": "browser", "FILBERT_CHROMIUM": "", "PATH": ""},
            "chromium is missing: install it, or leave 'browser' out of FILBERT_EXPECTS",
        ),
    ],
)
def test_what_is_expected_and_missing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], told: str
) -> None:
    for name in ("FILBERT_EXPECTS", "FILBERT_SHARED"):
        monkeypatch.delenv(name, raising=False)
    assert problems() == []
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert any(problem.startswith(told) for problem in problems())


def test_shared_data_may_be_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FILBERT_SHARED", raising=False)
    monkeypatch.setenv("FILBERT_EXPECTS", "shared")
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(expected, "SHARED", tmp_path)
    assert problems() == []
    for wrong in (tmp_path / "none", tmp_path / "data"):  # a folder without data sets is none, too
        monkeypatch.setattr(expected, "SHARED", wrong)
        [told] = problems()
        assert told.startswith(f"no shared data in {wrong}: set FILBERT_SHARED")


@pytest.mark.product
def test_a_mistyped_data_path_ends_the_run(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, FILBERT_SHARED=str(tmp_path / "mistyped"))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "mistyped is not a folder: correct it, or unset it" in done.stderr


@pytest.mark.product
@pytest.mark.parametrize(("least", "code"), [(1, 0), (2, 1)])
def test_too_few_tests_fail(tmp_path: Path, least: int, code: int) -> None:
    """One of the two is skipped."""
    done = run_pytest(tmp_path, "-m", "product or shared", FILBERT_MIN_TESTS=str(least))
    assert "1 tests were run, and 1 were skipped" in done.stdout
    assert (f"error: FILBERT_MIN_TESTS={least}" in done.stdout) == bool(code)
    assert done.returncode == code


@pytest.fixture
def profile() -> Iterator[None]:
    yield
    settings.load_profile("ci" if os.environ.get("CI") == "true" else "quick")


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize(
    ("name", "numbers"), [("full", [400, 100, 15, 5]), ("quick", [80, 20, 5, 5])]
)
def test_numbers_of_examples_follow_the_profile(name: str, numbers: list[int]) -> None:
    settings.load_profile(name)
    assert [n_examples(n).max_examples for n in (400, 100, 15, 5)] == numbers
