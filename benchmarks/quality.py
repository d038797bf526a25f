"""Accuracy out of the box: TreeSVC() and TreeSVCCV() beside plain baselines.

Each section is one table. `python -m benchmarks.quality --only tasks` measures one of them.

    tasks     twelve tasks; defaults were chosen by cross-validation on their training trees
    held_out  seven tasks on which nothing was chosen
    goals     three tasks with all their training trees
    ablation  what each part of the default brings on the twelve tasks
    million   the time of TreeSVCCV on a million trees
    damped    damped counts of the fragments of subset trees, which Filbert does not offer
"""

import argparse
import json
from collections.abc import Callable, Iterable
from functools import partial

from benchmarks.quality_sections.ablation import ablation_of, section_ablation
from benchmarks.quality_sections.compare import row_of, section_held_out, section_tasks
from benchmarks.quality_sections.damped import damped_of, section_damped
from benchmarks.quality_sections.goals import GOALS, goal_of, section_goals
from benchmarks.quality_sections.held_out import HELD_OUT
from benchmarks.quality_sections.million import SIZES, million_of, section_million
from benchmarks.quality_sections.tasks import TASKS
from benchmarks.sections import Section, results_folder, write_sections

SECTIONS: dict[str, Callable[[int, Iterable[str]], Section]] = {
    "tasks": section_tasks,
    "held_out": section_held_out,
    "goals": section_goals,
    "ablation": section_ablation,
    "damped": section_damped,
    "million": section_million,
}
ALL: dict[str, list[str]] = {
    "tasks": [*TASKS],
    "held_out": [*HELD_OUT],
    "goals": [*GOALS],
    "ablation": [*TASKS],
    "damped": [*TASKS],
    "million": SIZES,
}
QUICK = {
    "tasks": ["web logs", "RTE"],
    "held_out": ["web logs 2 -> 3"],
    "goals": ["questions"],
    "ablation": ["web logs"],
    "damped": ["web logs"],
    "million": ["2000"],
}
ONE = {
    "task": row_of,
    "goal": goal_of,
    "ablation": ablation_of,
    "damped": damped_of,
    "million": million_of,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--processes", type=int, default=1, help="tasks at a time")
    parser.add_argument("--quick", action="store_true", help="few tasks, to build/quick")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(ONE[arguments.one[0]](*arguments.one[1:])))
    else:
        tasks = QUICK if arguments.quick else ALL
        sections = {
            name: partial(SECTIONS[name], arguments.processes, tasks[name]) for name in SECTIONS
        }
        folder = results_folder(quick=arguments.quick)
        write_sections("quality", sections, arguments.only, folder)
