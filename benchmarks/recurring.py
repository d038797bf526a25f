"""Goal: all recurring fragments of 12,543 sentences within 5 s.

The sentences of `srl-ewt`, `recurring_fragments` with its defaults, one thread, each row in a
process of its own. CPU seconds, medians of three runs, without reading the trees.
"""

import json
import sys
from itertools import islice
from typing import Any

from benchmarks.datasets import DATASETS
from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data, write
from filbert import Forest
from filbert.fragments import recurring_fragments

SIZES = [500, 1000, 2000, 4000, 12_543]
LIMIT = 5.0


def one(n: int) -> dict[str, Any]:
    """The first sentences, in this process."""
    X = Forest(islice(DATASETS["srl-ewt sentences"](shared_data()), n))
    clock = Clock()
    found = recurring_fragments(X, n_jobs=1)
    cpu = clock.lap()[0]
    return {
        "n_trees": len(X),
        "n_nodes": X.n_nodes,
        "fragments": len(found),
        "mean_size": round(float(found.size.mean()), 2),
        "cpu_seconds": cpu,
        "peak_mib": peak_mib(),
    }


def main(sizes: list[int]) -> None:
    figures = [in_own_process("benchmarks.recurring", "--one", str(n), repeat=3) for n in sizes]
    slow = [f"{row['n_trees']:,} trees" for row in figures if row["cpu_seconds"] > LIMIT]
    write(
        "recurring",
        f"all recurring fragments of 12,543 sentences within {LIMIT:g} s",
        figures,
        notes=[f"Over the limit: {', '.join(slow)}." if slow else "All are within the limit."],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(int(sys.argv[2]))))
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
