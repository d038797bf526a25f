"""The nodes of a forest as flat arrays, to read and to rewrite."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert._core import Dag
from filbert.errors import InvalidParameterError

Ids = NDArray[np.uint32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class NodeArrays:
    """The distinct nodes of some trees. Children have smaller numbers than their parents.

    Attributes
    ----------
    labels : list of str
    node_labels : array of uint32
        The number of each node's label.
    child_ends : array of uint64
        The children of node ``u`` are ``children[child_ends[u - 1] : child_ends[u]]``.
    children : array of uint32
    roots : array of uint32
        The root of each tree.
    """

    labels: list[str]
    node_labels: Ids
    child_ends: NDArray[np.uint64]
    children: Ids
    roots: Ids

    @classmethod
    def of(cls, dag: Dag, roots: Ids) -> Self:
        """Return the nodes below some roots."""
        own, own_roots = dag.extract(roots)
        label_bytes, label_ends, node_labels, child_ends, children = own.to_arrays()
        text = label_bytes.tobytes()
        places = pairwise([0, *label_ends.tolist()])
        labels = [text[begin:end].decode() for begin, end in places]
        return cls(labels, node_labels, child_ends, children, own_roots)

    def to_dag(self) -> tuple[Dag, Ids]:
        """Store each distinct subtree of the trees once. Return the roots in the same order."""
        texts = [label.encode() for label in self.labels]
        dag, roots = _core.from_arrays(
            np.frombuffer(b"".join(texts), dtype=np.uint8),
            np.cumsum([len(text) for text in texts], dtype=np.uint64),
            *(self.node_labels, self.child_ends, self.children, self.roots),
        )
        return dag.extract(roots)

    def __len__(self) -> int:
        return len(self.node_labels)

    @property
    def n_children(self) -> NDArray[np.int64]:
        """The number of children of each node."""
        n_children: NDArray[np.int64] = self.child_ends.astype(np.int64)
        n_children[1:] -= n_children[:-1].copy()
        return n_children

    @property
    def is_leaf(self) -> Mask:
        """Whether a node has no children."""
        return np.asarray(self.n_children == 0)

    @property
    def parents(self) -> Ids:
        """The parent of each entry of `children`."""
        return np.repeat(np.arange(len(self), dtype=np.uint32), self.n_children)

    def each_children(self) -> Iterator[list[int]]:
        """Yield the children of one node after the other."""
        below = self.children.tolist()
        begin = 0
        for end in self.child_ends.tolist():
            yield below[begin:end]
            begin = end

    def child_lists(self) -> list[list[int]]:
        """Return the children of each node. `each_children` takes less memory."""
        return list(self.each_children())

    def depths(self) -> list[int]:
        """Return the depth of each node's subtree. A leaf has depth 1."""
        depths: list[int] = []
        for below in self.each_children():
            depths.append(1 + max([depths[child] for child in below], default=0))
        return depths

    def relabelled(self, chosen: Mask, new_label: Callable[[str], str]) -> Self:
        """Return the same trees with other labels for the chosen nodes.

        `new_label` is called once for each distinct label.
        """
        labels = list(self.labels)
        numbers = np.arange(len(labels), dtype=np.uint32)
        for number in np.unique(self.node_labels[chosen]).tolist():
            numbers[number] = len(labels)
            labels.append(new_label(self.labels[number]))
        node_labels = np.where(chosen, numbers[self.node_labels], self.node_labels)
        return replace(self, labels=labels, node_labels=node_labels)

    def without_edges(self, cut: Mask) -> Self:
        """Return the trees without some entries of `children`, and without what is below them."""
        left = ~cut
        n_left = np.zeros(len(left) + 1, dtype=np.uint64)  # in the first i entries
        np.cumsum(left, out=n_left[1:])
        return replace(self, child_ends=n_left[self.child_ends], children=self.children[left])

    def with_children(self, children: Mapping[int, Sequence[int]]) -> Self:
        """Return the trees with other children for some nodes."""
        changed = np.zeros(len(self), dtype=bool)
        n_new = np.zeros(len(self), dtype=np.uint64)
        for node, own in children.items():
            changed[node], n_new[node] = True, len(own)
        rest = self.without_edges(changed[self.parents])
        new = [child for node in sorted(children) for child in children[node]]
        places = np.repeat(rest.child_ends.astype(np.int64), n_new.astype(np.int64))
        return replace(
            self,
            child_ends=rest.child_ends + np.cumsum(n_new),
            children=np.insert(rest.children, places, np.array(new, dtype=np.uint32)),
        )


class NodeWriter:
    """Add nodes to those that exist, children before their parents.

    New nodes may have old and new nodes as children. Nodes that no tree needs are left out when
    everything is stored.
    """

    def __init__(self, nodes: NodeArrays) -> None:
        self._old = nodes
        self._numbers = {label: number for number, label in enumerate(nodes.labels)}
        self._node_labels: list[int] = []
        self._child_ends: list[int] = []
        self._children: list[int] = []

    def label(self, text: str) -> int:
        """Return the number of a label."""
        return self._numbers.setdefault(text, len(self._numbers))

    def node(self, label: int, children: Sequence[int]) -> int:
        """Add a node and return its number."""
        self._node_labels.append(label)
        self._children += children
        self._child_ends.append(len(self._children))
        return len(self._old) + len(self._node_labels) - 1

    def finish(self, roots: Sequence[int] | NDArray[np.int64]) -> NodeArrays:
        """Return the nodes, with these roots."""
        old = self._old
        child_ends = np.array(self._child_ends, dtype=np.uint64) + np.uint64(len(old.children))
        return NodeArrays(
            list(self._numbers),
            np.append(old.node_labels, np.array(self._node_labels, dtype=np.uint32)),
            np.append(old.child_ends, child_ends),
            np.append(old.children, np.array(self._children, dtype=np.uint32)),
            np.array(roots, dtype=np.uint32),
        )


def checked_label(label: Any, what: str) -> str:
    """Return a text that a node can have as its label. `what` says where it comes from."""
    if not isinstance(label, str) or not label or "\0" in label or not _is_unicode(label):
        raise InvalidParameterError(
            f"{what} must be a string that can be a label, not empty and without NUL or lone "
            f"surrogates; got {label!r}"
        )
    return str(label)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
