"""Subtrees that are repeated, with all their positions."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import InvalidParameterError
from filbert.forest import Forest, as_forest
from filbert.kernels.algebra import is_number
from filbert.tree import Tree


@dataclass(frozen=True)
class RepeatedSubtree:
    """A subtree that occurs in at least two places.

    Attributes
    ----------
    tree : Tree
    places : tuple of (int, int)
        The number of a tree, and the number of the subtree's root in its preorder; ascending.

    Examples
    --------
    >>> [repeated] = repeated_subtrees(["(S (A a) (B b))", "(T (A a) (B c))"], min_size=2)
    >>> print(repeated.tree, repeated.places)
    (A a) ((0, 1), (1, 1))
    """

    tree: Tree
    places: tuple[tuple[int, int], ...]


def repeated_subtrees(X: Any, *, min_size: int = 20) -> list[RepeatedSubtree]:
    """Return the largest subtrees that are repeated, whole trees included.

    A subtree is left out if all its places are inside another repeated subtree, at the same child
    of it. Every other repeated subtree of at least `min_size` nodes is listed.

    Parameters
    ----------
    X : Forest, or sequence of trees or bracket strings
        The trees to search.
    min_size : int
        The smallest number of nodes of a subtree.

    Returns
    -------
    list of RepeatedSubtree
        By the number of nodes that could be saved, the largest first, then by the first place.

    Examples
    --------
    >>> found = repeated_subtrees(["(S (NP (D a) b) c)", "(Q (NP (D a) b))"], min_size=2)
    >>> [(str(one.tree), one.places) for one in found]
    [('(NP (D a) b)', ((0, 1), (1, 1)))]
    """
    if not is_number(min_size, Integral) or min_size < 1:
        raise InvalidParameterError(f"min_size must be a positive integer, got {min_size!r}")
    forest = X if isinstance(X, Forest) else as_forest(X)
    nodes = _Nodes(forest)
    found = [RepeatedSubtree(Tree(nodes.dag, u), nodes.places(u)) for u in nodes.repeated(min_size)]
    return sorted(found, key=lambda one: (-one.tree.n_nodes * (len(one.places) - 1), one.places[0]))


class _Nodes:
    """The distinct nodes of some trees and their parents."""

    def __init__(self, forest: Forest) -> None:
        self.dag, self.roots = forest._dag.extract(forest._roots)
        _, _, _, ends, self.children = self.dag.to_arrays()
        self.ends = ends.astype(np.int64)
        n = len(self.ends)
        self.sizes = np.asarray(self.dag.sizes(np.arange(n, dtype=np.uint32))).astype(np.int64)
        self.totals = np.asarray(_core.node_totals(self.dag, self.roots))
        counts = np.diff(self.ends, prepend=0)
        self.parent_of = np.repeat(np.arange(n), counts)  # by edge
        self.by_child = np.argsort(self.children, kind="stable")  # edges
        self.child_begin = np.searchsorted(self.children[self.by_child], np.arange(n + 1))
        self.trees_of: dict[int, list[int]] = {}
        for tree, root in enumerate(self.roots.tolist()):
            self.trees_of.setdefault(root, []).append(tree)

    def repeated(self, min_size: int) -> list[int]:
        """Return the nodes that are repeated, and not always inside the same parent."""
        n_edges = np.bincount(self.children, minlength=len(self.ends))
        is_root = np.zeros(len(self.ends), dtype=bool)
        is_root[self.roots] = True
        chosen = (self.totals >= 2) & (self.sizes >= min_size)
        inside = (n_edges == 1) & ~is_root  # then the parent is repeated as often
        return np.flatnonzero(chosen & ~inside).tolist()

    def places(self, node: int) -> tuple[tuple[int, int], ...]:
        """Return where a node occurs, by going up to all roots."""
        found: list[tuple[int, int]] = []
        waiting = [(node, 0)]
        while waiting:
            u, offset = waiting.pop()
            found.extend((tree, offset) for tree in self.trees_of.get(u, ()))
            for edge in self.by_child[self.child_begin[u] : self.child_begin[u + 1]].tolist():
                parent = int(self.parent_of[edge])
                before = self._before(parent, edge)
                waiting.append((parent, offset + 1 + before))
        return tuple(sorted(found))

    def _before(self, parent: int, edge: int) -> int:
        """Return the number of nodes of the siblings to the left."""
        begin = int(self.ends[parent - 1]) if parent else 0
        siblings: NDArray[Any] = self.children[begin:edge]
        return int(self.sizes[siblings].sum())
