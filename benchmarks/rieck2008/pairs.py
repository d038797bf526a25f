"""Figs. 3 and 4: memory and time of one kernel by the size of the trees.

Each in a process of its own. Trees are real documents below one root, as many as it takes. On
average: of two such trees of other documents. In the worst case: of a tree with itself.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.growth import saved
from benchmarks.measure import Clock, in_own_process, peak_mib
from benchmarks.rieck2008 import paper
from benchmarks.rieck2008.data import examples
from benchmarks.rieck2008.section import MODULE, Options, Row, Section
from filbert import Forest, SymbolSelector
from filbert.kernels import ApproximateTree, SubsetTree

SIZES = [100, 300, 1000, 3000, 10_000]
KINDS = ["table", "engine", "approximate"]
DECAY = 0.4


def large_trees(n_nodes: int) -> Iterator[str]:
    """Give trees of about so many nodes."""
    forest, _ = examples("documents")
    texts: list[str] = []
    size = 1
    for tree in forest:
        texts.append(str(tree))
        size += tree.n_nodes
        if size >= n_nodes:
            yield f"(collection {' '.join(texts)})"
            texts, size = [], 1


def by_table(a: Any, b: Any) -> float:
    """The kernel by a table of Delta for all pairs of nodes, as textbooks have it, in NumPy."""
    rows, columns = _listed(a), _listed(b)
    productions = {p: [] for p, _ in columns}
    for v, (p, _) in enumerate(columns):
        productions[p].append(v)
    children = {p: np.array([columns[v][1] for v in own]) for p, own in productions.items()}
    table = np.zeros((len(rows), len(columns)))
    for u, (p, own) in enumerate(rows):
        if not own or p not in productions:
            continue
        values = np.full(len(productions[p]), DECAY)
        for j, child in enumerate(own):
            values *= 1.0 + table[child, children[p][:, j]]
        table[u, productions[p]] = values
    return float(table.sum())


def _listed(tree: Any) -> list[tuple[tuple[str, ...], list[int]]]:
    """All nodes, children first: production, and the places of the children."""
    listed: list[tuple[tuple[str, ...], list[int]]] = []
    done: list[int] = []
    stack = [(tree, False)]
    while stack:
        node, seen = stack.pop()
        children = node.children
        if not seen:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(children)]
            continue
        own = done[len(done) - len(children) :]
        del done[len(done) - len(children) :]
        done.append(len(listed))
        listed.append(((node.label, *(c.label for c in children)), own))
    return listed


def measured(kind: str, n_nodes: str, case: str, *symbols: str) -> Row:
    """One kernel, in this process."""
    texts = list(islice(large_trees(int(n_nodes)), 2))
    examples.cache_clear()
    pair = Forest([texts[0], texts[0 if case == "worst" else 1]])
    exact = SubsetTree(DECAY, normalize=False)
    kernel = exact if kind == "engine" else ApproximateTree(exact, symbols)
    before = peak_mib()
    clock = Clock()
    if kind == "table":
        value = by_table(pair[0], pair[1])
    else:
        value = float(kernel(pair[:1], pair[1:], n_jobs=1)[0, 0])
    cpu, wall = clock.lap()
    return {
        "nodes": pair[0].n_nodes,
        "value": value,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "more_mib": peak_mib() - before,
    }


ONE = {"pairs": measured}


def _plot(rows: list[Row], key: str, title: str, file: str, folder: Path) -> str:
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, case in zip(np.array(figure.subplots(1, 2)), ("average", "worst"), strict=True):
        for kind in KINDS:
            own = [row for row in rows if row["kernel"] == kind and row["case"] == case]
            axes.plot([r["nodes"] for r in own], [max(r[key], 1e-4) for r in own], "o-", label=kind)
        axes.set(xlabel="nodes of a tree", ylabel=title, title=case, xscale="log", yscale="log")
        axes.grid(alpha=0.3)
        axes.legend()
    return saved(figure, f"paper_rieck2008_{file}.svg", folder)


def section(options: Options) -> Section:
    result = Section("Figs. 3 and 4: memory and time of one kernel by the size of the trees")
    X, y = examples("documents")
    selector = SymbolSelector(SubsetTree(DECAY), paper.N_CHOSEN["documents"])
    symbols = selector.fit(X[:1000], y[:1000]).chosen_
    for case in ("average", "worst"):
        for n_nodes in SIZES[:3] if options.quick else SIZES:
            for kind in KINDS:
                arguments = ("--one", "pairs", kind, n_nodes, case, *symbols)
                row = {"kernel": kind, "case": case}
                result.rows.append(row | in_own_process(MODULE, *arguments, repeat=3))
    result.plots = [
        _plot(result.rows, "more_mib", "MiB", "fig3", options.plots),
        _plot(result.rows, "cpu_seconds", "CPU seconds", "fig4", options.plots),
    ]
    result.notes = [
        f"Symbols: {', '.join(map(str, symbols))}. Table: Delta of all pairs of nodes, in NumPy. "
        "Engine: SubsetTree. Approximate: ApproximateTree. One thread.",
        f"The paper, two trees of 10,000 nodes, exact: {paper.GIGABYTES} GB and "
        f"{paper.MINUTES:.0f} minutes.",
    ]
    return result
