"""Glycans in IUPAC-condensed notation, one per line: ``Fuc(a1-3)[Gal(b1-4)]GlcNAc``.

The root is the reducing end, the last residue of the text. Children are in the order of the text.
Chemically they have no order: ``unordered=True`` sorts them. An open linkage of the root, as in
``Gal(b1-4)GlcNAc(b1-``, is kept. :mod:`filbert.read.residues` says what residues and linkages are.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from filbert.errors import InvalidParameterError, ParseError
from filbert.read.bracket_text import bracket_text
from filbert.read.canonical import sort_children
from filbert.read.documents import Document, Row, TreeRecord
from filbert.read.preorder import children_of
from filbert.read.residues import LINKAGE, is_residue

_TOKEN = re.compile(r"([\[\]])|\(([^()\[\]{}\s]+)(?:\)|$)|([^()\[\]{}\s]+)")
_NAME = re.compile(r"[^()\[\]{}\s/]+")


@dataclass(frozen=True)
class Options:
    """Where linkages go, and what is read.

    Attributes
    ----------
    linkages : {"label", "node", "drop"}
        ``"label"`` writes a residue and its linkage to the parent as one label, ``Gal/b1-4``.
        ``"node"`` makes the linkage a node between parent and child: ``(GlcNAc (b1-4 Gal))``.
        ``"drop"`` leaves linkages out. Such trees cannot be written as glycans again.
    residues : {"known", "any"}
        Whether a residue must be made of the known names of monosaccharides and substituents, or
        may be any text without brackets, braces, white space and ``/``.
    unordered : bool
        Sort the children of each residue by their content, so that glycans that differ only in the
        order of their branches become equal trees. The order is that of
        :class:`filbert.transform.SortChildren`.
    """

    linkages: str = "label"
    residues: str = "known"
    unordered: bool = False

    def __post_init__(self) -> None:
        if self.linkages not in ("label", "node", "drop"):
            raise InvalidParameterError(
                f"linkages must be 'label', 'node' or 'drop', got {self.linkages!r}"
            )
        if self.residues not in ("known", "any"):
            raise InvalidParameterError(f"residues must be 'known' or 'any', got {self.residues!r}")
        if not isinstance(self.unordered, bool):
            raise InvalidParameterError(f"unordered must be a bool, got {self.unordered!r}")


class _Node(NamedTuple):
    label: str
    children: list["_Node"]


class _Token(NamedTuple):
    kind: str  # "[", "]", "linkage" or "residue"
    text: str
    column: int


def read(document: Document, options: Options) -> Iterator[Row]:
    """Yield the glycans of a document, and an error for each bad line."""
    for number, line in document.lines():
        text = line.strip()
        if not text:
            continue
        try:
            root = _parsed(_tokens(text), options)
        except ParseError as error:
            column = (error.column or 1) + line.index(text[0])
            yield error.located(source=document.name, line=number, column=column)
            continue
        yield TreeRecord(bracket_text(root, lambda node: (node.label, node.children)))


def write(labels: list[str], parents: list[int], options: Options) -> str:
    """Return a glycan. The first child continues the chain of its parent, others are branches."""
    if options.linkages == "drop":
        raise InvalidParameterError("linkages='drop' is for reading: glycans need their linkages")
    if options.linkages == "node":
        labels, parents = _with_linkages_in_labels(labels, parents)
    children = children_of(parents)
    pieces: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        stack.append(_written(labels[item], options, is_root=item == 0))
        for branch in reversed(children[item][1:]):
            stack += ["]", branch, "["]
        stack.extend(children[item][:1])
    return "".join(pieces)


# ---------------------------------------------------------------- reading


def _tokens(text: str) -> list[_Token]:
    tokens = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            raise _not_a_token(text, offset)
        bracket, linkage, residue = match.groups()
        kind = bracket or ("linkage" if linkage else "residue")
        tokens.append(_Token(kind, bracket or linkage or residue, offset + 1))
        offset = match.end()
    return tokens


def _not_a_token(text: str, offset: int) -> ParseError:
    hints = {
        "{": "remove the part in braces: its place in the glycan is unknown",
        " ": "write one glycan per line, and nothing else",
        "\t": "write one glycan per line, and nothing else",
        "(": "close the linkage with ')'",
    }
    hint = hints.get(text[offset], "see the notation in docs/formats-nlp.md")
    return ParseError(f"unexpected {text[offset]!r}", hint=hint, column=offset + 1)


def _parsed(tokens: list[_Token], options: Options) -> _Node:
    """Return the root. Tokens are read from the right: a residue comes before its children."""
    root: _Node | None = None
    parent: _Node | None = None
    branches: list[tuple[_Node, _Token]] = []  # where branches begin, with their closing brackets
    linkage: _Token | None = None
    made: list[_Node] = []  # parents before their children
    for token in reversed(tokens):
        if token.kind == "residue":
            _check_residue(token, options)
            _check_linkage(token, linkage, is_root=root is None)
            top, residue = _nodes(token.text, linkage.text if linkage else "", options)
            made += [top] if top is residue else [top, residue]
            if parent is not None:
                parent.children.append(top)
            root, parent, linkage = root or top, residue, None
        elif token.kind == "linkage" and linkage is None:
            _check_form(token)
            linkage = token
        elif linkage is not None or parent is None:
            raise _misplaced(linkage or token)
        elif token.kind == "]":
            branches.append((parent, token))
        elif not branches or branches[-1][0] is parent:
            raise _misplaced(token)
        else:
            parent = branches.pop()[0]
    if branches or linkage is not None or root is None:
        raise _misplaced(branches[-1][1] if branches else tokens[0])
    for node in made:
        node.children.reverse()
    if options.unordered:
        _sort(made[::-1])
    return root


def _sort(nodes: list[_Node]) -> None:
    """Sort the children of nodes, which come before their parents."""
    number_of = {id(node): number for number, node in enumerate(nodes)}
    below = [[number_of[id(child)] for child in node.children] for node in nodes]
    sort_children([node.label for node in nodes], range(len(nodes)), below)
    for node, children in zip(nodes, below, strict=True):
        node.children[:] = [nodes[child] for child in children]


def _nodes(name: str, linkage: str, options: Options) -> tuple[_Node, _Node]:
    """Return the top node of a residue, which may be that of its linkage, and the residue's."""
    if linkage and options.linkages == "label":
        name = f"{name}/{linkage}"
    residue = _Node(name, [])
    if linkage and options.linkages == "node":
        return _Node(linkage, [residue]), residue
    return residue, residue


