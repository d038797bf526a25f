"""Semantic role labelling: sentences with PropBank annotation -> predicate-argument trees.

A sentence is one object of JSON, with a constituency parse and its propositions::

    {"tree": "(TOP (S (NP (PRP I)) (VP (VBD found) (NP (PRP it)))))",
     "props": [{"pred": [1], "args": [["ARG0", 0, 1], ["ARG1", 2, 3]]}]}

``pred`` holds the tokens of the predicate, its head first; an argument is ``[role, start, end]``,
tokens counted from 0, ``end`` exclusive. Other keys are ignored. A symbol of the parse is any run
of characters without round brackets and ASCII white space; a backslash is an ordinary character.

An example is a predicate with a candidate node of the parse, and its tree is the smallest one
that holds both: the paths from their lowest common ancestor down to each, nothing beside them,
and all that the candidate spans. ``-B`` marks the candidate, ``-P`` the predicate's tag. For the
predicate "found" above and the candidate NP over "it"::

    (VP (VBD-P found) (NP-B (PRP it)))

A candidate above the predicate (rule A alone has those) is the whole tree, with both marks in it;
the predicate's own tag becomes ``VBD-B-P``. Of a predicate of several tokens the head is marked.

The trees are those of Moschitti, Pighin & Basili, *Tree kernels for semantic role labeling*
(Computational Linguistics 34(2), 2008).
"""

import gzip
import json
import lzma
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError, ParseError
from filbert.forest import Forest
from filbert.read.escape import escape_label
from filbert.read.files import open_binary

Rule = Literal["A", "B", "C", "VB", "VC"]
Task = Literal["boundary", "role"]
Leaves = Literal["words", "tags"]
Sentences = str | os.PathLike[str] | Iterable[Mapping[str, Any]]

_T = TypeVar("_T")

_SYMBOL = re.compile(r"[()]|[^() \t\n\r\v\f]+")
_EXCERPT = 60  # characters of a tree that an error shows


def srl_boundary(
    sentences: Sentences, *, rule: Rule = "VB", task: Task = "boundary", leaves: Leaves = "words"
) -> Iterator[tuple[int | str, str]]:
    """Stream the examples of annotated sentences as ``(label, tree in bracket notation)``.

    Examples come sentence by sentence, predicate by predicate, candidates in preorder.

    Parameters
    ----------
    sentences
        Dictionaries as above, or the path of a JSON Lines file, plain or ``.gz`` or ``.xz``.
    rule
        Which pairs of a predicate and a node are examples:

        ====== ==================================================================
        ``A``  all predicates, all nodes
        ``B``  A without the nodes over a token of the predicate
        ``C``  B, one node for each span: the topmost one of a unary chain
        ``VB`` B, for predicates that are verbs (tag ``VB*``) and have an argument
        ``VC`` C, for the same predicates
        ====== ==================================================================
    task
        ``"boundary"``: the label is 1 where the node's span is exactly an argument's, else -1.
        ``"role"``: only those nodes are examples, and the label is the argument's role as it is
        written, ``C-`` and ``R-`` included. Should several arguments have one span, the first
        gives the role. Under A, B and VB each node of a unary chain is an example with that role.
    leaves
        ``"words"``: each leaf is a word, alone under its tag, and is no candidate.
        ``"tags"``: the parse has no words, its leaves are the tags and are candidates.

    Raises
    ------
    ParseError
        On a sentence that cannot be read, when the stream reaches it.
    """
    _check_option("rule", rule, Rule)
    _check_option("task", task, Task)
    _check_option("leaves", leaves, Leaves)
    return _stream(sentences, rule, task, leaves)


def load_srl(
    sentences: Sentences, *, rule: Rule = "VB", task: Task = "boundary", leaves: Leaves = "words"
) -> tuple[Forest, NDArray[Any]]:
    """Collect the examples of :func:`srl_boundary` into a forest and an array of labels."""
    labels: list[int | str] = []

    def trees() -> Iterator[str]:  # one at a time: the texts of a treebank fill gigabytes
        for label, tree in srl_boundary(sentences, rule=rule, task=task, leaves=leaves):
            labels.append(label)
            yield tree

    forest = Forest.from_brackets(trees())
    return forest, np.array(labels, dtype=np.int64 if task == "boundary" else np.str_)


