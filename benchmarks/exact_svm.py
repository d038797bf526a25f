"""Goal: the exact kernel SVM on a million trees, end to end, in seconds.

From a TSV file of predicate-argument trees (`srl-ewt`, rule VB) to predictions on the test set, by
`SubsetTree(0.4)` and a relative duality gap of 1e-3, for growing parts of the training set; each in
a process of its own. And question classification (`qc`, grct) with leaves.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.metrics import accuracy_score, f1_score

from benchmarks.measure import shared_data, write
from filbert import TreeSVC, read_examples
from filbert.datasets import srl_boundary
from filbert.kernels import SubsetTree
from filbert.model import factorize
from filbert.threads import n_threads

SIZES = [5_000, 20_000, 100_000, None]


def write_tsv(sentences: Path, path: Path, n: int | None = None) -> None:
    with path.open("w") as out:
        for i, (label, tree) in enumerate(srl_boundary(sentences)):
            if i == n:
                break
            out.write(f"{label}\t{tree}\n")


class Clock:
    """CPU and wall seconds since the last look."""

    def __init__(self) -> None:
        self.at = time.process_time(), time.perf_counter()

    def lap(self) -> tuple[float, float]:
        """Look at it."""
        before, self.at = self.at, (time.process_time(), time.perf_counter())
        return round(self.at[0] - before[0], 3), round(self.at[1] - before[1], 3)


def end_to_end(train: str, test: str, jobs: int) -> dict[str, Any]:
    """One run, in this process."""
    start = Clock()
    clock = Clock()
    X, y = read_examples(train)
    read = clock.lap()
    clf = TreeSVC(SubsetTree(0.4), tol=1e-3, random_state=0, n_jobs=jobs).fit(X, y)
    fit = clock.lap()
    X_test, y_test = read_examples(test)
    read_test = clock.lap()
    predicted = clf.predict(X_test)
    predict = clock.lap()
    cpu, wall = start.lap()
    factors = factorize(clf.kernel, X, n_jobs=jobs)
    factorising = clock.lap()
    weights = clf._alpha.T.copy()
    factors.scores(weights, n_threads(jobs))
    score_pass = clock.lap()
    return {
        "n_train": len(X),
        "threads": jobs,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "f1": round(float(f1_score(y_test, predicted)), 4),
        "gap": clf.duality_gap_,
        "epochs": clf.n_iter_,
        "support_vectors": len(clf.support_),
        "entries": factors.n_entries,
        "cpu_read": read[0],
        "cpu_fit": fit[0],
        "cpu_of_it_factorising": factorising[0],
        "cpu_read_test": read_test[0],
        "cpu_predict": predict[0],
        "cpu_scoring_pass": score_pass[0],
    }


def in_own_process(train: Path, test: Path, jobs: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.exact_svm", str(train), str(test), str(jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def questions() -> dict[str, Any]:
    data = shared_data() / "qc"
    X, y = read_examples(data / "train.jsonl.xz", tree="trees.grct")
    X_test, y_test = read_examples(data / "test.jsonl.xz", tree="trees.grct")
    clock = Clock()
    clf = TreeSVC(SubsetTree(0.4, include_leaves=True), C=3, random_state=0, n_jobs=1).fit(X, y)
    accuracy = accuracy_score(y_test, clf.predict(X_test))
    cpu, wall = clock.lap()
    return {
        "n_train": f"{len(X)} questions",
        "threads": 1,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "f1": f"accuracy {accuracy:.3f}",
        "gap": clf.duality_gap_,
        "epochs": clf.n_iter_,
        "support_vectors": len(clf.support_),
    }


def main() -> None:
    sentences = shared_data() / "srl-ewt"
    figures = []
    with TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.tsv", Path(folder) / "test.tsv"
        write_tsv(sentences / "test.jsonl.xz", test)
        for n in SIZES:
            write_tsv(sentences / "train.jsonl.xz", train, n)
            for jobs in (1, 2):
                figures.append(in_own_process(train, test, jobs))
                print(figures[-1], file=sys.stderr)
    figures.append(questions())
    write(
        "exact_svm",
        "goal: 100k trees in 3 s and 1.1M in 30 s of CPU, not reached yet; questions in 1 s",
        figures,
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(end_to_end(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
    else:
        main()
