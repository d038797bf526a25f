"""Pighin & Moschitti 2010 on small models: list all fragments, weigh each, and filter.

A model is support vectors (small trees) with coefficients. Its weight vector is written out, every
component of it (their Eq. 6), which takes time exponential in the size of the trees. So what the
greedy search finds, Algorithm 5.1, can be held against all that there is.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from tests.reference.fragments import (
    Features,
    complete_subtrees,
    partial_tree_features,
    partial_trees_at,
    subset_tree_features,
    subset_trees,
    subtree_features,
)
from tests.reference.trees import Node, nodes, size


@dataclass(frozen=True)
class Model:
    """Support vectors with coefficients; those of coefficient 0 are none."""

    kernel: TreeKernel
    trees: list[Node]
    coef: list[float]

    @cached_property
    def support(self) -> list[tuple[Node, float]]:
        return [(t, c) for t, c in zip(self.trees, self.coef, strict=True) if c != 0]

    @cached_property
    def weights(self) -> dict[Node, float]:
        """Eq. 6: the weight of every fragment."""
        terms: dict[Node, list[float]] = {}
        for tree, coef in self.support:
            for fragment, value in normed_features(self.kernel, tree).items():
                terms.setdefault(fragment, []).append(coef * value)
        return {fragment: math.fsum(values) for fragment, values in terms.items()}

    @cached_property
    def sizes(self) -> dict[Node, float]:
        """Eq. 6 with the coefficients' absolute values: what rounding is relative to."""
        return Model(self.kernel, self.trees, [abs(c) for c in self.coef]).weights

    @cached_property
    def frequencies(self) -> Counter[Node]:
        """How many nodes of the support vectors each fragment is rooted at."""
        total: Counter[Node] = Counter()
        for tree, _ in self.support:
            total += roots(self.kernel, tree)
        return total

    @cached_property
    def norm(self) -> float:
        """The length of the weight vector."""
        return math.sqrt(math.fsum(w * w for w in self.weights.values()))

    @cached_property
    def chi2(self) -> dict[Node, float]:
        """The paper's other criterion, from the support vectors that have a fragment."""
        n = len(self.support)
        n_positive = sum(1 for _, coef in self.support if coef > 0)
        with_it: Counter[Node] = Counter()
        positive_with_it: Counter[Node] = Counter()
        for tree, coef in self.support:
            found = roots(self.kernel, tree).keys()
            with_it.update(found)
            positive_with_it.update(found if coef > 0 else ())
        return {f: chi_square(n, n_positive, with_it[f], positive_with_it[f]) for f in with_it}


def chi_square(n: int, m: int, x: int, y: int) -> float:
    """N (yN - Mx)^2 / (x (N - x) M (N - M)); 0 where a fragment or a class tells nothing."""
    below = x * (n - x) * m * (n - m)
    return n * (y * n - m * x) ** 2 / below if below else 0.0


# ---------------------------------------------------------------- fragments by kernel


def features(kernel: TreeKernel, tree: Node) -> Features:
    """What a tree is in the kernel's space, not normalised."""
    match kernel:
        case Subtree():
            return subtree_features(tree, kernel.decay)
        case SubsetTree():
            return subset_tree_features(tree, kernel.decay, kernel.include_leaves)
        case PartialTree():
            return partial_tree_features(
                tree, kernel.decay, kernel.depth_decay, kernel.penalty, kernel.max_subsequence
            )
    raise NotImplementedError(type(kernel).__name__)


def normed_features(kernel: TreeKernel, tree: Node) -> dict[Node, float]:
    """Eq. 5."""
    found = {fragment: float(value) for fragment, value in features(kernel, tree).items()}
    norm = math.sqrt(math.fsum(v * v for v in found.values())) if kernel.normalize else 1.0
    return {fragment: value / norm for fragment, value in found.items()}


def roots(kernel: TreeKernel, tree: Node) -> Counter[Node]:
    """How many nodes of a tree each fragment is rooted at."""
    match kernel:
        case Subtree():
            return complete_subtrees(tree)
        case SubsetTree():
            leaves = [node for node in nodes(tree) if not node.children and kernel.include_leaves]
            return subset_trees(tree) + Counter(leaves)
        case PartialTree():
            return Counter(
                fragment
                for node in nodes(tree)
                for fragment in {f for f, _ in partial_trees_at(node, "span", longest(kernel))}
            )
    raise NotImplementedError(type(kernel).__name__)


def occurrences(kernel: TreeKernel, tree: Node) -> Counter[Node]:
    """How often each fragment occurs: a partial tree may occur at one node in several ways."""
    if isinstance(kernel, PartialTree):
        return Counter(
            fragment
            for node in nodes(tree)
            for fragment, _ in partial_trees_at(node, "span", longest(kernel))
        )
    return roots(kernel, tree)


