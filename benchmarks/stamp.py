"""Where a result comes from: the script, its options, the commit, and a hash of what it wrote.

A result without a stamp, or whose stamp does not fit, is refused by tests/unit/test_benchmarks.py.
Results that were measured before stamps existed are listed in unstamped.txt with their hashes.
Commits that left the history when their branch was squashed are listed in squashed.txt.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
UNSTAMPED = ROOT / "benchmarks" / "unstamped.txt"
SQUASHED = ROOT / "benchmarks" / "squashed.txt"
# What a figure may depend on. Results and the page made of them do not count.
SOURCES = ("src", "core", "bindings", "CMakeLists.txt", "pyproject.toml", "benchmarks")
NOT_SOURCES = (":!benchmarks/results", ":!benchmarks/*.md", ":!benchmarks/*.txt")

Result = dict[str, Any]


def stamp(result: Result) -> Result:
    """Return the stamp of a result of the running script."""
    changes = _git("status", "--porcelain", "--", *SOURCES, *NOT_SOURCES)
    return {
        "script": Path(sys.argv[0]).stem,
        "options": sys.argv[1:],
        "commit": _git("rev-parse", "HEAD").stdout.strip() or "unknown",
        "uncommitted_changes": bool(changes.stdout),
        "sha256": contents_hash(result),
    }


def contents_hash(result: Result) -> str:
    """Hash everything but the stamp: claim, rows, notes, machine and date."""
    contents = {key: value for key, value in result.items() if key != "stamp"}
    text = json.dumps(contents, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def problems(name: str, result: Result) -> list[str]:
    """Say why a result is refused; nothing where its stamp fits, or where it is on the list."""
    if "stamp" not in result:
        return _problems_unstamped(name)
    stamped = result["stamp"]
    script, options, commit = stamped["script"], stamped["options"], stamped["commit"]
    section = name.removeprefix(script).removeprefix("_")
    found = []
    if stamped["sha256"] != contents_hash(result):
        found.append("it was changed after it was written: run the script again")
    if not name.startswith(script) or (section and "--only" in options and section not in options):
        found.append(f"benchmarks.{script} {' '.join(options)} does not write it")
    if "--quick" in options:
        found.append("it is of a quick run, which measures a small part only")
    if stamped["uncommitted_changes"]:
        found.append("the sources had uncommitted changes: commit them and run the script again")
    landed = "HEAD" if commit in squashed() else commit
    if (ROOT / ".git").exists() and not has_script(landed, script):
        found.append(f"no commit {commit[:12]} with benchmarks/{script}.py is in the history")
    return found


def _problems_unstamped(name: str) -> list[str]:
    listed = unstamped().get(name)
    if listed is None:
        return ["it has no stamp: it was not written by benchmarks.measure.write"]
    written = hashlib.sha256((RESULTS / f"{name}.json").read_bytes()).hexdigest()
    return [] if listed == written else ["it has no stamp, and was changed: run the script again"]


def unstamped() -> dict[str, str]:
    """Results from before stamps existed, and the SHA-256 of their files."""
    pairs = (line.split() for line in _lines(UNSTAMPED))
    return {Path(file).stem: digest for digest, file in pairs}


def squashed() -> set[str]:
    """Commits whose changes are in the history, as a part of a later commit."""
    return {*_lines(SQUASHED)}


def _lines(path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def has_script(commit: str, script: str) -> bool:
    """Whether a commit of this history has a benchmark."""
    checks = (
        ("merge-base", "--is-ancestor", commit, "HEAD"),
        ("cat-file", "-e", f"{commit}:benchmarks/{script}.py"),
    )
    return all(_git(*check).returncode == 0 for check in checks)


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
