"""Goal: the partial tree kernel at the sizes of today's data, exactly.

`PartialTree(0.4, 0.4)`, normalised, exact SVMs to a relative duality gap of 1e-3, one thread unless
it says otherwise, each row in a process of its own:

    srl         from a file of predicate-argument trees to predictions on the test set; of 100,000
                also on two threads
    questions   six classes, penalty="gaps"; C set, and C cross-validated on the training set
    search      the same with both decays and C cross-validated
    sentences   12,543 whole sentences: question or not, and genre; and 137,811 sentences
    matrices    kernel matrices of the sentences and of 8,791 methods, one thread and two; that of
                every fourth sentence also from factors of errors of at most 1e-6
    others      training on every other data set with its classes, all of its examples
    engines     factors beside rows on all of these, for two penalties and two values of C; of
                more than 6,000 examples a part
    wide        nodes with 2,000 children
    growth      factors on predicate-argument trees and on sentences, against their number

Run all with ``python -m benchmarks.exact_ptk``, some with ``--only sentences growth``. Each has its
own results, benchmarks/results/exact_ptk_*.json.
"""

import argparse
import json
import random
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.datasets import DATASETS, LABELLED, first_lines, write_boundary
from benchmarks.measure import Clock, exponent, in_own_process, peak_mib, shared_data
from benchmarks.sections import Section as Table
from benchmarks.sections import results_folder, write_sections
from filbert import Forest, TreeSVC, read_examples
from filbert.engine.tree_factors import factorize
from filbert.engine.work import row_steps
from filbert.errors import WorkLimitError
from filbert.kernels import PartialTree
from filbert.learners.svm import Engine

Row = dict[str, Any]

SENTENCE_TREES = "srl-ewt sentences"
SENTENCES = ["srl-ewt sentences: question or not", "srl-ewt sentences: genre"]
MANY_SENTENCES = "srl-onto-unlex, all sentences: wsj or not"
SRL = [(100_000, 1, 4.0), (100_000, 2, None), (None, 1, 60.0)]  # number, threads, limit
GROWTH_SRL = [30_000, 100_000, 300_000, None]
GROWTH_SENTENCES = [1_500, 4_500, 14_000, 45_000, 137_811]
C_GRID = {"decay": [0.4], "depth_decay": [0.4], "C": [0.3, 1.0, 3.0, 10.0]}
GRID = {"decay": [0.2, 0.4, 0.6], "depth_decay": [0.2, 0.4, 0.6], "C": [1.0, 3.0, 10.0]}
WIDE = 2_000
SOME = 3_000
SHARES = [0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0]  # of the steps for all rows


# ------------------------------------------------------------------ one row each, in this process


def trained(X: Forest, y: Any, clf: TreeSVC) -> Row:
    """Fit, and say how it went."""
    clock = Clock()
    task = clf._prepare(X, y, None, [clf.C])  # fit is this, and
    prepare = clock.lap()
    clf._solve(task, clf.C, None)  # this
    solve = clock.lap()
    return {
        "n_trees": len(X),
        "threads": clf.n_jobs,
        "cpu_seconds": round(prepare[0] + solve[0], 4),
        "wall_seconds": round(prepare[1] + solve[1], 4),
        "peak_mib": peak_mib(),
        "classes": len(clf.classes_),
        "support_vectors": len(clf.support_),
        "gap": clf.duality_gap_,
        "kernel_error": clf.kernel_error_,
        "engine": clf.engine_,
        "cpu_prepare": prepare[0],
        "cpu_train": solve[0],
        "rows_computed": getattr(task.trainer.matrix, "n_rows_computed", 0),
        "nonzeros": getattr(task.trainer.matrix, "n_entries", 0),
    }


def with_total(row: Row, *laps: tuple[float, float]) -> Row:
    """Add further work to the seconds of training."""
    for key, number in (("cpu_seconds", 0), ("wall_seconds", 1)):
        row[key] = round(row[key] + sum(lap[number] for lap in laps), 4)
    return row | {"peak_mib": peak_mib()}


def srl(train: str, test: str, jobs: str = "1") -> Row:
    clock = Clock()
    X, y = read_examples(train, labels="numbers", n_jobs=int(jobs))
    read = clock.lap()
    clf = TreeSVC(PartialTree(), random_state=0, n_jobs=int(jobs), C=1.0, loss="hinge")
    row = trained(X, y, clf)
    clock.lap()
    X_test, y_test = read_examples(test, labels="numbers", n_jobs=int(jobs))
    read_test = clock.lap()
    predicted = clf.predict(X_test)
    predict = clock.lap()
    row = with_total(row, read, read_test, predict)
    row |= {"cpu_read": read[0] + read_test[0], "cpu_predict": predict[0]}
    return row | {"quality": f"F1 {f1_score(y_test, predicted):.3f}"}


