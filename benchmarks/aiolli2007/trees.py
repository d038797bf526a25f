"""Table I: the trees of the boundary detection data."""

from itertools import islice

import numpy as np

from benchmarks.aiolli2007 import paper
from benchmarks.aiolli2007.data import N_TRAIN
from benchmarks.aiolli2007.section import Options, Row, Section
from benchmarks.measure import shared_data
from filbert import Forest
from filbert.datasets import srl_boundary
from filbert.node_arrays import NodeArrays


def widest(nodes: NodeArrays) -> list[int]:
    """Return the largest number of children in each tree. Children come before their parents."""
    most = nodes.n_children.tolist()
    for parent, child in zip(nodes.parents.tolist(), nodes.children.tolist(), strict=True):
        most[parent] = max(most[parent], most[child])
    return [most[root] for root in nodes.roots.tolist()]


def figures(part: str, n: int | None) -> Row:
    sentences = shared_data() / f"srl-ewt/{part}.jsonl.xz"
    examples = [(label, tree) for label, tree in islice(srl_boundary(sentences), n)]
    X = Forest.from_brackets(tree for _, tree in examples)
    most = widest(NodeArrays.of(X._dag, X._roots))
    own = {
        "trees": len(X),
        "positive": sum(int(label) > 0 for label, _ in examples),
        "nodes": X.n_nodes,
        "mean nodes": round(X.n_nodes / len(X), 2),
        "mean of the largest outdegree": round(float(np.mean(most)), 2),
        "largest outdegree": max(most),
        "distinct subtrees": X.n_subtrees,
    }
    return {"part": part} | own


def section(options: Options) -> Section:
    result = Section("Table I: the trees of boundary detection")
    result.rows = [
        figures("train", 20_000 if options.quick else N_TRAIN),
        {"part": "train, paper"} | paper.TREES["train"],
        figures("test", 5_000 if options.quick else None),
        {"part": "test, paper"} | paper.TREES["test"],
    ]
    result.notes = [
        "The paper has trees of the Penn Treebank and PropBank, which are not free. Ours are those "
        "of srl-ewt (rule VB), in which the node of the argument is marked."
    ]
    return result
