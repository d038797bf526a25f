"""The experiments of Zanzotto & Dell'Arciprete 2012, distributed trees, with the paper's numbers.

    norms         Fig. 2: norms and products of composed vectors
    correlation   Table 2: correlation with the exact kernel
    questions     Fig. 3: question classification against lambda
    entailment    Fig. 4: textual entailment against lambda
    wide          beyond the paper: norms of nodes with many children
    pairs         Fig. 5: time per pair against the size of trees
    speed         what embedding takes

Run all with ``python -m benchmarks.paper_zanzotto2012``, some with ``--only norms``. Each has its
own results, benchmarks/results/paper_zanzotto2012_*.json. ``--quick`` measures a small part of
each, to see whether it works; its results go to build/quick.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.sections import Options, Section, run_paper
from benchmarks.zanzotto2012 import correlation, entailment, norms, questions, times, wide

SECTIONS: dict[str, Callable[[Options], Section]] = {
    "norms": norms.section,
    "correlation": correlation.section,
    "questions": questions.section,
    "entailment": entailment.section,
    "wide": wide.section,
    "pairs": times.pair_section,
    "speed": times.speed_section,
}
# What is measured in a process of its own.
ONE: dict[str, Callable[..., Any]] = {**questions.ONE, **times.ONE}


if __name__ == "__main__":
    run_paper("paper_zanzotto2012", __doc__.partition("\n")[0], SECTIONS, ONE)
