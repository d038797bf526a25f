"""Claim: every data set is factorised by subset trees within 10 s, all of clones-bcb within 20 s.

`SubsetTree(0.4)`, normalised, one thread, each data set in a process of its own. The seconds are
those from a forest to the factors of Delta between its nodes (`cpu_factorise`), from there to the
factors of its kernel matrix (`cpu_assemble`), and of both (`cpu_seconds`, which the limit is for).
Reading is not part of them.
"""

import json
import sys
from typing import Any

from benchmarks.datasets import DATASETS
from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data, write
from filbert import Forest
from filbert.engine import factorize
from filbert.kernels import SubsetTree

LIMIT = 10.0
LIMITS = {"clones-bcb with rest": 20.0}


def factorised(name: str) -> dict[str, Any]:
    """One data set, in this process."""
    forest = Forest.from_brackets(DATASETS[name](shared_data()))
    before = peak_mib()
    clock = Clock()
    factors = factorize(SubsetTree(0.4), forest, n_jobs=1)
    cpu, wall = clock.lap()
    return {
        "data_set": name,
        "n_trees": len(forest),
        "distinct_subtrees": forest.n_subtrees,
        "nonzeros": factors.n_node_entries,
        "nonzeros_of_trees": factors.n_entries,
        "rounds": factors.n_rounds,
        "blocks_by_pairs": factors.n_blocks_by_pairs,
        "cpu_factorise": round(factors.cpu_factorizing, 4),
        "cpu_assemble": round(factors.cpu_assembling, 4),
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "peak_mib": peak_mib(),
        "peak_mib_reading": before,
    }


def main(names: list[str]) -> None:
    figures = []
    for name in names:
        row = in_own_process("benchmarks.factorising", "--one", name)
        figures.append(row | {"limit_seconds": LIMITS.get(name, LIMIT)})
    write(
        "factorising",
        "every data set within 10 s, clones-bcb with rest within 20 s, on one thread",
        figures,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(factorised(sys.argv[2])))
    else:
        main(sys.argv[1:] or list(DATASETS))
