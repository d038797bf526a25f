"""The kernels that TreeSVCCV tries if none are given."""

from typing import Any

from filbert.engine.work import row_steps
from filbert.kernels import Kernel, LocalPatterns, PartialTree, SubsetTree
from filbert.kernels.terms import tree_kernels


def default_kernels() -> list[Kernel]:
    """Return kernels from local to global. Of equal scores, the first kernel wins."""
    usual = LocalPatterns(decay=0.7, leaves=3)
    leaves = SubsetTree(0.4, include_leaves=True)
    return [
        usual,
        LocalPatterns(decay=0.7, leaves=3, family_norms=True),
        LocalPatterns(decay=0.7),
        LocalPatterns(decay=0.35),
        LocalPatterns(),
        usual + leaves,
        leaves,
        SubsetTree(0.4),
        SubsetTree(0.1, include_leaves=True),
        PartialTree(0.4, 0.4),
        PartialTree(0.9, 0.9),
    ]


def work_of(kernel: Any, X: Any) -> float:
    """Return the steps that a kernel may take if its factors do not work out.

    Kernels whose factors always or nearly always take little work count as 0.
    """
    uncertain = [k for k in tree_kernels(kernel) if k.capabilities.factors == "uncertain"]
    return sum((row_steps(k, k.trees_of(X)) for k in uncertain), 0.0)
