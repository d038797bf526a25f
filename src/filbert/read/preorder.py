"""Trees given by the numbers of their nodes' parents, in preorder."""

from collections.abc import Sequence


def children_of(parents: Sequence[int]) -> list[list[int]]:
    """Return the children of each node from left to right. The first node is the root.

    >>> children_of([-1, 0, 1, 0])
    [[1, 3], [2], [], []]
    """
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents[1:], 1):
        children[parent].append(node)
    return children
