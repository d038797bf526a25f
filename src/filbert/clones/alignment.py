"""Align two trees: their largest common fragments, and what differs between them.

A common fragment is a connected part of both trees with the same labels, whose children are in
the same order: children may be missing on either side. The largest fragment is found first. It
divides the rest of both trees into regions: what is to the left and to the right of it, and the
gaps between its nodes. Each pair of regions is then aligned in the same way. So the order of nodes,
and which nodes are above which, are the same on both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from filbert.errors import InvalidParameterError, MatrixTooLargeError
from filbert.forest import Forest, as_forest
from filbert.node_arrays import NodeArrays
from filbert.read.preorder import children_of
from filbert.tree import Tree

_MOST_NODES = 10_000  # of a tree
_MOST_CELLS = 1_000_000  # pairs of children that are compared

Pairs = list[tuple[int, int]]
_Region = tuple[list[int], list[int]]  # roots of subtrees of the first tree, and of the second


@dataclass(frozen=True)
class Side:
    """One of two aligned trees, with its nodes in preorder.

    Nodes are numbers from 0, here and in the other tree.

    Parameters
    ----------
    labels : list of str
    parents : list of int
        -1 for the root.
    partner : list of int
        The node of the other tree that stands beside each node, or -1.
    fragment : list of int
        The number of the common fragment that each node is in, or -1. Fragment 0 is the largest.

    Examples
    --------
    >>> align("(S (A a) (B b))", "(S (A a) (C b))").first.fragment
    [0, 0, 0, -1, -1]
    """

    labels: list[str]
    parents: list[int]
    partner: list[int]
    fragment: list[int]

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each node, from left to right."""
        return children_of(self.parents)


@dataclass(frozen=True)
class Alignment:
    """Two trees side by side.

    Nodes that stand beside each other have the same order and the same ancestors in both trees.

    Parameters
    ----------
    first : Side
        The first tree.
    second : Side
        The second tree.
    sizes : tuple of int
        The sizes of the common fragments, the largest first.

    Examples
    --------
    >>> found = align("(S (A a) (B b))", "(S (A a) (C b))")
    >>> found.n_shared, found.sizes
    (3, (3,))
    >>> print(found.draw())
    S         S
    ├ A ─ a   ├ A ─ a
    └ B ─ b | └ C ─ b
    """

    first: Side
    second: Side
    sizes: tuple[int, ...]

    @property
    def n_shared(self) -> int:
        """The number of nodes of each tree that the other has too."""
        return sum(self.sizes)

    def draw(self, *, width: int = 100, context: int | None = None) -> str:
        """Draw both trees beside each other, for a terminal.

        A line that only the first tree has is marked with ``<``, a line of the second with ``>``,
        and ``|`` is between lines that differ in the last label.

        Parameters
        ----------
        width : int
            The most characters of a line.
        context : int, optional
            How many equal lines to show around each difference. All by default.

        Returns
        -------
        str
            Lines of text.
        """
        from filbert.drawing.beside import draw_beside  # noqa: PLC0415 - only if drawn

        return draw_beside(self.first, self.second, width=width, context=context)


def align(first: Any, second: Any, *, min_size: int = 2) -> Alignment:
    """Align two trees.

    Parameters
    ----------
    first, second : Tree or str in bracket notation
        The trees to compare.
    min_size : int
        Smaller common fragments are not looked for.

    Returns
    -------
    Alignment
        The first of several largest fragments in preorder is taken, so the result is always the
        same. Trees of more than 10,000 nodes raise
        :class:`~filbert.errors.MatrixTooLargeError`, and so do trees whose nodes have very many
        children of the same kind.

    Examples
    --------
    >>> align("(S (NP a) (VP b))", "(Q (S (NP a) (VP c)))").sizes
    (4,)
    """
    if type(min_size) is not int or min_size < 1:
        raise InvalidParameterError(f"min_size must be a positive integer, got {min_size!r}")
    forest = Forest.concat([_one(first), _one(second)])
    sizes = forest._dag.sizes(forest._roots)
    if sizes.max() > _MOST_NODES:
        raise MatrixTooLargeError(
            f"a tree has {int(sizes.max()):,} nodes, and align takes at most {_MOST_NODES:,}: "
            "compare parts of the trees"
        )
    nodes = NodeArrays.of(forest._dag, forest._roots)
    return _Aligner(nodes, min_size).alignment()


