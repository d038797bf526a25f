"""HTML pages as trees: the large pages of `html-docs`, 10,113 to 166,836 elements each."""

import lzma
import re
from functools import cache

from benchmarks.measure import shared_data

Nodes = list[tuple[str, int]]  # in the order of the document: label, depth

_TOKEN = re.compile(r"[()]|[^\s()]+")


@cache
def pages() -> list[Nodes]:
    """Return the nodes of all pages, the largest pages first."""
    with lzma.open(shared_data() / "html-docs/large.tsv.xz", "rt", encoding="utf-8") as lines:
        read = [_nodes(line.rstrip("\n").split("\t")[2]) for line in lines]
    return sorted(read, key=len, reverse=True)


def _nodes(text: str) -> Nodes:
    """List the nodes of a tree in brackets, in which a leaf may go without."""
    nodes: Nodes = []
    depth = 0
    opened = False
    for token in _TOKEN.findall(text):
        if token == "(":
            depth += 1
            opened = True
        elif token == ")":
            depth -= 1
        else:
            nodes.append((token, depth - opened))
            opened = False
    return nodes


def tree_of(nodes: Nodes, n: int) -> str:
    """Write the first n nodes of a page as a tree."""
    text: list[str] = []
    depth = 0
    for label, at in nodes[:n]:
        text.append(")" * (depth - at) + f" ({label}")
        depth = at + 1
    return "".join(text).strip() + ")" * depth
