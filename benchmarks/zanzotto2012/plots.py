"""Figs. 3 and 4: accuracy against lambda, one line for each kernel."""

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


PLOTS: Plots = {
    "paper_zanzotto2012_questions": {"fig3": questions},
    "paper_zanzotto2012_entailment": {"fig4": by_decay},
}
