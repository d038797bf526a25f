"""What each part of the default brings: families of patterns, damping, decay, loss, C, kernels."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.quality_sections.parallel import each_in_own_process
from benchmarks.quality_sections.seeded import n_seeds
from benchmarks.quality_sections.systems import Predict, fitted, right
from benchmarks.sections import Section
from filbert import TreeSVC
from filbert.kernels import LocalPatterns, SubsetTree

BASE: dict[str, Any] = {"decay": 0.7, "leaves": 3}
TITLE = "TreeSVC(): LocalPatterns(decay=0.7, leaves=3), squared hinge, C = 1 or 10"


def variants() -> dict[str, dict[str, Any]]:
    """Return the parameters of TreeSVC that differ from the default, by name."""

    def patterns(**values: Any) -> dict[str, Any]:
        return {"kernel": LocalPatterns(**{**BASE, **values})}

    leaves = SubsetTree(0.4, include_leaves=True)
    return {
        TITLE: {},
        "without labels": patterns(labels=False),
        "without paths": patterns(paths=1),
        "without productions": patterns(productions=False),
        "without two-level subtrees": patterns(subtree_depth=1),
        "without siblings": patterns(siblings=1),
        "without runs of leaves": patterns(leaves=1),
        "four-node paths, three-level subtrees": patterns(paths=4, subtree_depth=3),
        "damping: none": patterns(damping="none"),
        "damping: sqrt": patterns(damping="sqrt"),
        "decay 1": patterns(decay=1.0),
        "decay 0.4": patterns(decay=0.4),
        "norm of each family": patterns(family_norms=True),
        "hinge": {"loss": "hinge"},
        "C = 1": {"C": 1.0},
        "C = 10": {"C": 10.0},
        "C = 30": {"C": 30.0},
        "+ SubsetTree(0.4) with leaves": {"kernel": LocalPatterns(**BASE) + leaves},
        "SubsetTree(0.4), hinge, C = 1": {"kernel": SubsetTree(0.4), "loss": "hinge", "C": 1.0},
        "SubsetTree(0.4)": {"kernel": SubsetTree(0.4)},
        "SubsetTree(0.4) with leaves": {"kernel": leaves},
    }


def section_ablation(n_processes: int, names: Iterable[str]) -> Section:
    """Accuracy on all tasks and seeds, and the mean difference from the default."""
    section = Section("what families of patterns, damping, decay, loss, C and kernels bring")
    tasks = each_in_own_process("ablation", names, n_processes)
    section.rows = compared(tasks, TITLE)
    section.notes = [
        "Mean accuracy in percent over the seeds and folds of each task. One thing differs from "
        "the first row at a time, except in the last three rows.",
        "The standard error of the mean difference adds two variances: over the test trees, and "
        "over the samples of training trees (the seeds). It does not include that other tasks "
        "might differ.",
    ]
    return section


def compared(tasks: list[dict[str, Any]], base: str) -> list[dict[str, Any]]:
    """Return a row for each setting, with its mean over the tasks and the difference from one."""
    rows = []
    for title in tasks[0]["accuracy"]:
        accuracy, variance = (
            np.array([row[what][title] for row in tasks]) for what in ("accuracy", "variance")
        )
        of_base = np.array([row["accuracy"][base] for row in tasks])
        rows.append(
            {
                "setting": title,
                "mean": round(float(accuracy.mean()), 2),
                "difference": round(float((accuracy - of_base).mean()), 2),
                "standard error": round(float(np.sqrt(variance.sum())) / len(tasks), 2),
                **{row["task"]: round(row["accuracy"][title], 1) for row in tasks},
            }
        )
    return rows


def ablation_of(name: str) -> dict[str, Any]:
    """Measure all variants on all seeds and folds of a task."""

    def system(changed: dict[str, Any]) -> Predict:
        return partial(fitted, TreeSVC(**changed, random_state=0, n_jobs=1))

    return measured(name, {title: system(changed) for title, changed in variants().items()})


def measured(name: str, systems: Mapping[str, Predict]) -> dict[str, Any]:
    """Return the accuracy of systems on a task, and how sure differences from the first are."""
    row: dict[str, Any] = {"task": name, "accuracy": {}, "variance": {}}
    base: Any = None
    for title, predict in systems.items():
        own = np.array([100.0 * right(name, seed, predict) for seed in range(n_seeds(name))])
        base = own if base is None else base
        row["accuracy"][title] = float(own.mean())
        row["variance"][title] = variance_of(own - base)
    return row


def variance_of(differences: Any) -> float:
    """Return the variance of a mean difference, from differences by seed and tree."""
    n_seeds, n_trees = differences.shape
    by_tree = float(differences.mean(axis=0).var()) / n_trees
    if n_seeds == 1:
        return by_tree
    return by_tree + float(differences.mean(axis=1).var(ddof=1)) / n_seeds
