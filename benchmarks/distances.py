"""How far our value of each table and figure is from the paper's, computed from the results."""

from collections.abc import Callable
from typing import Any

from benchmarks.aiolli2007 import paper as aiolli
from benchmarks.pighin2010 import paper as pighin
from benchmarks.rieck2008 import paper as rieck
from benchmarks.zanzotto2012 import paper as zanzotto

Row = dict[str, Any]
Rows = list[Row]
Distance = Callable[[Rows], str]


def not_comparable(why: str) -> Distance:
    """The paper has no number to compare with."""
    return lambda rows: why


no_numbers = not_comparable("not comparable: the paper has no numbers")


def _signed(values: dict[str, float], digits: int = 1) -> str:
    return ", ".join(f"{name} {value:+.{digits}f}" for name, value in values.items())


def deltas(*kernels: str) -> Distance:
    """Compare the ratios of calls of Delta at the largest samples."""

    def text(rows: Rows) -> str:
        cells = []
        for data in dict.fromkeys((row["kernel"], row["data"]) for row in rows):
            own = [row for row in rows if (row["kernel"], row["data"]) == data]
            last = max(own, key=lambda row: row["r"])
            if data[0] in kernels and last["paper Δ/Δ_S+"]:
                name = f"{data[0]} " * (len(kernels) > 1) + data[1]
                cells.append(f"{name} {last['Δ/Δ_S+'] / last['paper Δ/Δ_S+']:.2f}")
        return "ours : paper's, largest samples: " + ", ".join(cells)

    return text


def compression(rows: Rows) -> str:
    apart = [row["comp"] - row["paper comp"] for row in rows]
    return f"{min(apart):+.1f} to {max(apart):+.1f}"


def minutes(rows: Rows) -> str:
    n = max(row["n"] for row in rows)
    whole = [row for row in rows if row["strategy"] != "usvm"]  # that one is stopped early
    own = [row for row in whole if row["n"] == n and row["paper (s)"]]
    cells = (f"{row['strategy']} {row['paper (s)'] / row['seconds']:,.0f}" for row in own)
    return "the paper's seconds : ours: " + ", ".join(cells)


def imbalance(rows: Rows) -> str:
    own = [row for row in rows if (row["setting"], row["class"]) == ("paper", "average")]
    return _signed({row["system"]: row["F1"] - row["paper F1"] for row in own})


def trees(rows: Rows) -> str:
    row = next(row for row in rows if row["part"] == "train")
    theirs = aiolli.TREES["train"]
    return (
        f"{row['mean nodes'] - theirs['mean nodes']:+.2f} nodes each, "
        f"{row['largest outdegree'] - theirs['largest outdegree']:+.0f} in outdegree"
    )


def epoch_time(rows: Rows) -> str:
    ours = max(row["cpu_reading"] + row["cpu_learning"] for row in rows)
    memory = max(row["peak_mib"] for row in rows) * 2**20 / (aiolli.MAX_MB * 1e6)
    return (
        f"{aiolli.MAX_HOURS * 3600 / ours:,.0f} times less time, {memory:.1f} times the memory, on "
        "another machine"
    )


def _best(rows: Rows, kernel: str) -> float:
    return float(max(row["F1"] for row in rows if row["kernel"] == kernel))


def sums(rows: Rows) -> str:
    tk, poly = _best(rows, "TK"), _best(rows, "POLY3")
    kernel, _ = aiolli.BEST
    return (
        f"{kernel} {_best(rows, kernel) - aiolli.F1[1]:+.1f} points; TK less POLY3 {tk - poly:+.1f}"
    )


def linear(rows: Rows) -> str:
    against = {name: _best(rows, "LINEAR") - _best(rows, name) for name in ("POLY2", "POLY3")}
    return f"LINEAR less others, points: {_signed(against)} (below 0 in the paper)"


def correlations(rows: Rows) -> str:
    ours = {(row["data set"], row["composition"]): row["correlation"]
            for row in rows if row["lambda"] == 0.4}  # fmt: skip
    return _signed({f"{data} {way}": ours[data, way] - theirs[0.4]
                    for (data, way), theirs in zanzotto.CORRELATION.items()}, 3)  # fmt: skip


def fragments_of_norm(rows: Rows) -> str:
    reached = [row["norm share, %"] for row in rows if 1_000 <= row["fragments"] <= 10_000]
    lowest, highest = pighin.PLATEAU_SHARES
    return f"lowest {min(reached) - lowest:+.0f}, highest {max(reached) - highest:+.0f} points"


def mean_f1(rows: Rows) -> str:
    apart = {
        name: sum(row[f"F1 {name}"] - row[f"paper {name}"] for row in rows) / len(rows)
        for name in ("STK", "LIN", "OPT")
    }
    return _signed(apart)


def best_accuracy(rows: Rows) -> str:
    own = [row for row in rows if row["criterion"] == "gradient" and row["fragments"] <= 10_000]
    row = max(own, key=lambda row: row["fragments"])
    return f"OPT less STK {row['accuracy OPT'] - row['accuracy STK']:+.1f} (the paper: about 0)"


def first_task(rows: Rows) -> str:
    row = rows[0]
    theirs = row["paper OPT"] - row["paper STK"]
    apart = {name: row[f"accuracy {name}"] - row[f"paper {name}"] for name in ("OPT", "STK")}
    return f"{_signed(apart)}; OPT less STK {row['OPT - STK']:+.1f} (the paper: {theirs:+.1f})"


def auc(rows: Rows) -> str:
    exact = {row["data"]: row["AUC"] - row["paper"] for row in rows if row["paper"] != ""}
    return f"exact: {_signed(exact)}; less exact as beside (the paper: about 0)"


def symbols(rows: Rows) -> str:
    row = [row for row in rows if row["data"] == "questions"][-1]
    same = sorted({*row["chosen always"].split()} & rieck.CHOSEN)
    return f"{len(same)} of {len(rieck.CHOSEN)} the same: {' '.join(same)}"


def pair_cost(key: str, theirs: float) -> Distance:
    """Compare what the table and the engine take for two trees of 10,000 nodes."""

    def text(rows: Rows) -> str:
        own = {row["kernel"]: row[key] for row in rows
               if (row["nodes"], row["case"]) == (10_000, "average")}  # fmt: skip
        cells = (f"{kind} {theirs / own[kind]:,.0f}" for kind in ("table", "engine"))
        return "the paper's : ours: " + ", ".join(cells)

    return text
