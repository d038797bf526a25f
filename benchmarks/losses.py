"""Probabilities, regression, ranking and linear models on features: time, optima and accuracy.

Each section is one table. `python -m benchmarks.losses --only time` measures one of them.
"""

import argparse
import json
from collections.abc import Callable

from benchmarks.loss_sections.calibration import section_calibration, section_reliability
from benchmarks.loss_sections.glycans import section_glycans
from benchmarks.loss_sections.one_class import section_one_class
from benchmarks.loss_sections.optima import section_optima
from benchmarks.loss_sections.pipelines import section_pipelines
from benchmarks.loss_sections.questions import section_questions
from benchmarks.loss_sections.rerank import section_rerank
from benchmarks.loss_sections.timing import section_time, time_of
from benchmarks.sections import Section, results_folder, write_sections

SECTIONS: dict[str, Callable[[], Section]] = {
    "optima": section_optima,
    "questions": section_questions,
    "pipelines": section_pipelines,
    "one_class": section_one_class,
    "glycans": section_glycans,
    "rerank": section_rerank,
    "calibration": section_calibration,
    "reliability": section_reliability,
    "time": section_time,
}
ONE = {"time": time_of}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(ONE[arguments.one[0]](*arguments.one[1:])))
    else:
        write_sections("losses", SECTIONS, arguments.only, results_folder(quick=False))