def longest(kernel: PartialTree) -> int | None:
    return kernel.max_subsequence


def is_base(kernel: TreeKernel, fragment: Node) -> bool:
    """The smallest fragments of a kernel; complete subtrees all are, for they do not grow."""
    match kernel:
        case Subtree():
            return True
        case SubsetTree():
            return all(not child.children for child in fragment.children)
    return not fragment.children


# ---------------------------------------------------------------- searches


@dataclass(frozen=True)
class Search:
    """What survives FILTER in a model: a criterion, and a threshold for it."""

    model: Model
    criterion: str
    factor: float  # the paper's L
    min_frequency: int

    @cached_property
    def relevance(self) -> dict[Node, float]:
        return {"gradient": self.model.weights, "chi2": self.model.chi2}[self.criterion]

    @cached_property
    def base(self) -> float:
        """B: the relevance of the best base fragment."""
        kernel, frequency = self.model.kernel, self.model.frequencies
        found = (
            abs(r)
            for f, r in self.relevance.items()
            if is_base(kernel, f) and frequency[f] >= self.min_frequency
        )
        return max(found, default=0.0)

    @property
    def threshold(self) -> float:
        return self.base / self.factor

    def survives(self, fragment: Node) -> bool:
        """FILTER, of one fragment."""
        relevant = abs(self.relevance[fragment]) >= self.threshold
        return relevant and self.model.frequencies[fragment] >= self.min_frequency

    def margin(self) -> float:
        """How far the relevance that is nearest to the threshold is from it, relatively.

        Where it is next to nothing, rounding decides.
        """
        t = self.threshold
        return min((abs(abs(r) - t) / t for r in self.relevance.values()), default=1.0) if t else 0

    def complete(self) -> set[Node]:
        """All that there is."""
        return {fragment for fragment in self.relevance if self.survives(fragment)}

    def greedy(self) -> set[Node]:
        """Algorithm 5.1, line by line; partial trees have a way to grow of their own."""
        kernel = self.model.kernel
        if isinstance(kernel, PartialTree):
            return self._grown_to_the_right()
        previous = {f for f in self.relevance if is_base(kernel, f) and self.survives(f)}
        result = set(previous)
        while previous:
            following: set[Node] = set()
            width, wide = 1, set(previous)
            while wide:
                wider: set[Node] = set()
                for fragment in wide:
                    expanded = self._expand(fragment, width)
                    kept = {f for f in expanded if self.survives(f)}
                    if kept:
                        wider.add(fragment)
                        following |= kept
                        result |= kept
                wide, width = wider, width + 1
            previous = following
        return result

    def _expand(self, fragment: Node, width: int) -> set[Node]:
        """EXPAND: by one production at each of `width` nodes that have children in a tree."""
        if not isinstance(self.model.kernel, SubsetTree) or not fragment.children:
            return set()
        return {
            larger
            for tree, _ in self.model.support
            for node in nodes(tree)
            if matches(fragment, node)
            for larger, n_expanded in expansions(fragment, node)
            if n_expanded == width
        }

    def _grown_to_the_right(self) -> set[Node]:
        """Partial trees that survive with all that they have grown from, node by node."""
        result: set[Node] = set()
        for fragment in sorted(self.relevance, key=size):
            smaller = without_last_node(fragment)
            if self.survives(fragment) and (smaller is None or smaller in result):
                result.add(fragment)
        return result


def matches(fragment: Node, node: Node) -> bool:
    """Whether a subset tree is rooted at a node: its bare nodes match whatever has their label."""
    if fragment.label != node.label:
        return False
    if not fragment.children:
        return True
    return len(fragment.children) == len(node.children) and all(
        map(matches, fragment.children, node.children)
    )


def expansions(fragment: Node, node: Node) -> Iterator[tuple[Node, int]]:
    """What a fragment that matches a node may become there, and how many nodes are expanded."""
    if not fragment.children:
        yield fragment, 0
        if node.children:
            yield Node(node.label, tuple(Node(child.label) for child in node.children)), 1
        return
    pairs = zip(fragment.children, node.children, strict=True)
    for choice in product(*(list(expansions(*pair)) for pair in pairs)):
        yield Node(node.label, tuple(f for f, _ in choice)), sum(n for _, n in choice)


def without_last_node(fragment: Node) -> Node | None:
    """A fragment without its last node in preorder; None for a single node."""
    if not fragment.children:
        return None
    last = without_last_node(fragment.children[-1])
    return Node(fragment.label, fragment.children[:-1] + (() if last is None else (last,)))
