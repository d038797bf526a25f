"""Fig. 2: which symbols are chosen, by the number of trees to choose by."""

from collections import Counter

from benchmarks.rieck2008 import paper
from benchmarks.rieck2008.data import N_PART, N_SPLITS, parts
from benchmarks.rieck2008.section import Options, Row, Section
from filbert import SymbolSelector
from filbert.kernels import SubsetTree

N_CHOSEN = paper.N_CHOSEN | {"HTML fragments": paper.N_CHOSEN["documents"]}
SIZES = [50, 75, 100, 150, 200, 300, 500, 750, 1000]


def measured(name: str, sizes: list[int], n_splits: int) -> list[Row]:
    """Return how often each symbol is chosen, a row a size."""
    rows = []
    for n in sizes:
        chosen: Counter[str] = Counter()
        for seed in range(n_splits):
            selector = SymbolSelector(SubsetTree(), N_CHOSEN[name])
            split = parts(name, seed, N_PART)
            chosen.update(map(str, selector.fit(split.X[:n], split.y[:n]).symbols_))
        row: Row = {"data": name, "n": n, "symbols chosen": len(chosen)}
        row["chosen always"] = " ".join(sorted(s for s, k in chosen.items() if k == n_splits))
        row["times"] = dict(chosen.most_common())
        rows.append(row)
        print(row, flush=True)
    return rows


def _shown(row: Row) -> Row:
    """Return the row with those that are chosen sometimes, and how often, as a text."""
    always = row["chosen always"].split()
    times = {s: k for s, k in row["times"].items() if s not in always}
    shown = {key: value for key, value in row.items() if key != "times"}
    return shown | {"chosen sometimes": ", ".join(f"{s} {k}" for s, k in times.items())}


def section(options: Options) -> Section:
    result = Section("Fig. 2: which symbols are chosen, by the number of trees to choose by")
    sizes = [50, 200] if options.quick else SIZES
    for name in N_CHOSEN:
        result.rows += measured(name, sizes, 2 if options.quick else N_SPLITS)
    result.rows = [_shown(row) for row in result.rows]
    result.notes = [
        f"{n} symbols of {name}, {N_SPLITS} samples; the paper's choice is stable from "
        f"{paper.N_STABLE[name]} trees on."
        for name, n in paper.N_CHOSEN.items()
    ]
    result.notes.append(
        "Symbols that are not chosen always have nearly the gain of another: which of them is the "
        "last to be chosen differs from sample to sample."
    )
    return result
