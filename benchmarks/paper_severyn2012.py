"""Every table and figure of Severyn & Moschitti 2012, the paper's numbers beside ours.

    deltas      Tables 1 and 2, Fig. 3: calls of Delta and seconds of uSVM, SDAG and SDAG+
    classify    Table 3: models of growing training sets, and scoring with them
    times       Table 4: training on 100,000 and on all examples, also exactly
    imbalance   Table 5: six classes of questions, each against the rest
    trials      Table 5: the loss, the sampling and when to stop, one at a time
    threads     Fig. 4: two threads

Run all with ``python -m benchmarks.paper_severyn2012``, some with ``--only deltas threads``. Each
has its own results, benchmarks/results/paper_severyn2012_*.json. ``--quick`` measures a small part
of each, to see whether it works; its results go to build/quick.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial

from benchmarks.sections import results_folder, write_sections
from benchmarks.severyn2012 import classify, deltas, imbalance, threads, times, trials
from benchmarks.severyn2012.section import Options, Row, Section

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "deltas": deltas.section,
    "classify": classify.section,
    "times": times.section,
    "imbalance": imbalance.section,
    "trials": trials.section,
    "threads": threads.section,
}
# One row each, in a process of its own.
ONE: dict[str, Callable[..., Row]] = {
    **deltas.ONE,
    **classify.ONE,
    **times.ONE,
    **threads.ONE,
}


def main(names: list[str], *, quick: bool, budget: float) -> None:
    folder = results_folder(quick=quick)
    options = Options(quick, budget)
    sections = {name: partial(section, options) for name, section in SECTIONS.items()}
    write_sections("paper_severyn2012", sections, names, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="a small part of each section")
    parser.add_argument(
        "--budget", type=float, default=120.0, help="CPU seconds for one run of a slow strategy"
    )
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(ONE[arguments.one[0]](*arguments.one[1:])))
    else:
        main(arguments.only, quick=arguments.quick, budget=arguments.budget)
