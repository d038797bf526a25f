"""Goal: no work takes more than 1.05 times as long as with an earlier version of Filbert.

``python -m benchmarks.two_versions COMMIT`` builds that commit in an environment of its own. Then
both versions do the same works on one thread, in alternation, each in a process of its own. The
works use only names that both versions have. A result of other quality would not be comparable: so
each work also says how good it was.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.datasets import LABELLED, first_lines, write_boundary
from benchmarks.measure import ROOT, Clock, shared_data, write
from filbert import DistributedTreeEmbedding, TreePerceptron, TreeSVC, read_examples
from filbert.fragments import mine
from filbert.kernels import PartialTree, SubsetTree

RUNS = 3
Done = tuple[float, dict[str, float]]  # CPU seconds, and how good the result is


def matrix(kernel: Any, path: str) -> Done:
    X, _ = read_examples(path, n_jobs=1)
    clock = Clock()
    K = kernel(X, n_jobs=1)
    return clock.lap()[0], {"mean of the matrix": round(float(K.mean()), 10)}


def training(kernel: Any, path: str, *, C: float = 1.0, **parameters: Any) -> Done:
    """From the file to the model, to a relative duality gap of 1e-3."""
    clock = Clock()
    X, y = read_examples(path, n_jobs=1)
    clf = TreeSVC(kernel, C=C, loss="hinge", tol=1e-3, random_state=0, n_jobs=1, **parameters)
    clf.fit(X, y)
    seconds = clock.lap()[0]
    return seconds, {"accuracy on the training set": round(clf.score(X, y), 3)}


def perceptron(path: str, engine: Any) -> Done:
    X, y = read_examples(path, n_jobs=1)
    clock = Clock()
    clf = TreePerceptron(SubsetTree(0.4), engine=engine, shuffle=False, random_state=0, n_jobs=1)
    clf.fit(X, y)
    seconds = clock.lap()[0]
    return seconds, {"accuracy on the training set": round(clf.score(X, y), 6)}


def embedding(path: str, composition: Any) -> Done:
    X, _ = read_examples(path, n_jobs=1)
    embed = DistributedTreeEmbedding(4096, composition=composition, random_state=0, n_jobs=1)
    embed.fit(X)
    clock = Clock()
    vectors = embed.transform(X)
    return clock.lap()[0], {"largest value": round(float(abs(vectors).max()), 5)}


def mining(path: str) -> Done:
    X, y = read_examples(path, n_jobs=1)
    clf = TreeSVC(SubsetTree(0.4), C=1.0, loss="hinge", random_state=0, n_jobs=1).fit(X, y)
    clock = Clock()
    found = mine(clf, n_jobs=1)
    return clock.lap()[0], {"fragments": len(found.fragments)}


QUESTIONS, SHORT, LONG, VERB = "qc grct", 20_000, 100_000, None
# By name: the data, a number of predicate-argument trees or questions, and what is done with them.
WORKS: dict[str, tuple[Any, Callable[[str], Done]]] = {
    "kernel matrix, subset trees": (QUESTIONS, lambda path: matrix(SubsetTree(), path)),
    "kernel matrix, partial trees": (QUESTIONS, lambda path: matrix(PartialTree(), path)),
    "training, subset trees": (LONG, lambda path: training(SubsetTree(0.4), path)),
    "training, 1.1 million": (VERB, lambda path: training(SubsetTree(0.4), path)),
    "training, partial trees": (LONG, lambda path: training(PartialTree(), path)),
    "training, questions": (QUESTIONS, lambda path: training(PartialTree(), path, C=10.0)),
    "perceptron, online": (LONG, lambda path: perceptron(path, "online")),
    "perceptron, factors": (LONG, lambda path: perceptron(path, "factors")),
    "embedding, convolution": (QUESTIONS, lambda path: embedding(path, "convolution")),
    "embedding, product": (QUESTIONS, lambda path: embedding(path, "product")),
    "mining": (LONG, mining),
    "cutting planes, usvm": (
        SHORT,
        lambda path: training(SubsetTree(0.4), path, strategy="usvm", sample_size=100),
    ),
    "cutting planes, sdag+": (
        SHORT,
        lambda path: training(SubsetTree(0.4), path, strategy="sdag+", sample_size=500),
    ),
}


def environment(commit: str, folder: Path) -> Path:
    """Install a commit in a new environment, and return its interpreter."""
    source, python = folder / "source", folder / "environment" / "bin" / "python"
    for command in (
        ["git", "clone", "--quiet", ROOT, source],
        ["git", "-C", source, "checkout", "--quiet", commit],
        [sys.executable, "-m", "venv", folder / "environment"],
        [python, "-m", "pip", "install", "--quiet", source],
    ):
        subprocess.run(command, check=True)
    return python


def files(folder: Path) -> dict[Any, Path]:
    """Write the data of the works: a label, a tab and a tree in each line."""
    whole = write_boundary(shared_data(), "train", folder / "verbs.tsv")
    questions = folder / "questions.tsv"
    with questions.open("w", encoding="utf-8") as out:
        out.writelines(f"{label}\t{tree}\n" for label, tree in LABELLED[QUESTIONS](shared_data()))
    sizes = {n: first_lines(whole, n) for n in (SHORT, LONG)}
    return {QUESTIONS: questions, VERB: whole, **sizes}


def compared(work: str, path: Path, pythons: dict[str, Path]) -> dict[str, Any]:
    """Do one work with both versions, in alternation."""
    seconds: dict[str, list[float]] = {version: [] for version in pythons}
    quality: dict[str, dict[str, float]] = {}
    for _ in range(RUNS):
        for version, python in pythons.items():
            command = [python, "-m", "benchmarks.two_versions", "--one", work, path]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT)
            own, quality[version] = json.loads(done.stdout)
            seconds[version].append(own)
    before, now = (median(own) for own in seconds.values())
    row: dict[str, Any] = {"work": work, "cpu_before": before, "cpu_now": now}
    row["times"] = round(now / before, 3)
    for measure in quality["now"]:
        row["quality"] = measure
        row["quality_before"] = quality["before"][measure]
        row["quality_now"] = quality["now"][measure]
    return {**row, "runs": RUNS}


def main(commit: str, works: list[str]) -> None:
    figures = []
    with TemporaryDirectory() as made:
        folder = Path(made)
        pythons = {"before": environment(commit, folder), "now": Path(sys.executable)}
        data = files(folder)
        for work in works:
            figures.append(compared(work, data[WORKS[work][0]], pythons))
            print(figures[-1], file=sys.stderr, flush=True)
    claim = f"the main works with this version and with that of {commit}, one thread"
    write("two_versions", claim, figures, command=f"two_versions {commit}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commit", nargs="?", help="the earlier version")
    parser.add_argument("--only", nargs="+", choices=WORKS, default=list(WORKS))
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        name, file = arguments.one
        print(json.dumps(WORKS[name][1](file)))
    elif arguments.commit is None:
        parser.error("which commit?")
    else:
        main(arguments.commit, arguments.only)
