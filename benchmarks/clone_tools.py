"""Clone classes of the standard library, SciPy and scikit-learn, beside pyscn and jscpd.

Each program is run as its users run it, on the same copies of all Python files but tests:

- `filbert clones`, functions of 30 nodes or more, names not compared, similarity 0.8
- `pyscn analyze --select clones`, with its defaults: similarity 0.65, eight lines or more. Only its
  time limit of 300 s is raised: it reports what it has found by then, which depends on the machine
- `jscpd --similarity=0.8`: functions with similar syntax trees, and pieces with equal tokens

Install the tools with `pip install pyscn jscpd`, best in an environment of their own, and name its
programs in FILBERT_PYSCN and FILBERT_JSCPD unless they are on the PATH.

A group of a tool becomes the functions whose lines are about those of its members: they have half
of the lines of both together in common. Another tool has found a group if it has two of its
functions in one group. Twenty groups that only one tool found, drawn by chance, are written for
judging by hand.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import scipy
import sklearn
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from benchmarks.measure import program_alone, used, write
from filbert import read_trees

SIMILARITY = "0.8"
MIN_SIZE = "30"
LONGEST = 3600.0  # seconds
LEFT_OUT = {"site-packages", "test", "tests", "__pycache__", "lib2to3", "idlelib"}
OF_EACH_KIND = 5  # differences

Place = tuple[str, int, int]  # file, first and last line
Group = frozenset[int]  # numbers of functions


def copied(folder: Path) -> int:
    """Copy all files, so that no tool finds other settings beside them, and count them."""
    roots = {
        "stdlib": Path(sysconfig.get_paths()["stdlib"]),
        "scipy": Path(scipy.__file__).parent,
        "sklearn": Path(sklearn.__file__).parent,
    }
    n = 0
    for name, root in roots.items():
        for path, folders, files in os.walk(root):
            folders[:] = sorted(set(folders) - LEFT_OUT)
            for file in sorted(files):
                if file.endswith(".py"):
                    target = folder / name / Path(path).relative_to(root) / file
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(Path(path) / file, target)
                    n += 1
    return n


def timed_run(command: list[str], folder: Path) -> dict[str, Any]:
    """Run a program, and return its seconds and its own peak of memory."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "used.json"
        process = subprocess.Popen(
            program_alone(command, report),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # so that all of it can be ended
        )
        limit = threading.Timer(LONGEST, os.killpg, (process.pid, signal.SIGKILL))
        limit.start()
        process.wait()
        wall = round(time.perf_counter() - start, 2)
        limit.cancel()
        taken = used(report)
    return {
        "cpu_seconds": taken["cpu_seconds"],
        "wall_seconds": wall,
        "peak_mib": int(taken["peak_mib"]),
    }


# ---------------------------------------------------------------- what each tool reports


def of_filbert(folder: Path, out: Path) -> tuple[dict[str, Any], list[list[Place]]]:
    """The groups of `filbert clones`."""
    options = ["--format", "python", "--set", "labels=abstract", "--on-error", "skip"]
    limits = ["--min-similarity", SIMILARITY, "--min-size", MIN_SIZE]
    files = ["--json", "-o", str(out / "filbert.json")]
    command = [sys.executable, "-P", "-m", "filbert", "clones", ".", *options, *limits, *files]
    row = timed_run(command, folder)
    found = json.loads((out / "filbert.json").read_text())
    return row, [[_function(member) for member in one["members"]] for one in found]


def _function(member: dict[str, str]) -> Place:
    return _relative(member["file"]), int(member["line"]), int(member["end_line"])


def of_pyscn(folder: Path, out: Path) -> tuple[dict[str, Any], list[list[Place]]]:
    """The groups of pyscn."""
    settings = out / "pyscn.toml"
    settings.write_text(f"[clones]\ntimeout_seconds = {LONGEST:.0f}\n")
    options = ["--json", "--select", "clones", "-c", str(settings)]
    command = [_tool("pyscn"), "analyze", *options, "-o", str(out / "pyscn.json"), "."]
    row = timed_run(command, folder)
    found = json.loads((out / "pyscn.json").read_text())["clone"]["clone_groups"] or []
    return row, [[_of_pyscn(clone["location"]) for clone in one["clones"]] for one in found]


def _of_pyscn(at: dict[str, Any]) -> Place:
    return _relative(at["file_path"]), at["start_line"], at["end_line"]


def of_jscpd(folder: Path, out: Path) -> tuple[dict[str, Any], list[list[Place]]]:
    """The groups of jscpd, which are pairs."""
    options = ["-f", "python", f"--similarity={SIMILARITY}", "-r", "json", "--no-tips"]
    row = timed_run([_tool("jscpd"), *options, "-o", str(out), "."], folder)
    found = json.loads((out / "jscpd-report.json").read_text())["duplicates"]
    return row, [[_of_jscpd(one[which]) for which in ("firstFile", "secondFile")] for one in found]


def _of_jscpd(at: dict[str, Any]) -> Place:
    return _relative(at["name"]), at["start"], at["end"]


