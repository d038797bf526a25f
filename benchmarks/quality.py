"""Accuracy out of the box: TreeSVC() and TreeSVCCV() beside plain baselines, on twelve tasks.

Each section is one table. `python -m benchmarks.quality --only tasks` measures one of them. All of
them take about ten CPU minutes.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial

from benchmarks.quality_sections.ablation import ablation_of, section_ablation
from benchmarks.quality_sections.compare import row_of, section_tasks
from benchmarks.quality_sections.goals import goal_of, section_goals
from benchmarks.sections import Section, results_folder, write_sections

SECTIONS: dict[str, Callable[[int], Section]] = {
    "tasks": section_tasks,
    "goals": section_goals,
    "ablation": section_ablation,
}
ONE = {"task": row_of, "goal": goal_of, "ablation": ablation_of}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--processes", type=int, default=1, help="tasks at a time")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(ONE[arguments.one[0]](*arguments.one[1:])))
    else:
        sections = {name: partial(SECTIONS[name], arguments.processes) for name in SECTIONS}
        write_sections("quality", sections, arguments.only, results_folder(quick=False))
