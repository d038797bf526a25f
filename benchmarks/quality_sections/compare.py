"""The twelve tasks and those held out: TreeSVC() and TreeSVCCV() beside plain baselines."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.measure import Clock
from benchmarks.quality_sections.parallel import each_in_own_process
from benchmarks.quality_sections.seeded import n_seeds, task
from benchmarks.quality_sections.significance import p_value
from benchmarks.quality_sections.systems import DEFAULT, SEARCH, ours, plain, right
from benchmarks.sections import Section

LEVEL = 0.05


def section_tasks(n_processes: int, names: Iterable[str]) -> Section:
    """Defaults and the search against the best baseline, on the tasks that were looked at."""
    return _section(
        "goal: defaults at least as good as the best plain baseline on ten of twelve tasks and "
        "significantly worse on none; TreeSVCCV at least as good on all and better on six",
        n_processes,
        names,
    )


def section_held_out(n_processes: int, names: Iterable[str]) -> Section:
    """The same on tasks on which nothing was chosen."""
    return _section("tasks on which nothing was chosen", n_processes, names)


def _section(title: str, n_processes: int, names: Iterable[str]) -> Section:
    section = Section(title)
    section.rows = each_in_own_process("task", names, n_processes)
    section.notes = [
        "Accuracy in percent: the mean over the seeds. With a given split, each seed has its own "
        "sample of at most 3,000 training trees. Otherwise each seed has its own folds. The test "
        "trees are the same for all seeds, and each is predicted once per seed. RTE has one seed, "
        "because all its training pairs are used.",
        "The baselines are LinearSVC of scikit-learn on vectors of length 1, with C = 0.1, 1 or "
        "10, chosen by cross-validation on the training trees of a fold. The best baseline is the "
        "one with the highest mean accuracy on the test trees, which favours it.",
        "p: randomisation over test trees. All predictions of a tree are swapped together. sd: "
        "the standard deviation over the seeds of the difference from the best baseline. "
        + _counts(section),
    ]
    return section


def row_of(name: str) -> dict[str, Any]:
    """Measure one task."""
    seeds = range(n_seeds(name))
    data = task(name, 0)
    tested = sum(len(test) for _, test in data.folds)
    row: dict[str, Any] = {
        "task": name,
        "classes": len(set(data.y)),
        "train": len(data.folds[0][0]),
        "test": tested,
        "folds": len(data.folds),
        "seeds": len(seeds),
    }

    def measured(predict: Callable[..., Any]) -> Any:
        return np.array([right(name, seed, predict) for seed in seeds], dtype=np.float64)

    found = {title: measured(predict) for title, predict in plain().items()}
    row |= {title: round(100 * float(own.mean()), 2) for title, own in found.items()}
    best = max(found, key=lambda title: float(found[title].mean()))
    row["best baseline"] = row[best]
    for title, predict in ours().items():
        clock = Clock()
        own = measured(predict)
        seconds = clock.lap()[0] / len(data.folds) / len(seeds)
        difference = own - found[best]  # by seed and tree
        row[title] = round(100 * float(own.mean()), 2)
        row[f"p of {title}"] = round(p_value(difference.mean(axis=0)), 4)
        if len(seeds) > 1:
            by_seed = 100 * difference.mean(axis=1)
            row[f"sd of {title}"] = round(float(by_seed.std(ddof=1)), 2)
        row[f"CPU seconds of {title}"] = round(seconds, 2)
    return row


def _counts(section: Section) -> str:
    said = []
    for system in (DEFAULT, SEARCH):
        gains = [(r[system] - r["best baseline"], r[f"p of {system}"]) for r in section.rows]
        as_good = sum(gain >= 0 for gain, _ in gains)
        better = sum(gain > 0 and p < LEVEL for gain, p in gains)
        worse = sum(gain < 0 and p < LEVEL for gain, p in gains)
        said.append(
            f"{system} is at least as good on {as_good} of {len(gains)} tasks, significantly "
            f"better on {better} and significantly worse on {worse} (p < {LEVEL})."
        )
    return " ".join(said)