def question_files() -> tuple[Any, ...]:
    folder = shared_data() / "qc"
    train, test = (
        read_examples(folder / f"{part}.jsonl.xz", tree="trees.grct") for part in ("train", "test")
    )
    return *train, *test


def questions(choose: str) -> Row:
    X, y, X_test, y_test = question_files()
    chosen, search = {"decay": 0.4, "depth_decay": 0.4, "C": 10.0}, (0.0, 0.0)
    if choose != "set":
        clock = Clock()
        chosen = cross_validated(X, y, C_GRID if choose == "C" else GRID)
        search = clock.lap()
    clf = question_model(chosen["decay"], chosen["depth_decay"], C=chosen["C"])
    row = trained(X, y, clf)
    clock = Clock()
    accuracy = accuracy_score(y_test, clf.predict(X_test))
    predict = clock.lap()
    row = with_total(row, predict)
    row |= {"cpu_predict": predict[0], "cpu_search": search[0], "chosen": chosen}
    return row | {"quality": f"accuracy {accuracy:.3f}"}


def question_model(decay: float, depth_decay: float, **parameters: Any) -> TreeSVC:
    kernel = PartialTree(decay, depth_decay, penalty="gaps")
    return TreeSVC(
        kernel, **{"C": 1.0, "loss": "hinge", "random_state": 0, "n_jobs": 1, **parameters}
    )


