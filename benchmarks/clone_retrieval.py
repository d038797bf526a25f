"""How well the tree kernels find clones: `clones-bcb`, 300 queries over 57,350 syntax trees.

For each kernel with its default parameters, three policies of labels, and three types of clones,
easy to hard: T2 (names differ), VST3 and ST3 (lines differ). Clones of other types are left out of
a query's ranking. Only listed pairs count as right, and unlisted clones exist, so all figures are
lower bounds. Rankings end after 300 trees; clones further down count as not found.

The policies: "names" keeps labels such as ``SimpleName:copyFile``; "types" cuts what stands after
the colon; "abstract" numbers it within each tree: ``SimpleName:0``.
"""

import json
import lzma
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import in_own_process, shared_data, write
from filbert import Forest, TreeIndex
from filbert.kernels import PartialTree, SubsetTree, Subtree

KERNELS = {"Subtree": Subtree, "SubsetTree": SubsetTree, "PartialTree": PartialTree}
POLICIES = ["names", "types", "abstract"]
TYPES = ["T2", "VST3", "ST3"]
DEPTH = 300

_VALUE = re.compile(r"(?<=[( ])([A-Za-z_]+):((?:\\.|[^\s()\\])+)")


def lines(name: str) -> Iterator[list[str]]:
    """The rows of one file of the data."""
    with lzma.open(shared_data() / "clones-bcb" / f"{name}.tsv.xz", "rt", encoding="utf-8") as rows:
        for row in rows:
            yield row.rstrip("\n").split("\t")


def relabelled(text: str, policy: str) -> str:
    """One tree under a policy."""
    if policy == "names":
        return text
    if policy == "types":
        return _VALUE.sub(r"\1", text)
    numbers: dict[str, int] = {}
    return _VALUE.sub(lambda m: f"{m[1]}:{numbers.setdefault(m[2], len(numbers))}", text)


def clones() -> dict[str, dict[str, set[str]]]:
    """By type and id: the ids of its clones."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for kind, a, b, *_ in lines("pairs"):
        found[kind][a].add(b)
        found[kind][b].add(a)
    return found


def measures(ranking: list[str], right: set[str], others: set[str]) -> tuple[float, float, float]:
    """Precision at 5, reciprocal rank and average precision of one query."""
    hits = np.array([name in right for name in ranking if name not in others], dtype=float)
    ranks = np.flatnonzero(hits) + 1
    precision = np.arange(1, len(ranks) + 1) / ranks
    return (
        float(hits[:5].sum() / min(5, len(right))),
        float(1 / ranks[0]) if len(ranks) else 0.0,
        float(precision.sum() / len(right)),
    )


def one(name: str, policy: str) -> list[dict[str, Any]]:
    """One kernel and policy, in this process."""
    ids, roles, texts = [], [], []
    for file in ("methods", "rest"):
        for key, role, text in lines(file):
            ids.append(key)
            roles.append(role)
            texts.append(relabelled(text, policy))
    index = TreeIndex(KERNELS[name]()).fit(Forest.from_brackets(texts))
    queries = np.flatnonzero(np.array(roles) == "query")
    found = index.kneighbors(queries, DEPTH)[1]
    known = clones()
    rows = []
    for kind in TYPES:
        figures = []
        for query, at in zip(queries.tolist(), found.tolist(), strict=True):
            right = known[kind].get(ids[query], set())
            if right:
                others = set().union(*(known[k].get(ids[query], set()) for k in known)) - right
                figures.append(measures([ids[i] for i in at], right, others))
        p5, mrr, average = np.mean(figures, axis=0)
        rows.append(
            {
                "kernel": name,
                "labels": policy,
                "clones": kind,
                "queries": len(figures),
                "P@5": round(float(p5), 3),
                "MRR": round(float(mrr), 3),
                "MAP": round(float(average), 3),
                "share_skipped": round(index.share_skipped_, 4),
            }
        )
    return rows


def main() -> None:
    figures: list[dict[str, Any]] = []
    for policy in POLICIES:
        for name in KERNELS:
            row = in_own_process("benchmarks.clone_retrieval", "--one", name, policy)
            figures += row["rows"]
    write(
        "clone_retrieval",
        "clones that the most similar trees find, by kernel and labels",
        figures,
        notes=["P@5 is the share of the first five, or of all clones of a query if it has fewer."],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps({"rows": one(sys.argv[2], sys.argv[3])}))
    else:
        main()
