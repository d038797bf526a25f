"""Claim: nonzeros and time grow like n^1.15 at most, and more data is worth having.

The first n examples of `srl-ewt` (rule VB) for n = 5,000 to all 1,099,447: nonzeros of the factors,
CPU seconds of factorising and of training an exact SVM to a gap of 1e-3 on one thread, each n in a
process of its own; exponents by least squares on logarithms. The F1 on the test set is that which
benchmarks.exact_svm measured.

Needs matplotlib: pip install ".[bench]".
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import RESULTS, Clock, in_own_process, peak_mib, shared_data, write
from filbert import TreeSVC, read_examples
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
    clf = TreeSVC(SubsetTree(0.4), engine="factors", tol=1e-3, random_state=0, n_jobs=1)
    clock = Clock()
    task = clf._prepare(X, y, None)  # fit is this, and
    clock.lap()
    clf._solve(task, clf.C, None)  # this
    training = clock.lap()
    factors: Any = task.trainer.matrix
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
        "peak_mib": peak_mib(),
    }


def exponent(n: Sequence[float], values: Sequence[float]) -> float:
    """Fit b in values = a n^b."""
    return float(np.polyfit(np.log(n), np.log(values), 1)[0])


def plot_growth(figures: list[dict[str, Any]], exponents: dict[str, float]) -> str:
    """Nonzeros and seconds against n, both axes logarithmic."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    counts, seconds = figure.subplots(1, 2)
    n = [row["n_trees"] for row in figures]
    for key, title in GROWING.items():
        axes = counts if key == "nonzeros" else seconds
        label = f"{title.partition(',')[0]}: n^{exponents[key]:.2f}"
        axes.loglog(n, [row[key] for row in figures], "o-", label=label)
    for axes, title in ((counts, "nonzeros"), (seconds, "CPU seconds")):
        axes.set(xlabel="training trees", ylabel=title)
        axes.grid(alpha=0.3)
        axes.legend()
    return saved(figure, "growth.svg")


def plot_f1(figures: list[dict[str, Any]]) -> str:
    """F1 on the test set against the number of training trees."""
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    axes.semilogx([row["n_train"] for row in figures], [row["f1"] for row in figures], "o-")
    axes.set(xlabel="training trees", ylabel="F1 on the test set")
    axes.grid(alpha=0.3)
    return saved(figure, "f1.svg")


def saved(figure: Any, name: str, folder: Path = RESULTS) -> str:
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / name, metadata={"Date": None})
    return name


def f1_by_size() -> list[dict[str, Any]]:
    """What benchmarks.exact_svm found, one row for each size."""
    path = RESULTS / "exact_svm.json"
    if not path.is_file():
        raise SystemExit("run benchmarks.exact_svm first: the F1 is taken from its results")
    rows = json.loads(path.read_text())["figures"]
    return [row for row in rows if row.get("data_set") == "srl-ewt" and row["threads"] == 1]


def main(sizes: list[int | None]) -> None:
    quality = f1_by_size()
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
    f1 = ", ".join(f"{row['f1']:.3f} of {row['n_train']:,}" for row in quality)
    write(
        "growth",
        "nonzeros and time of factorising grow like n^1.15 at most",
        figures,
        notes=[f"Fitted growth: {fitted}.", f"F1 by number of training trees: {f1}."],
        plots=[plot_growth(figures, exponents), plot_f1(quality)],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(sys.argv[2])))
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
