"""Figs. 1 to 3: fragments, their share of the norm, and what they score."""

from typing import Any

from matplotlib.figure import Figure

from benchmarks.sections import Plots, Row

_MARKS = {"gradient": "o", "chi2": "s"}


def norms(rows: list[Row]) -> Figure:
    """Fig. 1: the share of the norm by the number of fragments."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    for label in dict.fromkeys(row["class"] for row in rows):
        own = [row for row in rows if row["class"] == label]
        shares = [row["norm share, %"] for row in own]
        axes.semilogx([row["fragments"] for row in own], shares, "o-", label=label)
    axes.set(xlabel="fragments", ylabel="share of the norm, %")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def shares(rows: list[Row]) -> Figure:
    """Fig. 2: F1 by the share of the norm."""
    labels = list(dict.fromkeys(row["class"] for row in rows))
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, label in zip(figure.subplots(1, len(labels)), labels, strict=True):
        for criterion, mark in _MARKS.items():
            own = [r for r in rows if r["class"] == label and r["criterion"] == criterion]
            own.sort(key=lambda row: row["norm share, %"])
            x = [row["norm share, %"] for row in own]
            for name, line in (("LIN", "--"), ("OPT", "-")):
                y = [row[f"F1 {name}"] for row in own]
                axes.plot(x, y, mark + line, label=f"{name}, {criterion}")
        axes.axhline(next(r["F1 STK"] for r in rows if r["class"] == label), label="STK", color="k")
        axes.set(xlabel="share of the norm, %", ylabel="F1", title=label)
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def accuracy(rows: list[Row]) -> Figure:
    """Fig. 3: accuracy by the number of fragments."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    for criterion, mark in _MARKS.items():
        own = [row for row in rows if row["criterion"] == criterion]
        n = [row["fragments"] for row in own]
        for name, line in (("OPT", "-"), ("LIN", "--")):
            y = [row[f"accuracy {name}"] for row in own]
            axes.semilogx(n, y, mark + line, label=f"{name}, {criterion}")
    axes.axhline(rows[0]["accuracy STK"], label="STK", color="k")
    axes.set(xlabel="fragments", ylabel="accuracy, %")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


PLOTS: Plots = {
    "paper_pighin2010_norms": {"fig1": norms},
    "paper_pighin2010_shares": {"fig2": shares},
    "paper_pighin2010_accuracy": {"fig3": accuracy},
}
