"""Transformers that remove nodes, with or without what is below them."""

from typing import Any, Literal

import numpy as np

from filbert.errors import CapacityError, InvalidParameterError, NotATreeError
from filbert.node_arrays import Mask, NodeArrays, NodeWriter, checked_label
from filbert.transform.base import TreeTransformer, shown_tree
from filbert.transform.choice import Kind, Labels, check_kind, check_labels, chosen_nodes

_NOTHING = -1
_SEVERAL = -2
_MOST_EDGES = 2**32 - 2


class DropLabels(TreeTransformer):
    """Drop the nodes with some labels.

    A node that loses all its children is dropped too. It would become a leaf otherwise, and its
    label a word.

    Parameters
    ----------
    labels : str, collection of str, or callable
        The labels to drop, or a function that returns True for them.
    children : {"keep", "drop"}
        ``"keep"`` puts the children of a dropped node in its place. ``"drop"`` drops the whole
        subtree.
    nodes : {"inner", "leaves", "all"}
        Which nodes to drop. By default, leaves (the words of parse trees) are kept.
    placeholder : str, optional
        The label of the root if what is left is not a tree. If nothing is left, the tree is this
        single node. If several trees are left, because a root with several children is dropped,
        they are its children. By default, both are a :class:`~filbert.errors.NotATreeError`.

    Examples
    --------
    >>> trees = ["(TOP (S (NP (DT the) (NN dog)) (VP (VBD ran) (. .))))"]
    >>> DropLabels(["TOP", "NP"]).transform(trees)[0]
    <Tree (S (DT the) (NN dog) (VP (VBD ran) (. .)))>
    >>> DropLabels(["DT", "."], children="drop").transform(trees)[0]
    <Tree (TOP (S (NP (NN dog)) (VP (VBD ran))))>
    """

    def __init__(
        self,
        labels: Labels,
        *,
        children: Literal["keep", "drop"] = "keep",
        nodes: Kind = "inner",
        placeholder: str | None = None,
    ) -> None:
        self.labels = labels
        self.children = children
        self.nodes = nodes
        self.placeholder = placeholder

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        check_labels(self.labels)
        check_kind(self.nodes)
        if self.children not in ("keep", "drop"):
            raise InvalidParameterError(f"children must be 'keep' or 'drop', got {self.children!r}")
        check_placeholder(self.placeholder)

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        chosen, none = chosen_nodes(nodes, self.labels, self.nodes), np.zeros(len(nodes), bool)
        dropped, spliced = (none, chosen) if self.children == "keep" else (chosen, none)
        return without_nodes(nodes, dropped, spliced, self.placeholder, type(self).__name__)


class StripEmpties(TreeTransformer):
    """Strip traces and other empty elements, and constituents of which nothing is left.

    Parameters
    ----------
    labels : str, collection of str, or callable
        The labels of empty elements, which may be inner nodes or leaves. What is below them is
        dropped too.
    placeholder : str, optional
        The label of the single node that replaces a tree of which nothing is left. By default, such
        a tree is a :class:`~filbert.errors.NotATreeError`.

    Examples
    --------
    >>> tree = "(S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go) (ADVP (-NONE- *T*-2)))))"
    >>> StripEmpties().transform([tree])[0]
    <Tree (S (VP (TO to) (VP (VB go))))>
    """

    def __init__(self, labels: Labels = ("-NONE-",), *, placeholder: str | None = None) -> None:
        self.labels = labels
        self.placeholder = placeholder

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        check_labels(self.labels)
        check_placeholder(self.placeholder)

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        dropped, none = chosen_nodes(nodes, self.labels, "all"), np.zeros(len(nodes), bool)
        return without_nodes(nodes, dropped, none, self.placeholder, type(self).__name__)


def check_placeholder(placeholder: Any) -> None:
    """Raise an error unless the placeholder is None or can be a label."""
    if placeholder is not None:
        checked_label(placeholder, "placeholder")


def without_nodes(
    nodes: NodeArrays, dropped: Mask, spliced: Mask, placeholder: str | None, name: str
) -> NodeArrays:
    """Return trees without some nodes, and without nodes that lose all their children.

    Parameters
    ----------
    dropped, spliced : masks
        The nodes that go with all below them, and those that are replaced by their children.
    placeholder : str or None
        The root of what is not one tree; None raises NotATreeError.
    name : str
        The name of the transformer, for the message.
    """
    if not (dropped | spliced).any():
        return nodes
    pruning = _Pruning(nodes)
    pruning.run(dropped, spliced)
    return pruning.finish(placeholder, name)


