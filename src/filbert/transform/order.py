"""A canonical order of children, for trees in which their order means nothing."""

from dataclasses import replace

import numpy as np

from filbert.node_arrays import NodeArrays
from filbert.read.canonical import sort_children
from filbert.transform.base import TreeTransformer


class SortChildren(TreeTransformer):
    """Sort the children of all nodes, for trees without an order, such as glycans.

    Two trees are equal afterwards exactly if they are equal as unordered trees. Children are sorted
    by their labels (by code points), then by the depths of their subtrees, then by content: the
    sorted children are compared one by one in the same way. The order depends on nothing but the
    content, so forests that are sorted separately fit together.

    What it means for kernels: all of them see unordered trees that are equal as equal. `Subtree`
    counts the subtrees that are equal as unordered trees. `SubsetTree` compares nodes with the same
    multiset of labels of children, because equal labels are side by side. Children with equal
    labels are paired in sorted order, not in all ways. `PartialTree` finds every common subset of
    children with different labels. For children with equal labels, it misses pairs that cross, and
    its penalty for gaps counts gaps in the sorted order.

    Examples
    --------
    >>> SortChildren().transform(["(Man (Gal Fuc) GlcNAc (Gal Neu5Ac) Gal)"])[0]
    <Tree (Man Gal (Gal Fuc) (Gal Neu5Ac) GlcNAc)>
    """

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        below = nodes.child_lists()
        sort_children(nodes.labels, nodes.node_labels.tolist(), below)
        children = [child for own in below for child in own]
        return replace(nodes, children=np.array(children, dtype=np.uint32))
