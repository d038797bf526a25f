"""Fig. 2: norms and products of compositions. Figs. 3 and 4: accuracy. Fig. 5: times of pairs."""

from typing import Any

from matplotlib.figure import Figure

from benchmarks.sections import Plots, Row


def by_decay(rows: list[Row]) -> Figure:
    """Draw the kernels that were tried with several values of lambda."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        points = [row for row in rows if row["kernel"] == kernel]
        x, y = ([row[key] for row in points] for key in ("lambda", "accuracy"))
        if len(points) > 1:
            axes.plot(x, y, "o-", label=kernel)
    axes.set(xlabel="lambda", ylabel="accuracy")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def questions(rows: list[Row]) -> Figure:
    """Fig. 3: the rows of the curve, which are trained on the fewest questions."""
    fewest = min(row["trained on"] for row in rows)
    return by_decay([row for row in rows if row["trained on"] == fewest])


_NORMS = {
    "norm": "norm's deviation",
    "product, first differs": "variance, first differs",
    "product, last differs": "variance, last differs",
}


def norms(rows: list[Row]) -> Figure:
    """Fig. 2: means, with the deviation as a bar, against the number of composed vectors."""
    figure = Figure(figsize=(14, 4), layout="constrained")
    for axes, (mean, spread) in zip(figure.subplots(1, 3), _NORMS.items(), strict=True):
        for way in dict.fromkeys(row["composition"] for row in rows):
            own = [row for row in rows if row["composition"] == way]
            power = 0.5 if spread.startswith("variance") else 1.0
            bars = [row[spread] ** power for row in own]
            sizes, means = ([row[key] for row in own] for key in ("vectors", mean))
            axes.errorbar(sizes, means, bars, fmt="o-", capsize=3, label=way)
        axes.set(xlabel="composed vectors", ylabel=mean)
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def pairs(rows: list[Row]) -> Figure:
    """Fig. 5: microseconds for one pair against its number of nodes."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    for key in ("exact", "vectors"):
        axes.plot(
            [row["nodes of both"] for row in rows], [row[key] for row in rows], "o-", label=key
        )
    axes.set(xlabel="nodes of both trees", ylabel="microseconds for one pair", yscale="log")
    axes.tick_params(axis="x", rotation=45)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


PLOTS: Plots = {
    "paper_zanzotto2012_norms": {"fig2": norms},
    "paper_zanzotto2012_pairs": {"fig5": pairs},
    "paper_zanzotto2012_questions": {"fig3": questions},
    "paper_zanzotto2012_entailment": {"fig4": by_decay},
}
