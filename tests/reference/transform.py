"""What the steps of `filbert.transform` do to one tree, by recursion and without sharing.

What may remove a node returns a list: the trees in its place.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tests.reference.trees import Node, depth, nodes


def relabel(tree: Node, new_label: Callable[[Node], str]) -> Node:
    """Give each node the label that a function of the node returns."""
    return Node(new_label(tree), tuple(relabel(child, new_label) for child in tree.children))


def relabel_leaves_by_parent(tree: Node, new_label: Callable[[str, str], str]) -> Node:
    """Give each leaf that has a parent a label that depends on both."""
    children = [
        relabel_leaves_by_parent(child, new_label)
        if child.children
        else Node(new_label(child.label, tree.label))
        for child in tree.children
    ]
    return Node(tree.label, tuple(children))


def drop(tree: Node, chosen: Callable[[Node], bool], *, keep_children: bool) -> list[Node]:
    """Drop the chosen nodes, and nodes that lose all their children."""
    below = [
        node for child in tree.children for node in drop(child, chosen, keep_children=keep_children)
    ]
    if chosen(tree):
        return below if keep_children else []
    if tree.children and not below:
        return []
    return [Node(tree.label, tuple(below))]


def is_preterminal(tree: Node) -> bool:
    """Whether all children of an inner node are leaves."""
    return bool(tree.children) and not any(child.children for child in tree.children)


def collapse(tree: Node, joiner: str, *, preterminals: bool) -> Node:
    """Join chains of inner nodes with a single child."""
    label = tree.label
    while len(tree.children) == 1 and tree.children[0].children:
        child = tree.children[0]
        if is_preterminal(child) and not preterminals:
            break
        label, tree = label + joiner + child.label, child
    children = [collapse(child, joiner, preterminals=preterminals) for child in tree.children]
    return Node(label, tuple(children))


def expand(tree: Node, joiner: str) -> Node:
    """Split the labels of inner nodes to chains."""
    if not tree.children:
        return tree
    children = tuple(expand(child, joiner) for child in tree.children)
    *above, lowest = tree.label.split(joiner)
    node = Node(lowest, children)
    for label in reversed(above):
        node = Node(label, (node,))
    return node


def binarise(tree: Node, direction: str, n_siblings: int, marker: str) -> Node:
    """Put marked nodes between a node and all but one of its children."""
    children = tuple(binarise(child, direction, n_siblings, marker) for child in tree.children)
    names = [child.label for child in tree.children]

    def folded(children: tuple[Node, ...], names: Sequence[str]) -> tuple[Node, ...]:
        if len(children) <= 2:
            return children
        right = direction == "right"
        rest, own = (children[1:], names[1:]) if right else (children[:-1], names[:-1])
        shown = own[:n_siblings] if right else own[max(0, len(own) - n_siblings) :]
        label = marker + tree.label + (f"|{'-'.join(shown)}" if n_siblings else "")
        new = Node(label, folded(rest, own))
        return (children[0], new) if right else (new, children[-1])

    return Node(tree.label, folded(children, names))


def cut_depth(tree: Node, max_depth: int) -> Node:
    """Keep so many levels."""
    if max_depth == 1:
        return Node(tree.label)
    return Node(tree.label, tuple(cut_depth(child, max_depth - 1) for child in tree.children))


def cut_below(tree: Node, labels: Sequence[str]) -> Node:
    """Make leaves of nodes with some labels."""
    if tree.label in labels:
        return Node(tree.label)
    return Node(tree.label, tuple(cut_below(child, labels) for child in tree.children))


def drop_words(tree: Node) -> Node:
    """Drop all leaves that have a parent."""
    return Node(tree.label, tuple(drop_words(child) for child in tree.children if child.children))


def mark_paths(tree: Node, chosen: Callable[[Node], bool], mark: str) -> Node:
    """Mark the nodes that are or contain a chosen node."""
    found = any(map(chosen, nodes(tree)))
    children = tuple(mark_paths(child, chosen, mark) for child in tree.children)
    return Node(tree.label + mark if found else tree.label, children)


def mark_path(tree: Node, leaf: int, mark: str, where: str) -> Node:
    """Mark the path to one leaf, or its end."""
    if not tree.children:
        return Node(tree.label + mark) if where in ("path", "leaf") else tree
    children, marked = [], where == "path"
    for child in tree.children:
        n = sum(not node.children for node in nodes(child))
        here = 0 <= leaf < n
        marked = marked or (here and where == "parent" and not child.children)
        children.append(mark_path(child, leaf, mark, where) if here else child)
        leaf -= n
    return Node(tree.label + mark if marked else tree.label, tuple(children))


def sort_children(tree: Node) -> Node:
    """Sort children by label, depth and sorted children."""

    def key(node: Node) -> Any:
        return node.label, depth(node), [key(child) for child in node.children]

    return Node(tree.label, tuple(sorted(map(sort_children, tree.children), key=key)))


def as_unordered(tree: Node) -> Any:
    """A value that is equal for trees that are equal but for the order of children."""
    return tree.label, frozenset(Counter(map(as_unordered, tree.children)).items())
