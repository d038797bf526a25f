"""Goal: the exact kernel SVM on a million trees, end to end, in seconds.

From a TSV file of predicate-argument trees (`srl-ewt`, rule VB) to predictions on the test set, by
`SubsetTree(0.4)` and a relative duality gap of 1e-3, for growing parts of the training set; each in
a process of its own, and where the time goes. And question classification (`qc`, grct) with leaves.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data, write
from filbert import Forest, TreeSVC, read_examples
from filbert.engine import factorize
from filbert.kernels import SubsetTree
from filbert.threads import n_threads

SIZES = [5_000, 20_000, 100_000, None]
CS = [0.3, 1.0, 3.0, 10.0]


def end_to_end(train: str, test: str, jobs: int) -> dict[str, Any]:
    """One run, in this process."""
    whole, clock = Clock(), Clock()
    X, y = read_examples(train, labels="numbers", n_jobs=jobs)
    read = clock.lap()
    clf = TreeSVC(
        SubsetTree(0.4),
        engine="factors",
        tol=1e-3,
        random_state=0,
        n_jobs=jobs,
        C=1.0,
        loss="hinge",
    )
    task = clf._prepare(X, y, None, [clf.C])  # fit is this, and
    prepare = clock.lap()
    clf._solve(task, clf.C, None)  # this
    solve = clock.lap()
    X_test, y_test = read_examples(test, labels="numbers", n_jobs=jobs)
    read_test = clock.lap()
    predicted = clf.predict(X_test)
    predict = clock.lap()
    cpu, wall = whole.lap()
    peak = peak_mib()
    del task
    factors = factorize(clf.kernel, X, n_jobs=jobs)  # once more, for the figures of its parts
    assemble = round(factors.cpu_assembling, 4)
    return {
        "data_set": "srl-ewt",
        "n_train": len(X),
        "threads": jobs,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "peak_mib": peak,
        "f1": round(float(f1_score(y_test, predicted)), 4),
        "gap": clf.duality_gap_,
        "sweeps": clf.n_iter_,
        "support_vectors": len(clf.support_),
        "nonzeros_of_trees": factors.n_entries,
        "cpu_read": read[0],
        "cpu_factorise": round(prepare[0] - assemble, 4),
        "cpu_assemble": assemble,
        "cpu_train": solve[0],
        "cpu_read_test": read_test[0],
        "cpu_predict": predict[0],
        "cpu_scoring_pass": scoring_pass(clf, factors, jobs),
    }


def scoring_pass(clf: TreeSVC, factors: Any, jobs: int) -> float:
    """CPU seconds for the scores of all training trees under the model."""
    weights = clf._alpha.T.copy()
    clock = Clock()
    factors.scores(weights, n_threads(jobs))
    return clock.lap()[0]


def choose_cost(X: Forest, y: Any) -> tuple[float, list[float]]:
    """Cross-validate on the training set; one factorisation a fold serves all values."""
    hits = np.zeros(len(CS))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        path = question_model().fit_path(X[train], y[train], CS)
        hits += [(clf.predict(X[test]) == y[test]).sum() for clf in path]
    return CS[int(hits.argmax())], [round(float(share), 4) for share in hits / len(y)]


def question_model(**parameters: Any) -> TreeSVC:
    kernel = SubsetTree(0.4, include_leaves=True)
    return TreeSVC(
        kernel, **{"C": 1.0, "loss": "hinge", "random_state": 0, "n_jobs": 1, **parameters}
    )


def questions() -> dict[str, Any]:
    """Train and test at the chosen C, in this process; the search is not in the time."""
    data = shared_data() / "qc"
    X, y = read_examples(data / "train.jsonl.xz", tree="trees.grct")
    X_test, y_test = read_examples(data / "test.jsonl.xz", tree="trees.grct")
    C, accuracies = choose_cost(X, y)
    clock = Clock()
    clf = question_model(C=C).fit(X, y)
    fit = clock.lap()
    accuracy = accuracy_score(y_test, clf.predict(X_test))
    predict = clock.lap()
    return {
        "data_set": "qc grct",
        "n_train": len(X),
        "threads": 1,
        "cpu_seconds": round(fit[0] + predict[0], 4),
        "wall_seconds": round(fit[1] + predict[1], 4),
        "peak_mib": peak_mib(),
        "f1": f"accuracy {accuracy:.3f}",
        "gap": clf.duality_gap_,
        "sweeps": clf.n_iter_,
        "support_vectors": len(clf.support_),
        "cpu_predict": predict[0],
        "C": C,
        "cross_validated": accuracies,
    }


def shares(row: dict[str, Any]) -> str:
    """Where the time of a run goes."""
    stages = ("read", "factorise", "assemble", "train", "read_test", "predict")
    parts = (f"{stage} {row[f'cpu_{stage}'] / row['cpu_seconds']:.0%}" for stage in stages)
    return f"{row['n_train']:,} trees, {row['threads']} thread(s): {', '.join(parts)}."


def main(sizes: list[int | None]) -> None:
    figures, notes = [], []
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        test = write_boundary(shared_data(), "test", Path(folder) / "test.tsv")
        for n in sizes:
            path = first_lines(train, n)
            for jobs in (1, 2):
                row = in_own_process("benchmarks.exact_svm", "--one", path, test, jobs, repeat=3)
                figures.append(row)
            notes.append(shares(figures[-2]))
    row = in_own_process("benchmarks.exact_svm", "--questions", repeat=3)
    C, accuracies = row.pop("C"), row.pop("cross_validated")
    notes.append(
        f"Questions: C = {C:g} by 5-fold cross-validation on the training set (accuracies "
        f"{accuracies} for C = {CS}); the search is not in the seconds."
    )
    write(
        "exact_svm",
        "goal: 100k trees in 3 s and 1.1M in 30 s of CPU; questions in 1 s",
        [*figures, row],
        notes=notes,
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--questions"]:
        print(json.dumps(questions()))
    elif sys.argv[1:2] == ["--one"]:
        print(json.dumps(end_to_end(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