def _one(tree: Any) -> Forest:
    if isinstance(tree, Tree):
        return Forest([tree])
    if not isinstance(tree, str):
        raise InvalidParameterError(
            f"align takes two trees or bracket strings, not {type(tree).__name__}"
        )
    return as_forest([tree])


class _Positions:
    """The nodes of one tree in preorder, with the numbers of their distinct subtrees."""

    def __init__(self, root: int, children: Sequence[Sequence[int]]) -> None:
        self.node: list[int] = []
        self.parents: list[int] = []
        stack = [(root, -1)]
        while stack:
            u, parent = stack.pop()
            stack.extend((child, len(self.node)) for child in reversed(children[u]))
            self.node.append(u)
            self.parents.append(parent)
        n = len(self.node)
        self.children = children_of(self.parents)
        self.ends = [i + 1 for i in range(n)]  # of the subtrees
        for i in reversed(range(1, n)):
            parent = self.parents[i]
            self.ends[parent] = max(self.ends[parent], self.ends[i])

    def around(self, roots: list[int], node: int) -> tuple[list[int], list[int]]:
        """Return the subtrees to the left and to the right of a node, in preorder."""
        place = next(i for i, root in enumerate(roots) if root <= node < self.ends[root])
        right = roots[place + 1 :]
        left: list[list[int]] = []
        while node != roots[place]:
            siblings = self.children[self.parents[node]]
            own = siblings.index(node)
            left.append(siblings[:own])
            right = siblings[own + 1 :] + right
            node = self.parents[node]
        left.append(roots[:place])
        return [root for part in reversed(left) for root in part], right


