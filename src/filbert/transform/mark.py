"""Mark nodes by their labels."""

from typing import Literal

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.node_arrays import Mask, NodeArrays, checked_label
from filbert.transform.base import TreeTransformer
from filbert.transform.choice import Kind, Labels, check_kind, check_labels, chosen_nodes


class MarkNodes(TreeTransformer):
    """Mark nodes with some labels, or the paths from the root to them.

    Parameters
    ----------
    labels : str, collection of str, or callable
        The labels of the nodes, or a function that returns True for them.
    mark : str
        The suffix that marked labels get.
    where : {"nodes", "paths"}
        Mark the nodes with these labels only, or all nodes from the root down to them.
    nodes : {"inner", "leaves", "all"}
        Which nodes to look for. By default, leaves (the words of parse trees) are not considered.

    Examples
    --------
    >>> trees = ["(S (NP (DT the) (NN dog)) (VP (VBD ran)))"]
    >>> MarkNodes("NN", "-H").transform(trees)[0]
    <Tree (S (NP (DT the) (NN-H dog)) (VP (VBD ran)))>
    >>> MarkNodes("ran", "*", where="paths", nodes="leaves").transform(trees)[0]
    <Tree (S* (NP (DT the) (NN dog)) (VP* (VBD* ran*)))>
    """

    def __init__(
        self,
        labels: Labels,
        mark: str,
        *,
        where: Literal["nodes", "paths"] = "nodes",
        nodes: Kind = "inner",
    ) -> None:
        self.labels = labels
        self.mark = mark
        self.where = where
        self.nodes = nodes

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        check_labels(self.labels)
        checked_label(self.mark, "mark")
        check_kind(self.nodes)
        if self.where not in ("nodes", "paths"):
            raise InvalidParameterError(f"where must be 'nodes' or 'paths', got {self.where!r}")

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        chosen = chosen_nodes(nodes, self.labels, self.nodes)
        if self.where == "paths":
            chosen = _with_ancestors(nodes, chosen)
        return nodes.relabelled(chosen, lambda label: label + self.mark)


def _with_ancestors(nodes: NodeArrays, chosen: Mask) -> Mask:
    """Return which nodes are chosen or above a chosen node."""
    found: list[bool] = []
    for own, below in zip(chosen.tolist(), nodes.each_children(), strict=True):
        found.append(own or True in [found[child] for child in below])
    return np.array(found, dtype=bool)