def _relative(file: str) -> str:
    return file.removeprefix("./")


def _tool(name: str) -> str:
    found = os.environ.get(f"FILBERT_{name.upper()}") or shutil.which(name)
    if not found:
        raise SystemExit(f"no {name}: pip install {name}, and name it in FILBERT_{name.upper()}")
    return found


def _version(name: str) -> str:
    done = subprocess.run([_tool(name), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


TOOLS = {"filbert": of_filbert, "pyscn": of_pyscn, "jscpd": of_jscpd}


# ---------------------------------------------------------------- comparing


class Functions:
    """All functions by file and lines."""

    def __init__(self, folder: Path) -> None:
        X = read_trees(str(folder), format="python", unit="function", on_error="skip")
        files = [os.path.relpath(file, folder) for file in X.columns["file"]]
        spans = ([int(line) for line in X.columns[name]] for name in ("line", "end_line"))
        self.places: list[Place] = list(zip(files, *spans, strict=True))
        self.names = X.columns["name"].tolist()
        self.of_file = defaultdict(list)
        for number, (file, _, _) in enumerate(self.places):
            self.of_file[file].append(number)

    def at(self, place: Place) -> int | None:
        """Return the function that has most lines in common with a place, if at least half."""
        file, first, last = place
        best, most = None, 0.5
        for number in self.of_file[file]:
            _, begin, end = self.places[number]
            both = min(last, end) - max(first, begin) + 1
            share = both / (max(last, end) - min(first, begin) + 1)
            if share > most:
                best, most = number, share
        return best

    def groups(self, places: Iterable[list[Place]]) -> list[Group]:
        """Return the groups of at least two functions. Groups that share a function are one."""
        found = [{self.at(place) for place in one} - {None} for one in places]
        pairs = [(min(one), other) for one in found if len(one) > 1 for other in one]
        if not pairs:
            return []
        i, j = zip(*pairs, strict=True)
        n = len(self.places)
        labels = connected_components(coo_array(([1] * len(i), (i, j)), shape=(n, n)))[1]
        joined = defaultdict(set)
        for number in {*i, *j}:
            joined[labels[number]].add(number)
        groups = (frozenset(one) for one in joined.values() if len(one) > 1)
        return sorted(groups, key=min)


def has_found(groups: list[Group], one: Group) -> bool:
    """Whether two functions of a group are in one of some groups."""
    return any(len(other & one) > 1 for other in groups)


def differences(groups: dict[str, list[Group]], functions: Functions) -> list[dict[str, Any]]:
    """Draw groups that only one of Filbert and another tool found."""
    rng = random.Random(0)
    rows = []
    for other in ("pyscn", "jscpd"):
        for by, missed in (("filbert", other), (other, "filbert")):
            only = [one for one in groups[by] if not has_found(groups[missed], one)]
            for one in rng.sample(only, min(OF_EACH_KIND, len(only))):
                two = sorted(one)[:2]
                shown = [(*functions.places[i], functions.names[i]) for i in two]
                rows.append(
                    {"found_by": by, "not_by": missed, "functions": len(one)}
                    | {
                        name: f"{file}:{first}-{last} {function}"
                        for name, (file, first, last, function) in zip(
                            ("first", "second"), shown, strict=True
                        )
                    }
                )
    return rows


def main() -> None:
    versions = {"filbert": "", **{name: _version(name) for name in ("pyscn", "jscpd")}}
    with tempfile.TemporaryDirectory() as made:
        folder, out = Path(made) / "files", Path(made) / "out"
        out.mkdir()
        n_files = copied(folder)
        functions = Functions(folder)
        rows, reported = {}, {}
        for name, run in TOOLS.items():
            rows[name], reported[name] = run(folder, out)
            print(name, rows[name], file=sys.stderr, flush=True)
        groups = {name: functions.groups(places) for name, places in reported.items()}
    figures = []
    for name, row in rows.items():
        found = {
            f"also_{other}": sum(has_found(groups[other], one) for one in groups[name])
            for other in TOOLS
            if other != name
        }
        alone = [
            one
            for one in groups[name]
            if not any(has_found(groups[other], one) for other in TOOLS if other != name)
        ]
        figures.append(
            {
                "tool": f"{name} {versions[name]}".strip(),
                **row,
                "reported": len(reported[name]),
                "groups": len(groups[name]),
                "functions": sum(map(len, groups[name])),
                **found,
                "alone": len(alone),
            }
        )
    about = (
        f"{n_files:,} files, {len(functions.places):,} functions. Groups are of functions; what a "
        "tool reported about other pieces of code is left out of them."
    )
    claim = "clone classes of the standard library, SciPy and scikit-learn in seconds"
    write("clone_tools", claim, figures, notes=[about])
    write(
        "clone_tools_differences",
        "groups that only one of two tools found, drawn by chance",
        differences(groups, functions),
        command="clone_tools",
        notes=["Judged by hand in docs/clones.md."],
    )


if __name__ == "__main__":
    main()
