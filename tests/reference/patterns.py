"""Local patterns of trees as their definition says, in plain Python.

A pattern is a tuple whose first entry names its family. `features` counts them, damps the counts
and divides by norms. The recursions go as deep as the trees: not for chains of a thousand nodes.
"""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.reference.kernels import production
from tests.reference.trees import Node, nodes

DAMPING = {"log": math.log1p, "sqrt": math.sqrt, "none": float}
START, END = ("^",), ("$",)  # tuples: no label is equal to them

Pattern = tuple[Any, ...]


def height(node: Node) -> int:
    """The number of edges from the node down to its deepest leaf."""
    return max((1 + height(child) for child in node.children), default=0)


def downward_paths(node: Node, n: int) -> Iterator[tuple[str, ...]]:
    """Yield the labels of all paths of n nodes that begin here."""
    if n == 1:
        yield (node.label,)
        return
    for child in node.children:
        for path in downward_paths(child, n - 1):
            yield (node.label, *path)


def cut(node: Node, depth: int) -> Node:
    """The subtree of a node without the nodes more than `depth` edges below it."""
    children = tuple(cut(child, depth - 1) for child in node.children) if depth else ()
    return Node(node.label, children)


def neighbours(node: Node, n: int) -> Iterator[tuple[Any, ...]]:
    """Yield the labels of all runs of n children, where both ends count as children."""
    if node.children:
        row = [START, *(child.label for child in node.children), END]
        for i in range(len(row) - n + 1):
            yield tuple(row[i : i + n])


def leaf_runs(node: Node, n: int) -> Iterator[tuple[str, ...]]:
    """Yield the labels of all runs of n adjacent leaves that are not below the same child."""
    row = [(leaf.label, i) for i, child in enumerate(node.children) for leaf in leaves_of(child)]
    for i in range(len(row) - n + 1):
        run = row[i : i + n]
        if run[0][1] != run[-1][1]:
            yield tuple(label for label, _ in run)


def leaves_of(node: Node) -> list[Node]:
    """List the leaves below a node from left to right."""
    return [leaf for child in node.children for leaf in leaves_of(child)] or [node]


def patterns_at(
    node: Node,
    *,
    labels: bool = True,
    paths: int = 3,
    productions: bool = True,
    subtree_depth: int = 2,
    siblings: int = 2,
    leaves: int = 1,
) -> Iterator[Pattern]:
    """Yield the patterns whose top is this node, with repetition."""
    if labels:
        yield ("label", node.label)
    for n in range(2, paths + 1):
        yield from (("path", path) for path in downward_paths(node, n))
    if productions and node.children:
        yield ("production", production(node))
    for depth in range(2, subtree_depth + 1):
        if height(node) >= depth:
            yield ("subtree", depth, cut(node, depth))
    for n in range(2, siblings + 1):
        yield from (("siblings", node.label, run) for run in neighbours(node, n))
    for n in range(2, leaves + 1):
        yield from (("leaves", run) for run in leaf_runs(node, n))


def n_edges(pattern: Pattern) -> int:
    """The size of a pattern: its number of nodes without the top. Ends count as nodes."""
    sizes = {
        "label": lambda: 0,
        "path": lambda: len(pattern[1]) - 1,
        "production": lambda: len(pattern[1]) - 1,
        "subtree": lambda: sum(1 for _ in nodes(pattern[2])) - 1,
        "siblings": lambda: len(pattern[2]),
        "leaves": lambda: len(pattern[1]),
    }
    return sizes[pattern[0]]()


def counts(tree: Node, **families: Any) -> Counter[Pattern]:
    """How often a tree has each pattern."""
    return Counter(p for node in nodes(tree) for p in patterns_at(node, **families))


def features(
    tree: Node,
    *,
    damping: str = "log",
    decay: float = 1.0,
    family_norms: bool = False,
    normalize: bool = True,
    **families: Any,
) -> dict[Pattern, float]:
    """The vector of a tree: decay^(size / 2) times the damped count, divided by norms."""
    values = {
        pattern: decay ** (n_edges(pattern) / 2) * DAMPING[damping](count)
        for pattern, count in counts(tree, **families).items()
    }
    if family_norms:
        norms = {family: norm(values, family) for family in {p[0] for p in values}}
        values = {p: value / norms[p[0]] if norms[p[0]] else 0.0 for p, value in values.items()}
    if normalize:
        whole = norm(values)
        values = {p: value / whole if whole else 0.0 for p, value in values.items()}
    return values


def norm(values: dict[Pattern, float], family: str | None = None) -> float:
    """The norm of all features, or of those of a family."""
    return math.sqrt(
        math.fsum(v * v for p, v in values.items() if family is None or p[0] == family)
    )


def kernel(a: Node, b: Node, **parameters: Any) -> float:
    """The product of the vectors of two trees."""
    x, y = features(a, **parameters), features(b, **parameters)
    return math.fsum(value * y[pattern] for pattern, value in x.items() if pattern in y)
