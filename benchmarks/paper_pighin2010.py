"""The experiments of Pighin & Moschitti 2010 on fragments, with the paper's numbers beside ours.

    norms       Fig. 1: the share of the norm of w by the number of fragments, six classes
    classes     Table 1: F1 of STK, LIN and OPT by class, with 60 % of the norm
    shares      Fig. 2: F1 of LOC and DESC by the share of the norm, gradient and chi2
    accuracy    Fig. 3: accuracy over all classes by the number of fragments
    tasks       Table 2: accuracy of STK and OPT on questions and on semantic roles
    variants    Table 2: what OPT loses by, one thing at a time, on five random splits
    greedy      the share of the 1,000 heaviest fragments that the greedy search finds
    costs       Table 1: ENTY and HUM with a small C beside the chosen one
    speed       mining 36,000 support vectors; 100,000 trees over 10,000 fragments

Run all with ``python -m benchmarks.paper_pighin2010``, some with ``--only norms``. Each has its
own results, benchmarks/results/paper_pighin2010_*.json. ``--quick`` measures a small part of each,
to see whether it works; its results go to build/quick.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.pighin2010 import classes, costs, greedy, multiclass, norms, shares, speed, variants
from benchmarks.sections import Options, Section, run_paper

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "norms": norms.section,
    "classes": classes.section,
    "shares": shares.section,
    "accuracy": multiclass.accuracy_section,
    "tasks": multiclass.table_section,
    "variants": variants.section,
    "greedy": greedy.section,
    "costs": costs.section,
    "speed": speed.section,
}
# What is measured in a process of its own.
ONE: dict[str, Callable[..., Any]] = {**speed.ONE}


if __name__ == "__main__":
    run_paper("paper_pighin2010", __doc__.partition("\n")[0], SECTIONS, ONE)
