"""The plain program that goes with a kernel of Filbert, with the same parameters."""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from filbert.kernels import LocalPatterns, PartialTree, SubsetTree, Subtree, TreeKernel
from tests.reference import kernels, patterns
from tests.reference.trees import Node

PARAMETERS = ("decay", "depth_decay", "include_leaves", "penalty", "max_subsequence")
PLAIN: dict[type[TreeKernel], Callable[..., kernels.Number]] = {
    Subtree: kernels.subtree,
    SubsetTree: kernels.subset_tree,
    PartialTree: kernels.partial_tree,
}


def reference_value(kernel: TreeKernel) -> Callable[[Node, Node], kernels.Number]:
    """The kernel of two trees."""
    if isinstance(kernel, LocalPatterns):
        return partial(
            patterns.kernel, **{k: v for k, v in kernel.get_params().items() if k != "part"}
        )
    given = {name: value for name, value in kernel.get_params().items() if name in PARAMETERS}
    value = partial(PLAIN[type(kernel)], **given)
    return partial(kernels.normalized, value) if kernel.normalize else value


def reference_matrix(kernel: TreeKernel, a: list[Node], b: list[Node]) -> npt.NDArray[np.float64]:
    """The kernels of all trees of one list with all of another."""
    value = reference_value(kernel)
    return np.array([[value(x, y) for y in b] for x in a], dtype=float)
