"""The experiments of Aiolli et al. 2007, the DAG perceptron, with the paper's numbers beside ours.

    epoch       Figs. 6 to 8: one epoch with seven kernels, F1, time and memory by lambda
    epochs      a second epoch; plain, averaged and voted predictions
    online      from a pipe: memory and time per example as the model grows, its nodes
    crossval    srl-5000: TK+POLY3 against TK and POLY3

Run all with ``python -m benchmarks.paper_aiolli2007``, some with ``--only online``. Each has its
own results, benchmarks/results/paper_aiolli2007_*.json. ``--quick`` measures a small part of each,
to see whether it works; its results go to build/quick.

Plots need matplotlib: pip install ".[bench]".
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.aiolli2007 import crossval, epoch, epochs, online
from benchmarks.aiolli2007.section import Options, Section
from benchmarks.sections import results_folder, write_sections

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "epoch": epoch.section,
    "epochs": epochs.section,
    "online": online.section,
    "crossval": crossval.section,
}
# What is measured in a process of its own.
ONE: dict[str, Callable[..., Any]] = {**epoch.ONE, **epochs.ONE, **online.ONE}


def main(names: list[str], *, quick: bool) -> None:
    folder = results_folder(quick=quick)
    options = Options(quick, folder)
    sections = {name: partial(section, options) for name, section in SECTIONS.items()}
    write_sections("paper_aiolli2007", sections, names, folder)


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
