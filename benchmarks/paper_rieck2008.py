"""The experiments of Rieck, Brefeld & Krueger 2008, with the paper's numbers beside ours.

    accuracy    Fig. 1: AUC by the share of symbols, questions and documents
    stability   Fig. 2: which symbols are chosen, by the number of trees
    pairs       Figs. 3 and 4: memory and time of one kernel by the size of the trees
    training    beyond the paper: training and kernel matrices with chosen symbols

Run all with ``python -m benchmarks.paper_rieck2008``, some with ``--only pairs``. Each has its
own results, benchmarks/results/paper_rieck2008_*.json. ``--quick`` measures a small part of each,
to see whether it works; its results go to build/quick.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.rieck2008 import accuracy, pairs, stability, training
from benchmarks.sections import Options, Section, run_paper

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "accuracy": accuracy.section,
    "stability": stability.section,
    "pairs": pairs.section,
    "training": training.section,
}
# What is measured in a process of its own.
ONE: dict[str, Callable[..., Any]] = {**pairs.ONE}


if __name__ == "__main__":
    run_paper("paper_rieck2008", __doc__.partition("\n")[0], SECTIONS, ONE)
