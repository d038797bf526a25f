"""One tree of a forest."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from filbert._core import Dag, from_arrays
from filbert.drawing.svg import dag_svg, tree_svg
from filbert.drawing.text import draw, draw_arrays
from filbert.errors import InvalidParameterError


class Tree:
    """A labelled ordered tree: a node of a forest, with everything below it.

    A :class:`~filbert.Forest` makes trees (``forest[3]``). They never change. Two trees are equal
    if their labels and shapes are equal, also if they come from different forests.

    Examples
    --------
    >>> from filbert import Forest
    >>> tree = Forest.from_brackets(["(S (NP (D a) (N dog)) (VP (V ran)))"])[0]
    >>> tree.label, tree.n_nodes, tree.depth
    ('S', 9, 4)
    >>> [str(child) for child in tree.children]
    ['(NP (D a) (N dog))', '(VP (V ran))']
    >>> print(tree.draw())
    S
    ├─ NP
    │  ├─ D ─ a
    │  └─ N ─ dog
    └─ VP
       └─ V ─ ran
    """

    __slots__ = ("_dag", "_node")

    def __init__(self, dag: Dag, node: int) -> None:
        self._dag = dag
        self._node = node

    @property
    def label(self) -> str:
        """The label of the root."""
        return self._dag.label(self._node)

    @property
    def children(self) -> tuple["Tree", ...]:
        """The trees below the root, from left to right."""
        return tuple(Tree(self._dag, int(child)) for child in self._dag.children(self._node))

    @property
    def is_leaf(self) -> bool:
        """Whether the tree is a single node."""
        return len(self._dag.children(self._node)) == 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes, including leaves."""
        return int(self._dag.sizes(self._as_roots())[0])

    @property
    def depth(self) -> int:
        """The number of nodes on the longest path from the root to a leaf."""
        return int(self._dag.depths(self._as_roots())[0])

    def nodes(self) -> Iterator["Tree"]:
        """Yield the subtrees of all nodes in preorder, from left to right."""
        stack = [self._node]
        while stack:
            node = stack.pop()
            yield Tree(self._dag, node)
            stack.extend(self._dag.children(node)[::-1].tolist())

    def to_parents(self) -> tuple[list[str], list[int]]:
        """Return the labels of all nodes and the numbers of their parents, in preorder.

        The root's parent is -1.
        """
        labels: list[str] = []
        parents: list[int] = []
        stack = [(self._node, -1)]
        while stack:
            node, parent = stack.pop()
            below = self._dag.children(node)[::-1].tolist()
            stack.extend((child, len(labels)) for child in below)
            labels.append(self._dag.label(node))
            parents.append(parent)
        return labels, parents

    def draw(
        self, *, values: ArrayLike | None = None, max_lines: int = 100, max_depth: int = 30
    ) -> str:
        """Draw the tree with lines, for a terminal.

        Parameters
        ----------
        values : array of floats, optional
            One value per node in preorder, such as its contribution to a score. They are printed
            in front of the nodes.
        max_lines, max_depth : int
            Nodes beyond these limits are replaced by an ellipsis.
        """
        limits: dict[str, Any] = {"max_lines": max_lines, "max_depth": max_depth}
        if values is not None:
            return draw_arrays(*self.to_parents(), values=self._checked(values), **limits)

        def children(node: int) -> Sequence[int]:
            below: list[int] = self._dag.children(node).tolist()
            return below

        return draw(self._node, self._dag.label, children, **limits)

    def to_svg(
        self,
        *,
        values: ArrayLike | None = None,
        max_nodes: int = 400,
        max_width: float = 960,
    ) -> str:
        """Draw the tree as SVG, for light and dark pages.

        Parameters
        ----------
        values : array of floats, optional
            One value per node in preorder. Nodes with positive values are blue, those with negative
            values orange.
        max_nodes : int
            In larger trees, only the nodes with the largest values and those near the root are
            drawn, and ellipses for the others.
        max_width : float
            The maximum width in pixels, if the labels allow it. Wider parts hang from stems.
        """
        limits: dict[str, Any] = {"max_nodes": max_nodes, "max_width": max_width}
        if values is None:
            return dag_svg(self._dag, self._node, **limits)
        return tree_svg(*self.to_parents(), values=self._checked(values), **limits)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _checked(self, values: ArrayLike) -> list[float]:
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (self.n_nodes,) or not np.isfinite(array).all():
            raise InvalidParameterError(
                f"values must be finite numbers, one for each of the {self.n_nodes:,} nodes; "
                f"got an array of shape {array.shape}"
            )
        checked: list[float] = array.tolist()
        return checked

    def __str__(self) -> str:
        return self._dag.brackets(self._node, -1)

    def __repr__(self) -> str:
        return f"<Tree {self._dag.brackets(self._node, 60)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if self._dag is other._dag:
            return self._node == other._node
        return bool(self._dag.find_in(self._as_roots(), other._dag)[0] == other._node)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        dag, roots = self._dag.extract(self._as_roots())
        return _restored, (*dag.to_arrays(), roots)

    def _as_roots(self) -> np.ndarray[Any, np.dtype[np.uint32]]:
        return np.array([self._node], dtype=np.uint32)


def _restored(*arrays: Any) -> Tree:
    dag, roots = from_arrays(*arrays)
    return Tree(dag, int(roots[0]))
