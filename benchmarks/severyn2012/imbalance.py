"""Table 5: six classes of questions, each against the rest.

Everything is chosen on the training set: by the mean F1 over four validation parts, each a quarter
of it, of models trained on the other three quarters. Test questions are predicted once, by models
trained on all of the training set. Two settings:

    paper     the subset tree kernel with a decay of 0.4, C = 1, and j chosen
    chosen    decay and leaves chosen for all classes and systems by exact SVMs; C and j chosen for
              each class and system

uSVM is j = 1. There is no intercept, as in the paper. No time is measured, so sampled models are
trained by SDAG+: they are those of uSVM.
"""

import os
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.measure import shared_data
from benchmarks.severyn2012.paper import IMBALANCE, Quality
from benchmarks.severyn2012.section import Options, Row, Section
from filbert import Forest, TreeSVC, read_examples
from filbert.kernels import SubsetTree
from filbert.metrics import randomization_test

CLASSES = list(IMBALANCE)
JS = [1, 2, 3, 4, 5, 10]
CS = [1.0, 3.0, 10.0]
PAPERS_KERNEL = (0.4, False)  # decay, leaves
KERNELS = [PAPERS_KERNEL, (0.4, True), (0.2, False), (0.2, True)]
GOALS = {"uSVM+j": 86, "SVM": 88}  # average F1
SAMPLE = 100
N_PARTS = 4
SEEDS = range(10)

# What was tried before the grids above were set, and where what was looked at afterwards stands.
HISTORY = [
    "Tried beforehand, on the same validation parts and with exact SVMs only: decays of 0.1, 0.2, "
    "0.3, 0.4 and 0.6 with leaves (j = 3, C = 1 and 3), and an intercept. So the validation F1 of "
    "what was chosen is optimistic; the test set had no part in it.",
    "Why the setting 'paper' is not the paper's: paper_severyn2012_trials has other losses, "
    "sampling and stopping, and the F1 with the j that is best on the test set.",
    "A sample of 100 has 1.6 questions of ABBR on average, and the test set nine. The paper's F1 "
    "for uSVM is seven of them found, in one run.",
]

Kernel = tuple[float, bool]
Flags = NDArray[np.int8]


@dataclass(frozen=True)
class Work:
    """Models of one class that differ in C alone."""

    name: str  # of the class
    exact: bool
    kernel: Kernel
    j: int
    Cs: tuple[float, ...]
    part: int | None  # the validation part that is left out, None: the test set
    seed: int = 0


@cache
def questions(part: str) -> tuple[Forest, NDArray[Any]]:
    return read_examples(shared_data() / "qc" / f"constituency_{part}.tsv.xz", n_jobs=1)


@cache
def validation_parts() -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    y = questions("train")[1]
    folds = StratifiedKFold(N_PARTS, shuffle=True, random_state=0)
    return list(folds.split(np.zeros(len(y)), y))


