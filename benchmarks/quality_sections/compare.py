"""The twelve tasks: TreeSVC() and TreeSVCCV() beside plain baselines."""

from collections.abc import Iterable
from typing import Any

from benchmarks.measure import Clock
from benchmarks.quality_sections.parallel import each_in_own_process
from benchmarks.quality_sections.systems import DEFAULT, SEARCH, labels, ours, plain, predictions
from benchmarks.quality_sections.seeded import task
from benchmarks.sections import Section
from filbert.metrics import randomization_test

LEVEL = 0.05


def section_tasks(n_processes: int, names: Iterable[str]) -> Section:
    """Defaults and the search against the best baseline."""
    section = Section(
        "goal: defaults at least as good as the best plain baseline on ten of twelve tasks and "
        "significantly worse on none; TreeSVCCV at least as good on all and better on six"
    )
    section.rows = each_in_own_process("task", names, n_processes)
    section.notes = [
        "Accuracy in percent. A given split is one fold, with a sample of at most 3,000 training "
        "trees. Otherwise there are several folds, so that each tree is predicted once.",
        "The baselines are LinearSVC of scikit-learn on vectors of length 1, with C = 0.1, 1 or "
        "10, chosen by cross-validation on the training trees of a fold. The best baseline is the "
        "one with the highest accuracy on the test trees, which favours it.",
        f"p: randomisation (filbert.metrics.randomization_test). {_counts(section)}",
    ]
    return section


def row_of(name: str) -> dict[str, Any]:
    """Measure one task."""
    data, y = task(name), labels(name)
    row: dict[str, Any] = {
        "task": name,
        "classes": len(set(data.y)),
        "train": len(data.folds[0][0]),
        "test": len(y),
        "folds": len(data.folds),
    }
    found = {title: predictions(name, predict) for title, predict in plain().items()}
    row |= {title: round(100 * float((own == y).mean()), 2) for title, own in found.items()}
    best = max(found, key=lambda title: row[title])
    row["best baseline"] = row[best]
    for title, predict in ours().items():
        clock = Clock()
        own = predictions(name, predict)
        seconds = clock.lap()[0] / len(data.folds)
        test = randomization_test(y, own, found[best], metric="accuracy", random_state=0)
        row[title] = round(100 * float((own == y).mean()), 2)
        row[f"p of {title}"] = round(test.p_value, 4)
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