class _Pruning:
    """What has become of the nodes so far. Nodes that are kept keep their numbers.

    `image` has the node that stands for each old node: itself, another one if it was replaced by
    its only child, _NOTHING, or _SEVERAL for nodes in the place of one. Those are expanded only
    below nodes that are kept: `pieces` has the next level, and `width` their number.
    """

    def __init__(self, nodes: NodeArrays) -> None:
        self.nodes = nodes
        self.image = list(range(len(nodes)))
        self.pieces: dict[int, list[int]] = {}
        self.width: dict[int, int] = {}
        self.children: dict[int, list[int]] = {}  # of nodes that are kept, if they change
        self.n_edges = 0  # in `children`

    def run(self, dropped: Mask, spliced: Mask) -> None:
        """Visit the nodes that go and their parents, children first."""
        nodes, image = self.nodes, self.image
        below, begins = nodes.children.tolist(), [0, *nodes.child_ends.tolist()]
        going = dropped | spliced
        affected = going.copy()
        affected[nodes.parents[going[nodes.children]]] = True
        waiting = bytearray(affected.tobytes())
        is_dropped, is_spliced = dropped.tolist(), spliced.tolist()
        parents = _Parents(nodes)
        node = waiting.find(1)
        while node >= 0:
            own = below[begins[node] : begins[node + 1]]
            left = [child for child in own if image[child] != _NOTHING]
            if is_dropped[node]:
                image[node] = _NOTHING
            elif not left and (own or is_spliced[node]):
                image[node] = _NOTHING
                for parent in parents.of(node):
                    waiting[parent] = 1
            elif is_spliced[node]:
                self._splice(node, left)
            else:
                self.children[node] = self._expanded(left)
            node = waiting.find(1, node + 1)

    def _splice(self, node: int, left: list[int]) -> None:
        if len(left) > 1:
            self.image[node] = _SEVERAL
            self.pieces[node] = left
            self.width[node] = sum([self.width.get(child, 1) for child in left])
            return
        child = left[0]
        self.image[node] = self.image[child]
        if self.image[child] == _SEVERAL:
            self.pieces[node], self.width[node] = self.pieces[child], self.width[child]

    def _expanded(self, left: list[int]) -> list[int]:
        image = self.image
        if not self.pieces:
            return [image[child] for child in left]
        self.n_edges += sum([self.width.get(child, 1) for child in left])
        if self.n_edges > _MOST_EDGES:
            raise CapacityError(
                "a node would get the children of so many dropped nodes that the forest has more "
                "than 2^32 - 2 edges: drop fewer nodes"
            )
        found, stack = [], left[::-1]
        while stack:
            node = stack.pop()
            if image[node] == _SEVERAL:
                stack += self.pieces[node][::-1]
            else:
                found.append(image[node])
        return found

    def finish(self, placeholder: str | None, name: str) -> NodeArrays:
        roots = np.array(self.image, dtype=np.int64)[self.nodes.roots]
        lost = np.flatnonzero(roots < 0)
        if len(lost) and placeholder is None:
            raise self._not_a_tree(int(lost[0]), name)
        writer = NodeWriter(self.nodes.with_children(self.children))
        new = {}
        for root in np.unique(self.nodes.roots[lost]).tolist():
            pieces = [] if self.image[root] == _NOTHING else self._expanded([root])
            new[root] = writer.node(writer.label(str(placeholder)), pieces)
        roots[lost] = [new[root] for root in self.nodes.roots[lost].tolist()]
        return writer.finish(roots)

    def _not_a_tree(self, sample: int, name: str) -> NotATreeError:
        root = int(self.nodes.roots[sample])
        tree = shown_tree(self.nodes, sample)
        if self.image[root] == _NOTHING:
            reason = f"{name} leaves nothing of the tree {tree}"
            hint = "set placeholder to the label of a node that replaces such trees"
        else:
            reason = f"{name} leaves {self.width[root]:,} trees of {tree}"
            hint = "set placeholder to the label of a new root for such trees"
        return NotATreeError(reason, hint, sample)


class _Parents:
    """The parents of each node."""

    def __init__(self, nodes: NodeArrays) -> None:
        order = np.argsort(nodes.children, kind="stable")
        self._parents = nodes.parents[order]
        self._ends = np.cumsum(np.bincount(nodes.children, minlength=len(nodes)))

    def of(self, node: int) -> list[int]:
        begin = self._ends[node - 1] if node else 0
        found: list[int] = self._parents[begin : self._ends[node]].tolist()
        return found