def cross_validated(X: Forest, y: Any, grid: dict[str, list[float]]) -> dict[str, float]:
    """Choose by the accuracy in five folds of the training set; a path of C shares the rows."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y))
    best: tuple[int, dict[str, float]] = (-1, {})
    for decay, depth_decay in product(grid["decay"], grid["depth_decay"]):
        hits = np.zeros(len(grid["C"]), dtype=int)
        for train, test in folds:
            path = question_model(decay, depth_decay).fit_path(X[train], y[train], grid["C"])
            hits += [int((clf.predict(X[test]) == y[test]).sum()) for clf in path]
        place = int(hits.argmax())
        chosen = {"decay": decay, "depth_decay": depth_decay, "C": grid["C"][place]}
        best = max(best, (int(hits[place]), chosen), key=lambda found: found[0])
    return best[1]


def labelled(name: str, n: str = "", engine: Engine = "auto") -> Row:
    """Train on a data set with labels, or on every k-th of its examples."""
    clock = Clock()
    X, y = examples_of(name, int(n) if n else None)
    read = clock.lap()
    clf = TreeSVC(PartialTree(), engine=engine, random_state=0, n_jobs=1, C=1.0, loss="hinge")
    row = trained(X, y, clf)
    return row | {"cpu_read": read[0]}


def examples_of(name: str, n: int | None = None) -> tuple[Forest, Any]:
    """Read a data set, or every k-th of its examples such that there are at least n."""
    labels, trees = zip(*LABELLED[name](shared_data()), strict=True)
    step = 1 if n is None else max(1, len(trees) // n)
    return Forest.from_brackets(trees[::step]), np.array(labels[::step])


def engines(name: str, penalty: str, C: str) -> Row:
    """Train by factors and by rows, and say what is known before training.

    `sides` is the sum over the problems of their smaller side, as a share of the examples. `steps`
    are those that factorising takes, as a share of the estimate for all rows: the power of two
    that suffices. Trees that need more than the last one are not trained by factors.
    """
    X, y = examples_of(name, SOME)
    kernel = PartialTree(penalty=penalty)
    estimate = row_steps(kernel, X)
    counts = np.unique(y, return_counts=True)[1]
    smaller = np.minimum(counts, len(y) - counts)[len(counts) == 2 :]
    model = partial(TreeSVC, kernel, C=float(C), loss="hinge", random_state=0, n_jobs=1)
    steps = steps_of_factors(kernel, X, kernel_tol_of(model(engine="rows"), X, y), estimate)
    row = {
        "n_trees": len(X),
        "classes": len(counts),
        "estimate": float(f"{estimate:.2g}"),
        "sides": round(float(smaller.sum()) / len(y), 3),
        "steps": "" if steps is None else steps,
    }
    for engine in ["rows"] if steps is None else ["factors", "rows"]:
        done = trained(X, y, model(engine=engine))
        row |= {f"cpu_{engine}": done["cpu_seconds"], f"train_{engine}": done["cpu_train"]}
    return row


def kernel_tol_of(clf: TreeSVC, X: Forest, y: Any) -> float:
    """Return the first `kernel_tol` that training with factors would have."""
    tolerance: float = clf._prepare(X, y, None, [clf.C]).trainer._kernel_tol
    return tolerance


def steps_of_factors(
    kernel: PartialTree, X: Forest, kernel_tol: float, estimate: float
) -> float | None:
    for share in SHARES:
        try:
            factorize(kernel, X, max_work=share * estimate, kernel_tol=kernel_tol, n_jobs=1)
        except WorkLimitError:
            continue
        return share
    return None


def trees_of(name: str, step: str) -> Forest:
    X = Forest.from_brackets(DATASETS[name](shared_data()))
    return (X[:12_543] if name == SENTENCE_TREES else X)[:: int(step)]  # those for training


def matrix(name: str, jobs: str, step: str = "1") -> Row:
    X = trees_of(name, step)
    clock = Clock()
    PartialTree()(X, n_jobs=int(jobs))
    cpu, wall = clock.lap()
    row = {"n_trees": len(X), "threads": int(jobs), "cpu_seconds": cpu, "wall_seconds": wall}
    return row | {"peak_mib": peak_mib()}


def matrix_by_factors(name: str, kernel_tol: str, step: str) -> Row:
    """The kernel matrix from pruned factors, a number of columns at a time."""
    X = trees_of(name, step)
    n, width = len(X), 8
    clock = Clock()
    factors = factorize(PartialTree(), X, kernel_tol=float(kernel_tol), n_jobs=1)
    K = np.empty((n, n))
    for first in range(0, n, width):
        columns = slice(first, min(n, first + width))
        K[:, columns] = factors.scores(np.eye(n, columns.stop - first, -first), 1)
    cpu, wall = clock.lap()
    row = {"n_trees": n, "threads": 1, "cpu_seconds": cpu, "wall_seconds": wall}
    row |= {"nonzeros": factors.n_entries, "kernel_error": float(factors.kernel_errors.max())}
    return row | {"peak_mib": peak_mib()}


def wide(n: str) -> Row:
    """`n` x `n` trees whose root has 2,000 children, each over one of three leaves."""
    rng = random.Random(0)

    def tree() -> str:
        children = (f"({rng.choice('TUV')} {rng.choice('xyz')})" for _ in range(WIDE))
        return f"(S {' '.join(children)})"

    X, Y = (Forest([tree() for _ in range(int(n))]) for _ in range(2))
    clock = Clock()
    PartialTree()(X, Y, n_jobs=1)
    cpu, wall = clock.lap()
    row = {"n_trees": int(n), "threads": 1, "cpu_seconds": cpu, "wall_seconds": wall}
    return row | {"peak_mib": peak_mib()}


def growth_srl(path: str) -> Row:
    X, y = read_examples(path, n_jobs=1)
    return trained(
        X,
        y,
        TreeSVC(PartialTree(), engine="factors", random_state=0, n_jobs=1, C=1.0, loss="hinge"),
    )


ONE: dict[str, Callable[..., Row]] = {
    "srl": srl,
    "questions": questions,
    "labelled": labelled,
    "engines": engines,
    "matrix": matrix,
    "matrix-by-factors": matrix_by_factors,
    "wide": wide,
    "growth-srl": growth_srl,
}


# ------------------------------------------------------------------ sections


CLAIM = "goal: every row within its limit of CPU seconds"


class Section(Table):
    """Rows and remarks of one part, with what they are held against."""

    def measure(
        self, work: str, *arguments: object, limit: float | None = None, repeat: int = 1
    ) -> Row:
        """Add the row that a process of its own prints, and where its time went."""
        row = in_own_process("benchmarks.exact_ptk", "--one", *arguments, repeat=repeat)
        shown = {"work": work} | {key: row.get(key, "") for key in SHOWN}
        shown["limit_seconds"] = "" if limit is None else limit
        shown["within"] = "" if limit is None else row["cpu_seconds"] <= limit
        self.rows.append(shown)
        stages = [key for key in row if key.startswith("cpu_") and key != "cpu_seconds"]
        if stages:
            parts = ", ".join(f"{key.removeprefix('cpu_')} {row[key]:.2f} s" for key in stages)
            self.notes.append(f"{work}: {parts}.")
        return row


SHOWN = [
    "n_trees",
    "threads",
    "cpu_seconds",
    "wall_seconds",
    "peak_mib",
    "quality",
    "classes",
    "support_vectors",
    "rows_computed",
    "nonzeros",
    "gap",
    "kernel_error",
    "engine",
    "runs",
]


def section_srl(section: Section) -> None:
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        test = write_boundary(shared_data(), "test", Path(folder) / "test.tsv")
        wall: list[float] = []
        for n, jobs, limit in SRL:
            title = f"srl-ewt, {'all' if n is None else f'{n:,}'}, end to end"
            path, repeat = first_lines(train, n), 1 if n is None else 3
            row = section.measure(title, "srl", path, test, jobs, limit=limit, repeat=repeat)
            wall.append(row["wall_seconds"])
        faster = wall[0] / wall[1]
        section.notes.append(f"100,000: two threads are {faster:.2f} times faster than one.")


def section_questions(section: Section) -> None:
    section.measure("qc grct, C = 10", "questions", "set", limit=1.5, repeat=3)
    searched(section, "qc grct, C cross-validated", "C", C_GRID)


def section_search(section: Section) -> None:
    searched(section, "qc grct, decays and C cross-validated", "all", GRID)


def searched(section: Section, title: str, choose: str, grid: dict[str, list[float]]) -> None:
    row = section.measure(title, "questions", choose, limit=8.0)
    section.notes.append(
        f"{title}: five folds of the training set over {grid} chose {row['chosen']}; the search "
        f"took {row['cpu_search']:.0f} s, which are not in the seconds of the row."
    )


def section_sentences(section: Section) -> None:
    for name, limit in zip(SENTENCES, (3.0, 6.0), strict=True):
        section.measure(name, "labelled", name, limit=limit, repeat=3)
    section.measure(MANY_SENTENCES, "labelled", MANY_SENTENCES, limit=120.0)


def section_matrices(section: Section) -> None:
    for name, limit in ((SENTENCE_TREES, 10.0), ("clones-bcb", 30.0)):
        rows = [
            section.measure(f"{name}: kernel matrix", "matrix", name, jobs, limit=limit, repeat=3)
            for jobs in (1, 2)
        ]
        faster = rows[0]["wall_seconds"] / rows[1]["wall_seconds"]
        section.notes.append(f"{name}: two threads are {faster:.2f} times faster than one.")
    title = f"{SENTENCE_TREES}, every fourth"
    section.measure(f"{title}: kernel matrix", "matrix", SENTENCE_TREES, 1, 4)
    title = f"{title}: from factors, kernel_tol=1e-6"
    section.measure(title, "matrix-by-factors", SENTENCE_TREES, 1e-6, 4, limit=3.0)  # for all


def section_others(section: Section) -> None:
    for name in LABELLED:
        if name not in [*SENTENCES, MANY_SENTENCES]:
            section.measure(name, "labelled", name, limit=30.0)


def section_engines(section: Section) -> None:
    for name, penalty, C in product(LABELLED, ("span", "gaps"), ("1", "10")):
        if name != MANY_SENTENCES:
            row = in_own_process("benchmarks.exact_ptk", "--one", "engines", name, penalty, C)
            section.rows.append({"work": name, "penalty": penalty, "C": float(C), **row})


def section_wide(section: Section) -> None:
    section.measure(f"one pair of nodes with {WIDE:,} children", "wide", 1, limit=0.05, repeat=5)
    section.measure(f"50 x 50 trees with {WIDE:,} children", "wide", 50, limit=6.0, repeat=3)


def section_growth(section: Section) -> None:
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        short = [
            section.measure("srl-ewt by factors", "growth-srl", first_lines(train, n))
            for n in GROWTH_SRL
        ]
    name = MANY_SENTENCES
    long = [section.measure(name, "labelled", name, n, "factors") for n in GROWTH_SENTENCES]
    section.notes.clear()
    curves = {
        "short trees by factors: preparing": (short, "cpu_prepare"),
        "short trees by factors: training": (short, "cpu_train"),
        "short trees by factors: nonzeros": (short, "nonzeros"),
        "sentences by factors: preparing": (long, "cpu_prepare"),
        "sentences by factors: training": (long, "cpu_train"),
        "sentences by factors: nonzeros": (long, "nonzeros"),
    }
    section.notes += [f"{title}: n^{fitted(*curve):.2f}." for title, curve in curves.items()]


def fitted(rows: list[Row], key: str) -> float:
    return exponent([row["n_trees"] for row in rows], [row[key] for row in rows])


SECTIONS: dict[str, Callable[[Section], None]] = {
    "srl": section_srl,
    "questions": section_questions,
    "search": section_search,
    "sentences": section_sentences,
    "matrices": section_matrices,
    "others": section_others,
    "engines": section_engines,
    "wide": section_wide,
    "growth": section_growth,
}


def measured(name: str) -> Section:
    section = Section(CLAIM)
    SECTIONS[name](section)
    return section


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(ONE[arguments.one[0]](*arguments.one[1:])))
    else:
        sections = {name: partial(measured, name) for name in SECTIONS}
        write_sections("exact_ptk", sections, arguments.only, results_folder(quick=False))
