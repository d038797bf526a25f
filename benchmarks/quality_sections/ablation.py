"""What each part of the default brings: families of patterns, damping, decay, loss, C, kernels."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.quality_sections.parallel import each_in_own_process
from benchmarks.quality_sections.systems import fitted
from benchmarks.quality_sections.seeded import task
from benchmarks.sections import Section
from filbert import TreeSVC
from filbert.kernels import LocalPatterns, SubsetTree

BASE: dict[str, Any] = {"kernel": LocalPatterns(decay=0.7), "C": 10.0, "loss": "squared_hinge"}


def variants() -> dict[str, dict[str, Any]]:
    """Return the parameters of TreeSVC that differ from the base, by name."""

    def patterns(**values: Any) -> dict[str, Any]:
        return {"kernel": LocalPatterns(**{"decay": 0.7, **values})}

    leaves = SubsetTree(0.4, include_leaves=True)
    return {
        "LocalPatterns(decay=0.7), squared hinge, C = 10": {},
        "without labels": patterns(labels=False),
        "without paths": patterns(paths=1),
        "without productions": patterns(productions=False),
        "without two-level subtrees": patterns(subtree_depth=1),
        "without siblings": patterns(siblings=1),
        "four-node paths, three-level subtrees": patterns(paths=4, subtree_depth=3),
        "damping: none": patterns(damping="none"),
        "damping: sqrt": patterns(damping="sqrt"),
        "decay 1": patterns(decay=1.0),
        "decay 0.4": patterns(decay=0.4),
        "norm of each family": patterns(family_norms=True),
        "hinge": {"loss": "hinge"},
        "C = 1": {"C": 1.0},
        "+ SubsetTree(0.4) with leaves": {"kernel": LocalPatterns(decay=0.7) + leaves},
        "SubsetTree(0.4), hinge, C = 1": {"kernel": SubsetTree(0.4), "loss": "hinge", "C": 1.0},
        "SubsetTree(0.4)": {"kernel": SubsetTree(0.4)},
        "SubsetTree(0.4) with leaves": {"kernel": leaves},
    }


def section_ablation(n_processes: int, names: Iterable[str]) -> Section:
    """Accuracy on the first fold of each task, and the mean difference from the base."""
    section = Section("what families of patterns, damping, decay, loss, C and kernels bring")
    tasks = each_in_own_process("ablation", names, n_processes)
    for title in variants():
        accuracy, variance = (
            np.array([row[what][title] for row in tasks]) for what in ("accuracy", "variance")
        )
        base = np.array([next(iter(row["accuracy"].values())) for row in tasks])
        section.rows.append(
            {
                "setting": title,
                "mean": round(float(accuracy.mean()), 2),
                "difference": round(float((accuracy - base).mean()), 2),
                "standard error": round(float(np.sqrt(variance.sum())) / len(tasks), 2),
                **{row["task"]: round(row["accuracy"][title], 1) for row in tasks},
            }
        )
    section.notes = [
        "Accuracy in percent on the test part of the first fold of each task. One thing differs "
        "from the first row at a time, except in the last three rows.",
        "The standard error is that of the mean difference over the test trees of these tasks. It "
        "does not include that another sample of training trees gives another model.",
    ]
    return section


def ablation_of(name: str) -> dict[str, Any]:
    """Measure all variants on the first fold of a task."""
    fold = task(name).folds[0]
    y = task(name).y[fold[1]]
    row: dict[str, Any] = {"task": name, "accuracy": {}, "variance": {}}
    base: Any = None
    for title, changed in variants().items():
        learner = TreeSVC(**{**BASE, **changed}, random_state=0, n_jobs=1)
        right = 100.0 * (fitted(learner, name, fold) == y)
        base = right if base is None else base
        row["accuracy"][title] = float(right.mean())
        row["variance"][title] = float(np.var(right - base)) / len(right)
    return row
