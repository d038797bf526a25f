"""Chains of nodes with a single child as one node, and back."""

from typing import Any

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.node_arrays import Mask, NodeArrays, NodeWriter, checked_label
from filbert.transform.base import TreeTransformer


class CollapseUnary(TreeTransformer):
    """Collapse chains of nodes with a single child into one node: ``S+VP``.

    Leaves are never collapsed. :class:`ExpandUnary` and `inverse_transform` restore the trees
    exactly. Therefore it is an error if a label contains the joiner already.

    Parameters
    ----------
    joiner : str
        The text between the labels.
    preterminals : bool
        Collapse preterminals too, which are the nodes directly above leaves only.

    Examples
    --------
    >>> trees = ["(S (VP (VP (VB go) (NP (NN home)))))"]
    >>> CollapseUnary().transform(trees)[0]
    <Tree (S+VP+VP (VB go) (NP (NN home)))>
    >>> CollapseUnary("/", preterminals=True).transform(trees)[0]
    <Tree (S/VP/VP (VB go) (NP/NN home))>
    """

    def __init__(self, joiner: str = "+", *, preterminals: bool = False) -> None:
        self.joiner = joiner
        self.preterminals = preterminals

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        checked_label(self.joiner, "joiner")
        if not isinstance(self.preterminals, bool | np.bool_):
            raise InvalidParameterError(
                f"preterminals must be True or False, got {self.preterminals!r}"
            )

    def inverse_transform(self, X: Any) -> Any:
        """Restore the trees from which `transform` made X.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            Transformed trees.

        Returns
        -------
        Forest or Examples
            The trees as they were.
        """
        return ExpandUnary(self.joiner).transform(X)

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        following = _next_in_chain(nodes, bool(self.preterminals)).tolist()
        below, label_of = nodes.child_lists(), nodes.node_labels.tolist()
        for number in np.unique(nodes.node_labels[~nodes.is_leaf]).tolist():
            self._joined([nodes.labels[number]])
        # 1. Which nodes begin a chain, and where it ends. A node may begin a chain in one tree and
        #    be inside a longer one in another tree.
        last = [-1] * len(nodes)
        for root in nodes.roots.tolist():
            last[root] = root
        chains: dict[int, list[str]] = {}
        for top in range(len(nodes) - 1, -1, -1):
            if last[top] < 0:
                continue
            if following[top] >= 0:
                chain = _chain(top, following)
                last[top] = chain[-1]
                chains[top] = [nodes.labels[label_of[node]] for node in chain]
            for child in below[last[top]]:
                last[child] = child
        # 2. Write one node for each chain, children first.
        writer, image = NodeWriter(nodes), list(range(len(nodes)))
        for top, bottom in enumerate(last):
            if bottom < 0 or not below[top]:
                continue
            label = writer.label(self._joined(chains[top])) if top in chains else label_of[top]
            image[top] = writer.node(label, [image[child] for child in below[bottom]])
        return writer.finish([image[root] for root in nodes.roots.tolist()])

    def _joined(self, chain: list[str]) -> str:
        label = self.joiner.join(chain)
        if label.split(self.joiner) != chain:
            raise InvalidParameterError(
                f"joiner={self.joiner!r} occurs in {_culprit(chain, self.joiner)}, so the label "
                f"could not be split again: choose another joiner"
            )
        return label


class ExpandUnary(TreeTransformer):
    """Expand inner nodes with a joined label into chains: the inverse of :class:`CollapseUnary`.

    Parameters
    ----------
    joiner : str
        The text between the labels.

    Examples
    --------
    >>> ExpandUnary().transform(["(S+VP (VB go) (NP+NN home))"])[0]
    <Tree (S (VP (VB go) (NP (NN home))))>
    """

    def __init__(self, joiner: str = "+") -> None:
        self.joiner = joiner

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        checked_label(self.joiner, "joiner")

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        writer = NodeWriter(nodes)
        chains: dict[int, list[int]] = {}  # of the labels of inner nodes, the lowest first
        for number in np.unique(nodes.node_labels[~nodes.is_leaf]).tolist():
            chain = nodes.labels[number].split(self.joiner)
            if not all(chain):
                raise InvalidParameterError(
                    f"the label {nodes.labels[number]!r} has nothing before or after "
                    f"joiner={self.joiner!r}: choose the joiner with which it was made"
                )
            chains[number] = [writer.label(label) for label in reversed(chain)]
        image: list[int] = []
        for label, below in zip(nodes.node_labels.tolist(), nodes.each_children(), strict=True):
            if not below:
                image.append(len(image))
                continue
            children = [image[child] for child in below]
            for part in chains[label]:
                children = [writer.node(part, children)]
            image += children
        return writer.finish([image[root] for root in nodes.roots.tolist()])


def _next_in_chain(nodes: NodeArrays, preterminals: bool) -> Any:
    """Return the only child of each node if it continues a chain, otherwise -1."""
    found = np.full(len(nodes), -1, dtype=np.int64)
    single = nodes.n_children == 1
    found[single] = nodes.children[nodes.child_ends[single] - np.uint64(1)]
    continues = ~nodes.is_leaf
    if not preterminals:
        continues &= ~_is_preterminal(nodes)
    found[single & ~continues[found]] = -1
    return found


def _chain(top: int, following: list[int]) -> list[int]:
    chain = [top]
    while (node := following[chain[-1]]) >= 0:
        chain.append(node)
    return chain


def _is_preterminal(nodes: NodeArrays) -> Mask:
    above = nodes.parents[nodes.is_leaf[nodes.children]]
    n_leaves = np.bincount(above, minlength=len(nodes))
    return np.asarray((n_leaves == nodes.n_children) & ~nodes.is_leaf)


def _culprit(chain: list[str], joiner: str) -> str:
    with_joiner = [label for label in chain if joiner in label]
    return f"the label {with_joiner[0]!r}" if with_joiner else f"the labels {chain!r} side by side"
