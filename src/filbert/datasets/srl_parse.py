"""Parses of sentences, stored so that the trees of their examples can be cut out."""

import re
from itertools import accumulate
from typing import Literal

from filbert.errors import ParseError
from filbert.read.escape import escape_label

Leaves = Literal["words", "tags"]

_SYMBOL = re.compile(r"[()]|[^() \t\n\r\v\f]+")
_EXCERPT = 60  # characters of a tree that an error shows


class Parse:
    """A parse as parallel lists over its nodes, words included, in preorder.

    ============== =========================================================================
    ``depth``      the number of nodes above it
    ``stop``       the first node that is not below this one
    ``span``       the first token below it, and one past the last
    ``is_node``    whether it can be a candidate; words cannot
    ``is_topmost`` whether no node above it has the same span
    ``begin`` ...  ``text[begin:end]`` is the node with its subtree, ``text[begin:mark]`` its
                   opening bracket and label
    ``path``       the node, marked as candidate, after the opening brackets of its ancestors:
                   ``(TOP (S (NP-B (PRP I))``; made once, then cut for each predicate
    ``indent``     where the node itself starts in ``path``: 8
    ============== =========================================================================

    ``tag`` is a list over tokens: the node that is the token's tag.
    """

    def __init__(self, label: list[str], parent: list[int], leaves: Leaves) -> None:
        self.label = label
        self.parent = parent
        self.depth = [0] * len(label)
        self.is_leaf = [True] * len(label)
        for node, up in enumerate(parent[1:], start=1):
            self.depth[node] = self.depth[up] + 1
            self.is_leaf[up] = False
        self._write_text()
        self._number_tokens(leaves)
        self._write_paths()

    def chain(self, node: int) -> list[int]:
        """Return the nodes from this one up to the root, including both."""
        chain = [node]
        while (node := self.parent[node]) >= 0:
            chain.append(node)
        return chain

    def with_mark(self, node: int, mark: str) -> str:
        """Return the text of a node with a mark on its label."""
        middle = self.mark[node]
        return f"{self.text[self.begin[node] : middle]}{mark}{self.text[middle : self.end[node]]}"

    def with_both_marks(self, node: int, head: int) -> str:
        """Return the tree of a candidate that is, or is above, the head of the predicate."""
        candidate, predicate = self.mark[node], self.mark[head]
        before = self.text[self.begin[node] : candidate]
        between = self.text[candidate:predicate]
        after = self.text[predicate : self.end[node]]
        tree = f"{before}-B{between}-P{after}"
        return tree if tree.startswith("(") else f"({tree})"  # a tag without a word

    def _write_text(self) -> None:
        """Set ``text``, the position of each node in it, and ``stop``."""
        size = len(self.label)
        pieces: list[str] = []
        length = 0
        self.begin, self.mark = [0] * size, [0] * size
        for node, label in enumerate(self.label):
            level = self.depth[node]
            closing = ")" * (self.depth[node - 1] - level) + " " if node else ""
            opening = label if self.is_leaf[node] else f"({label}"
            pieces += closing, opening
            self.begin[node] = length + len(closing)
            self.mark[node] = length = self.begin[node] + len(opening)
        self.text = "".join(pieces) + ")" * self.depth[-1]
        self.end, self.stop = self.mark.copy(), list(range(1, size + 1))
        for node in range(size - 1, 0, -1):  # backwards: a node's last child comes first
            up = self.parent[node]
            self.end[up] = max(self.end[up], self.end[node] + 1)
            self.stop[up] = max(self.stop[up], self.stop[node])

    def _number_tokens(self, leaves: Leaves) -> None:
        """Set ``tag``, ``span``, ``is_node`` and ``is_topmost``."""
        before = list(accumulate(self.is_leaf, initial=0))  # leaves before each node
        self.span = [(before[node], before[stop]) for node, stop in enumerate(self.stop)]
        self.is_topmost = [
            up < 0 or self.span[up] != span for up, span in zip(self.parent, self.span, strict=True)
        ]
        self.tag = [node for node, is_leaf in enumerate(self.is_leaf) if is_leaf]
        self.is_node = [True] * len(self.label)
        if leaves == "words":
            self._require_words_alone()
            self.is_node = [not is_leaf for is_leaf in self.is_leaf]
            self.tag = [self.parent[word] for word in self.tag]

    def _require_words_alone(self) -> None:
        for word in self.tag:
            tag = self.parent[word]
            if tag < 0 or (tag + 1, self.stop[tag]) != (word, word + 1):
                raise ParseError(
                    f"the word {self.label[word]!r} is not alone under a tag",
                    hint="pass leaves='tags' for parses without words",
                )

    def _write_paths(self) -> None:
        """Set ``path`` and ``indent``."""
        opened = [""] * len(self.label)
        for node, up in enumerate(self.parent[1:], start=1):
            opened[node] = f"{opened[up]}({self.label[up]} "
        self.indent = [len(text) for text in opened]
        self.path = [text + self.with_mark(node, "-B") for node, text in enumerate(opened)]


def read_parse(tree: str, leaves: Leaves) -> Parse:
    """Read a parse in brackets; a backslash in it is an ordinary character."""
    label: list[str] = []
    parent: list[int] = []
    open_nodes: list[int] = []
    label_follows = False
    for symbol in _SYMBOL.findall(tree):
        if symbol == "(":
            if label_follows:
                raise _bad_tree(tree, "a bracket has no label")
            label_follows = True
        elif symbol == ")":
            if label_follows or not open_nodes:
                raise _bad_tree(tree, "a bracket has no label, or closes without having opened")
            open_nodes.pop()
        else:
            if not open_nodes and (label or not label_follows):
                raise _bad_tree(tree, f"{symbol!r} is outside of the tree")
            parent.append(open_nodes[-1] if open_nodes else -1)
            if label_follows:
                open_nodes.append(len(label))
            label.append(escape_label(symbol))
            label_follows = False
    if open_nodes or label_follows or not label:
        raise _bad_tree(tree, "a bracket is not closed" if label else "it is empty")
    return Parse(label, parent, leaves)


def _bad_tree(tree: str, reason: str) -> ParseError:
    excerpt = tree if len(tree) <= _EXCERPT else tree[: _EXCERPT - 3] + "..."
    return ParseError(f"the tree {excerpt!r} is not well formed: {reason}")
