"""The bugs of tools/mutants can be made in the present sources, and their record fits itself."""

import json

import pytest

from benchmarks.stamp import contents_hash
from tools.mutants import tests_of
from tools.mutants.__main__ import RESULTS
from tools.mutants.core import with_mutants
from tools.mutants.core_list import CORE_MUTANTS
from tools.mutants.python import listed_mutants

ROOT = tests_of.ROOT


def test_no_two_bugs_have_the_same_name() -> None:
    names = [(mutant.file, mutant.breaks) for mutant in CORE_MUTANTS]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_bugs_of_the_core_have_their_places() -> None:
    for file in {mutant.file for mutant in CORE_MUTANTS}:
        own = {n: mutant for n, mutant in enumerate(CORE_MUTANTS, 1) if mutant.file == file}
        text = with_mutants((ROOT / "core" / file).read_text(encoding="utf-8"), own)
        assert all(f"::filbert::is_mutant({n})" in text for n in own)


def test_listed_bugs_of_modules_have_their_places() -> None:
    package = ROOT / "src/filbert"
    for mutant in listed_mutants(package):
        text = (package / mutant.file).read_text(encoding="utf-8")
        assert mutant.apply(text) != text


def test_every_bug_has_tests() -> None:
    modules = [str(path.relative_to(ROOT / "src/filbert")) for path in ROOT.rglob("src/**/*.py")]
    assert modules
    tests = [tests_of.tests_of_core(mutant.file) for mutant in CORE_MUTANTS]
    tests += [tests_of.tests_of_python(file) for file in modules if not file.startswith("testing/")]
    assert {path for own in tests for path in own if not (ROOT / path).is_file()} == set()


def test_the_page_tells_what_is_on_record() -> None:
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    page = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
    score = 100 * record["n_caught"] / record["n_mutants"]
    told = f"{record['n_mutants']} bugs of the list were made, and {record['n_caught']} of them are"
    assert told in " ".join(page.split())
    assert f"{score:.1f} %" in page
    listed = page.partition("| not caught | why |")[2].partition("\n\n")[0]
    files = [line.split("`")[1] for line in listed.splitlines() if "`" in line]
    assert sorted(files) == sorted(row["file"] for row in record["survivors"])


@pytest.mark.parametrize("name", ["results", "first", "escaped"])
def test_a_record_fits_its_rows(name: str) -> None:
    record = json.loads((RESULTS.parent / f"{name}.json").read_text(encoding="utf-8"))
    rows = record["rows"]
    assert record["stamp"]["sha256"] == contents_hash(record)
    assert record["n_mutants"] == len(rows)
    assert record["survivors"] == [row for row in rows if row["ended"] == "passed"]
    assert record["n_caught"] == len(rows) - len(record["survivors"])
    assert record["score"] == round(record["n_caught"] / len(rows), 4)