class _Aligner:
    def __init__(self, nodes: NodeArrays, min_size: int) -> None:
        ends = nodes.child_ends.tolist()
        below = nodes.children.tolist()
        self.children = [below[a:b] for a, b in pairwise([0, *ends])]
        self.labels = nodes.labels
        self.label = nodes.node_labels.tolist()
        self.min_size = min_size
        self.sizes = [1] * len(ends)
        for u, children in enumerate(self.children):  # children first
            self.sizes[u] += sum(self.sizes[child] for child in children)
        self.first, self.second = (_Positions(r, self.children) for r in nodes.roots.tolist())
        self.common: dict[tuple[int, int], int] = {}
        self._fill_common()

    def alignment(self) -> Alignment:
        """Take the largest fragment of each pair of regions, and then what it leaves."""
        found: list[Pairs] = []
        waiting: list[_Region] = [([0], [0])]
        while waiting:
            region = waiting.pop()
            best = self._best(region)
            if best is None:
                continue
            for own, other in zip(*self._around(region, best), strict=True):
                if own and other:
                    waiting.append((own, other))
            pairs, gaps = self._fragment(best)
            found.append(pairs)
            waiting.extend(gaps)
        found.sort(key=lambda pairs: (-len(pairs), pairs[0]))
        sides = []
        for at, tree in enumerate((self.first, self.second)):
            partner, fragment = [-1] * len(tree.node), [-1] * len(tree.node)
            for number, pairs in enumerate(found):
                for pair in pairs:
                    partner[pair[at]], fragment[pair[at]] = pair[1 - at], number
            labels = [self.labels[self.label[u]] for u in tree.node]
            sides.append(Side(labels, tree.parents, partner, fragment))
        return Alignment(sides[0], sides[1], tuple(map(len, found)))

    def _around(
        self, region: _Region, best: tuple[int, int]
    ) -> tuple[tuple[list[int], list[int]], tuple[list[int], list[int]]]:
        return self.first.around(region[0], best[0]), self.second.around(region[1], best[1])

    # ------------------------------------------------------------ sizes of common fragments

    def _fill_common(self) -> None:
        """Compute the largest common fragment at each pair of inner nodes, children first."""
        mine, other = (self._inner_by_label(tree) for tree in (self.first, self.second))
        cells = 0
        for label in mine.keys() & other.keys():
            arities = [sum(len(self.children[u]) for u in side[label]) for side in (mine, other)]
            cells += arities[0] * arities[1]
        if cells > _MOST_CELLS:
            raise MatrixTooLargeError(
                f"{cells:,} pairs of children have parents with the same label, and align compares "
                f"at most {_MOST_CELLS:,}: compare parts of the trees"
            )
        order = sorted({u for side in mine.values() for u in side})
        for u in order:  # children have smaller numbers
            for v in other.get(self.label[u], ()):
                if u != v:
                    rows = self._rows(self.children[u], self.children[v])
                    self.common[u, v] = 1 + rows[-1][-1]

    def _inner_by_label(self, tree: _Positions) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for u in sorted(set(tree.node)):
            if self.children[u]:
                found.setdefault(self.label[u], []).append(u)
        return found

    def _size(self, u: int, v: int) -> int:
        """Return the number of nodes of the largest common fragment with roots u and v."""
        if self.label[u] != self.label[v]:
            return 0
        return self.sizes[u] if u == v else self.common.get((u, v), 1)

    def _rows(self, xs: list[int], ys: list[int]) -> list[list[int]]:
        """Return the sizes of the best alignments of all beginnings of two lists of children."""
        rows = [[0] * (len(ys) + 1)]
        for x in xs:
            above, row = rows[-1], [0]
            for j, y in enumerate(ys):
                row.append(max(row[j], above[j + 1], above[j] + self._size(x, y)))
            rows.append(row)
        return rows

    # ------------------------------------------------------------ one fragment

    def _best(self, region: _Region) -> tuple[int, int] | None:
        """Return the roots of the largest common fragment, the first one of several."""
        places: list[dict[int, int]] = []  # of each distinct subtree, the first place
        for tree, roots in zip((self.first, self.second), region, strict=True):
            first: dict[int, int] = {}
            for root in roots:
                for place in range(root, tree.ends[root]):
                    first.setdefault(tree.node[place], place)
            places.append(first)
        by_label: dict[int, list[int]] = {}
        for v in places[1]:
            by_label.setdefault(self.label[v], []).append(v)
        best, largest = None, self.min_size - 1
        for u, place in places[0].items():
            if self.sizes[u] <= largest:
                continue
            for v in by_label.get(self.label[u], ()):
                if self.sizes[v] > largest and self._size(u, v) > largest:
                    best, largest = (place, places[1][v]), self._size(u, v)
        return best

    def _fragment(self, roots: tuple[int, int]) -> tuple[Pairs, list[_Region]]:
        """Return the pairs of nodes of a fragment in preorder, and the gaps between them."""
        pairs: Pairs = []
        gaps: list[_Region] = []
        stack = [roots]
        while stack:
            a, b = stack.pop()
            pairs.append((a, b))
            matched, own_gaps = self._matched(self.first.children[a], self.second.children[b])
            stack.extend(reversed(matched))
            gaps.extend(own_gaps)
        return pairs, gaps

    def _matched(self, xs: list[int], ys: list[int]) -> tuple[Pairs, list[_Region]]:
        """Return the aligned children of two nodes, and what is between them on both sides."""
        u, v = ([tree.node[i] for i in own] for tree, own in ((self.first, xs), (self.second, ys)))
        if u == v:
            return list(zip(xs, ys, strict=True)), []
        rows = self._rows(u, v)
        i, j, matched = len(xs), len(ys), []
        while i and j:
            size = self._size(u[i - 1], v[j - 1])
            if rows[i][j] == rows[i - 1][j]:
                i -= 1
            elif rows[i][j] == rows[i][j - 1]:
                j -= 1
            else:
                assert rows[i][j] == rows[i - 1][j - 1] + size > 0
                i, j = i - 1, j - 1
                matched.append((i, j))
        matched.reverse()
        cuts = [(-1, -1), *matched, (len(xs), len(ys))]
        gaps = [(xs[a + 1 : c], ys[b + 1 : d]) for (a, b), (c, d) in pairwise(cuts)]
        pairs = [(xs[i], ys[j]) for i, j in matched]
        return pairs, [gap for gap in gaps if gap[0] and gap[1]]
