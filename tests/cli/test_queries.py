"""Queries of ``filbert search`` and ``similar``: files, numbers, trees and pieces of code."""

from pathlib import Path

import pytest

from tests.cli.commands import Run

CODE = """\
def add(a, b):
    return a + b


def total(rows):
    found = 0
    for row in rows:
        found += row.n * 2
    return found
"""
JAVA = "class A { int add(int a, int b) { return a + b; } void show(int x) { print(x); } }\n"


@pytest.fixture
def index(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "sums.py").write_text(CODE)
    run("index", tmp_path / "sums.py", "-o", tmp_path / "sums.index")
    return tmp_path / "sums.index"


def nearest(out: str) -> tuple[str, str]:
    """Return the similarity and the number of the first result."""
    similarity, number, *_ = out.splitlines()[0].split("\t")
    return similarity, number


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("return a + b", "1"),
        ("a + b", "1"),
        ("found += row.n * 2", "2"),
        ("found = 0\nfor row in rows: found += row.n * 2", "2"),
        ("for row in rows:\n    found += row.n * 2", "2"),
        ("def add(a, b): return a + b", "1"),
    ],
)
def test_pieces_of_code_are_queries(run: Run, index: Path, query: str, number: str) -> None:
    found = run("search", index, query, "-k", "1")
    assert (found.code, found.err) == (0, "")
    assert nearest(found.out)[1] == number
    assert nearest(found.out)[0] > "0.1"
    source = index.parent / "sums.py"
    same = run("similar", query, source, "--top", "1", "--set", "unit=function")
    assert same.out == found.out


def test_pieces_of_java_are_queries(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("tree_sitter_java")
    (tmp_path / "A.java").write_text(JAVA)
    run("index", tmp_path / "A.java", "-o", tmp_path / "a.index")
    assert nearest(run("search", tmp_path / "a.index", "return a + b;", "-k", "1").out)[1] == "1"
    assert nearest(run("search", tmp_path / "a.index", "print(x);", "-k", "1").out)[1] == "2"
    bad = run("search", tmp_path / "a.index", "return a + b")
    assert bad.code == 2
    assert "QUERY is not java" in bad.err
    assert "semicolons" in bad.err


def test_several_functions_are_several_queries(run: Run, index: Path) -> None:
    out = run("search", index, CODE, "-k", "1").out.splitlines()
    assert [line.split("\t")[0] for line in out] == ["query 1:", "1.0000", "query 2:", "1.0000"]


@pytest.mark.parametrize("query", ["nosuch.py", "src/nosuch.py", "nosuch", "../a-b.pyy"])
def test_a_mistyped_file_is_no_code(run: Run, index: Path, query: str) -> None:
    found = run("search", index, query)
    assert found.code == 2
    assert f"there is no file '{query}'" in found.err


def test_a_mistyped_file_of_trees_is_no_tree(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.mrg").write_text("(S (A a))\n(S (B b))\n")
    run("index", tmp_path / "t.mrg", "-o", tmp_path / "t.index", "--bare-words")
    found = run("search", tmp_path / "t.index", "nosuch.mrg")
    assert found.code == 2
    assert "there is no file 'nosuch.mrg'" in found.err
    assert run("search", tmp_path / "t.index", "(S (A a))").code == 0


@pytest.mark.parametrize("query", ["", "  ", "# nothing", "def add(a, b: return"])
def test_what_is_no_code_is_said(run: Run, index: Path, query: str) -> None:
    found = run("search", index, query)
    assert found.code == 2
    assert "QUERY" in found.err


@pytest.mark.parametrize(
    ("limit", "message"), [("nan", "a number"), ("80", "0.8 for 80 %"), ("inf", "a number")]
)
def test_limits_that_find_nothing_are_refused(
    run: Run, index: Path, limit: str, message: str
) -> None:
    found = run("search", index, "1", "--min-similarity", limit)
    assert (found.code, found.out) == (2, "")
    assert message in found.err


def test_recurring_fragments_have_the_limits_of_the_library(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.mrg").write_text("(S (A a))\n(S (A a) (B b))\n(S (A a) (B c))\n")
    rows = run("recurring", tmp_path / "t.mrg", "--no-names").out.splitlines()
    few = run("recurring", tmp_path / "t.mrg", "--no-names", "--max-count", "2").out.splitlines()
    assert few == [row for row in rows if int(row.split("\t")[0]) <= 2]
    assert 0 < len(few) < len(rows)
    stopped = run("recurring", tmp_path / "t.mrg", "--max-fragments", "1")
    assert stopped.code == 2
    assert "raise --min-count or --max-fragments, or lower --max-size" in stopped.err


def test_fragments_of_data_are_those_of_another_command(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.mrg").write_text("(S (A a))\n")
    found = run("fragments", tmp_path / "t.mrg")
    assert found.code == 2
    assert "use filbert recurring" in found.err


def test_differences_of_clones_in_the_terminal_and_on_a_page(run: Run, tmp_path: Path) -> None:
    body = "def {}(x, y):\n    z = x + y * {}\n    return [z, x, {}]\n"
    (tmp_path / "a.py").write_text(body.format("f", 1, "x") + body.format("g", 1, "y"))
    options = ["--min-similarity", ".1", "--min-size", "5"]
    drawn = run("clones", tmp_path / "a.py", *options, "--differences", "1", "--width", "60")
    assert drawn.code == 0
    assert "└ Name ─ x |       └ Name ─ y" in drawn.out
    assert "share 2" in drawn.out
    assert max(map(len, drawn.out.splitlines()[3:])) <= 60
    page = tmp_path / "clones.html"
    assert run("clones", tmp_path / "a.py", *options, "-o", page).code == 0
    assert '<bdi class="differs">g</bdi>' in page.read_text()
    for wrong in (["--json"], ["--inner"]):
        refused = run("clones", tmp_path / "a.py", "-o", page, *wrong)
        assert refused.code == 2
        assert wrong[0] in refused.err


def test_searching_shows_progress_in_terminals(
    run: Run, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("filbert.cli.console.shows_progress", lambda verbose: True)
    source = index.parent / "sums.py"
    for command, title in (
        (["search", index, "1"], "searching"),
        (["similar", source, "--set", "unit=function"], "comparing"),
        (["clones", source, "--min-size", "2"], "comparing"),
        (["recurring", source], "searching"),
    ):
        assert title in run(*command).err


def test_searching_shows_no_progress_elsewhere(run: Run, index: Path) -> None:
    source = index.parent / "sums.py"
    for command in (["search", index, "1"], ["recurring", source]):
        found = run(*command)
        assert found.code == 0
        assert "searching" not in found.err
