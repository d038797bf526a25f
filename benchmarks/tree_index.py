"""Goal: 300 queries over 57,350 syntax trees within 5, 10 and 15 s from text on two cores.

`clones-bcb`, methods and rest: Java methods as syntax trees. The 300 methods of the role `query`
are searched in all trees but themselves, top 10. The limits are for `Subtree`, `SubsetTree` and
`PartialTree`, below 1.5 GB. Another goal is one query on a saved index, opening included, within
10 ms for `SubsetTree` and 40 ms for `PartialTree`, and adding 1,000 trees within 1 s.

Each kernel is in a process of its own, on two threads. CPU seconds are those of both threads.
"""

import json
import lzma
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data, write
from filbert import Forest, TreeIndex, read_examples
from filbert.kernels import LocalPatterns, PartialTree, SubsetTree, Subtree

KERNELS = {
    "Subtree": Subtree,
    "SubsetTree": SubsetTree,
    "PartialTree": PartialTree,
    "LocalPatterns": LocalPatterns,  # without limits
}
SECONDS = {"Subtree": 5, "SubsetTree": 10, "PartialTree": 15}
MOST_MIB = 1536
N_SINGLE = 30  # queries on a saved index
N_ADDED = 1000


def copy_text(folder: str) -> Path:
    """The trees of both files as one plain file: unpacking is not measured."""
    path = Path(folder) / "all.tsv"
    with path.open("wb") as out:
        for name in ("methods", "rest"):
            with lzma.open(shared_data() / "clones-bcb" / f"{name}.tsv.xz") as lines:
                out.writelines(lines)
    return path


def single_queries(trees: Forest, path: Path) -> dict[str, Any]:
    """Milliseconds of one query on a saved index: opening it, and again when it is open."""
    opening, first, again = [], [], []
    for i in range(min(N_SINGLE, len(trees))):
        query = Forest.from_brackets([str(trees[i])])  # a forest of its own, as a user has it
        start = process_time()
        index = TreeIndex.load(path, n_jobs=1)
        opening.append(process_time() - start)
        index.kneighbors(query, 10)
        first.append(process_time() - start)
        start = process_time()
        index.kneighbors(query, 10)
        again.append(process_time() - start)
    return {
        f"ms_{name}": round(1000 * statistics.median(times), 2)
        for name, times in [("opening", opening), ("opening_and_query", first), ("query", again)]
    }


def equals_brute_force(index: TreeIndex, X: Forest, queries: Forest) -> bool:
    """Whether the results are those of the kernel matrix, with ties in order."""
    few = TreeIndex(index.kernel).fit(X)
    values, ids = few.kneighbors(queries, 10)
    K = index.kernel(queries, X)
    best = np.sort(K, axis=1)[:, ::-1][:, :10]
    own = np.take_along_axis(K, ids, axis=1)
    ordered = all(
        (a > b) or (a == b and i < j)
        for row, at in zip(values.tolist(), ids.tolist(), strict=True)
        for a, b, i, j in zip(row, row[1:], at, at[1:], strict=False)
    )
    near = np.allclose(values, best, rtol=1e-10, atol=0) and np.allclose(values, own, rtol=1e-10)
    return bool(ordered and near)


def one(name: str) -> dict[str, Any]:
    """One kernel, in this process."""
    with TemporaryDirectory() as folder:
        text = copy_text(folder)
        clock, start = Clock(), perf_counter()
        X, role = read_examples(text, format="tsv", label=1, tree=2, header=False, n_jobs=2)
        read = clock.lap()
        index = TreeIndex(KERNELS[name](), n_jobs=2).fit(X)
        fit = clock.lap()
        queries = np.flatnonzero(np.asarray(role) == "query")
        index.kneighbors(queries, 10)
        search = clock.lap()
        wall, peak, skipped = perf_counter() - start, peak_mib(), index.share_skipped_
        path = Path(folder) / "saved.index"
        index.save(path)
        saved = sum(file.stat().st_size for file in path.iterdir()) >> 20
        clock.lap()
        index.partial_fit(X[:N_ADDED])
        added = clock.lap()
        trees = X["tree"] if not isinstance(X, Forest) else X
        return {
            "kernel": name,
            "n_trees": len(trees),
            "cpu_seconds_reading": read[0],
            "cpu_seconds_indexing": fit[0],
            "cpu_seconds_300_queries": search[0],
            "cpu_seconds_all": round(read[0] + fit[0] + search[0], 2),
            "wall_seconds_all": round(wall, 2),
            **({"limit_seconds": SECONDS[name]} if name in SECONDS else {}),
            "peak_mib": peak,
            "share_skipped": round(skipped, 6),
            "file_mib": saved,
            **single_queries(trees[queries], path),
            "cpu_seconds_adding_1000": added[0],
            "equals_brute_force_on_2000": equals_brute_force(
                index, trees[:2000], trees[queries[:100]]
            ),
        }


def main() -> None:
    figures = [in_own_process("benchmarks.tree_index", "--one", name) for name in KERNELS]
    over = [
        row["kernel"]
        for row in figures
        if row["wall_seconds_all"] > SECONDS.get(row["kernel"], np.inf)
    ]
    large = [row["kernel"] for row in figures if row["peak_mib"] > MOST_MIB]
    notes = [
        f"Wall seconds over the limit: {', '.join(over) or 'none'}.",
        f"Above 1.5 GiB: {', '.join(large) or 'none'}.",
        "ms: CPU milliseconds on one thread, medians of thirty queries. ms_opening_and_query is "
        "the first query on an index that was just opened, ms_query the same query again.",
        "share_skipped: with Subtree, SubsetTree and LocalPatterns, lists give the kernel with all "
        "trees, and only the results are taken from them.",
    ]
    write(
        "tree_index",
        "search of 57,350 syntax trees: time from text, one query on a saved index, additions",
        figures,
        notes=notes,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2])))
    else:
        main()
