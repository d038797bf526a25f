"""Sequences of labels and the subsequences that they share, written out one by one."""

import math
from itertools import combinations, product

from tests.reference.trees import Node, nodes


def leaves(tree: Node) -> list[str]:
    """The labels of a tree's leaves, from left to right."""
    return [node.label for node in nodes(tree) if not node.children]


def preorder(tree: Node) -> list[str]:
    """The labels of all nodes, parents first."""
    return [node.label for node in nodes(tree)]


def sequence(s: list[str], t: list[str], decay: float, length: int | None) -> float:
    """Every pair of equal subsequences weighs decay^(span of one + span of the other).

    Lodhi et al. (2002), Definition 1; `length` None: of all lengths.
    """
    lengths = range(1, min(len(s), len(t)) + 1) if length is None else [length]
    return math.fsum(
        decay ** (span(i) + span(j))
        for p in lengths
        for i, j in product(combinations(range(len(s)), p), combinations(range(len(t)), p))
        if [s[k] for k in i] == [t[k] for k in j]
    )


def span(places: tuple[int, ...]) -> int:
    """From the first place to the last, both included."""
    return places[-1] - places[0] + 1
