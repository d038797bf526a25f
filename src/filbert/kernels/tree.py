"""Tree kernels: weighted numbers of the fragments that two trees share."""

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError, KernelOverflowError
from filbert.forest import Forest
from filbert.kernels.algebra import empty_matrix, is_number
from filbert.kernels.capabilities import Capabilities
from filbert.kernels.plain import PlainKernel
from filbert.progress import progress_bar
from filbert.threads import n_threads
from filbert.tree import Tree


class TreeKernel(PlainKernel):
    """The base class of all tree kernels.

    With ``normalize=True`` the value is ``K(a, b) / sqrt(K(a, a) K(b, b))``, between 0 and 1. It is
    0 if a tree has no fragments at all. It is computed without overflow for trees of any size. A
    value that is not normalised and exceeds float64 raises :class:`OverflowError`.

    Examples
    --------
    >>> from filbert.kernels import SubsetTree
    >>> kernel = SubsetTree(decay=1.0, normalize=False)
    >>> kernel(["(S a b)", "(S (A a) (B b))"]), kernel.diag(["(S a b)"])
    (array([[1., 0.],
           [0., 6.]]), array([1.]))
    """

    normalize: bool

    capabilities = Capabilities("trees")

    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> FloatArray:
        """Compute the matrix of kernels between the trees of `X` and those of `Y`.

        Parameters
        ----------
        X, Y : Forest, or sequence of trees or bracket strings
            `Y` defaults to `X`, which takes half the time.
        n_jobs : int, optional
            Threads; None for all cores. The values are the same to the last bit for any number.
        verbose : int
            If positive, show a progress bar.

        Returns
        -------
        ndarray of shape (len(X), len(Y))
        """
        a = self.trees_of(X)
        b = None if Y is None or Y is X else self.trees_of(Y)
        spec = self._spec()
        out = empty_matrix(len(a), len(a if b is None else b))
        with progress_bar(type(self).__name__, show=verbose > 0) as progress:
            return _core.kernel_matrix(
                spec,
                a._dag,
                a._roots,
                None if b is None else b._dag,
                None if b is None else b._roots,
                bool(self.normalize),
                n_threads(n_jobs),
                progress,
                out,
            )

    def diag(self, X: Any, *, n_jobs: int | None = None) -> FloatArray:
        """Compute the kernel of each tree with itself: the diagonal of ``self(X)``.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The trees.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of shape (len(X),)
            The kernel of each tree.
        """
        forest = self.trees_of(X)
        spec = self._spec()
        values = _core.self_kernels(
            spec, forest._dag, forest._roots, bool(self.normalize), n_threads(n_jobs), None
        )
        if not np.isfinite(values).all():
            raise KernelOverflowError(
                f"the kernel value of tree {int(np.argmax(values))} with itself "
                "is beyond the range of float64"
            )
        return values

    def trees_of(self, X: Any) -> Forest:
        """Return the trees that the kernel applies to: X, or its part `self.part`.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples.

        Returns
        -------
        Forest
            The trees.
        """
        return self._forest_of(X)

    def rows_of(self, X: Any) -> Forest:
        """Return the trees that the kernel applies to.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples.

        Returns
        -------
        Forest
            The trees.
        """
        return self.trees_of(X)

    def pair(self, a: Tree | str, b: Tree | str) -> float:
        """Compute the kernel of two trees.

        Parameters
        ----------
        a, b : Tree or str
            The trees.

        Returns
        -------
        float
            The kernel.
        """
        return float(self.whole()([a], [b], n_jobs=1)[0, 0])

    @abstractmethod
    def _spec(self) -> _core.KernelSpec:
        """Check the parameters and describe the kernel to the core."""

    def _check(self) -> None:
        self._spec()

    def _check_decay(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not is_number(value, Real) or not 0 < value <= 1:
                raise InvalidParameterError(
                    f"{type(self).__name__}: {name} must be in (0, 1], got {value!r}"
                )
        self._check_switch("normalize")


class Subtree(TreeKernel):
    r"""The subtree kernel (ST): fragments are complete subtrees.

    A complete subtree reaches from a node down to all its leaves. If :math:`s(t)` is the number of
    nodes that have children, then

    .. math:: \Delta(u, v) = \lambda^{s(u)} \text{ if the subtrees are equal, else } 0.

    Parameters
    ----------
    decay : float in (0, 1]
        The papers' :math:`\lambda`.
    normalize : bool
        Divide by the geometric mean of the self-kernels.
    part : str, optional
        See `on`.

    Examples
    --------
    >>> Subtree(decay=0.5, normalize=False).pair("(S (NP a) (VP b))", "(S (NP a) (VP c))")
    0.5
    """

    capabilities = Capabilities(
        "trees", in_core=True, factors="direct", children="all", scorer=True
    )

    def __init__(
        self, decay: float = 0.4, *, normalize: bool = True, part: str | None = None
    ) -> None:
        self.decay = decay
        self.normalize = normalize
        self.part = part

    def _spec(self) -> _core.KernelSpec:
        self._check_decay("decay")
        return _core.KernelSpec("subtree", decay=float(self.decay))


_SUBSET_TREES = Capabilities("trees", in_core=True, factors="likely", scorer=True)
_SUBSET_TREES_AND_LEAVES = replace(_SUBSET_TREES, leaves=True)


class SubsetTree(TreeKernel):
    r"""The subset tree kernel, also called syntactic tree kernel (STK, SST).

    Fragments are pieces of a tree that keep or drop all children of a node together, so they never
    break a grammar's productions. A production is a node's label with the ordered labels of its
    children. For nodes with different productions :math:`\Delta = 0`, else

    .. math:: \Delta(u, v) = \lambda \prod_j (1 + \Delta(u_j, v_j))

    over the children that have children themselves (Collins & Duffy 2002).

    Parameters
    ----------
    decay : float in (0, 1]
        The papers' :math:`\lambda`: the factor for each production of a fragment.
    include_leaves : bool
        Count a leaf as a fragment: each pair of equal leaves adds :math:`\lambda` (the "bag of
        words" variant).
    normalize : bool
        Divide by the geometric mean of the self-kernels.
    part : str, optional
        See `on`.

    Examples
    --------
    >>> k = SubsetTree(decay=1.0, normalize=False)
    >>> k.pair("(NP (D a) (N cat))", "(NP (D a) (N dog))")
    3.0
    """

    def __init__(
        self,
        decay: float = 0.4,
        *,
        include_leaves: bool = False,
        normalize: bool = True,
        part: str | None = None,
    ) -> None:
        self.decay = decay
        self.include_leaves = include_leaves
        self.normalize = normalize
        self.part = part

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """The capabilities of the kernel, for learners."""
        return _SUBSET_TREES_AND_LEAVES if self.include_leaves else _SUBSET_TREES

    def _spec(self) -> _core.KernelSpec:
        self._check_decay("decay")
        self._check_switch("include_leaves")
        return _core.KernelSpec(
            "subset_tree", decay=float(self.decay), include_leaves=bool(self.include_leaves)
        )


class PartialTree(TreeKernel):
    r"""The partial tree kernel (PTK): fragments may drop any children of a node.

    For nodes with different labels :math:`\Delta = 0`, else

    .. math:: \Delta(u, v) = \mu \Bigl(\lambda^2 + \sum_{I, J} w(I, J)
              \prod_k \Delta(u_{I_k}, v_{J_k})\Bigr)

    over all pairs of child subsequences :math:`I, J` of the same length (Moschitti 2006). The
    weight is :math:`w = \lambda^{d(I) + d(J)}`, where `d` is the span of a subsequence (Severyn &
    Moschitti 2012, Eq. 8), or :math:`\lambda` to the power of the number of children skipped within
    both spans.

    Parameters
    ----------
    decay : float in (0, 1]
        The papers' :math:`\lambda`: the decay with width.
    depth_decay : float in (0, 1]
        The papers' :math:`\mu`: the factor for each node.
    penalty : {"span", "gaps"}
        The weight of the paper (``"span"``), or of SVM-light-TK and KeLP (``"gaps"``).
    max_subsequence : int, optional
        The maximum length of subsequences; 5 in SVM-light-TK.
    max_steps : float, optional
        Two nodes with `k` and `m` children take `k m` steps. A pair of nodes that would take more
        than this raises :class:`~filbert.errors.TooExpensiveError` before anything is computed.
        None for no limit.
    normalize : bool
        Divide by the geometric mean of the self-kernels.
    part : str, optional
        See `on`.

    Examples
    --------
    >>> k = PartialTree(decay=1.0, depth_decay=1.0, normalize=False)
    >>> k.pair("(NP D N)", "(NP D A N)")
    6.0
    """

    capabilities = Capabilities(
        "trees", in_core=True, factors="uncertain", match="label", children="some", leaves=True
    )

    def __init__(
        self,
        decay: float = 0.4,
        depth_decay: float = 0.4,
        *,
        penalty: Literal["span", "gaps"] = "span",
        max_subsequence: int | None = None,
        max_steps: float | None = 1e9,
        normalize: bool = True,
        part: str | None = None,
    ) -> None:
        self.decay = decay
        self.depth_decay = depth_decay
        self.penalty = penalty
        self.max_subsequence = max_subsequence
        self.max_steps = max_steps
        self.normalize = normalize
        self.part = part

    def _spec(self) -> _core.KernelSpec:
        self._check_decay("decay", "depth_decay")
        if self.penalty not in ("span", "gaps"):
            raise InvalidParameterError(
                f"PartialTree: penalty must be 'span' or 'gaps', got {self.penalty!r}"
            )
        longest = self.max_subsequence
        if longest is not None and not (is_number(longest, Integral) and 1 <= longest < 2**32):
            raise InvalidParameterError(
                f"PartialTree: max_subsequence must be None or a positive integer, got {longest!r}"
            )
        most = float("inf") if self.max_steps is None else self.max_steps
        if not is_number(most, Real) or not most > 0:
            raise InvalidParameterError(
                f"PartialTree: max_steps must be None or positive, got {self.max_steps!r}"
            )
        return _core.KernelSpec(
            "partial_tree",
            decay=float(self.decay),
            depth_decay=float(self.depth_decay),
            penalty=self.penalty,
            max_subsequence=0 if longest is None else int(longest),
            max_steps=float(most),
        )
