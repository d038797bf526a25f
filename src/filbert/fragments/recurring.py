"""Recurring fragments: all closed fragments that occur in several places, without a model."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import InputTypeError, InvalidParameterError, TooManyFragmentsError
from filbert.forest import Forest
from filbert.fragments.data import Fragments
from filbert.kernels import SubsetTree, TreeKernel
from filbert.kernels.algebra import is_number
from filbert.kernels.capabilities import capabilities_of
from filbert.threads import n_threads

_MOST = 2**62  # the core counts in 64 bits
_BATCH = 1024  # distinct subtrees that a batch looks at, unless one production has more


@dataclass(frozen=True)
class RecurringFragments:
    """Closed fragments with the numbers of their occurrences.

    Attributes
    ----------
    fragments : Fragments
    count : ndarray of int of shape (n,)
        The number of nodes of the trees at which the fragment is rooted.
    n_distinct : ndarray of int of shape (n,)
        The number of distinct subtrees among them.

    Examples
    --------
    >>> found = recurring_fragments(["(S (NP a) (VP b))", "(S (NP a) (VP c))"])
    >>> found.count, found.size
    (array([2, 2]), array([2, 4]))
    """

    fragments: Fragments
    count: NDArray[np.int64]
    n_distinct: NDArray[np.int64]

    @property
    def size(self) -> NDArray[np.int64]:
        """The number of nodes of each fragment."""
        trees = self.fragments.trees
        return np.asarray(trees._dag.sizes(trees._roots)).astype(np.int64)

    def __len__(self) -> int:
        return len(self.fragments)

    def __getitem__(self, index: slice | NDArray[Any]) -> "RecurringFragments":
        """Return some of the fragments, for a slice, a mask or an array of indices."""
        if isinstance(index, Integral):
            raise InputTypeError("pass a slice or an array; for one fragment use .fragments[i]")
        return RecurringFragments(self.fragments[index], self.count[index], self.n_distinct[index])

    def __repr__(self) -> str:
        texts = self.fragments[:10].texts()
        rows = [f"  {n:,}x  {text}" for n, text in zip(self.count, texts, strict=False)]
        head = f"{len(self):,} recurring fragments"
        return "\n".join([head, *rows, *(["  …"] if len(self) > 10 else [])])


def recurring_fragments(
    X: Any,
    *,
    kernel: TreeKernel | None = None,
    min_count: int = 2,
    max_count: int | None = None,
    min_size: int = 1,
    max_size: int | None = None,
    root: str | None = None,
    max_fragments: int = 1_000_000,
    n_jobs: int | None = None,
    progress: Any = None,
) -> RecurringFragments:
    """Return all closed fragments that occur in at least `min_count` places.

    A place of a fragment is a node of a tree at which the fragment is rooted. Equal trees and equal
    subtrees are different places. A fragment is *closed* if no larger fragment is rooted at exactly
    the same places. Each other fragment is a part, at the root, of a closed one with the same
    places, so the list tells the count of every recurring fragment.

    Parameters
    ----------
    X : Forest, or sequence of trees or bracket strings
        The trees to search.
    kernel : SubsetTree or Subtree, optional
        Defines the fragments. SubsetTree() by default: at each node all children or none. Under
        Subtree the fragments are complete subtrees, and each of them is closed. The decay does not
        matter. With ``include_leaves``, single leaves count as fragments.
    min_count, max_count : int
        Limits of the number of places. ``min_count=1`` gives all closed fragments.
    min_size, max_size : int
        Limits of the number of nodes of a fragment. A larger fragment is left out, not cut.
    root : str, optional
        Only fragments whose root has this label.
    max_fragments : int
        More fragments raise :class:`~filbert.errors.TooManyFragmentsError`, and so do fragments of
        more than 100 nodes on average at this number. There may be exponentially many.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Returns
    -------
    RecurringFragments
        In a fixed order: by the production of the root in the order of the forest, and a fragment
        before those that contain it and have the same root.

    See Also
    --------
    iter_recurring_fragments : The same in batches.
    Fragments.count, Fragments.features : Trees as sparse vectors over ``.fragments``.

    Examples
    --------
    >>> recurring_fragments(["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))"])
    3 recurring fragments
      3x  (NP a)
      2x  (VP b)
      2x  (S (NP a) (VP …))
    """
    search = _Search(
        X, kernel, min_count, max_count, min_size, max_size, root, max_fragments, n_jobs
    )
    return search.mine(search.blocks, progress)


def iter_recurring_fragments(
    X: Any,
    *,
    kernel: TreeKernel | None = None,
    min_count: int = 2,
    max_count: int | None = None,
    min_size: int = 1,
    max_size: int | None = None,
    root: str | None = None,
    max_fragments: int = 1_000_000,
    n_jobs: int | None = None,
    progress: Any = None,
) -> Iterator[RecurringFragments]:
    """Yield the fragments of :func:`recurring_fragments` in batches, in the same order.

    A batch has the fragments of some productions, so only these are in memory. `max_fragments`
    is a limit for each batch.

    Parameters
    ----------
    X, kernel, min_count, max_count, min_size, max_size, root
        As for :func:`recurring_fragments`.
    max_fragments : int
        The limit for each batch.
    n_jobs, progress
        As for :func:`recurring_fragments`.

    Yields
    ------
    RecurringFragments
        The fragments of some productions.

    Examples
    --------
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))"]
    >>> sum(len(batch) for batch in iter_recurring_fragments(X))
    2
    """
    search = _Search(
        X, kernel, min_count, max_count, min_size, max_size, root, max_fragments, n_jobs
    )
    return search.batches(progress)


class _Search:
    """The checked parameters, and the core's object for them."""

    def __init__(
        self,
        X: Any,
        kernel: TreeKernel | None,
        min_count: int,
        max_count: int | None,
        min_size: int,
        max_size: int | None,
        root: str | None,
        max_fragments: int,
        n_jobs: int | None,
    ) -> None:
        self._kernel = _checked_kernel(kernel)
        limits = {"min_count": min_count, "min_size": min_size, "max_fragments": max_fragments}
        limits |= {
            name: _MOST if value is None else value
            for name, value in (("max_count", max_count), ("max_size", max_size))
        }
        for name, limit in limits.items():
            if not is_number(limit, Integral) or not 1 <= limit <= _MOST:
                raise InvalidParameterError(f"{name} must be a positive integer, got {limit!r}")
        trees = X if isinstance(X, Forest) else self._kernel.trees_of(X)
        self._threads = n_threads(n_jobs)
        self._core = _core.RecurringMiner(
            trees._dag,
            trees._roots,
            capabilities_of(self._kernel).children == "all",
            bool(getattr(self._kernel, "include_leaves", False)),
            root=_checked_root(root),
            **{name: int(limit) for name, limit in limits.items()},
        )
        self.blocks = np.arange(len(self._core.block_sizes()), dtype=np.uint32)

    def batches(self, progress: Any) -> Iterator[RecurringFragments]:
        sizes = self._core.block_sizes()[self.blocks]
        batch_of = (np.cumsum(sizes) - sizes) // _BATCH  # one by one if they are large
        starts = np.flatnonzero(np.diff(batch_of, prepend=-1))
        done = 0
        for blocks in np.split(self.blocks, starts[1:]) if len(sizes) else []:
            found = self.mine(blocks, None)
            done += len(blocks)
            if progress is not None:
                progress(done, len(self.blocks))
            if len(found):
                yield found

    def mine(self, blocks: NDArray[np.uint32], progress: Any) -> RecurringFragments:
        try:
            dag, roots, open, count, n_distinct = self._core.mine(blocks, self._threads, progress)
        except TooManyFragmentsError as error:
            raise TooManyFragmentsError(
                error.max_fragments,
                f"there are more than max_fragments={error.max_fragments:,} recurring fragments, "
                "or they have more than 100 nodes each: raise min_count or max_fragments, or lower "
                "max_size",
            ) from None
        return RecurringFragments(
            Fragments(self._kernel, Forest._of(dag, roots), open.view(bool)),
            count.astype(np.int64),
            n_distinct.astype(np.int64),
        )


def _checked_kernel(kernel: TreeKernel | None) -> TreeKernel:
    kernel = SubsetTree() if kernel is None else kernel
    known = capabilities_of(kernel)
    if not known.tree_in_core or not known.all_roots or known.children == "some":
        raise InputTypeError(
            "recurring fragments are subset trees or complete subtrees: pass kernel=SubsetTree() "
            f"or Subtree(), not {kernel!r}"
        )
    return kernel


def _checked_root(root: Any) -> str | None:
    if root is not None and not isinstance(root, str):
        raise InvalidParameterError(f"root must be a label or None, got {root!r}")
    if root is not None and any("\ud800" <= letter <= "\udfff" for letter in root):
        raise InvalidParameterError(f"root must be a label: {root!r} has no UTF-8 form")
    return root
