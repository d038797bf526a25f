"""The capabilities of kernels. Learners and engines read them and never check a type."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Capabilities:
    """The properties that a kernel declares.

    The defaults describe a kernel for which only the matrix ``kernel(X, Y)`` is known.

    Attributes
    ----------
    of : {"trees", "vectors", "constant"} or None
        The kind of data that the kernel compares. None if only the kernel knows.
    in_core : bool
        Whether the core computes with the kernel. Then ``kernel._spec()`` describes it to the core.
        The perceptron learns online with such kernels. Tree kernels in the core also have rows,
        cutting planes and fragments.
    factors : {"none", "direct", "likely", "uncertain"}
        Whether the kernel matrix has factors. "direct" factors are found without a search. "likely"
        factors nearly always take less work than the rows of the matrix. "uncertain" factors do so
        only for short trees that share much, so the search needs a small limit.
    match : {"production", "label"}
        Tree kernels: what two nodes must have in common to share a fragment.
    children : {"all", "all or none", "some"}
        Tree kernels: which children of a node a fragment may have. "some" are in their order, and
        others may lie between them.
    leaves : bool
        Tree kernels: whether a single leaf is a fragment.
    all_roots : bool
        Tree kernels: whether every node may be the root of a fragment.
    scorer : bool
        Tree kernels: whether the core scores a single tree node by node against all support vectors
        at once. Otherwise rows of the kernel matrix score single trees.
    explicit : bool
        Tree kernels: whether the kernel is a product of sparse vectors that the core computes for
        each tree (local patterns), and not a sum over pairs of nodes.
    """

    of: Literal["trees", "vectors", "constant"] | None = None
    in_core: bool = False
    factors: Literal["none", "direct", "likely", "uncertain"] = "none"
    match: Literal["production", "label"] = "production"
    children: Literal["all", "all or none", "some"] = "all or none"
    leaves: bool = False
    all_roots: bool = True
    scorer: bool = False
    explicit: bool = False

    @property
    def tree_in_core(self) -> bool:
        """Whether this is a tree kernel that the core knows, a sum over pairs of nodes."""
        return self.of == "trees" and self.in_core and not self.explicit


def capabilities_of(kernel: Any) -> Capabilities:
    """Return the capabilities of a kernel. A function ``kernel(X, Y)`` declares none."""
    known: Capabilities = getattr(kernel, "capabilities", _NONE)
    return known


_NONE = Capabilities()
