"""Figs. 3 and 4: memory and time of one kernel by the size of the trees.

Trees are HTML pages, cut off after so many nodes. On average: of two pages, over several pairs. In
the worst case: of a page with itself. All pairs of one size are a process of their own.
"""

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.measure import in_own_process
from benchmarks.rieck2008 import paper
from benchmarks.rieck2008.pages import pages, tree_of
from benchmarks.rieck2008.section import MODULE, Options, Row, Section
from filbert import Forest
from filbert.kernels import ApproximateTree, SubsetTree

SIZES = [100, 300, 1000, 3000, 10_000, 30_000, 100_000]
LARGEST_TABLE = 10_000  # nodes: ten times as many take a hundred times the memory
N_PAIRS = 5
KINDS = ["table", "matching", "engine", "approximate"]
DECAY = 0.001  # times do not depend on it; with 0.4, a page with itself is beyond a double
ENOUGH = 0.1  # seconds: what takes less is done again


def by_table(a: Any, b: Any) -> float:
    """Compute the kernel by a table of Delta for all pairs of nodes, a row at a time."""
    rows, columns = _listed(a), _listed(b)
    places: dict[tuple[str, ...], list[int]] = {production: [] for production, _ in columns}
    for v, (production, _) in enumerate(columns):
        places[production].append(v)
    children = {p: np.array([columns[v][1] for v in own]) for p, own in places.items()}
    table = np.empty((len(rows), len(columns)))
    table[:] = 0.0  # memory that nobody has written to would not count
    for u, (production, own) in enumerate(rows):
        if not own or production not in places:
            continue
        values = np.full(len(places[production]), DECAY)
        for j, child in enumerate(own):
            values *= 1.0 + table[child, children[production][:, j]]
        table[u, places[production]] = values
    return float(table.sum())


def by_matching_pairs(a: Any, b: Any) -> float:
    """Compute the kernel over the pairs of nodes with the same production (Moschitti 2006)."""
    rows, columns = _listed(a), _listed(b)
    places: dict[tuple[str, ...], list[int]] = {production: [] for production, _ in columns}
    kinds = {production: kind for kind, production in enumerate(places)}
    kind_of = np.array([kinds[production] for production, _ in columns])
    place_of = np.empty(len(columns), dtype=np.int64)
    for v, (production, _) in enumerate(columns):
        place_of[v] = len(places[production])
        places[production].append(v)
    children = {p: np.array([columns[v][1] for v in own]) for p, own in places.items()}
    deltas: dict[int, Any] = {}  # by node of a: of the nodes of b with its production
    total = 0.0
    for u, (production, own) in enumerate(rows):
        if not own or production not in places:
            continue
        values = np.full(len(places[production]), DECAY)
        for j, child in enumerate(own):
            if child in deltas:
                others = children[production][:, j]
                same = kind_of[others] == kinds[rows[child][0]]
                values[same] *= 1.0 + deltas[child][place_of[others[same]]]
        deltas[u] = values
        total += float(values.sum())
    return total


TABLES = {"table": by_table, "matching": by_matching_pairs}


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


def measured(kind: str, path: str) -> Row:
    """The kernels of some pairs, in this process; medians of time, memory of the one with most."""
    exact = SubsetTree(DECAY, normalize=False)
    kernel = exact if kind == "engine" else ApproximateTree(exact, paper.PAGE_SYMBOLS)
    forests = [Forest(pair) for pair in json.loads(Path(path).read_text())]

    def value(forest: Forest) -> float:
        if kind in TABLES:
            return TABLES[kind](forest[0], forest[1])
        return float(kernel(forest[:1], forest[1:], n_jobs=1)[0, 0])

    before = _fresh_peak_mib()
    values = [value(forest) for forest in forests]
    more = round(_peak_mib() - before, 1)
    milliseconds = [_cpu_ms(partial(value, forest)) for forest in forests]
    return {"values": values, "cpu_ms": statistics.median(milliseconds), "more_mib": more}


def _fresh_peak_mib() -> float:
    """Forget the peak of memory, that of starting, and return what is in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_mib()


def _peak_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _cpu_ms(work: Callable[[], float]) -> float:
    """What it takes, on average over as many times as take some time."""
    start = time.process_time()
    n = 0
    while (spent := time.process_time() - start) < ENOUGH:
        work()
        n += 1
    return 1000 * spent / n


ONE = {"pairs": measured}


def page_pairs(n_nodes: int, case: str) -> list[tuple[str, str]]:
    """Return pairs of trees of so many nodes, from the largest pages."""
    trees = [tree_of(nodes, n_nodes) for nodes in pages() if len(nodes) >= n_nodes]
    if case == "worst":
        return [(tree, tree) for tree in trees[:N_PAIRS]]
    some = combinations(trees, 2) if len(trees) <= N_PAIRS else pairwise(trees)
    return [pair for pair, _ in zip(some, range(N_PAIRS), strict=False)]


def one_size(n_nodes: int, case: str, folder: Path) -> list[Row]:
    """A row for each way to compute the kernel."""
    pairs = page_pairs(n_nodes, case)
    path = folder / f"{n_nodes}-{case}.json"
    path.write_text(json.dumps(pairs))
    kinds = [kind for kind in KINDS if n_nodes <= LARGEST_TABLE or kind not in TABLES]
    found = {kind: in_own_process(MODULE, "--one", "pairs", kind, path) for kind in kinds}
    values = {kind: row.pop("values") for kind, row in found.items()}
    for kind in TABLES.keys() & values.keys():
        np.testing.assert_allclose(values["engine"], values[kind], rtol=1e-10)
    return [
        {"kernel": kind, "case": case, "nodes": n_nodes, "pairs": len(pairs)}
        | {"cpu_ms": round(row["cpu_ms"], 3), "more_mib": row["more_mib"]}
        for kind, row in found.items()
    ]


def section(options: Options) -> Section:
    result = Section("Figs. 3 and 4: memory and time of one kernel by the size of the trees")
    with TemporaryDirectory() as folder:
        for case in ("average", "worst"):
            for n_nodes in SIZES[:3] if options.quick else SIZES:
                result.rows += one_size(n_nodes, case, Path(folder))
    result.notes = [
        "Trees are pages of `html-docs` (element names), cut off after so many nodes, the largest "
        "pages first. Average: two pages; worst: a page with itself; medians over the pairs, "
        "memory of the pair with most.",
        "Table (the paper's PTK1): Delta of all pairs of nodes, in NumPy, a row at a time. "
        "Matching (PTK2): of the pairs with the same production only. Engine: SubsetTree. "
        f"Approximate: ApproximateTree with the symbols {', '.join(paper.PAGE_SYMBOLS)}, which "
        "the paper chose. One thread. Memory is what the process needs beyond the trees.",
        f"The paper, two trees of 10,000 nodes, exact: {paper.GIGABYTES} GB and "
        f"{paper.MINUTES:.0f} minutes.",
    ]
    return result