def _check_option(name: str, value: str, options: Any) -> None:
    allowed = get_args(options)
    if value not in allowed:
        raise InvalidParameterError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")


# --- Sentences ---------------------------------------------------------------------------------


class _Place(TypedDict, total=False):
    """Where a sentence stands, in the words of ParseError."""

    source: str
    line: int
    sample: int


class _Predicate(NamedTuple):
    tokens: list[int]  # the head first
    roles: dict[tuple[int, int], str]  # by span


def _read_sentences(sentences: Sentences) -> Iterator[tuple[_Place, object]]:
    if not isinstance(sentences, str | os.PathLike):
        for number, sentence in enumerate(sentences):
            yield _Place(sample=number), sentence
        return
    source = os.fspath(sentences)
    for number, line in _read_lines(source):
        try:
            sentence = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"not a line of JSON in UTF-8: {error}"
            raise ParseError(reason, source=source, line=number) from error
        yield _Place(source=source, line=number), sentence


def _read_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, counted from 1."""
    number = 0
    try:
        with open_binary(path) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.isspace():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        reason = f"the file is damaged or not of the kind its name says: {error}"
        raise ParseError(reason, source=path, line=number + 1) from error


def _read_predicates(sentence: object, n_tokens: int) -> Iterator[_Predicate]:
    for proposition in _entry(sentence, "props", list):
        tokens = _entry(proposition, "pred", list)
        if not tokens or not all(isinstance(t, int) and 0 <= t < n_tokens for t in tokens):
            raise ParseError(
                f"pred {tokens!r} does not name tokens of a sentence of {n_tokens}",
                hint="tokens are numbered from 0, and the head of the predicate comes first",
            )
        roles: dict[tuple[int, int], str] = {}
        for argument in _entry(proposition, "args", list):
            role, span = _read_argument(argument, n_tokens)
            roles.setdefault(span, role)
        yield _Predicate(tokens, roles)


def _read_argument(argument: object, n_tokens: int) -> tuple[str, tuple[int, int]]:
    match argument:
        case [str(role), int(start), int(end)] if role and 0 <= start < end <= n_tokens:
            return role, (start, end)
    raise ParseError(
        f"argument {argument!r} does not fit a sentence of {n_tokens} tokens",
        hint="an argument is [role, start, end], tokens numbered from 0, end exclusive",
    )


def _entry(mapping: object, key: str, kind: type[_T]) -> _T:
    if not isinstance(mapping, Mapping):
        raise ParseError(f"expected an object with the key {key!r}, found {mapping!r:.60}")
    if key not in mapping:
        raise ParseError(f"the key {key!r} is missing; found {', '.join(map(str, mapping))}")
    value = mapping[key]
    if not isinstance(value, kind):
        found = type(value).__name__
        raise ParseError(f"{key!r} must be of type {kind.__name__}, not {found}")
    return value


# --- Parses ------------------------------------------------------------------------------------


class _Parse:
    """A parse as parallel lists over its nodes, words included, in preorder.

    ============== =========================================================================
    ``depth``      number of nodes above
    ``stop``       the first node that is not below this one
    ``span``       first token below, and the one after the last
    ``is_node``    whether it can be a candidate: words cannot
    ``is_topmost`` whether no node above it has the same span
    ``begin`` ...  ``text[begin:end]`` is the node with all below it, ``text[begin:mark]`` its
                   opening bracket and label
    ``path``       the node, marked as candidate, with its ancestors opened before it:
                   ``(TOP (S (NP-B (PRP I))``; made once, then cut to size for each predicate
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
        """Return the nodes from this one up to the root, both included."""
        chain = [node]
        while (node := self.parent[node]) >= 0:
            chain.append(node)
        return chain

    def with_mark(self, node: int, mark: str) -> str:
        """Return the text of a node, its label marked."""
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
        """Set ``text`` and where each node is in it, and ``stop``."""
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
        for node in range(size - 1, 0, -1):  # from the last one: a node's last child comes first
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


def _read_parse(tree: str, leaves: Leaves) -> _Parse:
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
    return _Parse(label, parent, leaves)


def _bad_tree(tree: str, reason: str) -> ParseError:
    excerpt = tree if len(tree) <= _EXCERPT else tree[: _EXCERPT - 3] + "..."
    return ParseError(f"the tree {excerpt!r} is not well formed: {reason}")


# --- Examples ----------------------------------------------------------------------------------


def _stream(
    sentences: Sentences, rule: Rule, task: Task, leaves: Leaves
) -> Iterator[tuple[int | str, str]]:
    for place, sentence in _read_sentences(sentences):
        try:
            parse = _read_parse(_entry(sentence, "tree", str), leaves)
            for predicate in _read_predicates(sentence, len(parse.tag)):
                yield from _predicate_examples(parse, predicate, rule, task)
        except ParseError as error:
            raise error.located(**place) from None


def _predicate_examples(
    parse: _Parse, predicate: _Predicate, rule: Rule, task: Task
) -> Iterator[tuple[int | str, str]]:
    head = parse.tag[predicate.tokens[0]]
    roles, span = predicate.roles, parse.span
    if rule.startswith("V") and not (roles and parse.label[head].startswith("VB")):
        return
    keep = _candidates(parse, predicate, rule)
    if task == "boundary":
        for node, tree in _predicate_argument_trees(parse, head, keep):
            yield (1 if span[node] in roles else -1), tree
    else:
        keep = [kept and span[node] in roles for node, kept in enumerate(keep)]
        for node, tree in _predicate_argument_trees(parse, head, keep):
            yield roles[span[node]], tree


def _candidates(parse: _Parse, predicate: _Predicate, rule: Rule) -> list[bool]:
    """Tell for each node whether the rule makes it an example with this predicate."""
    keep = parse.is_topmost.copy() if rule.endswith("C") else parse.is_node.copy()
    if rule != "A":
        for token in predicate.tokens:
            for node in parse.chain(parse.tag[token]):
                keep[node] = False
    return keep


def _predicate_argument_trees(
    parse: _Parse, head: int, keep: Sequence[bool]
) -> Iterator[tuple[int, str]]:
    """Yield each node to keep, in preorder, with its tree.

    In preorder, the nodes whose lowest common ancestor with the head is ``above`` form two runs:
    those from ``above`` to the next node ``below`` on the way down to the head, and those from
    the end of ``below`` to the end of ``above``. All trees of a run share the predicate's side;
    the candidate's side is what the ancestor leaves of the candidate's path.
    """
    path, indent, depth, stop = parse.path, parse.indent, parse.depth, parse.stop
    chain = parse.chain(head)
    steps = list(zip(chain[1:], chain, _predicate_sides(parse, chain), strict=False))
    for above, below, side in reversed(steps):
        if keep[above]:
            yield above, parse.with_both_marks(above, head)
        cut, level = indent[above], depth[below]
        for node in range(above + 1, below):
            if keep[node]:
                yield node, f"{path[node][cut:]}{')' * (depth[node] - level)} {side})"
    if keep[head]:
        yield head, parse.with_both_marks(head, head)
    for above, below, side in steps:
        cut, level = indent[below], depth[below]
        opening = f"({parse.label[above]} {side} "
        for node in range(stop[below], stop[above]):
            if keep[node]:
                yield node, f"{opening}{path[node][cut:]}{')' * (depth[node] - level)})"


def _predicate_sides(parse: _Parse, chain: Sequence[int]) -> list[str]:
    """Return, for each node from the head up to the root, the path from it down to the head."""
    sides = [parse.with_mark(chain[0], "-P")]
    for node in chain[1:]:
        sides.append(f"({parse.label[node]} {sides[-1]})")
    return sides
