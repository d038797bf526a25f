"""Approximate tree kernels: only fragments rooted in a few chosen symbols count."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal, Self

from filbert import _core
from filbert.errors import InvalidParameterError
from filbert.kernels.algebra import Kernel
from filbert.kernels.capabilities import Capabilities, capabilities_of
from filbert.kernels.tree import TreeKernel

# A label, or a production: the labels of a node and of its children.
Symbol = str | tuple[str, ...]


class ApproximateTree(TreeKernel):
    r"""A tree kernel in which only nodes with chosen symbols are roots of fragments.

    .. math:: \hat K(T_1, T_2) = \sum_{s \text{ chosen}} \; \sum_{u \in T_1, \ell(u) = s} \;
              \sum_{v \in T_2, \ell(v) = s} \Delta(u, v)

    (Rieck, Brefeld & Krueger 2008, Eq. 2). :math:`\Delta` is that of `kernel`: the nodes below a
    chosen node count as usual, for any symbols. :class:`~filbert.SymbolSelector` finds symbols that
    distinguish the classes.

    Parameters
    ----------
    kernel : SubsetTree, Subtree or PartialTree
        If it normalises, the approximate kernel is divided by its own self-kernels.
    symbols : sequence of str, or of tuples of str
        Symbols that do not occur in the trees are ignored.
    by : {"label", "production"}
        A symbol is a label, or a production: a tuple of a node's label and its children's labels.
        A leaf has no production; use a tuple of its label alone. Partial trees may be rooted in
        nodes with the same label and two productions. They count if both productions are chosen.

    Examples
    --------
    >>> from filbert.kernels import SubsetTree
    >>> exact = SubsetTree(decay=1.0, normalize=False)
    >>> a, b = "(S (NP (D a) (N cat)) (VP ran))", "(S (NP (D a) (N dog)) (VP ran))"
    >>> exact.pair(a, b), ApproximateTree(exact, ["NP", "VP"]).pair(a, b)
    (10.0, 3.0)
    >>> ApproximateTree(exact, [("VP", "ran")], by="production").pair(a, b)
    1.0
    """

    def __init__(
        self,
        kernel: TreeKernel,
        symbols: Sequence[Symbol],
        *,
        by: Literal["label", "production"] = "label",
    ) -> None:
        self.kernel = kernel
        self.symbols = symbols
        self.by = by

    @property
    def normalize(self) -> bool:  # type: ignore[override]
        """Whether values are divided by the geometric mean of the self-kernels."""
        return bool(getattr(self.kernel, "normalize", True))

    @property
    def part(self) -> str | None:  # type: ignore[override]
        """The part of the examples that the kernel applies to; see `on`."""
        return getattr(self.kernel, "part", None)

    def set_params(self, **params: Any) -> Self:
        """Set parameters. `normalize` and `part` are set on the inner kernel.

        Parameters
        ----------
        **params : values
            The parameters by name, such as ``kernel__decay``.

        Returns
        -------
        ApproximateTree
            Itself.
        """
        within = {f"kernel__{name}": params.pop(name) for name in _SHARED if name in params}
        super().set_params(**params, **within)
        return self

    def normalized(self) -> Kernel:
        """Return the same kernel with ``normalize=True``.

        Returns
        -------
        ApproximateTree
            A new kernel.
        """
        return self.with_params(normalize=True)

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """The capabilities of the inner kernel, except that only some nodes are roots."""
        return _with_some_roots(capabilities_of(self.kernel))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApproximateTree) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        symbols = (tuple(s) if isinstance(s, list) else s for s in self.symbols)
        return type(self), self.kernel, frozenset(symbols), self.by

    def _spec(self) -> _core.KernelSpec:
        within = capabilities_of(self.kernel)
        if not within.tree_in_core or not within.all_roots:
            raise InvalidParameterError(
                "ApproximateTree: kernel must be a SubsetTree, Subtree or PartialTree, "
                f"got {self.kernel!r}"
            )
        symbols = checked_symbols(self.symbols, self.by)
        return self.kernel._spec().rooted_in(symbols, self.by == "production")


_SHARED = ("normalize", "part")


@cache
def _with_some_roots(within: Capabilities) -> Capabilities:
    return replace(within, of="trees", in_core=True, all_roots=False)


def checked_symbols(symbols: Any, by: Any) -> list[list[str]]:
    """Return symbols as lists of labels, or raise InvalidParameterError."""
    if by not in ("label", "production"):
        raise InvalidParameterError(
            f"ApproximateTree: by must be 'label' or 'production', got {by!r}"
        )
    if isinstance(symbols, str) or not hasattr(symbols, "__iter__"):
        raise InvalidParameterError(
            f"ApproximateTree: symbols must be a sequence of symbols, got {symbols!r}"
        )
    return [labels_of(symbol, by) for symbol in symbols]


def labels_of(symbol: Any, by: str) -> list[str]:
    """Return the labels of one symbol."""
    labels = [symbol] if by == "label" else symbol
    if isinstance(labels, list | tuple) and labels and all(isinstance(x, str) for x in labels):
        return [str(label) for label in labels]
    what = "a string" if by == "label" else "a tuple of a node's label and its children's labels"
    raise InvalidParameterError(f"with by={by!r} a symbol must be {what}, got {symbol!r}")
