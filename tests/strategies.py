"""Random trees and tree kernels.

Trees come from one generator, driven by Hypothesis (to shrink) or by a seed (for bulk).

Kernels differ from each other, and programs go wrong, where trees are alike but not equal, where
one label is a leaf's and an inner node's, and at the extremes of shape. So: few labels, forests of
near-duplicates, chains, stars, binary trees and single nodes.
"""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from filbert.kernels import LocalPatterns, PartialTree, SubsetTree, Subtree, TreeKernel
from tests.reference.trees import Node, size


class Alphabet(NamedTuple):
    """The labels that inner nodes and leaves may have."""

    inner: tuple[str, ...]
    leaves: tuple[str, ...]


MIXED = Alphabet(("a", "b", "c"), ("a", "b", "c"))
DISJOINT = Alphabet(("A", "B", "C"), ("x", "y", "z"))
ALPHABETS = (
    MIXED,
    Alphabet(("a",), ("a",)),
    Alphabet(("a", "b"), ("b", "c")),
    Alphabet(("A", "B"), ("x", "y")),
    DISJOINT,
)

# The parent of the i-th node, i > 0, among the nodes before it.
SHAPES: dict[str, Callable[[Random, int], int]] = {
    "any": lambda rng, i: rng.randint(0, i - 1),
    "bushy": lambda rng, i: rng.randint(0, (i - 1) // 2),
    "chain": lambda _, i: i - 1,
    "star": lambda _, i: 0,
    "binary": lambda _, i: (i - 1) // 2,
}


# With a source of random numbers


def random_tree(rng: Random, max_nodes: int, alphabet: Alphabet) -> Node:
    """A tree of 1 to `max_nodes` nodes."""
    n = rng.randint(1, max_nodes)
    parent_of = SHAPES[rng.choice(tuple(SHAPES))]
    children: list[list[Node]] = [[] for _ in range(n)]
    for i in reversed(range(n)):  # a node's children come after it, so they are done
        labels = alphabet.inner if children[i] else alphabet.leaves
        node = Node(rng.choice(labels), tuple(reversed(children[i])))
        if i > 0:
            children[parent_of(rng, i)].append(node)
    return node


def near_duplicate(rng: Random, tree: Node, alphabet: Alphabet) -> Node:
    """The tree again, or with one node relabelled, one child dropped, or two children swapped."""

    def edit(node: Node) -> Node:
        kind = rng.choice(("relabel", "drop", "swap"))
        children = list(node.children)
        if not children or kind == "relabel":
            labels = alphabet.inner if children else alphabet.leaves
            return Node(rng.choice(labels), node.children)
        i = rng.randint(0, len(children) - 1)
        if kind == "swap":
            children[0], children[i] = children[i], children[0]
        elif len(children) == 1:
            return Node(rng.choice(alphabet.leaves))
        else:
            del children[i]
        return Node(node.label, tuple(children))

    if rng.randint(0, 3) == 0:
        return tree
    return edit_at(tree, rng.randint(0, size(tree) - 1), edit)


def edit_at(tree: Node, index: int, edit: Callable[[Node], Node]) -> Node:
    """The tree with `edit` applied to its node number `index`, counted as `nodes` counts."""
    if index == 0:
        return edit(tree)
    children, index = [], index - 1
    for child in tree.children:
        n = size(child)
        children.append(edit_at(child, index, edit) if 0 <= index < n else child)
        index -= n
    return Node(tree.label, tuple(children))


def random_forest(rng: Random, n: int, max_nodes: int, alphabet: Alphabet) -> list[Node]:
    """`n` trees; half of them are new, the others near-duplicates of earlier ones."""
    forest: list[Node] = []
    for _ in range(n):
        if forest and rng.randint(0, 1):
            forest.append(near_duplicate(rng, rng.choice(forest), alphabet))
        else:
            forest.append(random_tree(rng, max_nodes, alphabet))
    return forest


def random_trees(seed: int, n: int, max_nodes: int = 12, alphabet: Alphabet = MIXED) -> list[Node]:
    """`n` trees with much sharing, the same for the same seed."""
    return random_forest(Random(seed), n, max_nodes, alphabet)


# With Hypothesis

RNG = st.randoms(use_true_random=False)


def labels() -> st.SearchStrategy[Alphabet]:
    """Small alphabets: shared by leaves and inner nodes, overlapping or disjoint."""
    return st.sampled_from(ALPHABETS)


def trees(max_nodes: int = 12) -> st.SearchStrategy[Node]:
    """Single trees."""
    return st.builds(random_tree, RNG, st.just(max_nodes), labels())


def forests(
    min_size: int = 1, max_size: int = 6, max_nodes: int = 12
) -> st.SearchStrategy[list[Node]]:
    """Lists of trees over one alphabet, with near-duplicates."""
    n = st.integers(min_size, max_size)
    return st.builds(random_forest, RNG, n, st.just(max_nodes), labels())


def unicode_labels() -> st.SearchStrategy[str]:
    """Labels with what a bracket format must escape and with what it must leave alone."""
    special = st.sampled_from(" ()\\\n\t\r\v\fntrvf\u00a0\u2028\x1c")
    anything = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    return st.text(special | anything, min_size=1, max_size=6)


def unicode_trees(max_nodes: int = 8) -> st.SearchStrategy[Node]:
    """Single trees with such labels."""
    some = st.lists(unicode_labels(), min_size=1, max_size=4).map(tuple)
    return st.builds(random_tree, RNG, st.just(max_nodes), st.builds(Alphabet, some, some))


# Kernels


def subset_trees(decays: st.SearchStrategy[float]) -> st.SearchStrategy[TreeKernel]:
    """Subset tree kernels, with leaves or without."""
    return st.builds(SubsetTree, decays, include_leaves=st.booleans(), normalize=st.booleans())


def local_patterns() -> st.SearchStrategy[LocalPatterns]:
    """Local patterns with any parameters."""
    return st.builds(
        LocalPatterns,
        labels=st.booleans(),
        paths=st.integers(1, 5),
        productions=st.booleans(),
        subtree_depth=st.integers(1, 4),
        siblings=st.integers(1, 4),
        leaves=st.integers(1, 4),
        damping=st.sampled_from(["log", "sqrt", "none"]),
        decay=st.sampled_from([1.0, 0.7, 0.1]),
        family_norms=st.booleans(),
        normalize=st.booleans(),
    )


def tree_kernels(
    decays: st.SearchStrategy[float], max_subsequence: int
) -> st.SearchStrategy[TreeKernel]:
    """Kernels of all three kinds, with any parameters."""
    return st.one_of(
        subset_trees(decays),
        st.builds(Subtree, decays, normalize=st.booleans()),
        st.builds(
            PartialTree,
            decays,
            decays,
            penalty=st.sampled_from(["span", "gaps"]),
            max_subsequence=st.none() | st.integers(1, max_subsequence),
            normalize=st.booleans(),
        ),
    )
