"""Three tasks with all training trees."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from benchmarks.measure import Clock
from benchmarks.quality_sections.parallel import each_in_own_process
from benchmarks.quality_sections.tasks import Task, documents, questions
from benchmarks.sections import Section
from filbert import TreeSVC, TreeSVCCV

ALL = 10**9
GOALS: dict[str, tuple[Callable[[], Task], float]] = {
    "questions": (partial(questions, 0, ALL), 91.6),
    "INEX 2005": (partial(documents, 2005, 0, ALL), 96.5),
    "INEX 2006": (partial(documents, 2006, 0, ALL), 45.0),
}


def section_goals(n_processes: int, names: Iterable[str]) -> Section:
    """Accuracy after training on the whole training set."""
    section = Section(
        "goal: questions (constituents only) above 91.6 %, INEX 2005 above 96.5 %, "
        "INEX 2006 above 45 %"
    )
    section.rows = each_in_own_process("goal", names, n_processes)
    section.notes = ["The given splits. CPU seconds are those of training, on one thread."]
    return section


def goal_of(name: str) -> dict[str, Any]:
    """Measure one task with all its training trees."""
    make, goal = GOALS[name]
    data = make()
    [(train, test)] = data.folds
    row: dict[str, Any] = {"task": name, "train": len(train), "test": len(test), "goal": goal}
    search = TreeSVCCV(random_state=0, n_jobs=1)
    for learner in (TreeSVC(random_state=0, n_jobs=1), search):
        clock = Clock()
        learner.fit(data.X[train], data.y[train])
        title = f"{type(learner).__name__}()"
        row[f"CPU seconds of {title}"] = clock.lap()[0]
        right = learner.predict(data.X[test]) == data.y[test]
        row[title] = round(100 * float(right.mean()), 2)
    best = search.best_params_
    row["chosen"] = f"{best['kernel']!r}, {best['loss']}, C={best['C']:g}"
    return row
