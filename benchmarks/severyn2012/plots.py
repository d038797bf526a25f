"""Figs. 3 and 4: calls of Delta by the sample size, and the speed-up of two threads."""

from typing import Any

from matplotlib.figure import Figure

from benchmarks.sections import Plots, Row

_TICKS = [250, 500, 1000, 2000, 5000]
_RATIOS = {"uSVM": None, "SDAG": "Δ/Δ_S", "SDAG+": "Δ/Δ_S+"}


def deltas(rows: list[Row]) -> Figure:
    """Fig. 3: ours above, the paper's below."""
    figure = Figure(figsize=(10, 8), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True)
    for column, kernel in enumerate(("STK", "PTK")):
        for line, source in enumerate(("ours", "the paper's")):
            _draw(grid[line][column], rows, kernel, "paper " * line)
            grid[line][column].set(title=f"{kernel}, {source}", ylabel="calls of Δ")
        grid[1][column].set(xlabel="sample size r")
    return figure


def _draw(axes: Any, rows: list[Row], kernel: str, prefix: str) -> None:
    for data, style in (("SRL", "o-"), ("SRL, unlexicalised", "s--")):
        own = [row for row in rows if (row["kernel"], row["data"]) == (kernel, data)]
        for color, (strategy, key) in enumerate(_RATIOS.items()):
            calls = [row[f"{prefix}Δ"] / (row[prefix + key] if key else 1) for row in own]
            label = f"{strategy}, {data}"
            axes.loglog([row["r"] for row in own], calls, style, color=f"C{color}", label=label)
    axes.minorticks_off()
    axes.set_xticks(_TICKS, [f"{size:,}" for size in _TICKS])
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def threads(rows: list[Row]) -> Figure:
    """Fig. 4."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    sizes = sorted({row["r"] for row in rows})
    for row in rows:
        style = "^:" if row["kernel"] == "PTK" else "o-" if row["strategy"] == "sdag+" else "s--"
        label = f"{row['kernel']}, {row['strategy']}, r = {row['r']:,}"
        color = f"C{sizes.index(row['r'])}"
        axes.plot([1, 2], [1.0, row["speed-up"]], style, color=color, label=label)
    axes.plot([1, 2], [1, 2], ":", color="gray", label="ideal")
    axes.set(xlabel="threads", ylabel="speed-up", xticks=[1, 2])
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


PLOTS: Plots = {
    "paper_severyn2012_deltas": {"fig3": deltas},
    "paper_severyn2012_threads": {"fig4": threads},
}
