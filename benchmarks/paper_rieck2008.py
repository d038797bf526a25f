"""The experiments of Rieck, Brefeld & Krueger 2008, with the paper's numbers beside ours.

    accuracy    Fig. 1: AUC by the share of symbols, questions and documents
    stability   Fig. 2: which symbols are chosen, by the number of trees
    pairs       Figs. 3 and 4: memory and time of one kernel by the size of the trees
    training    beyond the paper: training and kernel matrices with chosen symbols

Run all with ``python -m benchmarks.paper_rieck2008``, some with ``--only pairs``. Each has its
own results, benchmarks/results/paper_rieck2008_*.json. ``--quick`` measures a small part of each,
to see whether it works; its results go to build/quick.

Plots need matplotlib: pip install ".[bench]".
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.rieck2008 import accuracy, pairs, stability, training
from benchmarks.rieck2008.section import Options, Section
from benchmarks.sections import results_folder, write_sections

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "accuracy": accuracy.section,
    "stability": stability.section,
    "pairs": pairs.section,
    "training": training.section,
}
# What is measured in a process of its own.
ONE: dict[str, Callable[..., Any]] = {**pairs.ONE}


def main(names: list[str], *, quick: bool) -> None:
    folder = results_folder(quick=quick)
    options = Options(quick, folder)
    sections = {name: partial(section, options) for name, section in SECTIONS.items()}
    write_sections("paper_rieck2008", sections, names, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="a small part of each section")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(ONE[arguments.one[0]](*arguments.one[1:])))
    else:
        main(arguments.only, quick=arguments.quick)
