"""The contributions of the nodes of a tree to its scores."""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import FloatArray
from filbert.forest import Forest
from filbert.tree import Tree


@dataclass(frozen=True)
class Contributions:
    """The contributions of the nodes of some trees to their scores.

    A tree's score, without the intercept, is the sum of ``count * value`` over its entries. Equal
    subtrees of a tree are one entry. Nodes that share no fragment with a support vector add nothing
    and have no entry. Entries are ordered by tree, children before their parents.

    Attributes
    ----------
    trees : Forest
        The trees that were scored.
    tree : ndarray of int of shape (n,)
        The tree of each entry.
    count : ndarray of int of shape (n,)
        How often that tree contains the node.
    value : ndarray of shape (n, n_problems)
        The amount that one occurrence adds to each score: the weighted kernels of the fragments
        rooted there.
    """

    trees: Forest
    tree: NDArray[np.uint32]
    count: NDArray[np.uint32]
    value: FloatArray
    _node: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.tree)

    def node(self, entry: int) -> Tree:
        """Return the node of an entry, with its whole subtree."""
        return Tree(self.trees._dag, int(self._node[entry]))

    def sums(self) -> FloatArray:
        """Return the sum of each tree's entries: its scores without the intercept."""
        sums = np.zeros((len(self.trees), self.value.shape[1]))
        np.add.at(sums, self.tree, self.count[:, None] * self.value)
        return sums


def occurrences(
    trees: Forest,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return how often each tree contains each of its distinct nodes, children first."""
    entries: list[tuple[int, int, int]] = []
    for tree, root in enumerate(trees._roots.tolist()):
        counts = {root: 1}
        waiting = [-root]  # largest number first, so all parents are visited before
        while waiting:
            node = -heappop(waiting)
            for child in trees._dag.children(node).tolist():
                if child not in counts:
                    counts[child] = 0
                    heappush(waiting, -child)
                counts[child] += counts[node]
        entries.extend((tree, node, counts[node]) for node in sorted(counts))
    tree_of, node_of, count_of = np.array(entries, dtype=np.uint32).reshape(-1, 3).T
    return tree_of.copy(), node_of.copy(), count_of.copy()
