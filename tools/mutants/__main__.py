"""Make bugs on purpose, one at a time, and count how many of them the tests catch.

``python -m tools.mutants`` makes all of them, ``--only core`` or ``--only python`` some,
``--limit N`` the first N of each kind. A bug is caught if a test fails, crashes or never ends. The
result goes to ``tools/mutants/results.json``, with a list of the bugs that no test caught. Each row
names the commit of the tests that were run, because rows of several runs may be joined.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.stamp import stamp
from tools.mutants.core import VARIABLE, build
from tools.mutants.core_list import CORE_MUTANTS
from tools.mutants.python import listed_mutants, python_mutants
from tools.mutants.run import Copy, Outcome, preload
from tools.mutants.tests_of import ROOT, tests_of_core, tests_of_python

RESULTS = Path(__file__).parent / "results.json"
_DRAWN = 80  # mutants of Python modules
_AT_ONCE = 20  # tests that run without a bug
_WORK = ROOT / "build/mutants"

Row = dict[str, Any]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--only", choices=["python", "core"], help="one kind of mutants")
    parser.add_argument("--limit", type=int, help="the first so many mutants of each kind")
    parser.add_argument("--numbers", help="these mutants of a kind, separated by commas")
    parser.add_argument("--part", default="1/1", help="K/N: every Nth mutant from the Kth on")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--join", type=Path, nargs="+", help="what several runs printed, as files")
    options = parser.parse_args()
    for name in ("FILBERT_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    preload()
    if options.join:
        rows = joined(options.join)
    else:
        choice = Choice.of(options)
        rows = [] if options.only == "python" else core_rows(choice)
        rows += [] if options.only == "core" else python_rows(choice)
    check_without_bugs(rows)
    write(rows, options.output)


@dataclass(frozen=True)
class Choice:
    """Which mutants to run, by their numbers; and the name of a folder for it."""

    numbers: frozenset[int] | None
    limit: int | None
    part: int
    n_parts: int

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Choice":
        """Return what the command line asks for."""
        part, n_parts = map(int, options.part.split("/"))
        listed = frozenset(map(int, options.numbers.split(","))) if options.numbers else None
        return cls(listed, options.limit, part, n_parts)

    def has(self, number: int) -> bool:
        """Whether a mutant is to be run."""
        listed = self.numbers is None or number in self.numbers
        return (
            listed
            and number <= (self.limit or number)
            and number % self.n_parts == self.part % self.n_parts
        )

    @property
    def folder(self) -> str:
        """A name for the copy, one for each part that may run at the same time."""
        return f"{self.part}-of-{self.n_parts}"


def core_rows(choice: Choice) -> list[Row]:
    """Return the results of the mutants of the core."""
    copy = Copy(_WORK / f"core-{choice.folder}", build(ROOT, _WORK))
    rows = []
    for number, mutant in enumerate(CORE_MUTANTS, 1):
        if not choice.has(number):
            continue
        file = f"core/{mutant.file}"
        tests = tests_of_core(mutant.file)
        outcome = _outcome(copy, file, mutant.breaks, tests, **{VARIABLE: str(number)})
        rows.append(_row("core", number, file, mutant.breaks, outcome))
    return rows


def python_rows(choice: Choice) -> list[Row]:
    """Return the results of the mutants of Python modules."""
    copy = Copy(_WORK / f"python-{choice.folder}")
    package = ROOT / "src/filbert"
    mutants = listed_mutants(package) + python_mutants(package, _DRAWN)
    rows = []
    for number, mutant in enumerate(mutants, 1):
        if not choice.has(number):
            continue
        text = (package / mutant.file).read_text(encoding="utf-8")
        file = f"src/filbert/{mutant.file}"
        what = f"line {mutant.line}: {mutant.original} becomes {mutant.changed}"
        with copy.changed(mutant.file, mutant.apply(text)):
            outcome = _outcome(copy, file, what, tests_of_python(mutant.file))
        rows.append(_row("python", number, file, what, outcome))
    return rows


def joined(files: list[Path]) -> list[Row]:
    """Return the rows that several runs printed. Of a mutant that was run twice, the last one."""
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    last = {(row["kind"], row["file"], row["what"]): row for row in rows}
    return sorted(last.values(), key=lambda row: (row["kind"], row["number"]))


def _outcome(copy: Copy, file: str, what: str, tests: list[str], **variables: str) -> Outcome:
    """Run the test that caught the bug last time, then all tests of the file."""
    last = _last_caught_by().get((file, _without_line(what)))
    if last is None:
        return copy.run(tests, **variables)
    first = copy.run([last], **variables)
    if first.ended != "passed":
        return first
    then = copy.run(tests, **variables)
    return Outcome(then.ended, then.by, first.cpu_seconds + then.cpu_seconds)


@cache
def _last_caught_by() -> dict[tuple[str, str], str]:
    """Return the tests on record that caught bugs, with all their parameters, if still there."""
    found = {}
    for row in json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]:
        test = row["by"].partition("[")[0]
        path, _, name = test.partition("::")
        name = name.rpartition("::")[2]
        if (ROOT / path).is_file() and name and f"def {name}(" in (ROOT / path).read_text():
            found[row["file"], _without_line(row["what"])] = test
    return found


def _without_line(what: str) -> str:
    return re.sub(r"^line \d+: ", "", " ".join(what.split()))


def _row(kind: str, number: int, file: str, what: str, outcome: Outcome) -> Row:
    row = {
        "kind": kind, "number": number, "file": file, "what": " ".join(what.split()),
        "ended": outcome.ended, "by": outcome.by, "cpu_seconds": round(outcome.cpu_seconds, 1),
        "commit": _commit(),
    }  # fmt: skip
    print(json.dumps(row, ensure_ascii=False), flush=True)
    return row


@cache
def _commit() -> str:
    """Return the commit of sources and tests, with a mark if they had uncommitted changes."""
    status = ["status", "--porcelain", "--", "src", "core", "bindings", "tests", "tools"]
    return _git("rev-parse", "HEAD") + ("+" if _git(*status) else "")


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def check_without_bugs(rows: list[Row]) -> None:
    """Check that the tests that caught something pass without a bug, whatever the load."""
    caught = sorted({row["by"] for row in rows if row["by"]})
    copy = Copy(_WORK / "without")
    for i in range(0, len(caught), _AT_ONCE):
        outcome = copy.run(caught[i : i + _AT_ONCE])
        if outcome.ended != "passed":
            sys.exit(f"{outcome.by} {outcome.ended} without any mutant: mend it first")


def write(rows: list[Row], path: Path) -> None:
    """Store the score, the bugs that no test caught, and all rows, with a stamp."""
    ended = Counter(row["ended"] for row in rows)
    n_caught = len(rows) - ended["passed"]
    result: Row = {
        "n_planned": len(CORE_MUTANTS) + len(listed_mutants(ROOT / "src/filbert")) + _DRAWN,
        "n_mutants": len(rows),
        "n_caught": n_caught,
        "score": round(n_caught / max(1, len(rows)), 4),
        "ended": dict(sorted(ended.items())),
        "commits": dict(Counter(row["commit"] for row in rows)),
        "survivors": [row for row in rows if row["ended"] == "passed"],
        "date": datetime.now(UTC).date().isoformat(),
        "rows": rows,
    }
    result["stamp"] = {**stamp(result), "script": "tools.mutants"}
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{n_caught} of {len(rows)} mutants caught, {result['score']:.1%}", file=sys.stderr)


if __name__ == "__main__":
    main()
