"""Claim: nonzeros and time grow like n^1.15 at most.

The first n examples of `srl-ewt` (rule VB) for n = 5,000 to all 1,099,447: nonzeros of the factors,
CPU seconds of factorising and of training an exact SVM to a gap of 1e-3 on one thread, each n in a
process of its own; exponents by least squares on logarithms.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, exponent, in_own_process, peak_mib, shared_data, write
from filbert import TreeSVC, read_examples
from filbert.engine import factorize
from filbert.kernels import SubsetTree

SIZES = [5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, None]
GROWING = {
    "nonzeros": "nonzeros of the factors",
    "cpu_factorising": "factorising, CPU seconds",
    "cpu_assembling": "assembling, CPU seconds",
    "cpu_training": "training, CPU seconds",
}


def measured(path: str) -> dict[str, Any]:
    """One size, in this process."""
    X, y = read_examples(path)
    clf = TreeSVC(
        SubsetTree(0.4), engine="factors", tol=1e-3, random_state=0, n_jobs=1, C=1.0, loss="hinge"
    )
    clock = Clock()
    task = clf._prepare(X, y, None, [clf.C])  # fit is this, and
    clock.lap()
    clf._solve(task, clf.C, None)  # this
    training = clock.lap()
    peak = peak_mib()
    del task
    factors = factorize(clf.kernel, X, n_jobs=1)  # once more, for the figures of its parts
    return {
        "n_trees": len(X),
        "distinct_subtrees": X.n_subtrees,
        "nonzeros": factors.n_node_entries,
        "nonzeros_of_trees": factors.n_entries,
        "cpu_factorising": round(factors.cpu_factorizing, 4),
        "cpu_assembling": round(factors.cpu_assembling, 4),
        "cpu_training": training[0],
        "sweeps": clf.n_iter_,
        "support_vectors": len(clf.support_),
        "peak_mib": peak,
    }


def main(sizes: list[int | None]) -> None:
    figures = []
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        for n in sizes:
            repeat = 1 if n is None or n > 100_000 else 3
            path = first_lines(train, n)
            figures.append(in_own_process("benchmarks.growth", "--one", path, repeat=repeat))
    n_trees = [row["n_trees"] for row in figures]
    exponents = {key: exponent(n_trees, [row[key] for row in figures]) for key in GROWING}
    fitted = ", ".join(f"{GROWING[key]}: n^{value:.3f}" for key, value in exponents.items())
    write(
        "growth",
        "nonzeros and time of factorising grow like n^1.15 at most",
        figures,
        notes=[f"Fitted growth: {fitted}."],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(sys.argv[2])))
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
