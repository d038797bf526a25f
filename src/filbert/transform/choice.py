"""Choose nodes by their labels."""

from collections.abc import Callable, Collection
from typing import Any, Literal, get_args

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.node_arrays import Mask, NodeArrays

Labels = str | Collection[str] | Callable[[str], bool]
Kind = Literal["inner", "leaves", "all"]


def check_labels(labels: Any) -> None:
    """Raise an error unless `labels` is a label, a collection of labels or a function."""
    if isinstance(labels, str) or callable(labels):
        return
    if not isinstance(labels, Collection) or not all(isinstance(one, str) for one in labels):
        raise InvalidParameterError(
            f"labels must be a label, a list or set of labels, or a function that returns True "
            f"for the labels to choose; got {labels!r}"
        )


def check_kind(nodes: Any) -> None:
    """Raise an error unless `nodes` names a kind of node."""
    if nodes not in get_args(Kind):
        raise InvalidParameterError(f"nodes must be 'inner', 'leaves' or 'all', got {nodes!r}")


def nodes_of_kind(nodes: NodeArrays, kind: Kind) -> Mask:
    """Return which nodes are inner nodes, leaves, or any nodes."""
    if kind == "all":
        return np.ones(len(nodes), dtype=bool)
    return nodes.is_leaf if kind == "leaves" else ~nodes.is_leaf


def chosen_nodes(nodes: NodeArrays, labels: Labels, kind: Kind = "inner") -> Mask:
    """Return which nodes have a chosen label and are of a kind."""
    if isinstance(labels, str):
        labels = (labels,)
    if callable(labels):
        chosen = [bool(labels(label)) for label in nodes.labels]
    else:
        wanted = set(labels)
        chosen = [label in wanted for label in nodes.labels]
    by_label = np.array(chosen, dtype=bool)
    return np.asarray(by_label[nodes.node_labels] & nodes_of_kind(nodes, kind))


def has_prefix(prefix: str) -> Callable[[str], bool]:
    """Return a function that chooses the labels with a prefix."""
    return lambda label: label.startswith(prefix)
