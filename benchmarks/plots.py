"""All plots, drawn from the rows of results. Needs matplotlib: pip install ".[bench]"."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.aiolli2007.plots import PLOTS as AIOLLI
from benchmarks.measure import exponent
from benchmarks.pighin2010.plots import PLOTS as PIGHIN
from benchmarks.rieck2008.plots import PLOTS as RIECK
from benchmarks.sections import Plots, Row
from benchmarks.severyn2012.plots import PLOTS as SEVERYN
from benchmarks.zanzotto2012.plots import PLOTS as ZANZOTTO

_GROWING = {
    "nonzeros": "nonzeros of the factors",
    "cpu_factorising": "factorising",
    "cpu_assembling": "assembling",
    "cpu_training": "training",
}


def growth(rows: list[Row]) -> Figure:
    """Nonzeros and seconds against n, both axes logarithmic."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    counts, seconds = figure.subplots(1, 2)
    n = [row["n_trees"] for row in rows]
    for key, title in _GROWING.items():
        values = [row[key] for row in rows]
        axes = counts if key == "nonzeros" else seconds
        axes.loglog(n, values, "o-", label=f"{title}: n^{exponent(n, values):.2f}")
    for axes, title in ((counts, "nonzeros"), (seconds, "CPU seconds")):
        axes.set(xlabel="training trees", ylabel=title)
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def growth_partial(rows: list[Row]) -> Figure:
    """Seconds of training against n, both axes logarithmic."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    for work in dict.fromkeys(row["work"] for row in rows):
        own = [row for row in rows if row["work"] == work]
        n, seconds = ([row[key] for row in own] for key in ("n_trees", "cpu_seconds"))
        axes.loglog(n, seconds, "o-", label=f"{work}: n^{exponent(n, seconds):.2f}")
    axes.set(xlabel="training trees", ylabel="CPU seconds")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def f1_by_size(rows: list[Row]) -> Figure:
    """F1 on the test set against the number of training trees."""
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes: Any = figure.subplots()
    own = [row for row in rows if row["data_set"] == "srl-ewt" and row["threads"] == 1]
    axes.semilogx([row["n_train"] for row in own], [row["f1"] for row in own], "o-")
    axes.set(xlabel="training trees", ylabel="F1 on the test set")
    axes.grid(alpha=0.3)
    return figure


def reliability(rows: list[Row]) -> Figure:
    """The share of positives against the probability, in ten bins."""
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes: Any = figure.subplots()
    axes.plot([0, 1], [0, 1], "k:", lw=1)
    for learner in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == learner]
        p, share = ([row[key] for row in own] for key in ("mean_probability", "share_of_positives"))
        axes.plot(p, share, "o-", label=learner)
    axes.set(xlabel="mean probability", ylabel="share of positives")
    axes.legend(fontsize="small")
    return figure


PLOTS: Plots = {
    "losses_reliability": {"reliability": reliability},
    "growth": {"growth": growth},
    "exact_ptk_growth": {"growth": growth_partial},
    "exact_svm": {"f1": f1_by_size},
    **AIOLLI,
    **PIGHIN,
    **RIECK,
    **SEVERYN,
    **ZANZOTTO,
}


def draw(name: str, rows: list[Row], folder: Path) -> list[str]:
    """Draw the plots of a result into a folder; return the names of the files."""
    files = []
    for title, plot in PLOTS.get(name, {}).items():
        files.append(f"{name}_{title}.svg")
        plot(rows).savefig(folder / files[-1], metadata={"Date": None})
    return files
