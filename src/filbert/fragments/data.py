"""Fragments of a kernel's feature space, and their counts in trees."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import InvalidParameterError
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.threads import n_threads

_MOST_NODES = 2**31  # per fragment; a forest with shared subtrees can represent any number


@dataclass(frozen=True)
class Fragment:
    """One fragment, with its nodes in preorder.

    Attributes
    ----------
    labels : tuple of str
    parents : tuple of int
        -1 for the root.
    open : tuple of bool
        Subset trees: whether a node's children are cut off, that is, whether the node has children
        in a tree in which the fragment was found. This is only for display: a subset tree matches
        a node without children wherever the label is equal.

    Examples
    --------
    >>> fragment = Fragment(("NP", "D", "N"), (-1, 0, 0), (False, True, True))
    >>> print(fragment)
    (NP (D …) (N …))
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]
    open: tuple[bool, ...]

    def __str__(self) -> str:
        """Return the fragment in brackets; an open node is written ``(NP …)``."""
        arity = np.bincount(np.array(self.parents[1:], dtype=np.intp), minlength=len(self.parents))
        return _core.fragment_text(list(self.labels), arity.tolist(), list(self.open))


class Fragments:
    """Fragments of a kernel's feature space, with methods that count them in trees.

    Parameters
    ----------
    kernel : SubsetTree, Subtree or PartialTree
        The kernel whose features the fragments are.
    trees : Forest
        The fragments as trees. Open nodes of subset trees are leaves here.
    open : ndarray of bool, optional
        Whether each node is open, for the nodes of all fragments in preorder, one fragment after
        another.

    Examples
    --------
    >>> from filbert.fragments import recurring_fragments
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))"]
    >>> fragments = recurring_fragments(X).fragments
    >>> fragments.texts()
    ['(NP a)', '(S (NP a) (VP …))']
    >>> fragments.count(["(S (NP a) (VP d))"]).toarray()
    array([[1, 1]])
    """

    def __init__(
        self, kernel: TreeKernel, trees: Forest, open: NDArray[np.bool_] | None = None
    ) -> None:
        sizes = trees._dag.sizes(trees._roots)
        if sizes.max(initial=0) > _MOST_NODES:
            raise InvalidParameterError(f"a fragment has more than {_MOST_NODES:,} nodes")
        self.kernel = kernel
        self.trees = trees
        self._ends = np.cumsum(sizes, dtype=np.int64)
        n_nodes = int(self._ends[-1]) if len(sizes) else 0
        self.open = np.zeros(n_nodes, dtype=bool) if open is None else open
        if self.open.shape != (n_nodes,) or self.open.dtype != bool:
            raise InvalidParameterError(f"open must be {n_nodes} bools, one for each node")

    def __len__(self) -> int:
        return len(self.trees)

    @overload
    def __getitem__(self, index: int) -> Fragment: ...
    @overload
    def __getitem__(self, index: slice | NDArray[Any]) -> "Fragments": ...

    def __getitem__(self, index: Any) -> "Fragment | Fragments":
        """Return one fragment, or several for a slice, a mask or an array of indices."""
        if isinstance(index, Integral):
            return self._fragment(range(len(self))[int(index)])
        chosen = np.arange(len(self))[index]
        if isinstance(index, slice) and index.indices(len(self))[2] == 1:  # no copy needed
            bounds = np.concatenate([[0], self._ends])[index.indices(len(self))[0] :]
            return Fragments(
                self.kernel, self.trees[chosen], self.open[bounds[0] : bounds[len(chosen)]]
            )
        open = self.open_by_fragment()
        nodes = [np.zeros(0, dtype=bool), *(open[i] for i in chosen.tolist())]
        return Fragments(self.kernel, self.trees[chosen], np.concatenate(nodes))

    def __iter__(self) -> Iterator[Fragment]:
        return (self._fragment(i) for i in range(len(self)))

    def open_by_fragment(self) -> list[NDArray[np.bool_]]:
        """Return `open` for each fragment, as views.

        Returns
        -------
        list of ndarray of bool
            One array for each fragment, with a value for each of its nodes.
        """
        return np.split(self.open, self._ends[:-1]) if len(self) else []

    def _fragment(self, i: int) -> Fragment:
        labels, arity = _core.fragment_nodes(self.trees._dag, int(self.trees._roots[i]))
        open = self.open[self._ends[i] - len(labels) : self._ends[i]]
        return Fragment(tuple(labels), _parents(arity), tuple(open.tolist()))

    def texts(self) -> list[str]:
        """Return the fragments in brackets, the same text as ``str`` of each.

        Returns
        -------
        list of str
            One text for each fragment.
        """
        flags = self.open.view(np.uint8)
        return _core.fragment_texts(self.trees._dag, self.trees._roots, flags)

    def count(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        """Count the occurrences of each fragment in trees.

        A partial tree may occur at one node in several ways. Each of them counts.

        Parameters
        ----------
        X : Forest, or sequence of trees or bracket strings
            The trees in which to count.
        n_jobs : int, optional
            Threads; the result does not depend on it.

        Returns
        -------
        csr_array of int64, of shape (len(X), len(self))
            The counts.
        """
        trees = self._trees_of(X)
        spec, mine = self.kernel._spec(), self.trees
        rows = _core.count_fragments(
            spec, mine._dag, mine._roots, trees._dag, trees._roots, n_threads(n_jobs), None
        )
        return self._matrix(rows, len(trees), np.int64)

    def features(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        r"""Return trees as vectors in the part of the kernel's space that these fragments span.

        An entry is :math:`t \lambda^{s/2} / \|x\|` (Pighin & Moschitti 2010, Eq. 5), where `t` is
        the count and `s` the fragment's number of productions. For partial trees it is the sum of
        the weights of all occurrences. If the kernel does not normalise, there is no division by
        the norm. The dot product of two such rows over *all* fragments is the kernel.

        Parameters
        ----------
        X : Forest, or sequence of trees or bracket strings
            The trees to describe.
        n_jobs : int, optional
            Threads; the result does not depend on it.

        Returns
        -------
        csr_array of shape (len(X), len(self))
            One row for each tree.
        """
        trees = self._trees_of(X)
        spec, mine, normalize = self.kernel._spec(), self.trees, bool(self.kernel.normalize)
        threads = n_threads(n_jobs)
        rows = _core.fragment_features(
            spec, mine._dag, mine._roots, trees._dag, trees._roots, normalize, threads, None
        )
        return self._matrix(rows, len(trees), np.float64)

    def _trees_of(self, X: Any) -> Forest:
        """Return X as a forest, also if the kernel applies to one part of examples."""
        return X if isinstance(X, Forest) else self.kernel.trees_of(X)

    def _matrix(self, rows: tuple[Any, Any, Any], n: int, dtype: Any) -> sp.csr_array:
        begins, columns, values = rows
        if begins[-1] < 2**31:
            begins = begins.astype(np.int32)
        data = values.astype(dtype, copy=False)
        return sp.csr_array((data, columns, begins), shape=(n, len(self)))

    def __repr__(self) -> str:
        shown = [f"  {text}" for text in self[:3].texts()]
        return "\n".join(
            [
                f"Fragments: {len(self):,} of {self.kernel!r}",
                *shown,
                *(["  …"] if len(self) > 3 else []),
            ]
        )


def _parents(arity: list[int]) -> tuple[int, ...]:
    """Return the parents of nodes in preorder, given their numbers of children."""
    parents: list[int] = []
    to_come = [-1]  # the parents of the remaining nodes, the next one last
    for node, n_children in enumerate(arity):
        parents.append(to_come.pop())
        to_come.extend([node] * n_children)
    return tuple(parents)
