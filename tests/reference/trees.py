r"""Labelled ordered trees as nested tuples, and a plain reader and writer of their brackets.

    (S (NP she) (VP (V ran) (ADV away)))

A node is `(label child child ...)`, a leaf its bare label; a tree that is one leaf is `(label)`.
The outer bracket of Penn's `( (S ...) )`, which has no label, is taken away. Within a label a
backslash stands before a bracket, a blank or another backslash, and `\n \t \r \v \f` are the
other ASCII white space; any other backslash is itself.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Node(NamedTuple):
    """A node with all that is below it; a leaf has no children."""

    label: str
    children: tuple["Node", ...] = ()


# What stands behind the backslash -> the character it means, and back.
ESCAPES = {
    "(": "(", ")": ")", "\\": "\\", " ": " ",
    "n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f",
}  # fmt: skip
ESCAPED = {character: "\\" + letter for letter, character in ESCAPES.items()}
WHITE_SPACE = " \n\t\r\v\f"  # ASCII only: other blanks are part of a label


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield ("(", ""), (")", "") and ("label", its unescaped text)."""
    i = 0
    while i < len(text):
        if text[i] in WHITE_SPACE:
            i += 1
        elif text[i] in "()":
            yield text[i], ""
            i += 1
        else:
            label = ""
            while i < len(text) and text[i] not in WHITE_SPACE + "()":
                if text[i] == "\\" and text[i + 1 : i + 2] in ESCAPES:
                    label += ESCAPES[text[i + 1]]
                    i += 2
                else:
                    label += text[i]
                    i += 1
            yield "label", label


def parse(text: str) -> Node:
    """Read one tree."""
    done: list[Node] = []
    open_nodes: list[tuple[str | None, list[Node]]] = []  # label (None: not seen yet), children
    for kind, label in tokens(text):
        if done:
            raise ValueError(f"text after the tree: {text!r}")
        if kind == "(":
            open_nodes.append((None, []))
            continue
        if not open_nodes:
            raise ValueError(f"no bracket is open: {text!r}")
        own_label, children = open_nodes[-1]
        if kind == "label":
            if own_label is None and not children:
                open_nodes[-1] = (label, children)
            else:
                children.append(Node(label))
            continue
        open_nodes.pop()
        if own_label is not None:
            node = Node(own_label, tuple(children))
        elif len(children) == 1 and not open_nodes:
            node = children[0]  # Penn's outer bracket
        else:
            raise ValueError(f"a bracket without a label: {text!r}")
        (open_nodes[-1][1] if open_nodes else done).append(node)
    if open_nodes or not done:
        raise ValueError(f"the tree does not end: {text!r}")
    return done[0]


def write(node: Node) -> str:
    """The bracket form: one blank between parts, inner leaves bare."""

    def inner(node: Node) -> str:
        label = "".join(ESCAPED.get(character, character) for character in node.label)
        if not node.children:
            return label
        return "(" + " ".join([label, *map(inner, node.children)]) + ")"

    return inner(node) if node.children else f"({inner(node)})"


def nodes(tree: Node) -> Iterator[Node]:
    """All nodes, a parent before its children, children from left to right."""
    yield tree
    for child in tree.children:
        yield from nodes(child)


def size(tree: Node) -> int:
    """The number of nodes."""
    return sum(1 for _ in nodes(tree))


def n_inner(tree: Node) -> int:
    """The number of nodes that have children."""
    return sum(1 for node in nodes(tree) if node.children)


def depth(tree: Node) -> int:
    """The number of nodes on the longest way down; 1 for a single node."""
    return 1 + max(map(depth, tree.children), default=0)
