"""Transformers that keep the upper part of trees."""

from numbers import Integral

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.node_arrays import NodeArrays, NodeWriter
from filbert.transform.base import TreeTransformer
from filbert.transform.choice import Labels, check_labels, chosen_nodes


class CutDepth(TreeTransformer):
    """Keep the upper levels of trees. The nodes of the lowest level become leaves.

    Parameters
    ----------
    max_depth : int, optional
        The depth of the result, as :attr:`filbert.Tree.depth` counts: 1 keeps the root only. None
        cuts nothing, which is useful in a parameter search.

    Examples
    --------
    >>> CutDepth(2).transform(["(S (NP (DT the) (NN dog)) (VP (VBD ran)))"])[0]
    <Tree (S NP VP)>
    """

    def __init__(self, max_depth: int | None = 3) -> None:
        self.max_depth = max_depth

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        depth = self.max_depth
        if depth is None:
            return
        if isinstance(depth, bool) or not isinstance(depth, Integral) or depth < 1:
            raise InvalidParameterError(
                f"max_depth must be None or an integer of at least 1, got {depth!r}"
            )

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        if self.max_depth is None:
            return nodes
        depths, below, label_of = nodes.depths(), nodes.child_lists(), nodes.node_labels.tolist()
        roots, max_depth = nodes.roots.tolist(), int(self.max_depth)
        # 1. The nodes to change on each level, from the root down: a node that is not too deep in
        #    one place may be too deep in another.
        levels = [{root for root in roots if depths[root] > max_depth}]
        while levels[-1] and len(levels) < max_depth:
            left = max_depth - len(levels)
            levels.append({c for node in levels[-1] for c in below[node] if depths[c] > left})
        # 2. Their new forms, from the lowest level up. The nodes of level max_depth become leaves.
        writer = NodeWriter(nodes)
        image: dict[int, int] = {}
        for level in range(len(levels), 0, -1):
            new: dict[int, int] = {}
            for node in levels[level - 1]:
                kept = [] if level == max_depth else below[node]
                children = [image.get(child, child) for child in kept]
                new[node] = writer.node(label_of[node], children)
            image = new
        return writer.finish([image.get(root, root) for root in roots])


class CutBelow(TreeTransformer):
    """Keep trees down to nodes with some labels, which become leaves.

    Parameters
    ----------
    labels : str, collection of str, or callable
        The labels of the frontier, or a function that returns True for them.

    Examples
    --------
    >>> CutBelow("NP").transform(["(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP me))))"])[0]
    <Tree (S NP (VP (VBD saw) NP))>
    """

    def __init__(self, labels: Labels) -> None:
        self.labels = labels

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        check_labels(self.labels)

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        return nodes.without_edges(chosen_nodes(nodes, self.labels)[nodes.parents])


class DropWords(TreeTransformer):
    """Drop the leaves: trees end at their preterminals, such as parts of speech.

    A tree of a single node is kept. So are inner nodes, also if all their children are leaves.

    Examples
    --------
    >>> DropWords().transform(["(S (NP (DT the) (NN dog)) (VP (VBD ran)))"])[0]
    <Tree (S (NP DT NN) (VP VBD))>
    """

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        return nodes.without_edges(np.asarray(nodes.is_leaf[nodes.children]))
