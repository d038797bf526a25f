"""The experiments of Zanzotto & Dell'Arciprete 2012, distributed trees, with the paper's numbers.

    norms         Fig. 2: norms and products of composed vectors
    correlation   Table 2: correlation with the exact kernel
    questions     Fig. 3: question classification against lambda
    entailment    Fig. 4: textual entailment against lambda
    pairs         Fig. 5: time per pair against the size of trees
    speed         what embedding takes

Run all with ``python -m benchmarks.paper_zanzotto2012``, some with ``--only norms``. Each has its
own results, benchmarks/results/paper_zanzotto2012_*.json. ``--quick`` measures a small part of
each, to see whether it works; its results go to build/quick.

Plots need matplotlib: pip install ".[bench]".
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.sections import results_folder, write_sections
from benchmarks.zanzotto2012 import correlation, entailment, norms, questions, times
from benchmarks.zanzotto2012.section import Options, Section

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "norms": norms.section,
    "correlation": correlation.section,
    "questions": questions.section,
    "entailment": entailment.section,
    "pairs": times.pair_section,
    "speed": times.speed_section,
}
# What is measured in a process of its own.
ONE: dict[str, Callable[..., Any]] = {**questions.ONE, **times.ONE}


def main(names: list[str], *, quick: bool) -> None:
    folder = results_folder(quick=quick)
    options = Options(quick, folder)
    sections = {name: partial(section, options) for name, section in SECTIONS.items()}
    write_sections("paper_zanzotto2012", sections, names, folder)


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
