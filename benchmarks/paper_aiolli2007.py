"""The experiments of Aiolli et al. 2007, the DAG perceptron, with the paper's numbers beside ours.

    trees       Table I: the trees of the data
    epoch       Figs. 6 to 8: one epoch with seven kernels, F1, time and memory by lambda
    epochs      a second epoch; plain, averaged and voted predictions
    online      from a pipe: memory and time per example as the model grows, its nodes
    crossval    srl-5000: TK+POLY3 against TK and POLY3

Run all with ``python -m benchmarks.paper_aiolli2007``, some with ``--only online``. Each has its
own results, benchmarks/results/paper_aiolli2007_*.json. ``--quick`` measures a small part of each,
to see whether it works; its results go to build/quick.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.aiolli2007 import crossval, epoch, epochs, online, trees
from benchmarks.sections import Options, Section, run_paper

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "trees": trees.section,
    "epoch": epoch.section,
    "epochs": epochs.section,
    "online": online.section,
    "crossval": crossval.section,
}
# What is measured in a process of its own.
ONE: dict[str, Callable[..., Any]] = {**epoch.ONE, **epochs.ONE, **online.ONE}


if __name__ == "__main__":
    run_paper("paper_aiolli2007", __doc__.partition("\n")[0], SECTIONS, ONE)
