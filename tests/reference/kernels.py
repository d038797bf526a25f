"""Tree kernels as the papers write them, in plain Python.

Each kernel is K(a, b) = the sum of Delta(u, v) over all nodes u of a and v of b (Severyn &
Moschitti 2012, Eq. 5). `decay` is the papers' lambda, `depth_decay` their mu. With floats the sums
are `math.fsum`s; with `fractions.Fraction` (or int) the result is exact.

The recursions go as deep as the trees: not for chains of a thousand nodes.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

from tests.reference.trees import Node, n_inner, nodes

Number = float | Fraction
Matrix = list[list[Number]]


def total(values: Iterable[Number]) -> Number:
    """The sum: correctly rounded for floats, exact for fractions."""
    terms = list(values)
    return math.fsum(terms) if any(isinstance(x, float) for x in terms) else sum(terms)


def production(node: Node) -> tuple[str, ...]:
    """A node's label and those of its children. It does not tell which children are leaves."""
    return (node.label, *(child.label for child in node.children))


def subtree(a: Node, b: Node, decay: Number) -> Number:
    """ST: pairs of equal complete subtrees, decay^(nodes with children) each; leaves not counted.

    Where one label is both a leaf's and an inner node's, existing programs let the leaf match the
    inner node. That function is not positive semi-definite, so here a leaf equals only a leaf.
    """
    return total(decay ** n_inner(u) for u in nodes(a) if u.children for v in nodes(b) if u == v)


def subset_tree(a: Node, b: Node, decay: Number, include_leaves: bool = False) -> Number:
    """STK, also called SST: Eq. 7 with decay. A leaf child, having no production, is a factor 1.

    `include_leaves`: each pair of leaves with one label adds decay; Delta stays as it is.
    """

    @cache
    def delta(u: Node, v: Node) -> Number:
        if not u.children or not v.children or production(u) != production(v):
            return 0 * decay
        value = decay
        for x, y in zip(u.children, v.children, strict=True):
            value *= 1 + delta(x, y)
        return value

    terms = [delta(u, v) for u in nodes(a) for v in nodes(b)]
    if include_leaves:
        leaves = [node for node in nodes(b) if not node.children]
        terms += [decay for u in nodes(a) if not u.children for v in leaves if u == v]
    return total(terms)


def partial_tree(
    a: Node,
    b: Node,
    decay: Number,
    depth_decay: Number,
    penalty: str = "span",
    max_subsequence: int | None = None,
) -> Number:
    """PTK: Eq. 8. All nodes, matched on their labels alone, leaf or not.

    A pair of equally long child subsequences weighs lambda^(d1 + d2) with d = last - first + 1
    (`penalty="span"`, the paper), or lambda^(d1 + d2 - 2 length), which is one lambda for each
    child passed over (`penalty="gaps"`, the programs). `max_subsequence` bounds the length.
    """
    step = {"span": decay * decay, "gaps": decay**0}[penalty]

    @cache
    def delta(u: Node, v: Node) -> Number:
        if u.label != v.label:
            return 0 * decay
        longest = min(len(u.children), len(v.children))
        if max_subsequence is not None:
            longest = min(longest, max_subsequence)
        pairs = [[delta(x, y) for y in v.children] for x in u.children]
        return depth_decay * (decay * decay + common_subsequences(pairs, decay, step, longest))

    return total(delta(u, v) for u in nodes(a) for v in nodes(b))


def common_subsequences(pairs: Matrix, decay: Number, step: Number, longest: int) -> Number:
    """The sum over common subsequences of at most `longest` children, O(longest k1 k2).

    pairs[i][j] is Delta of the i-th child here and the j-th there. A subsequence weighs the product
    of its pairs, `step` for each of them, and `decay` for each child between them on either side.
    """
    terms = []
    ending = [[step * pair for pair in row] for row in pairs]  # at i and j, of length 1
    for _ in range(longest):
        terms += [value for row in ending for value in row]
        before = sums_before(ending, decay)
        ending = [
            [step * pair * sum_ for pair, sum_ in zip(pair_row, sum_row, strict=True)]
            for pair_row, sum_row in zip(pairs, before, strict=True)
        ]
    return total(terms)


def sums_before(values: Matrix, decay: Number) -> Matrix:
    """S[i][j] = the sum over g < i, h < j of decay^((i - 1 - g) + (j - 1 - h)) values[g][h].

    The D_p of Moschitti (2006), row by row, so that nothing is ever subtracted.
    """
    sums: Matrix = []
    row_sums: list[Number] = [0 * decay for _ in values[0]] if values else []
    for row in values:
        sums.append(row_sums)
        next_sums: list[Number] = []
        left = 0 * decay
        for value, above in zip(row, row_sums, strict=True):
            next_sums.append(decay * above + left)
            left = decay * left + value
        row_sums = next_sums
    return sums


def normalized(kernel: Callable[[Node, Node], Number], a: Node, b: Node) -> float:
    """K(a, b) / sqrt(K(a, a) K(b, b)); 0 where a tree has no fragment, so that K(a, a) is 0."""
    norm = math.sqrt(kernel(a, a)) * math.sqrt(kernel(b, b))
    return float(kernel(a, b) / norm) if norm else 0.0
