"""Kernels by their feature maps: list every fragment of a small tree and take dot products.

Nothing here knows of Delta or of pairs of nodes. The number of fragments is exponential.

    K(a, b) = the sum over fragments f of w_a(f) w_b(f)

A fragment occurs in one tree, but decay is paid for once per pair of occurrences: each side carries
the square root. For exact results give squares of fractions.
"""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from tests.reference.kernels import Number, total
from tests.reference.trees import Node, n_inner, nodes, size

Features = dict[Node, Number]


def square_root(x: Number) -> Number:
    """The root of a float, or the exact root of a square of a fraction."""
    if isinstance(x, float):
        return math.sqrt(x)
    root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
    if root * root != x:
        raise ValueError(f"{x} has no rational square root")
    return root


def dot(a: Features, b: Features) -> Number:
    """The dot product of two feature maps."""
    return total(weight * b[fragment] for fragment, weight in a.items() if fragment in b)


# Complete subtrees


def complete_subtrees(tree: Node) -> Counter[Node]:
    """How often each subtree of two nodes or more occurs."""
    return Counter(node for node in nodes(tree) if node.children)


def subtree_features(tree: Node, decay: Number) -> Features:
    """A subtree weighs decay^(1/2) for each node with children."""
    root = square_root(decay)
    return {f: count * root ** n_inner(f) for f, count in complete_subtrees(tree).items()}


# Subset trees: at each node of a fragment all children of the tree's node, or none


def subset_trees_at(node: Node) -> Iterator[Node]:
    """The fragments rooted at a node. Each has its production; below, a child stays bare or grows.

    A bare child looks the same whether it is a leaf of the tree or an inner node left open.
    """
    if not node.children:
        return
    choices = [[Node(child.label), *subset_trees_at(child)] for child in node.children]
    for children in product(*choices):
        yield Node(node.label, children)


def subset_trees(tree: Node) -> Counter[Node]:
    """How often each fragment occurs, over all roots."""
    return Counter(fragment for node in nodes(tree) for fragment in subset_trees_at(node))


def subset_tree_features(tree: Node, decay: Number, include_leaves: bool = False) -> Features:
    """A fragment weighs decay^(1/2) for each production; a leaf of the tree decay^(1/2)."""
    root = square_root(decay)
    found = subset_trees(tree)
    features: Features = {f: count * root ** n_inner(f) for f, count in found.items()}
    if include_leaves:
        leaves = Counter(node for node in nodes(tree) if not node.children)
        features |= {leaf: count * root for leaf, count in leaves.items()}
    return features


# Partial trees: at each node of a fragment any of the children, in order


def partial_trees_at(
    node: Node, penalty: str = "span", max_subsequence: int | None = None
) -> Iterator[tuple[Node, int]]:
    """Each occurrence of a fragment rooted at a node, with the power of decay it pays.

    A node of the fragment pays for the children it keeps: the span from the first to the last, or
    only the gaps in it; without children it pays 1. One fragment may occur in several ways.
    """
    yield Node(node.label), 1
    below = [list(partial_trees_at(child, penalty, max_subsequence)) for child in node.children]
    longest = len(below) if max_subsequence is None else min(len(below), max_subsequence)
    for length in range(1, longest + 1):
        for kept in combinations(range(len(below)), length):
            span = kept[-1] - kept[0] + 1
            own = {"span": span, "gaps": span - length}[penalty]
            for parts in product(*(below[i] for i in kept)):
                children = tuple(fragment for fragment, _ in parts)
                yield Node(node.label, children), own + sum(power for _, power in parts)


def partial_trees(tree: Node) -> Counter[Node]:
    """How often each fragment occurs, over all roots and ways."""
    return Counter(fragment for node in nodes(tree) for fragment, _ in partial_trees_at(node))


def partial_tree_features(
    tree: Node,
    decay: Number,
    depth_decay: Number,
    penalty: str = "span",
    max_subsequence: int | None = None,
) -> Features:
    """An occurrence weighs decay^(what it pays) depth_decay^(1/2 for each of its nodes)."""
    root = square_root(depth_decay)
    features: Features = {}
    for node in nodes(tree):
        for fragment, power in partial_trees_at(node, penalty, max_subsequence):
            weight = decay**power * root ** size(fragment)
            features[fragment] = features.get(fragment, 0 * decay) + weight
    return features
