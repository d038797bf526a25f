"""The first screen of the page: the main figures in one line each, computed from the results."""

from collections.abc import Callable
from typing import Any

from benchmarks.measure import n_runs
from benchmarks.sections import Row

# Marks of seconds that are not the median of several runs.
SINGLE, UNKNOWN = "¹", "²"


def where(rows: list[Row], **wanted: Any) -> list[Row]:
    """Return the rows with these values."""
    return [row for row in rows if all(row.get(key) == wanted[key] for key in wanted)]


def seconds(row: Row, key: str = "cpu_seconds") -> str:
    """CPU seconds to three digits, with a mark where they are not known to be a median."""
    shown = f"{row[key]:.3g}" if row[key] < 1000 else f"{row[key]:,.0f}"
    return f"{shown} s{ {1: SINGLE, None: UNKNOWN}.get(n_runs(row), '') }"


def kernel_matrix(rows: list[Row]) -> str:
    """Subset trees and partial trees, as in the README."""
    key = "cpu_seconds_one_thread"
    subset = next(row for row in rows if row["kernel"].startswith("SubsetTree"))
    partial = next(row for row in rows if "penalty='gaps'" in row["kernel"])
    return (
        f"{subset['n_trees']:,} question trees: subset trees {seconds(subset, key)}, "
        f"partial trees {seconds(partial, key)}"
    )


def golden(rows: list[Row]) -> str:
    """The largest difference."""
    return f"at most {max(row['largest_relative_difference'] for row in rows):.1e} relative"


def reading(rows: list[Row]) -> str:
    """The largest file."""
    row = max(rows, key=lambda row: row["n_trees"])
    return f"{row['n_trees']:,} trees at {row['megabytes_per_cpu_second']:.0f} MB/s"


def exact_svm(rows: list[Row]) -> str:
    """The largest training set."""
    row = max(where(rows, data_set="srl-ewt", threads=1), key=lambda row: row["n_train"])
    return (
        f"{row['n_train']:,} trees: {seconds(row)}, {row['peak_mib']:,} MiB, F1 {row['f1']:.3f}, "
        f"{row['support_vectors']:,} support vectors"
    )


def exact_ptk(rows: list[Row]) -> str:
    """The largest training set."""
    row = max(rows, key=lambda row: row["n_trees"])
    return f"{row['n_trees']:,} trees: {seconds(row)}, {row['peak_mib']:,} MiB, {row['quality']}"


def each_work(rows: list[Row]) -> str:
    """All rows."""
    return "; ".join(f"{row['work']}: {seconds(row)}" for row in rows)


def factorising(rows: list[Row]) -> str:
    """The slowest."""
    row = max(rows, key=lambda row: row["cpu_seconds"])
    return f"{len(rows)} data sets, the slowest ({row['data_set']}) {seconds(row)}"


def planes(rows: list[Row]) -> str:
    """The papers' fastest strategy beside exact training, on the largest training set."""
    own = where(rows, n=max(row["n"] for row in rows))
    plus = next(row for row in own if row["strategy"] == "sdag+")
    exact = next(row for row in own if row["strategy"].startswith("exact"))
    return (
        f"{plus['n']:,} trees: SDAG+ {seconds(plus, 'seconds')}, "
        f"exact {seconds(exact, 'seconds')} (without reading)"
    )


def epoch(rows: list[Row]) -> str:
    """The slowest of the kernels with a tree kernel alone, and the best F1 by both measures."""
    slowest = max(where(rows, kernel="TK"), key=lambda row: row["cpu_learning"])
    plain, averaged = (max(rows, key=lambda row: row[key]) for key in ("F1", "F1 averaged"))
    return (
        f"{slowest['n']:,} examples: TK learns in at most {seconds(slowest, 'cpu_learning')}; "
        f"best F1 {plain['F1']} ({plain['kernel']}), by averaged predictions "
        f"{averaged['F1 averaged']} ({averaged['kernel']})"
    )


def online(rows: list[Row]) -> str:
    """The tree kernel after the most examples."""
    row = max(where(rows, kernel="TK"), key=lambda row: row["examples"])
    return f"{row['examples']:,} examples by TK: {seconds(row)}, {row['peak_mib']:,} MiB"


def mining(rows: list[Row]) -> str:
    """The slowest on one thread."""
    row = max(where(rows, threads=1), key=lambda row: row["cpu_mining"])
    return (
        f"{row['support vectors']:,} support vectors mined in {seconds(row, 'cpu_mining')}; "
        f"{row['fragments']:,} fragments counted in {row['trees']:,} trees in "
        f"{seconds(row, 'cpu_counting')}"
    )


def embedding(rows: list[Row]) -> str:
    """Questions, and the million."""
    questions = where(rows, **{"data set": "qc const"})[0]
    million = where(rows, **{"data set": "srl-ewt"})[0]
    return (
        f"{questions['ms per tree']} ms for a question tree (d = {questions['d']:,}); "
        f"{million['trees']:,} trees (d = {million['d']:,}) {seconds(million)}"
    )


def symbols(rows: list[Row]) -> str:
    """What a tenth of the symbols loses, by data set."""
    lost = (
        f"{row['data']} {row['less exact']:+.1f}" for row in rows if row["share of symbols"] == 0.1
    )
    return f"AUC with 10 % of the symbols, less exact: {'; '.join(lost)}"


def quality(rows: list[Row]) -> str:
    """On how many tasks the defaults and the search reach the best baseline."""
    said = []
    for system in ("TreeSVC()", "TreeSVCCV()"):
        n = sum(row[system] >= row["best baseline"] for row in rows)
        said.append(f"{system} on {n} of {len(rows)} tasks")
    return f"at least as good as the best plain baseline: {', '.join(said)}"


HEADLINES: dict[str, tuple[str, Callable[[list[Row]], str]]] = {
    "kernel_matrix": ("Kernel matrix", kernel_matrix),
    "golden": ("Difference to SVM-Light-TK's kernel values", golden),
    "reading": ("Reading brackets", reading),
    "exact_svm": ("Exact SVM, subset trees, from file to predictions", exact_svm),
    "exact_ptk_srl": ("The same by partial trees", exact_ptk),
    "exact_ptk_sentences": ("Exact SVM on 12,543 sentences, partial trees", each_work),
    "factorising": ("Factorising every data set", factorising),
    "quality_tasks": ("Accuracy out of the box", quality),
    "paper_severyn2012_times": ("Cutting planes", planes),
    "paper_aiolli2007_epoch": ("Perceptron, one epoch", epoch),
    "paper_aiolli2007_online": ("Perceptron, from a pipe", online),
    "paper_pighin2010_speed": ("Mining and counting fragments", mining),
    "paper_zanzotto2012_speed": ("Embedding", embedding),
    "paper_rieck2008_accuracy": ("Symbol selection", symbols),
}
