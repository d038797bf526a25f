"""Goals: features of a million trees in 1.3 times the time of factorising, and in 4 GB.

All boundary examples of `srl-ewt` (rule VB), `SubsetTree(0.4)`, normalised, one thread, each row in
a process of its own. `fit_transform` of the training part beside factorising it alone, and
`transform` of the test part beside the scores of these trees by all training trees as support
vectors, which also factorises both together. CPU seconds, medians of three runs.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data, write
from filbert import TreeFeatures, read_examples
from filbert.engine import factorize
from filbert.engine.tree_scorer import TreeScorer
from filbert.kernels import SubsetTree

SIZES = [100_000, None]
LIMIT = 1.3
KERNEL = SubsetTree(0.4)


def fitted(train: str) -> dict[str, Any]:
    """The training part, in this process."""
    X, _ = read_examples(train)
    features = TreeFeatures(KERNEL, n_jobs=1)
    clock = Clock()
    A = features.fit_transform(X)
    cpu = clock.lap()[0]
    peak, shape, nonzeros = peak_mib(), A.shape, A.nnz
    del A, features
    clock.lap()
    factorize(KERNEL, X, n_jobs=1)
    alone = clock.lap()[0]
    return {
        "work": "fit_transform",
        "n_trees": len(X),
        "columns": shape[1],
        "nonzeros": nonzeros,
        "cpu_seconds": cpu,
        "cpu_reference": alone,
        "peak_mib": peak,
    }


def transformed(train: str, test: str) -> dict[str, Any]:
    """The test part, in this process."""
    (X, _), (Y, _) = read_examples(train), read_examples(test)
    features = TreeFeatures(KERNEL, n_jobs=1).fit(X)
    clock = Clock()
    B = features.transform(Y)
    cpu = clock.lap()[0]
    peak = peak_mib()
    coef = np.random.default_rng(0).normal(size=(1, len(X)))
    clock.lap()
    TreeScorer(KERNEL, X, coef).scores(Y, "factors", 1)
    alone = clock.lap()[0]
    return {
        "work": "transform",
        "n_trees": len(Y),
        "columns": B.shape[1],
        "nonzeros": B.nnz,
        "cpu_seconds": cpu,
        "cpu_reference": alone,
        "peak_mib": peak,
    }


def main(sizes: list[int | None]) -> None:
    figures = []
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        test = write_boundary(shared_data(), "test", Path(folder) / "test.tsv")
        for n in sizes:
            path = first_lines(train, n)
            for work in (["fit", path], ["transform", path, test]):
                row = in_own_process("benchmarks.tree_features", "--one", *work, repeat=3)
                figures.append(row | {"ratio": round(row["cpu_seconds"] / row["cpu_reference"], 3)})
    slow = [f"{row['work']} ({row['ratio']})" for row in figures if row["ratio"] > LIMIT]
    note = f"Over the limit: {', '.join(slow)}." if slow else "All are within the limit."
    write(
        "tree_features",
        f"features take at most {LIMIT} times the time of factorising or scoring, and 4 GB",
        figures,
        notes=[note],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        work = {"fit": fitted, "transform": transformed}[sys.argv[2]]
        print(json.dumps(work(*sys.argv[3:])))
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
