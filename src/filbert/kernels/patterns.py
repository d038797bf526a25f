"""A tree kernel with explicit features: the local patterns of a tree."""

from numbers import Integral
from typing import Any, Literal

import numpy as np
import scipy

from filbert import _core
from filbert.arrays import FloatArray
from filbert.errors import InvalidParameterError
from filbert.forest import Forest
from filbert.kernels.algebra import is_number
from filbert.kernels.capabilities import Capabilities
from filbert.kernels.matrices import products
from filbert.kernels.tree import TreeKernel
from filbert.progress import progress_bar
from filbert.threads import n_threads

_DAMPING = ("log", "sqrt", "none")
_LARGEST = 100  # nodes of a path, levels of a cut subtree, siblings, leaves


class LocalPatterns(TreeKernel):
    r"""The product of two trees' damped counts of small patterns.

    .. math:: K(a, b) = \sum_p \lambda^{s(p)} f(n_p(a)) f(n_p(b))

    where :math:`n_p` is how often a tree has the pattern `p`, `f` damps the count, and `s(p)` is
    the number of the pattern's nodes below its top. Every pattern belongs to the node at its top.
    There are six families of patterns.

    Parameters
    ----------
    labels : bool
        Single nodes.
    paths : int
        The maximum number of nodes of downward paths. They have at least two nodes, so 1 leaves
        them out.
    productions : bool
        A node's label with the labels of all its children.
    subtree_depth : int
        The subtrees of nodes, cut off this many edges below the node and at each depth from 2 on.
        A node that is not as deep has none. A cut at depth 1 is a production, so 1 leaves them out.
    siblings : int
        The maximum length of runs of adjacent children, together with their parent. The ends of
        the row of children count as children. Runs have a length of at least two, so 1 leaves them
        out.
    leaves : int
        The maximum length of runs of adjacent leaves, whatever is above them. They have at least
        two leaves, so 1 leaves them out. A run belongs to the lowest node above all its leaves.
    damping : {"log", "sqrt", "none"}
        The function `f` of counts: log(1 + n), the square root, or the count itself.
    decay : float in (0, 1]
        The factor :math:`\lambda` for each node of a pattern below its top.
    family_norms : bool
        Divide each family's features by their own norm, so that all families weigh the same.
    normalize : bool
        Divide by the geometric mean of the self-kernels.
    part : str, optional
        See `on`.

    Examples
    --------
    >>> k = LocalPatterns(damping="none", normalize=False)
    >>> k.pair("(NP D N)", "(NP D A N)")
    7.0
    """

    capabilities = Capabilities(
        "trees", in_core=True, factors="direct", match="label", leaves=True, explicit=True
    )

    def __init__(
        self,
        *,
        labels: bool = True,
        paths: int = 3,
        productions: bool = True,
        subtree_depth: int = 2,
        siblings: int = 2,
        leaves: int = 1,
        damping: Literal["log", "sqrt", "none"] = "log",
        decay: float = 1.0,
        family_norms: bool = False,
        normalize: bool = True,
        part: str | None = None,
    ) -> None:
        self.labels = labels
        self.paths = paths
        self.productions = productions
        self.subtree_depth = subtree_depth
        self.siblings = siblings
        self.leaves = leaves
        self.damping = damping
        self.decay = decay
        self.family_norms = family_norms
        self.normalize = normalize
        self.part = part

    def __call__(
        self, X: Any, Y: Any = None, *, n_jobs: int | None = None, verbose: int = 0
    ) -> FloatArray:
        """Compute the matrix of kernels between the trees of `X` and those of `Y`.

        Parameters
        ----------
        X, Y : Forest, or sequence of trees or bracket strings
            `Y` defaults to `X`.
        n_jobs : int, optional
            Threads; None for all cores. The values are the same to the last bit for any number.
        verbose : int
            If positive, show a progress bar.
        """
        table = _core.PatternTable(self._spec())
        forests = (
            [self.trees_of(X)] if Y is None or Y is X else [self.trees_of(X), self.trees_of(Y)]
        )
        arrays = [self._arrays(table, forest, n_jobs, verbose) for forest in forests]
        rows = [  # now the table has all patterns
            scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, table.size))
            for indptr, indices, data in arrays
        ]
        values = products(rows[0], rows[-1])
        if self.normalize:
            np.clip(values, 0.0, 1.0, out=values)  # rounding
            if len(rows) == 1:
                np.fill_diagonal(values, self.diag(X, n_jobs=n_jobs))
        return values

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
        values = _core.pattern_selves(
            self._spec(), forest._dag, forest._roots, n_threads(n_jobs), None
        )
        return (values > 0).astype(np.float64) if self.normalize else values

    def _arrays(
        self, table: _core.PatternTable, forest: Forest, n_jobs: int | None, verbose: int
    ) -> tuple[Any, Any, Any]:
        """Return the features of trees as arrays of sparse rows. The table gets their patterns."""
        with progress_bar("LocalPatterns", show=verbose > 0) as progress:
            return table.add_rows(
                forest._dag, forest._roots, bool(self.normalize), n_threads(n_jobs), progress
            )

    def _spec(self) -> _core.PatternSpec:  # type: ignore[override]
        for name in ("labels", "productions", "family_norms"):
            self._check_switch(name)
        for name in ("paths", "subtree_depth", "siblings", "leaves"):
            value = getattr(self, name)
            if not is_number(value, Integral) or not 1 <= value <= _LARGEST:
                raise InvalidParameterError(
                    f"LocalPatterns: {name} must be an integer from 1 to {_LARGEST}, got {value!r}"
                )
        if not isinstance(self.damping, str) or self.damping not in _DAMPING:
            raise InvalidParameterError(
                f"LocalPatterns: damping must be 'log', 'sqrt' or 'none', got {self.damping!r}"
            )
        self._check_decay("decay")
        return _core.PatternSpec(
            labels=bool(self.labels),
            paths=int(self.paths),
            productions=bool(self.productions),
            subtree_depth=int(self.subtree_depth),
            siblings=int(self.siblings),
            leaves=int(self.leaves),
            damping=self.damping,
            decay=float(self.decay),
            family_norms=bool(self.family_norms),
        )
