"""Closed fragments by enumeration: list every fragment with the places at which it is rooted.

A place is a node of a tree: a tree's number and the node's number in preorder. A fragment is closed
if no larger one that contains it at the root has exactly the same places.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from tests.reference.fragments import subset_trees_at
from tests.reference.trees import Node, nodes

Place = tuple[int, int]


def places(
    trees: Sequence[Node], fragments_at: Callable[[Node], Iterator[Node]]
) -> dict[Node, frozenset[Place]]:
    """The places of every fragment."""
    found: defaultdict[Node, set[Place]] = defaultdict(set)
    for number, tree in enumerate(trees):
        for position, node in enumerate(nodes(tree)):
            for fragment in fragments_at(node):
                found[fragment].add((number, position))
    return {fragment: frozenset(own) for fragment, own in found.items()}


def contains(larger: Node, smaller: Node) -> bool:
    """Whether a fragment grows from another one, at the root: by children where that has none."""
    if larger.label != smaller.label:
        return False
    if not smaller.children:
        return True
    return len(larger.children) == len(smaller.children) and all(
        contains(a, b) for a, b in zip(larger.children, smaller.children, strict=True)
    )


def closed_subset_trees(trees: Sequence[Node], min_count: int) -> dict[Node, int]:
    """Closed subset trees with the number of their places."""
    by_places: defaultdict[frozenset[Place], list[Node]] = defaultdict(list)
    for fragment, own in places(trees, subset_trees_at).items():
        if len(own) >= min_count:
            by_places[own].append(fragment)
    return {
        fragment: len(own)
        for own, alike in by_places.items()
        for fragment in alike
        if not any(other != fragment and contains(other, fragment) for other in alike)
    }


def common(a: Node, b: Node) -> Node | None:
    """The largest subset tree that is rooted at two nodes, or None if they share none."""
    labels = [[child.label for child in node.children] for node in (a, b)]
    if a.label != b.label or not a.children or labels[0] != labels[1]:
        return None
    below = [common(x, y) or Node(x.label) for x, y in zip(a.children, b.children, strict=True)]
    return Node(a.label, tuple(below))
