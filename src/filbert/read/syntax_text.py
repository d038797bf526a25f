"""Write a syntax tree of tree-sitter in bracket notation, in one pass."""

from bisect import bisect_left
from typing import Any

from tree_sitter import Tree

from filbert.read.code_options import Constants, Labels, numbered_names
from filbert.read.code_units import UnitFinder
from filbert.read.escape import escape_label
from filbert.read.grammar import Grammar, Role


class SyntaxText:
    """The text of a tree in pieces, so that the text of a unit is a slice of them.

    Parameters
    ----------
    tree
        The tree of a whole file.
    grammar
        The grammar that the tree was parsed with.
    finder
        Learns between which pieces the units lie.
    labels, constants
        See :class:`~filbert.read.code_options.CodeOptions`.
    """

    def __init__(
        self, tree: Tree, grammar: Grammar, finder: UnitFinder, labels: Labels, constants: Constants
    ) -> None:
        self._grammar = grammar
        self._is_abstract = labels == "abstract"
        self._names: list[int] = []  # the numbers of the pieces that are identifiers
        self._pieces: list[str] = []
        self._walk(tree, finder, Role.TEXT if constants == "values" else Role.LEAF)

    def __len__(self) -> int:
        return len(self._pieces)

    def part(self, start: int, end: int) -> str:
        """Return the tree that lies between two pieces."""
        pieces = self._pieces[start:end]
        if self._is_abstract:
            rename = numbered_names()
            first, last = bisect_left(self._names, start), bisect_left(self._names, end)
            for at in self._names[first:last]:
                opening, _, name = self._pieces[at][1:].partition(" ")
                pieces[at - start] = f" {opening} {rename(name)})"
        text = "".join(pieces)[1:]
        return text if text.startswith("(") else f"({text})"

    def _walk(self, tree: Tree, finder: UnitFinder, childless: Role) -> None:
        """Write all nodes, led by a cursor: no recursion, so that no nesting is too deep.

        `childless` is the role of a node without children that is no name.
        """
        pieces, names, write = self._pieces, self._names, self._pieces.append
        open_types: list[int] = []  # the types of the open nodes
        starts: list[int] = []  # and their first pieces
        marked = self._grammar.numbers(finder.marked)
        kept, texts = _KeptTokens(self._grammar), _LeafTexts(self._grammar)
        roles, leaves, openings = self._grammar.roles, self._grammar.leaves, self._grammar.openings
        a_node, a_name, a_text, a_leaf, a_token = (
            Role.NODE, Role.NAME, Role.TEXT, Role.LEAF, Role.TOKEN)  # fmt: skip
        cursor: Any = tree.walk()  # its node is never None
        descend, advance = cursor.goto_first_child, cursor.goto_next_sibling
        while True:
            node = cursor.node
            kind = node.kind_id
            role = roles[kind]
            if role is a_node:
                if descend():
                    if kind in marked:
                        finder.enter(node, len(starts), len(pieces))
                    open_types.append(kind)
                    starts.append(len(pieces))
                    write(openings[kind])
                    continue
                role = childless
            if role is a_name:
                names.append(len(pieces))
                write(texts[kind, node.text])
            elif role is a_text:
                write(texts[kind, node.text])
            elif role is a_leaf or (
                role is a_token and kept[open_types[-1], kind, cursor.field_id]
            ):
                write(leaves[kind])
            while not advance():
                if not cursor.goto_parent():
                    return
                if starts.pop() == len(pieces) - 1:  # none of its children was written
                    pieces[-1] = leaves[open_types[-1]]
                else:
                    write(")")
                open_types.pop()
                if finder.depth == len(starts):
                    finder.leave(len(pieces))


class _LeafTexts(dict[tuple[int, bytes], str]):
    """How a leaf is written that shows its text, by its type and its text."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    def __missing__(self, key: tuple[int, bytes]) -> str:
        kind, text = key
        label = text.decode()
        leaf = self._grammar.leaves[kind]
        is_plain = not label or (
            label == self._grammar.types[kind] and self._grammar.roles[kind] is Role.NODE
        )  # such as this, null, true
        self[key] = leaf if is_plain else f" ({leaf[1:]} {escape_label(label)})"
        return self[key]


class _KeptTokens(dict[tuple[int, int, int | None], bool]):
    """Whether a token becomes a leaf, by the type of its parent, its own type, and its field."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    def __missing__(self, key: tuple[int, int, int | None]) -> bool:
        parent, token, field = key
        self[key] = field is not None or self._grammar.is_operator(token, parent)
        return self[key]
