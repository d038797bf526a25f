"""A canonical order of children, for trees in which their order means nothing."""

from dataclasses import replace
from itertools import groupby

import numpy as np

from filbert.node_arrays import NodeArrays
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
        below, depths = nodes.child_lists(), nodes.depths()
        ranks = _ranks(nodes.labels)
        rank_of = [ranks[label] for label in nodes.node_labels.tolist()]
        bits = len(nodes).bit_length()
        keys = [0] * len(nodes)  # nodes compare like their keys: by label, depth and content
        by_depth = np.argsort(np.array(depths), kind="stable").tolist()
        for depth, level in groupby(by_depth, key=depths.__getitem__):
            same: dict[tuple[int, ...], list[int]] = {}  # nodes that become the same node
            for node in level:
                own = below[node]
                own.sort(key=keys.__getitem__)
                same.setdefault((rank_of[node], *[keys[child] for child in own]), []).append(node)
            for place, content in enumerate(sorted(same)):
                key = (((content[0] << bits) + depth) << bits) + place
                for node in same[content]:
                    keys[node] = key
        children = [child for own in below for child in own]
        return replace(nodes, children=np.array(children, dtype=np.uint32))


def _ranks(labels: list[str]) -> list[int]:
    """Return the rank of each label among all labels. Equal labels have equal ranks."""
    rank = {label: i for i, label in enumerate(sorted(set(labels)))}
    return [rank[label] for label in labels]
