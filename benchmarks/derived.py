"""Differences and ratios that the documentation shows and no table has, by name.

Each is computed from the results, so that a figure on a page is compared with this one value.
"""

from collections.abc import Callable, Mapping
from typing import Any

Results = Mapping[str, dict[str, Any]]
Row = dict[str, Any]


def row_of(results: Results, name: str, **wanted: Any) -> Row:
    """Return the first row of a result with these values."""
    rows: list[Row] = results[name]["figures"]
    return next(row for row in rows if all(row[key] == wanted[key] for key in wanted))


def opt_below_stk(results: Results) -> float:
    """Points by which a linear SVM on at most 10,000 fragments is below the kernel."""
    rows = results["paper_pighin2010_accuracy"]["figures"]
    own = [row for row in rows if row["criterion"] == "gradient" and row["fragments"] <= 10_000]
    most = max(own, key=lambda row: row["fragments"])
    return float(most["accuracy STK"] - most["accuracy OPT"])


def convolution_below_exact(d: int) -> Callable[[Results], float]:
    """Points by which LinearSVC on vectors is below the exact kernel on questions."""

    def points(results: Results) -> float:
        name = "paper_zanzotto2012_questions"
        exact = row_of(results, name, kernel="exact")
        vectors = row_of(results, name, kernel=f"convolution, LinearSVC, d = {d}")
        return float(exact["accuracy"] - vectors["accuracy"])

    return points


def one_class_svm_over_sgd(results: Results) -> float:
    """How many times the time of SGDOneClassSVM OneClassSVM takes on `inex`."""
    row = row_of(results, "losses_one_class", data_set="inex 2005", held_out="mean of all")
    return float(row["cpu_one_class_svm"] / row["cpu_sgd"])


DERIVED: dict[str, Callable[[Results], float]] = {
    "opt_below_stk": opt_below_stk,
    "convolution_below_exact": convolution_below_exact(8192),
    "long_convolution_below_exact": convolution_below_exact(16384),
    "one_class_svm_over_sgd": one_class_svm_over_sgd,
}
