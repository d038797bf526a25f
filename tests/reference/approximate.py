"""Approximate tree kernels in plain Python: only nodes with chosen symbols are roots of fragments.

A kernel of trees is a sum over pairs of their nodes, and Delta(u, v) depends on what is below these
nodes alone. So Delta is the kernel of the trees below u and v, less the kernels of pairs that are
further down on either side; here it is taken from the plain recursions instead, node by node.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from filbert.kernels import ApproximateTree, PartialTree, SubsetTree, Subtree, TreeKernel
from tests.reference import kernels
from tests.reference.matrix import PARAMETERS
from tests.reference.trees import Node, n_inner, nodes

Delta = Callable[[Node, Node], float]


def delta_of(kernel: TreeKernel) -> Delta:
    """Delta of two nodes, by the definitions; not to be used for large trees."""
    given = {name: value for name, value in kernel.get_params().items() if name in PARAMETERS}
    if isinstance(kernel, Subtree):
        return lambda u, v: kernel.decay ** n_inner(u) if u.children and u == v else 0.0
    if isinstance(kernel, SubsetTree):
        return partial(_subset_tree, decay=kernel.decay, leaves=kernel.include_leaves)
    assert isinstance(kernel, PartialTree)
    return partial(_partial_tree, **given)


def _subset_tree(u: Node, v: Node, decay: float, leaves: bool) -> float:
    if not u.children or not v.children:
        return decay if leaves and u == v else 0.0
    if kernels.production(u) != kernels.production(v):
        return 0.0
    value = decay
    for x, y in zip(u.children, v.children, strict=True):
        value *= 1 + _subset_tree(x, y, decay, leaves=False)
    return value


def _partial_tree(
    u: Node,
    v: Node,
    decay: float,
    depth_decay: float,
    penalty: str,
    max_subsequence: int | None,
) -> float:
    if u.label != v.label:
        return 0.0
    longest = min(len(u.children), len(v.children))
    if max_subsequence is not None:
        longest = min(longest, max_subsequence)
    step = decay * decay if penalty == "span" else 1.0
    below = partial(
        _partial_tree,
        decay=decay,
        depth_decay=depth_decay,
        penalty=penalty,
        max_subsequence=max_subsequence,
    )
    pairs: kernels.Matrix = [[below(x, y) for y in v.children] for x in u.children]
    subsequences = float(kernels.common_subsequences(pairs, decay, step, longest))
    return depth_decay * (decay * decay + subsequences)


def symbol_of(node: Node, by: str) -> str | tuple[str, ...]:
    """A node's label, or its production."""
    return node.label if by == "label" else kernels.production(node)


def approximate(kernel: ApproximateTree) -> Callable[[Node, Node], float]:
    """The kernel of two trees (Rieck, Brefeld & Krueger 2008, Eq. 2)."""
    delta = delta_of(kernel.kernel)
    chosen = set(kernel.symbols)

    def value(a: Node, b: Node) -> float:
        roots = [[u for u in nodes(t) if symbol_of(u, kernel.by) in chosen] for t in (a, b)]
        return float(kernels.total(delta(u, v) for u in roots[0] for v in roots[1]))

    return partial(kernels.normalized, value) if kernel.normalize else value


def approximate_matrix(
    kernel: ApproximateTree, a: list[Node], b: list[Node]
) -> npt.NDArray[np.float64]:
    """The kernels of all trees of one list with all of another."""
    value = approximate(kernel)
    return np.array([[value(x, y) for y in b] for x in a], dtype=float)
