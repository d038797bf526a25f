"""What the nodes of a tree-sitter grammar become: inner nodes, names, tokens, or nothing."""

import importlib
from enum import Enum, auto
from functools import cache
from typing import Literal

import tree_sitter

from filbert.errors import FilbertError, MissingLibraryError
from filbert.read.code_options import Labels
from filbert.read.escape import escape_label
from filbert.read.languages import LANGUAGES

Tokens = Literal["operators", "none", "all"]

# Names that do not end in "identifier", and identifiers that consist of others.
_NAMES = {"class_variable", "constant", "destructor_name", "global_variable", "hash_key_symbol"}
_NAMES |= {"instance_variable", "label_name", "operator", "operator_name", "setter"}
_COMPOSED = ("nested_", "qualified_", "scoped_")

# Tokens that say nothing: punctuation, and words that only mark the place of a part.
_PUNCTUATION = frozenset(["(", ")", "[", "]", "{", "}", ",", ";", ":", "::", "@", "'", '"', "`"])
_PUNCTUATION |= {"${", "#{", "begin", "def", "do", "end", "fn", "func", "function", "then"}

# Tokens that distinguish programs although no field of the grammar holds them.
_OPERATORS = {"++", "--", "..", "..=", "<-"}

# tree-sitter numbers the types of nodes with 16 bits, and that of wrong code with the last number.
_N_NUMBERS = 1 << 16


class Role(Enum):
    """What a type of nodes becomes."""

    NODE = auto()  # an inner node, or a leaf if it has no children
    NAME = auto()  # an identifier: its text is a leaf below it
    TEXT = auto()  # another node that has its text as a leaf, such as int
    LEAF = auto()  # a leaf without its text
    TOKEN = auto()  # a leaf if is_operator says so
    DROPPED = auto()  # comments, other tokens, and wrong code


class Grammar:
    """A language's parser, and tables by the number of a node's type.

    Attributes
    ----------
    parser : tree_sitter.Parser
    types, leaves, openings : list of str
        The name of each type; how a leaf of it is written, and how an inner node of it begins.
    roles : list of Role
    """

    def __init__(self, language: str, labels: Labels, tokens: Tokens) -> None:
        grammar = _load(language)
        self.parser = tree_sitter.Parser(grammar)
        numbers = range(grammar.node_kind_count)
        self.types = [grammar.node_kind_for_id(i) or "_" for i in numbers]
        self.leaves = [f" {escape_label(one)}" for one in self.types]
        self.openings = [f" ({leaf[1:]}" for leaf in self.leaves]
        self._is_named = [grammar.node_kind_is_named(i) for i in numbers]
        self.roles = [
            _node_role(one, labels) if is_named else _token_role(one, tokens)
            for one, is_named in zip(self.types, self._is_named, strict=True)
        ]
        self.roles += [Role.DROPPED] * (_N_NUMBERS - len(self.roles))

    def numbers(self, names: set[str]) -> set[int]:
        """Return the numbers of the types of nodes with one of these names."""
        return {i for i, one in enumerate(self.types) if one in names and self._is_named[i]}

    def is_operator(self, token: int, parent: int) -> bool:
        """Return whether a token that has no field says more than the type of its parent does.

        That holds for modifiers, primitive types and words such as ``else``. The ``if`` of an
        ``if_statement`` says nothing new.
        """
        text = self.types[token]
        if not text.isalpha():
            return text in _OPERATORS
        return text not in self.types[parent].split("_")


@cache
def grammar_of(language: str, labels: Labels = "names", tokens: Tokens = "operators") -> Grammar:
    """Return the grammar of a language, with the roles of its nodes under these options."""
    return Grammar(language, labels, tokens)


def _load(name: str) -> tree_sitter.Language:
    wheel = f"tree-sitter-{name}"
    try:
        module = importlib.import_module(wheel.replace("-", "_"))
    except ModuleNotFoundError:
        raise MissingLibraryError(name, wheel, LANGUAGES[name].extra) from None
    try:
        return tree_sitter.Language(module.language())
    except ValueError:  # the wheel's grammar has a newer form than the parser knows
        raise FilbertError(
            f"this tree-sitter is too old for {wheel}: pip install --upgrade tree-sitter {wheel}"
        ) from None


def _node_role(name: str, labels: Labels) -> Role:
    if name.endswith("comment"):
        return Role.DROPPED
    if name == "primitive_type":
        return Role.TEXT
    if name in _NAMES or (name.endswith("identifier") and not name.startswith(_COMPOSED)):
        return Role.LEAF if labels == "types" else Role.NAME
    return Role.NODE


def _token_role(name: str, tokens: Tokens) -> Role:
    if tokens == "all":
        return Role.LEAF
    return Role.DROPPED if tokens == "none" or name in _PUNCTUATION else Role.TOKEN
