"""Figs. 6 to 8, and the perceptron online."""

from functools import partial
from typing import Any

from matplotlib.figure import Figure

from benchmarks.aiolli2007.kernels import has_trees
from benchmarks.sections import Plots, Row


def _total_minutes(row: Row) -> float:
    total: float = row["cpu_reading"] + row["cpu_learning"] + row["cpu_testing"]
    return total / 60


def _by_decay(names: list[str], key: str, title: str, rows: list[Row]) -> Figure:
    """One line for each kernel; a kernel without a decay is a straight line."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    decays = sorted({row["lambda"] for row in rows if row["lambda"]})
    for name in names:
        own = [row for row in rows if row["kernel"] == name]
        values = [_total_minutes(row) if key == "minutes" else row[key] for row in own]
        if has_trees(name):
            axes.plot(decays, values, "o-", label=name)
        else:
            axes.plot(decays, values * len(decays), "--", label=name)
    axes.set(xlabel="lambda", ylabel=title)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def online(rows: list[Row]) -> Figure:
    """Time per example and nodes, by the number of examples."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes: Any = figure.subplots(1, 2)
    for name in dict.fromkeys(row["kernel"] for row in rows):
        own = [row for row in rows if row["kernel"] == name]
        n = [row["examples"] for row in own]
        axes[0].loglog(n, [row["microseconds an example"] for row in own], "o-", label=name)
        axes[1].loglog(n, [row["nodes of its trees"] for row in own], "s--", label=f"{name}, trees")
        axes[1].loglog(n, [row["nodes of the model"] for row in own], "o-", label=f"{name}, model")
    axes[0].set(xlabel="examples", ylabel="microseconds an example")
    axes[1].set(xlabel="examples", ylabel="nodes")
    for each in axes:
        each.grid(alpha=0.3)
        each.legend()
    return figure


_TIMES = ["TK", "TK+POLY2", "TK+POLY3"]
_POLYNOMIALS = ["POLY2", "POLY3", "TK+POLY2", "TK+POLY3"]
_LINEAR = ["LINEAR", "TK", "TK+LINEAR"]

PLOTS: Plots = {
    "paper_aiolli2007_epoch": {
        "fig6": partial(_by_decay, _TIMES, "minutes", "minutes, training and test"),
        # The paper's measure is the F1 of the last weights. Averaged predictions are ours.
        "fig7": partial(_by_decay, _POLYNOMIALS, "F1", "F1"),
        "fig7_averaged": partial(_by_decay, _POLYNOMIALS, "F1 averaged", "F1, averaged"),
        "fig8": partial(_by_decay, _LINEAR, "F1", "F1"),
        "fig8_averaged": partial(_by_decay, _LINEAR, "F1 averaged", "F1, averaged"),
    },
    "paper_aiolli2007_online": {"growth": online},
}