def predictions(work: Work) -> list[Flags]:
    """Train, and say of each test or validation example whether it is of the class."""
    X, y = questions("train")
    if work.part is None:
        train, others = np.arange(len(y)), questions("test")[0]
    else:
        train, validation = validation_parts()[work.part]
        others = X[validation]
    decay, leaves = work.kernel
    strategy: dict[str, Any] = {"strategy": "sdag+", "sample_size": SAMPLE}
    clf = TreeSVC(
        SubsetTree(decay, include_leaves=leaves),
        C=1.0,
        loss="hinge",
        class_weight={1: work.j, 0: 1},
        fit_intercept=False,
        random_state=work.seed,
        n_jobs=1,
        **({"strategy": "exact", "engine": "factors"} if work.exact else strategy),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = clf.fit_path(X[train], (y == work.name)[train].astype(np.int8), work.Cs)
    return [model.predict(others) for model in path]


def validated(work: Work) -> list[float]:
    """F1 on the part that is left out, for each C."""
    y = questions("train")[1] == work.name
    truth = y[validation_parts()[work.part or 0][1]]
    return [float(f1_score(truth, flags, zero_division=0)) for flags in predictions(work)]


# ------------------------------------------------------------------ choosing


@dataclass(frozen=True)
class Choice:
    """What is chosen, and its F1 on the validation parts in per cent."""

    kernel: Kernel
    j: int
    C: float
    f1: float


class Validation:
    """Mean F1 over the validation parts, by kernel, class, j and C."""

    def __init__(
        self, pool: ProcessPoolExecutor, *, exact: bool, kernels: Iterable[Kernel], Cs: list[float]
    ) -> None:
        keys = list(product(kernels, CLASSES, JS))
        works = [
            # Another seed in each part, so that no seed decides.
            Work(name, exact, kernel, j, tuple(Cs), part, seed=part)
            for kernel, name, j in keys
            for part in range(N_PARTS)
        ]
        by_part = np.array(list(pool.map(validated, works))).reshape(len(keys), N_PARTS, len(Cs))
        self.f1 = {
            (*key, C): float(value)
            for key, means in zip(keys, 100 * by_part.mean(axis=1), strict=True)
            for C, value in zip(Cs, means, strict=True)
        }

    def best(self, kernel: Kernel, name: str, js: Sequence[int], Cs: Sequence[float]) -> Choice:
        """Return the best for a class; of equals the smallest j, then C."""
        options = [Choice(kernel, j, C, self.f1[kernel, name, j, C]) for j in js for C in Cs]
        return max(options, key=lambda choice: round(choice.f1, 6))

    def mean_f1(self, kernel: Kernel) -> float:
        """Return the mean over the classes, each with what is best for it."""
        return float(np.mean([self.best(kernel, name, JS, CS).f1 for name in CLASSES]))


# ------------------------------------------------------------------ testing


@dataclass(frozen=True)
class Tested:
    """A system on the test set."""

    choice: Choice
    flags: list[Flags]  # by seed

    def qualities(self, truth: Flags) -> NDArray[np.float64]:
        """F1, precision and recall in per cent, a row for each seed."""
        scores = (f1_score, precision_score, recall_score)
        rows = [[score(truth, flags, zero_division=0) for score in scores] for flags in self.flags]
        return 100 * np.array(rows)

    def median_seed(self, truth: Flags) -> int:
        """Return the seed that has the median F1, the lower one of two."""
        f1 = self.qualities(truth)[:, 0]
        return int(np.argsort(f1, kind="stable")[(len(f1) - 1) // 2])


def tested(
    pool: ProcessPoolExecutor, name: str, choice: Choice, *, exact: bool, seeds: Sequence[int]
) -> Tested:
    work = partial(Work, name, exact, choice.kernel, choice.j, (choice.C,), None)
    works = [work(seed) for seed in (seeds[:1] if exact else seeds)]
    return Tested(choice, [flags for [flags] in pool.map(predictions, works)])


def p_value(truth: Flags, a: Tested, b: Tested) -> float:
    """By approximate randomisation, for the seeds of median F1."""
    flags_a, flags_b = (system.flags[system.median_seed(truth)] for system in (a, b))
    return randomization_test(truth, flags_a, flags_b, metric="f1", random_state=0).p_value


# ------------------------------------------------------------------ the table


def rows_of(setting: str, name: str, truth: Flags, systems: dict[str, Tested]) -> list[Row]:
    rows = []
    for system, result in systems.items():
        qualities, choice = result.qualities(truth), result.choice
        p = "" if system == "uSVM+j" else round(p_value(truth, systems["uSVM+j"], result), 4)
        rows.append(
            row_of(setting, name, system, qualities.mean(axis=0), IMBALANCE[name][system])
            | {
                "sd_f1": round(float(qualities[:, 0].std()), 1),
                "kernel": f"decay {choice.kernel[0]}{', leaves' * choice.kernel[1]}",
                "C": choice.C,
                "j": choice.j,
                "validation_f1": round(choice.f1, 1),
                "median_seed": result.median_seed(truth) if len(result.flags) > 1 else "",
                "p (uSVM+j differs)": p,
            }
        )
    return rows


def row_of(setting: str, name: str, system: str, ours: Iterable[float], paper: Quality) -> Row:
    row: Row = {"setting": setting, "class": name, "system": system}
    for key, value, papers in zip(("F1", "P", "R"), ours, paper, strict=True):
        row |= {key: round(float(value), 1), f"paper {key}": round(papers, 1)}
    return row


def averages(setting: str, rows: list[Row]) -> list[Row]:
    means = []
    for system in IMBALANCE[CLASSES[0]]:
        of_system = [row for row in rows if row["setting"] == setting and row["system"] == system]
        ours = [np.mean([row[key] for row in of_system]) for key in ("F1", "P", "R")]
        of_paper = np.mean([IMBALANCE[name][system] for name in CLASSES], axis=0)
        means.append(row_of(setting, "average", system, ours, Quality(*of_paper)))
    return means


def shortfalls(rows: list[Row]) -> list[str]:
    """Name the classes that are more than two points of F1 below the paper's."""
    return [
        f"{row['setting']}: {row['system']} on {row['class']} is "
        f"{row['paper F1'] - row['F1']:.1f} points of F1 below the paper."
        for row in rows
        if row["class"] != "average" and row["F1"] < row["paper F1"] - 2
    ]


def goals(rows: list[Row]) -> list[str]:
    """Say for each setting whether the averages are what they should be."""
    return [
        f"Setting '{row['setting']}': the average F1 of {row['system']} is {row['F1']}, "
        f"{'at least' if row['F1'] >= GOALS[row['system']] else 'below'} {GOALS[row['system']]}."
        for row in rows
        if row["class"] == "average" and row["system"] in GOALS
    ]


def section(options: Options) -> Section:
    result = Section(
        "Table 5: class imbalance. Goal: an average F1 of at least 86 for uSVM+j and 88 for exact"
    )
    seeds = list(SEEDS)[:2] if options.quick else list(SEEDS)
    kernels = [PAPERS_KERNEL] if options.quick else KERNELS
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        exact = Validation(pool, exact=True, kernels=kernels, Cs=CS)
        kernel = max(kernels, key=exact.mean_f1)
        settings = {"paper": (PAPERS_KERNEL, [1.0]), "chosen": (kernel, CS)}
        for setting, (chosen, Cs) in settings.items():
            if options.quick and setting == "chosen":
                continue
            sampled = Validation(pool, exact=False, kernels=[chosen], Cs=Cs)
            for name in CLASSES:
                truth = (questions("test")[1] == name).astype(np.int8)
                ways = {"uSVM": (sampled, [1]), "uSVM+j": (sampled, JS), "SVM": (exact, JS)}
                systems = {
                    system: tested(
                        pool,
                        name,
                        by.best(chosen, name, js, Cs),
                        exact=by is exact,
                        seeds=seeds,
                    )
                    for system, (by, js) in ways.items()
                }
                result.rows += rows_of(setting, name, truth, systems)
            result.rows += averages(setting, result.rows)
    result.notes = notes(exact, kernels, len(seeds)) + goals(result.rows) + HISTORY
    result.notes += shortfalls(result.rows)
    return result


def notes(exact: Validation, kernels: list[Kernel], n_seeds: int) -> list[str]:
    means = ", ".join(
        f"decay {kernel[0]} {'with' if kernel[1] else 'without'} leaves {exact.mean_f1(kernel):.1f}"
        for kernel in kernels
    )
    return [
        f"qc/constituency_*, the paper's questions: 5,483 for training and 500 for test. Samples "
        f"of {SAMPLE}, at most 300 iterations, epsilon 0.001; the mean of {n_seeds} seeds. No "
        "intercept.",
        f"All choices by the mean F1 over {N_PARTS} validation parts of the training set. The "
        f"kernel of the setting 'chosen' by exact SVMs, average over the classes: {means}.",
        "C is the weight of one example's loss. The paper sets its own to 1 and does not say "
        "whether that is for one example, as in SVM-light, or for the mean.",
        "p: randomisation test of F1 between uSVM+j and the row's system, each by the seed that "
        "has the median F1.",
        "The paper's lower half, Yahoo! Answers, is on data that are not public.",
    ]
