"""Figs. 1 to 4: accuracy, stability, memory and time of approximate kernels."""

import re
from collections import Counter
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from benchmarks.rieck2008.data import N_SPLITS
from benchmarks.sections import Plots, Row


def accuracy(rows: list[Row]) -> Figure:
    """Fig. 1: AUC by the share of symbols."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(5 * len(names), 4), layout="constrained")
    for axes, name in zip(np.ravel(figure.subplots(1, len(names))), names, strict=True):
        own = [row for row in rows if row["data"] == name]
        shares, aucs = ([row[key] for row in own] for key in ("share of symbols", "AUC"))
        axes.errorbar(shares, aucs, [row["+-"] for row in own], fmt="o-", label="approximate")
        axes.axhline(aucs[-1], ls="--", label="exact")
        axes.set(xlabel="share of symbols", ylabel="AUC", title=name, xscale="log")
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def _times_chosen(row: Row) -> Counter[str]:
    """How often each symbol was chosen, from the texts of the table."""
    sometimes = re.findall(r"(\S+) (\d+)", row["chosen sometimes"])
    always = dict.fromkeys(row["chosen always"].split(), N_SPLITS)
    return Counter(always | {symbol: int(times) for symbol, times in sometimes})


def stability(rows: list[Row]) -> Figure:
    """Fig. 2: how often each symbol is chosen, by the number of trees."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(5 * len(names), 5), layout="constrained")
    for axes, name in zip(np.ravel(figure.subplots(1, len(names))), names, strict=True):
        own = [row for row in rows if row["data"] == name]
        times = [_times_chosen(row) for row in own]
        symbols = [symbol for symbol, _ in sum(times, Counter()).most_common()]
        image = np.array([[chosen[symbol] for chosen in times] for symbol in symbols])
        axes.imshow(image, cmap="Greys", aspect="auto")
        axes.set_xticks(range(len(own)), [row["n"] for row in own], rotation=45)
        axes.set_yticks(range(len(symbols)), symbols)
        axes.set(xlabel="trees", title=name)
    return figure


def _by_size(key: str, title: str, rows: list[Row]) -> Figure:
    """Figs. 3 and 4: what one kernel takes, by the size of the trees."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, case in zip(np.ravel(figure.subplots(1, 2)), ("average", "worst"), strict=True):
        for kind in dict.fromkeys(row["kernel"] for row in rows):
            own = [row for row in rows if row["kernel"] == kind and row["case"] == case]
            axes.plot([r["nodes"] for r in own], [max(r[key], 1e-2) for r in own], "o-", label=kind)
        axes.set(xlabel="nodes of a tree", ylabel=title, title=case, xscale="log", yscale="log")
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


PLOTS: Plots = {
    "paper_rieck2008_accuracy": {"fig1": accuracy},
    "paper_rieck2008_stability": {"fig2": stability},
    "paper_rieck2008_pairs": {
        "fig3": partial(_by_size, "more_mib", "MiB"),
        "fig4": partial(_by_size, "cpu_ms", "CPU milliseconds"),
    },
}
