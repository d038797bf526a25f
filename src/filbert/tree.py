"""One tree of a forest."""

from collections.abc import Callable, Iterator, Sequence
from operator import index as as_integer
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from filbert._core import Dag, from_arrays
from filbert.drawing.svg import dag_svg, tree_svg
from filbert.drawing.text import draw, draw_arrays
from filbert.errors import InputTypeError, InvalidParameterError, MissingLibraryError
from filbert.node_arrays import NodeArrays, checked_label


class Tree:
    """A labelled ordered tree: a node of a forest, with everything below it.

    A :class:`~filbert.Forest` makes trees (``forest[3]``). They never change. Two trees are equal
    if their labels and shapes are equal, also if they come from different forests. They have no
    order; to sort them by their text, use ``sorted(trees, key=str)``.

    A tree is a sequence of its children: ``len(tree)`` is their number, ``tree[0]`` the first one,
    ``tree[-1]`` the last one, and ``for child in tree`` goes through them. A tuple is a path:
    ``tree[0, 1]`` is the second child of the first child, and ``tree[()]`` the tree itself.

    Parameters
    ----------
    dag : filbert._core.Dag
        The nodes of a forest.
    node : int
        The id of the root.

    Examples
    --------
    >>> from filbert import Forest
    >>> tree = Forest.from_brackets(["(S (NP (D a) (N dog)) (VP (V ran)))"])[0]
    >>> tree.label, tree.n_nodes, tree.depth
    ('S', 9, 4)
    >>> [str(child) for child in tree.children]
    ['(NP (D a) (N dog))', '(VP (V ran))']
    >>> tree[0, 1], tree.leaves(), tree.text
    (<Tree (N dog)>, ['a', 'dog', 'ran'], 'a dog ran')
    >>> tree.map(str.lower)
    <Tree (s (np (d a) (n dog)) (vp (v ran)))>
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
        """Yield the subtrees of all nodes in preorder, from left to right.

        Yields
        ------
        Tree
            Each subtree, the tree itself first.
        """
        stack = [self._node]
        while stack:
            node = stack.pop()
            yield Tree(self._dag, node)
            stack.extend(self._dag.children(node)[::-1].tolist())

    def leaves(self) -> list[str]:
        """Return the labels of the leaves from left to right: the words of a parse tree.

        Returns
        -------
        list of str
            The labels.
        """
        found: list[str] = []
        stack = [self._node]
        while stack:
            node = stack.pop()
            below = self._dag.children(node)
            if len(below):
                stack += below[::-1].tolist()
            else:
                found.append(self._dag.label(node))
        return found

    @property
    def text(self) -> str:
        """The labels of the leaves, joined by blanks: the sentence of a parse tree."""
        return " ".join(self.leaves())

    def map(self, function: Callable[[str], str]) -> "Tree":
        """Return a tree of the same shape with other labels.

        Parameters
        ----------
        function : callable
            Returns the new label of a label. It is called once for each distinct label. To change
            many trees, or only leaves, see :mod:`filbert.transform`.

        Returns
        -------
        Tree
            The new tree.
        """
        if not callable(function):
            raise InputTypeError(f"map takes a function from labels to labels, got {function!r}")

        def new_label(label: str) -> str:
            return checked_label(function(label), f"what the function returns for {label!r}")

        nodes = NodeArrays.of(self._dag, self._as_roots())
        dag, roots = nodes.relabelled(np.ones(len(nodes), dtype=bool), new_label).to_dag()
        return Tree(dag, int(roots[0]))

    def to_parents(self) -> tuple[list[str], list[int]]:
        """Return the labels of all nodes and the numbers of their parents, in preorder.

        The root's parent is -1.

        Returns
        -------
        labels : list of str
            The label of each node.
        parents : list of int
            The number of each node's parent.
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

    def to_nested(self) -> tuple[Any, ...]:
        """Return the tree as nested tuples, as :meth:`filbert.Forest.from_nested` takes them.

        Returns
        -------
        tuple
            The label, followed by the children. A leaf is its label alone.

        Examples
        --------
        >>> from filbert import Forest
        >>> Forest.from_brackets(["(S (NP (D a) (N dog)) (VP ran))"])[0].to_nested()
        ('S', ('NP', ('D', 'a'), ('N', 'dog')), ('VP', 'ran'))
        """
        nested = self._folded(lambda label, children: (label, *children))
        return nested if isinstance(nested, tuple) else (nested,)

    def to_nltk(self) -> Any:
        """Return the tree as an ``nltk.Tree``, whose leaves are strings.

        Returns
        -------
        nltk.Tree
            The tree.
        """
        try:
            from nltk import Tree as NltkTree  # noqa: PLC0415 - optional
        except ImportError:
            raise MissingLibraryError("Tree.to_nltk", "nltk") from None
        tree = self._folded(NltkTree)
        return NltkTree(tree, []) if isinstance(tree, str) else tree

    def _folded(self, node: Callable[[str, list[Any]], Any]) -> Any:
        """Return what `node` makes of labels and children; a leaf is its label."""
        labels, parents = self.to_parents()
        children: list[list[Any]] = [[] for _ in labels]
        made: Any = None
        for i in reversed(range(len(labels))):  # in preorder, a node's children come after it
            made = node(labels[i], children[i][::-1]) if children[i] else labels[i]
            if i > 0:
                children[parents[i]].append(made)
            children[i] = []
        return made

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

        Returns
        -------
        str
            The drawing, one node or several on a line.
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

        Returns
        -------
        str
            The drawing.
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

    # ---------------------------------------------------------------- a sequence of children

    def __len__(self) -> int:
        return len(self._dag.children(self._node))

    def __bool__(self) -> bool:
        return True  # also a leaf, although its length is 0

    def __iter__(self) -> Iterator["Tree"]:
        return iter(self.children)

    def __getitem__(self, index: int | tuple[int, ...]) -> "Tree":
        path = index if isinstance(index, tuple) else (index,)
        node = self._node
        for step in path:
            below = self._dag.children(node)
            try:
                node = int(below[as_integer(step)])
            except TypeError:
                raise InputTypeError(
                    f"index a tree by the number of a child or by a path, a tuple of numbers; got "
                    f"{index!r}"
                ) from None
            except IndexError:
                raise IndexError(
                    f"there is no child {step} at tree[{index!r}]: {self._dag.label(node)!r} has "
                    f"{len(below):,}"
                ) from None
        return Tree(self._dag, node)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return an array of no dimensions: NumPy would take a list of trees apart otherwise."""
        array = np.empty((), dtype=object)
        array[()] = self
        return array

    # ---------------------------------------------------------------- text, comparison, storage

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