def _check_residue(residue: _Token, options: Options) -> None:
    if "/" in residue.text:
        reason, hint = "has a '/'", "write the linkage in brackets, such as Gal(b1-4)"
    elif options.residues == "known" and not is_residue(residue.text):
        reason = "is no monosaccharide"
        hint = (
            "write linkages in brackets, such as Gal(b1-4)GlcNAc, and names as there, with capital "
            "letters; if it is a rare residue, use residues='any'"
        )
    else:
        return
    raise ParseError(f"the residue {residue.text!r:.40} {reason}", hint=hint, column=residue.column)


def _check_form(linkage: _Token) -> None:
    if not LINKAGE.fullmatch(linkage.text):
        raise ParseError(
            f"{linkage.text!r:.40} is not a linkage",
            hint="linkages are written such as (b1-4), (a2-3/6) or (?1-?)",
            column=linkage.column,
        )


def _check_linkage(residue: _Token, linkage: _Token | None, *, is_root: bool) -> None:
    if is_root and linkage is not None and not linkage.text.endswith("-"):
        raise ParseError(
            f"the linkage {linkage.text!r:.40} has no residue after it",
            hint="remove the linkage, or add the reducing end",
            column=linkage.column,
        )
    if not is_root and linkage is None:
        raise ParseError(
            f"the residue {residue.text!r:.40} has no linkage",
            hint="write it in brackets, such as Gal(b1-4)",
            column=residue.column,
        )


def _misplaced(token: _Token) -> ParseError:
    if token.kind == "linkage":
        return ParseError(
            f"the linkage {token.text!r:.40} has no residue before it",
            hint="write residue and linkage, such as Gal(b1-4)",
            column=token.column,
        )
    return ParseError(
        f"unexpected {token.text!r}",
        hint="a branch is written in front of its residue, such as [Fuc(a1-3)]GlcNAc",
        column=token.column,
    )


# ---------------------------------------------------------------- writing


def _with_linkages_in_labels(labels: list[str], parents: list[int]) -> tuple[list[str], list[int]]:
    """Return the tree with each linkage in the label of the residue below it."""
    n_children = Counter(parents)
    is_linkage: list[bool] = []
    new_numbers: list[int] = []
    new_labels: list[str] = []
    new_parents: list[int] = []
    for node, (label, parent) in enumerate(zip(labels, parents, strict=True)):
        is_linkage.append(not is_linkage[parent] if node else label.endswith("-"))
        if is_linkage[node]:
            if n_children[node] != 1:
                raise _unwritable(f"the linkage {label!r:.40} must have one residue below it")
            new_numbers.append(new_numbers[parent] if node else -1)
            continue
        new_numbers.append(len(new_labels))
        linked = node > 0
        new_labels.append(f"{label}/{labels[parent]}" if linked else label)
        new_parents.append(new_numbers[parent] if linked else -1)
    return new_labels, new_parents


def _written(label: str, options: Options, *, is_root: bool) -> str:
    name, slash, linkage = label.partition("/")
    is_name = is_residue if options.residues == "known" else _NAME.fullmatch
    if not is_name(name) or bool(linkage) != bool(slash):
        raise _unwritable(f"{label!r:.40} is not a residue")
    if is_root and not slash:
        return name
    if is_root:
        if not linkage.endswith("-"):
            raise _unwritable(f"the root {label!r:.40} has a linkage")
    elif not slash:
        raise _unwritable(f"the residue {label!r:.40} has no linkage")
    if not LINKAGE.fullmatch(linkage):
        raise _unwritable(f"{linkage!r:.40} is not a linkage")
    return f"{name}({linkage}{'' if is_root else ')'}"


def _unwritable(reason: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"this tree cannot be written as a glycan: {reason}; residues are nodes such as 'Gal/b1-4'"
    )
