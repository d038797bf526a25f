"""Mark the path to one leaf of each tree."""

from typing import Any, Literal

import numpy as np

from filbert.errors import InputTypeError, InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.node_arrays import NodeArrays, NodeWriter, checked_label
from filbert.transform.base import TreeTransformer, check_has_trees, with_parts

Where = Literal["path", "parent", "leaf"]


class MarkPath(TreeTransformer):
    """Mark the path to one leaf of each tree, which a column of the examples gives.

    In semantic role labelling, for example, the same sentence is classified once for each
    predicate, and the tree has to say which predicate is meant.

    Parameters
    ----------
    column : str
        The column or part of :class:`~filbert.Examples` with the number of the leaf in each tree,
        from 0. The leaves are those of the tree as it comes to this step: other steps may drop
        leaves.
    mark : str
        The suffix that marked labels get.
    where : {"path", "parent", "leaf"}
        Mark all nodes from the root to the leaf, only the parent of the leaf, or only the leaf.
    part : str, optional
        The part whose trees are marked. It is needed if there are several.

    Examples
    --------
    >>> from filbert import Examples
    >>> sentence = "(S (NP (NNS cats)) (VP (VBP like) (S (VP (VBG sleeping)))))"
    >>> X = Examples(tree=[sentence, sentence], verb=[[1], [2]])
    >>> for tree in MarkPath("verb", "-P", where="parent").transform(X)["tree"]:
    ...     print(tree)
    (S (NP (NNS cats)) (VP (VBP-P like) (S (VP (VBG sleeping)))))
    (S (NP (NNS cats)) (VP (VBP like) (S (VP (VBG-P sleeping)))))
    """

    def __init__(
        self,
        column: str,
        mark: str,
        *,
        where: Where = "path",
        part: str | None = None,
    ) -> None:
        self.column = column
        self.mark = mark
        self.where = where
        self.part = part

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        checked_label(self.column, "column")
        checked_label(self.mark, "mark")
        if self.where not in ("path", "parent", "leaf"):
            raise InvalidParameterError(
                f"where must be 'path', 'parent' or 'leaf', got {self.where!r}"
            )

    def _transform_forest(self, forest: Forest) -> Forest:
        raise InputTypeError(
            f"MarkPath takes Examples with a column {self.column!r} of leaf numbers, not trees "
            f"alone: pass Examples(tree=trees, {self.column}=...)"
        )

    def _transform_examples(self, X: Examples) -> Examples:
        check_has_trees(X, type(self).__name__)
        name = self._part_of(X)
        forest = X[name]
        marker = _PathMarker(NodeArrays.of(forest._dag, forest._roots), self.mark, self.where)
        marked = marker.marked(self._leaf_numbers(X), self.column)
        return with_parts(X, {**X.parts, name: Forest._of(*marked.to_dag(), forest.skipped)})

    def _part_of(self, X: Examples) -> str:
        names = [name for name, part in X.parts.items() if isinstance(part, Forest)]
        if self.part is None and len(names) == 1:
            return names[0]
        if self.part not in names:
            raise InvalidParameterError(
                f"part must name the trees to mark, one of {', '.join(names)}; got {self.part!r}"
            )
        return self.part

    def _leaf_numbers(self, X: Examples) -> list[int]:
        try:
            column = np.asarray(X[self.column])
        except KeyError as error:
            raise InvalidParameterError(f"MarkPath: {error.args[0]}") from None
        if column.size != len(X):
            raise InvalidParameterError(
                f"column {self.column!r} must have one leaf number per row, got an array of shape "
                f"{column.shape}"
            )
        return [_whole_number(self.column, row, one) for row, one in enumerate(column.ravel())]


class _PathMarker:
    """Write marked copies of the nodes on paths, once for each node and leaf of its subtree."""

    def __init__(self, nodes: NodeArrays, mark: str, where: Where) -> None:
        self.nodes = nodes
        self.mark = mark
        self.where = where
        self.below = nodes.child_lists()
        self.label_of: list[int] = nodes.node_labels.tolist()
        self.n_leaves = _leaf_counts(self.below)
        self.writer = NodeWriter(nodes)
        self.copies: dict[tuple[int, int], int] = {}  # by node and number of the leaf

    def marked(self, leaves: list[int], column: str) -> NodeArrays:
        roots = []
        for row, (root, leaf) in enumerate(zip(self.nodes.roots.tolist(), leaves, strict=True)):
            if leaf >= self.n_leaves[root]:
                raise InvalidParameterError(
                    f"sample {row}: column {column!r} is {leaf}, but the tree has "
                    f"{self.n_leaves[root]:,} leaves, numbered from 0"
                )
            roots.append(self._copy(root, leaf))
        return self.writer.finish(roots)

    def _copy(self, root: int, leaf: int) -> int:
        """Return the copy of a tree in which the path to a leaf is marked."""
        path, node = [], root
        while (node, leaf) not in self.copies:
            place, leaf_below = self._step(node, leaf)
            path.append((node, leaf, place))
            if not self.below[node]:
                break
            node, leaf = self.below[node][place], leaf_below
        copy = self.copies.get((node, leaf), -1)
        for node, leaf, place in reversed(path):
            children = self.below[node].copy()
            if children:
                children[place] = copy
            copy = self.writer.node(self._label(node, place), children)
            self.copies[node, leaf] = copy
        return copy

    def _step(self, node: int, leaf: int) -> tuple[int, int]:
        """Return the place of the child with the leaf, and the number of the leaf below it."""
        for place, child in enumerate(self.below[node]):
            if leaf < self.n_leaves[child]:
                return place, leaf
            leaf -= self.n_leaves[child]
        return 0, 0

    def _label(self, node: int, place: int) -> int:
        below, label = self.below[node], self.label_of[node]
        if self.where == "leaf" and below:
            return label
        if self.where == "parent" and (not below or self.below[below[place]]):
            return label
        return self.writer.label(self.nodes.labels[label] + self.mark)


def _leaf_counts(below: list[list[int]]) -> list[int]:
    counts: list[int] = []
    for children in below:
        counts.append(sum([counts[child] for child in children]) or 1)
    return counts


def _whole_number(column: str, row: int, value: Any) -> int:
    """Return the number of a leaf, which tables may store as text or as a float."""
    text = str(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        text = str(int(value))
    if not (text.isascii() and text.isdigit()):
        raise InvalidParameterError(
            f"sample {row}: column {column!r} must be the number of a leaf, from 0; got {text!r}"
        )
    return int(text)
