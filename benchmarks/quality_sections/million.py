"""A million trees: what choosing a kernel by TreeSVCCV takes, on a sample, and training with it."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from sklearn.metrics import f1_score

from benchmarks.measure import Clock, peak_mib, shared_data
from benchmarks.quality_sections.parallel import each_in_own_process
from benchmarks.sections import Section
from filbert import Forest, TreeSVCCV
from filbert.datasets import srl_boundary

SIZES = ["2000000"]  # more than there are


def section_million(n_processes: int, sizes: Iterable[str]) -> Section:
    """Time, memory and F1 for the first trees of `srl-ewt`, in one process each."""
    section = Section("goal: TreeSVCCV on a million predicate-argument trees within 10 minutes")
    section.rows = each_in_own_process("million", sizes, n_processes)
    section.notes = [
        "srl-ewt (rule VB), TreeSVCCV() with its defaults on one thread. Seconds are those of fit: "
        "the search on a sample and the training of the best setting on all trees."
    ]
    return section


def million_of(size: str) -> dict[str, Any]:
    """Search and train on so many trees, and score the test set."""
    X, y = examples("train", int(size))
    clock = Clock()
    search = TreeSVCCV(random_state=0, n_jobs=1).fit(X, y)
    cpu, wall = clock.lap()
    peak = peak_mib()
    X_test, y_test = examples("test", int(size))
    best = search.best_params_
    return {
        "data_set": "srl-ewt",
        "n_train": len(X),
        "searched": search.n_searched_,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "peak_mib": peak,
        "f1": round(float(f1_score(y_test, search.predict(X_test))), 4),
        "chosen": f"{best['kernel']!r}, {best['loss']}, C={best['C']:g}",
        "left_out": len(search.left_out_),
    }


def examples(part: str, n: int) -> tuple[Forest, list[int]]:
    """Return the first trees of a part, and their labels."""
    labels: list[int] = []

    def trees() -> Iterable[str]:
        for label, tree in islice(srl_boundary(shared_data() / f"srl-ewt/{part}.jsonl.xz"), n):
            labels.append(int(label))
            yield tree

    return Forest(trees()), labels
