"""Trees with at most two children per node, and back."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Literal

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.node_arrays import NodeArrays, NodeWriter, checked_label
from filbert.transform.base import TreeTransformer
from filbert.transform.choice import chosen_nodes, has_prefix
from filbert.transform.drop import check_placeholder, without_nodes


class Binarise(TreeTransformer):
    """Give nodes at most two children, by new nodes in between.

    The new nodes have the label of the node above them with a marker in front. :class:`Unbinarise`
    and `inverse_transform` restore the trees exactly. Therefore it is an error if the label of an
    inner node begins with the marker already.

    Parameters
    ----------
    direction : {"right", "left"}
        ``"right"`` makes ``(NP a (@NP b c))``, ``"left"`` makes ``(NP (@NP a b) c)``.
    n_siblings : int
        The order of horizontal markovisation: new labels also name so many of the children that
        they cover, the first ones to the right, the last ones to the left. 0 names none, which
        gives the fewest labels and the most shared subtrees.
    marker : str
        The beginning of new labels.

    Examples
    --------
    >>> trees = ["(NP (DT a) (JJ big) (JJ red) (NN dog))"]
    >>> Binarise().transform(trees)[0]
    <Tree (NP (DT a) (@NP (JJ big) (@NP (JJ red) (NN dog))))>
    >>> Binarise("left", n_siblings=1).transform(trees)[0]
    <Tree (NP (@NP|JJ (@NP|JJ (DT a) (JJ big)) (JJ red)) (NN dog))>
    >>> Binarise().inverse_transform(Binarise().transform(trees))[0]
    <Tree (NP (DT a) (JJ big) (JJ red) (NN dog))>
    """

    def __init__(
        self,
        direction: Literal["right", "left"] = "right",
        *,
        n_siblings: int = 0,
        marker: str = "@",
    ) -> None:
        self.direction = direction
        self.n_siblings = n_siblings
        self.marker = marker

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        if self.direction not in ("right", "left"):
            raise InvalidParameterError(
                f"direction must be 'right' or 'left', got {self.direction!r}"
            )
        n = self.n_siblings
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 0:
            raise InvalidParameterError(f"n_siblings must be an integer of at least 0, got {n!r}")
        checked_label(self.marker, "marker")

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
        return Unbinarise(self.marker).transform(X)

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        self._check_marker(nodes)
        writer = NodeWriter(nodes)
        label_of = nodes.node_labels.tolist()
        image: list[int] = []
        for label, below in zip(label_of, nodes.each_children(), strict=True):
            children = [image[child] for child in below]
            if len(children) > 2:
                names = self._names(nodes.labels[label], [label_of[c] for c in below], nodes.labels)
                children = self._folded(children, names, writer)
            image.append(writer.node(label, children))
        return writer.finish([image[root] for root in nodes.roots.tolist()])

    def _check_marker(self, nodes: NodeArrays) -> None:
        marked = np.flatnonzero(chosen_nodes(nodes, has_prefix(self.marker)))
        if len(marked):
            raise InvalidParameterError(
                f"the label {nodes.labels[nodes.node_labels[marked[0]]]!r} begins with "
                f"marker={self.marker!r} already, so Unbinarise could not tell it from new nodes: "
                "choose another marker"
            )

    def _names(self, parent: str, below: list[int], labels: list[str]) -> Iterator[str]:
        """Yield the labels of the new nodes, the lowest first."""
        name = self.marker + parent
        n = int(self.n_siblings)
        for i in range(1, len(below) - 1):
            if n == 0:
                yield name
                continue
            if self.direction == "right":
                first = len(below) - 1 - i
                covered = below[first : first + n]
            else:
                covered = below[max(0, i + 1 - n) : i + 1]
            yield f"{name}|{'-'.join([labels[one] for one in covered])}"

    def _folded(self, children: list[int], names: Iterator[str], writer: NodeWriter) -> list[int]:
        """Return the two children that replace the children of a node."""
        to_right = self.direction == "right"
        order = children[::-1] if to_right else children
        inner = order[0]
        for child, name in zip(order[1:-1], names, strict=True):
            pair = [child, inner] if to_right else [inner, child]
            inner = writer.node(writer.label(name), pair)
        return [order[-1], inner] if to_right else [inner, order[-1]]


class Unbinarise(TreeTransformer):
    """Remove the nodes that :class:`Binarise` added, which restores the trees exactly.

    Parameters
    ----------
    marker : str
        The beginning of the labels of added nodes. Leaves are kept, whatever their label.
    placeholder : str, optional
        The label of a new root for trees whose own root begins with the marker and has several
        children. By default, such a tree is a :class:`~filbert.errors.NotATreeError`.

    Examples
    --------
    >>> Unbinarise().transform(["(NP (DT a) (@NP (JJ big) (@NP (JJ red) (NN @dog))))"])[0]
    <Tree (NP (DT a) (JJ big) (JJ red) (NN @dog))>
    """

    def __init__(self, marker: str = "@", *, placeholder: str | None = None) -> None:
        self.marker = marker
        self.placeholder = placeholder

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        checked_label(self.marker, "marker")
        check_placeholder(self.placeholder)

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        spliced, none = chosen_nodes(nodes, has_prefix(self.marker)), np.zeros(len(nodes), bool)
        return without_nodes(nodes, none, spliced, self.placeholder, type(self).__name__)
