"""Goal: local patterns on a million trees, from text to predictions, in seconds.

From a TSV file of predicate-argument trees (`srl-ewt`, rule VB) to predictions on the test set, by
`TreeSVC()` with its defaults, for growing parts of the training set; each in a process of its own.
The rows say which kernel, loss, C and gap these are; `cpu_choose_C` is the time of C="auto". And
what a single new tree takes, in the core and by `predict`.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data, write
from filbert import Forest, TreeSVC, read_examples

SIZES = [100_000, None]
SINGLE = 2000  # trees that are scored one by one


def end_to_end(train: str, test: str, jobs: int) -> dict[str, Any]:
    """One run, in this process."""
    whole, clock = Clock(), Clock()
    X, y = read_examples(train, labels="numbers", n_jobs=jobs)
    read = clock.lap()
    clf = TreeSVC(random_state=0, n_jobs=jobs)
    task = clf._prepare(X, y, None, clf._known_cost())  # fit is this,
    prepare = clock.lap()
    C = clf._cost_for(task)  # this,
    choose = clock.lap()
    clf._solve(task, C, None)  # and this
    solve = clock.lap()
    n_columns, n_entries = (
        task.trainer.plan.operator.n_columns,
        task.trainer.plan.operator.n_entries,
    )
    kernel = repr(task.kernel)
    del task
    X_test, y_test = read_examples(test, labels="numbers", n_jobs=jobs)
    read_test = clock.lap()
    predicted = clf.predict(X_test)
    predict = clock.lap()
    cpu, wall = whole.lap()
    return {
        "data_set": "srl-ewt",
        "n_train": len(X),
        "threads": jobs,
        "kernel": kernel,
        "C": clf.C_,
        "loss": clf._loss_name(),
        "tol": clf.tol,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "peak_mib": peak_mib(),
        "f1": round(float(f1_score(y_test, predicted)), 4),
        "gap": clf.duality_gap_,
        "sweeps": clf.n_iter_,
        "support_vectors": len(clf.support_),
        "columns": n_columns,
        "nonzeros_of_trees": n_entries,
        "cpu_read": read[0],
        "cpu_patterns": prepare[0],
        "cpu_choose_C": choose[0],
        "cpu_train": solve[0],
        "cpu_read_test": read_test[0],
        "cpu_predict": predict[0],
        **single_trees(clf, X_test),
    }


def single_trees(clf: TreeSVC, X: Forest) -> dict[str, float]:
    """Median microseconds for one tree: scored in the core, and predicted from its text."""
    scorer = clf.model_.__dict__["_scorers"][0].weighted(1)
    chosen = [X[i : i + 1] for i in np.linspace(0, len(X) - 1, SINGLE).astype(int)]
    own = [Forest([str(tree) for tree in one]) for one in chosen]
    texts = [[str(tree) for tree in one] for one in chosen]
    return {
        "us_core": _median(lambda one: scorer.scores(one._dag, one._roots, 1, None), own),
        "us_core_in_forest": _median(
            lambda one: scorer.scores(one._dag, one._roots, 1, None), chosen
        ),
        "us_predict": _median(clf.predict, texts),
    }


def _median(work: Any, inputs: list[Any]) -> float:
    times = []
    for one in inputs:
        start = perf_counter()
        work(one)
        times.append(perf_counter() - start)
    return round(1e6 * float(np.median(times)), 2)


def shares(row: dict[str, Any]) -> str:
    """Where the time of a run goes."""
    stages = ("read", "patterns", "choose_C", "train", "read_test", "predict")
    parts = (f"{stage} {row[f'cpu_{stage}'] / row['cpu_seconds']:.0%}" for stage in stages)
    return f"{row['n_train']:,} trees, {row['threads']} thread(s): {', '.join(parts)}."


def main(sizes: list[int | None]) -> None:
    figures, notes = [], []
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        test = write_boundary(shared_data(), "test", Path(folder) / "test.tsv")
        for n in sizes:
            path = first_lines(train, n)
            figures.append(in_own_process("benchmarks.patterns", "--one", path, test, 1))
            notes.append(shares(figures[-1]))
    write(
        "patterns",
        "goal: 1.1M trees from text to predictions in 15 s of CPU and 1.5 GB; "
        "a single tree in 50 us",
        figures,
        notes=notes,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(end_to_end(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
