"""Results of benchmarks come from runs, and the page comes from the results."""

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from benchmarks import goals, measure, page, papers, peers, stamp

RESULTS = page.load_results()
MODULES = [
    ".".join(path.relative_to(stamp.ROOT).with_suffix("").parts)
    for path in sorted((stamp.ROOT / "benchmarks").rglob("*.py"))
    if path.stem not in ("plots", "__init__")  # plots need matplotlib
]


# ---------------------------------------------------------------- stamps


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_was_written_by_a_run(name: str) -> None:
    assert stamp.problems(name, RESULTS[name]) == []


def test_the_list_of_results_without_stamps_only_gets_shorter() -> None:
    listed = stamp.unstamped()
    assert len(listed) <= 40
    for name in listed:
        assert "stamp" not in RESULTS[name], f"{name} has a stamp: take it off the list"
        assert RESULTS[name]["date"] <= "2026-11-17", f"{name} was measured when stamps existed"


def test_squashed_commits_are_those_of_results() -> None:
    """A line whose results were measured again is deleted."""
    measured = {result["stamp"]["commit"] for result in RESULTS.values() if "stamp" in result}
    assert stamp.squashed() <= measured


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A result of a run of ``benchmarks.example --only part`` at a clean commit."""

    def git(*arguments: str) -> CompletedProcess[str]:
        known = arguments[0] in ("rev-parse", "status") or "c0ffee" in arguments[2]
        out = "c0ffee\n" if arguments[0] == "rev-parse" else ""
        return CompletedProcess(arguments, 0 if known else 1, out, "")

    monkeypatch.setattr(stamp, "_git", git)
    monkeypatch.setattr(sys, "argv", ["benchmarks/example.py", "--only", "part"])
    rows = [{"n": 1, "cpu_seconds": 0.25}, {"n": 2, "cpu_seconds": 0.5, "runs": 3}]
    measure.write("example_part", "a claim", rows, notes=["a note"], folder=tmp_path)
    result: dict[str, Any] = json.loads((tmp_path / "example_part.json").read_text())
    return result


def test_a_stamp_says_where_a_result_comes_from(written: dict[str, Any]) -> None:
    assert stamp.problems("example_part", written) == []
    assert written["stamp"]["script"] == "example"
    assert written["stamp"]["options"] == ["--only", "part"]
    assert written["stamp"]["commit"] == "c0ffee"
    assert [row["runs"] for row in written["figures"]] == [1, 3]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda result: result["figures"][0].update(cpu_seconds=0.2), "changed after"),
        (lambda result: result["figures"].pop(), "changed after"),
        (lambda result: result.update(notes=["another note"]), "changed after"),
        (lambda result: result["machine"].update(cores=1), "changed after"),
        (lambda result: result["stamp"].update(script="another"), "does not write it"),
        (lambda result: result["stamp"].update(options=["--only", "other"]), "does not write it"),
        (lambda result: result["stamp"]["options"].append("--quick"), "quick run"),
        (lambda result: result["stamp"].update(uncommitted_changes=True), "uncommitted changes"),
        (lambda result: result["stamp"].update(commit="0" * 40), "no commit 000000000000"),
        (lambda result: result.pop("stamp"), "has no stamp"),
    ],
)
def test_a_stamp_that_does_not_fit_is_refused(
    change: Any, told: str, written: dict[str, Any]
) -> None:
    change(written)
    [problem] = stamp.problems("example_part", written)
    assert told in problem


def test_a_stamp_of_another_result_is_refused(written: dict[str, Any]) -> None:
    [problem] = stamp.problems("example_other", written)
    assert "benchmarks.example --only part does not write it" in problem


def test_uncommitted_changes_of_sources_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = CompletedProcess((), 0, " M core/base/parallel.cpp\n", "")
    monkeypatch.setattr(stamp, "_git", lambda *_: changed)
    assert stamp.stamp({})["uncommitted_changes"]


def test_results_from_before_stamps_cannot_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "unstamped.txt"
    listed.write_text(f"# a comment\n{'0' * 64}  old.json\n")
    (tmp_path / "old.json").write_text("{}\n")
    monkeypatch.setattr(stamp, "UNSTAMPED", listed)
    monkeypatch.setattr(stamp, "RESULTS", tmp_path)
    [problem] = stamp.problems("old", {})
    assert "has no stamp, and was changed" in problem


def test_a_squashed_commit_counts_only_if_it_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: dict[str, Any]
) -> None:
    gone = "0" * 40
    asked: list[str] = []

    def has_script(commit: str, script: str) -> bool:
        asked.append(commit)
        return commit == "HEAD"

    written["stamp"]["commit"] = gone
    monkeypatch.setattr(stamp, "has_script", has_script)
    monkeypatch.setattr(stamp, "SQUASHED", tmp_path / "squashed.txt")
    stamp.SQUASHED.write_text(f"# a comment\n{gone}\n")
    assert stamp.problems("example_part", written) == []
    stamp.SQUASHED.write_text("# nothing\n")
    [problem] = stamp.problems("example_part", written)
    assert "no commit" in problem
    assert asked == ["HEAD", gone]


# ---------------------------------------------------------------- the page


def test_the_page_is_made_from_the_results() -> None:
    assert page.PAGE.read_text() == page.page(RESULTS, {}), "run python -m benchmarks.page"


def test_the_page_of_the_papers_is_made_from_the_results() -> None:
    assert papers.PAGE.read_text() == papers.page(RESULTS), "run python -m benchmarks.page"


def test_every_paper_says_how_far_apart_ours_is() -> None:
    for item in papers.ITEMS:
        apart = item.apart(RESULTS[item.result]["figures"])
        assert re.search(r"\d|not comparable: \w", apart), item.name


def test_seconds_of_other_programs_are_marked_as_reported() -> None:
    for name, notes in peers.NOTES.items():
        result = RESULTS["kernel_matrix"] | {"notes": []}
        text = page.section(name, result, [])
        for note in notes:
            assert note in text
            programs = {"recurring": ("disco-dop 0.5.2", "not measured here")}
            default = ("SVM-Light-TK 1.5", "-O3", " 2026-11-")
            assert all(word in note for word in ("reported", *programs.get(name, default)))


def test_what_the_papers_draw_is_where_the_page_says() -> None:
    for drawing in papers.DRAWINGS:
        for place in drawing.where.split(", "):
            assert (stamp.ROOT / place).is_file(), place


def test_the_table_of_the_readme_is_made_from_the_results() -> None:
    text = (stamp.ROOT / "README.md").read_text()
    assert page.filled_readme(text, RESULTS) == text, "run python -m benchmarks.page"
    assert page.readme_table(RESULTS) in text


def test_the_first_page_of_the_site_has_the_table_of_accuracy() -> None:
    text = (stamp.ROOT / "docs" / "index.md").read_text()
    assert page.filled_accuracy(text, RESULTS) == text, "run python -m benchmarks.page"
    assert page.quality_table(RESULTS) in text


def test_the_page_has_no_dead_links() -> None:
    text = page.PAGE.read_text()
    links = re.findall(r"\]\(([^)]*)\)", text)
    headings = {f"#{heading}" for heading in re.findall(r"^## (.*)$", text, flags=re.MULTILINE)}
    assert links
    assert {*links} <= headings


def test_single_runs_are_marked() -> None:
    rows: list[dict[str, object]] = [{"cpu_seconds": 1.5, "runs": 1}, {"runs": 3}]
    assert page.table(rows).splitlines()[2:] == ["| 1.5 | single run |", "|  | 3 |"]
    result = RESULTS["golden"] | {"figures": [{"cpu_seconds": 1.5}]}
    assert "The number of runs was not recorded." in page.section("golden", result, [])


def test_every_goal_is_one_of_a_result_and_was_measured() -> None:
    for name in goals.GOALS:
        if name in RESULTS:
            for verdict in goals.verdicts(name, RESULTS[name]["figures"]):
                assert ": met (" in verdict or ": **missed**" in verdict, (name, verdict)


@pytest.mark.parametrize(
    ("values", "at_least", "told"),
    [
        ([("a", 1.0), ("b", 2.0)], False, "text: met (b: 2)"),
        ([("a", 1.0), ("b", 2.5), ("c", 3.0)], False, "text: **missed** in 2 of 3 (c: 3, b: 2.5)"),
        ([("", 2.5)], False, "text: **missed** (2.5)"),
        ([("a", 2.0), ("b", 4.0)], True, "text: met (a: 2)"),
        ([("a", 1.5), ("b", 4.0)], True, "text: **missed** in 1 of 2 (a: 1.5)"),
        ([("same", 1.0), ("same", 3.0)], False, "text: **missed** in 1 of 2 (same: 3)"),
        ([], False, "text: not measured"),
    ],
)
def test_verdicts_follow_from_the_figures(values: Any, at_least: bool, told: str) -> None:
    goal = goals.Goal("text", 2.0, lambda rows: values, at_least)
    assert goal.verdict([]) == told


def test_the_growth_of_a_column() -> None:
    rows = [{"n_trees": n, "steps": 3 * n**1.5} for n in (10, 100, 1000)]
    [(_, exponent)] = goals.exponents("steps")(rows)
    assert exponent == pytest.approx(1.5)


def test_ratios_over_few_iterations_are_not_shown() -> None:
    rows: list[dict[str, object]] = [
        {"timed iterations": n, "t/t_S": 7.0, "t (s)": 4.0} for n in (2, 200)
    ]
    assert page._without_short_runs(rows) == [rows[0] | {"t/t_S": ""}, rows[1]]


@pytest.mark.product
def test_every_plot_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    plots = page.drawn_plots(RESULTS, tmp_path)
    assert sum(map(len, plots.values())) >= 19
    for name, files in plots.items():
        text = page.section(name, RESULTS[name], files)
        assert all(f"]({file})" in text and (tmp_path / file).is_file() for file in files)


# ---------------------------------------------------------------- the scripts


@pytest.mark.parametrize("module", MODULES)
def test_every_script_can_be_imported(module: str) -> None:
    """What they measure has the names that they use."""
    import_module(module)


# ---------------------------------------------------------------- memory


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux has /proc")
def test_the_peak_of_memory_is_that_of_the_process_alone() -> None:
    """A program that a large process starts does not have that process's memory."""
    large = bytearray(b"x") * (600 << 20)
    code = "from benchmarks.measure import peak_mib; print(peak_mib())"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=stamp.ROOT, capture_output=True, text=True, check=True)
    assert 0 < int(run.stdout) < len(large) >> 20


def test_the_peak_of_memory_of_a_program_is_its_own(tmp_path: Path) -> None:
    """Neither that of the process that starts it, nor of that only."""
    large = bytearray(b"x") * (600 << 20)
    for code, least, most in (("pass", 1, 300), ("x = bytearray(b'x') * (400 << 20)", 400, 700)):
        command = measure.program_alone([sys.executable, "-c", code], tmp_path / "used.json")
        subprocess.run(command, check=True)
        found = measure.used(tmp_path / "used.json")
        assert least < found["peak_mib"] < most
        assert found["cpu_seconds"] > 0
    del large
    command = measure.program_alone(
        [sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "used.json"
    )
    assert subprocess.run(command, check=False).returncode == 3
