"""Newick trees, as in phylogenetics: ``(a:0.1,(b,c)inner)root;``.

Each tree ends with a semicolon. A file may have several trees.

* Labels in quotes may contain anything; two quotes stand for one. Underscores are kept.
* Nodes without a label get a placeholder. Inner nodes often have support values as labels, which
  ``inner_labels="drop"`` replaces by the placeholder.
* Comments in square brackets are dropped, and so are branch lengths, unless ``lengths="label"``
  keeps them as part of the label: ``a:0.1``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from filbert.errors import InvalidParameterError, ParseError
from filbert.read.bracket_text import bracket_text
from filbert.read.documents import Document, Place, Row, TreeRecord
from filbert.read.preorder import children_of

_TOKEN = re.compile(
    r"""(?P<blank>\s+)
    | (?P<mark>[(),;:])
    | '(?P<single>[^']*+(?:''[^']*+)*+)'
    | "(?P<double>[^"]*+(?:""[^"]*+)*+)"
    | (?P<plain>[^\s()\[\],;:'"{}][^\s()\[\],;:{}]*)
    | (?P<comment>\[[^\[\]]*\])""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"""[^\s()\[\],;:'"{}]+""")
_SQUARE = re.compile(r"[\[\]]")
_CLOSING = {"[": "]", "'": "'", '"': '"'}
_UNCLOSED = {
    "[": "the comment is not closed",
    "'": "the quote is not closed",
    '"': "the quote is not closed",
}
_LONG = 1 << 12  # characters
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LENGTH = re.compile(_NUMBER)
_LABEL_WITH_LENGTH = re.compile(rf"(.+):({_NUMBER})", re.DOTALL)


@dataclass(frozen=True)
class Options:
    """How labels are made.

    Attributes
    ----------
    lengths : {"drop", "label"}
        What to do with branch lengths.
    inner_labels : {"keep", "drop"}
        What to do with the labels of nodes that have children.
    placeholder : str
        The label of nodes without one.
    """

    lengths: str = "drop"
    inner_labels: str = "keep"
    placeholder: str = "_"

    def __post_init__(self) -> None:
        if self.lengths not in ("drop", "label"):
            raise InvalidParameterError(f"lengths must be 'drop' or 'label', got {self.lengths!r}")
        if self.inner_labels not in ("keep", "drop"):
            raise InvalidParameterError(
                f"inner_labels must be 'keep' or 'drop', got {self.inner_labels!r}"
            )
        if not isinstance(self.placeholder, str) or not self.placeholder:
            raise InvalidParameterError(
                f"placeholder must be a text of at least one character, got {self.placeholder!r}"
            )


def read(document: Document, options: Options) -> Iterator[Row]:
    """Yield the trees of a document, and an error for each bad one: a text up to a semicolon."""
    text = _Text(document)
    while True:
        try:
            tree = _next_tree(text, options)
        except _BadTreeError as error:
            line, column = text.place()
            yield document.error(error.reason, hint=error.hint, line=line, column=column)
            text.skip_tree()
        else:
            if tree is None:
                return
            yield TreeRecord(tree.brackets())


def write(labels: list[str], parents: list[int], options: Options) -> str:
    """Return a tree on one line, with its semicolon."""
    children = children_of(parents)
    pieces: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif not children[item]:
            pieces.append(_written(labels[item], options))
        else:
            stack.append(f"){_written(labels[item], options)}")
            for child in reversed(children[item]):
                stack += [child, ","]
            stack[-1] = "("
    return "".join(pieces) + ";"


class _Tree:
    """The tree that is being read."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._labels: list[str] = []
        self._lengths: list[str] = []
        self._children: list[list[int]] = []
        self._open: list[int] = []  # the nodes whose children are being read
        self._node = -1  # the node that may get a label and a length; -1 before the first
        self._expected = "node"  # then "label", "length", "number" or "end" of the node

    def is_empty(self) -> bool:
        return not self._labels

    def brackets(self) -> str:
        return bracket_text(0, self._view)

    def add(self, kind: str, token: str) -> bool:
        """Add a token; return whether it ends the tree."""
        if kind == "mark":
            return self._add_mark(token)
        if self._expected == "node":
            self._new_node()
            self._expected = "label"
        if self._expected == "label":
            self._labels[self._node] = token
            self._expected = "length"
        elif self._expected == "number" and kind == "plain" and _LENGTH.fullmatch(token):
            self._lengths[self._node] = token
            self._expected = "end"
        elif self._expected == "number":
            raise ParseError(f"{token!r:.40} is not a branch length", hint="write a number")
        else:
            raise ParseError(
                f"unexpected label {token!r:.40}",
                hint="put a label with blanks into single quotes, and a comma between nodes",
            )
        return False

    def _add_mark(self, mark: str) -> bool:
        if mark == "(":
            if self._expected != "node":
                raise ParseError("unexpected '('", hint="end each tree with ';'")
            self._new_node()
            self._open.append(self._node)
            return False
        if mark == ";" and self.is_empty():
            raise ParseError("there is no tree before ';'", hint="remove it")
        if self._expected == "node":
            self._new_node()  # without a label: "(,)"
        elif self._expected == "number":
            raise ParseError("there is no branch length after ':'", hint="write a number")
        if mark == ":":
            if self._expected == "end":
                raise ParseError("a second branch length", hint="a node has one")
            self._expected = "number"
        elif mark == ",":
            if not self._open:
                raise ParseError("a comma outside brackets", hint="end each tree with ';'")
            self._expected = "node"
        elif mark == ")":
            if not self._open:
                raise ParseError("unexpected ')'", hint="remove it, or add the '('")
            self._node = self._open.pop()
            self._expected = "label"
        elif self._open:
            raise ParseError(f"{len(self._open)} brackets are not closed", hint="add ')'")
        return mark == ";"

    def _new_node(self) -> None:
        self._node = len(self._labels)
        self._labels.append("")
        self._lengths.append("")
        self._children.append([])
        if self._open:
            self._children[self._open[-1]].append(self._node)

    def _view(self, node: int) -> tuple[str, list[int]]:
        label, children = self._labels[node], self._children[node]
        if not label or (children and self._options.inner_labels == "drop"):
            label = self._options.placeholder
        if self._options.lengths == "label" and self._lengths[node]:
            label += f":{self._lengths[node]}"
        return label, children


class _BadTreeError(Exception):
    """The tree that is being read is not Newick. The text behind it may be."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class _Text:
    """The text of a document from its last tree on, as far as it has arrived, and its tokens."""

    def __init__(self, document: Document) -> None:
        self._lines = document.lines()
        self._text = ""
        self._begin = Place()  # of the text
        self._start = self._end = 0  # of the token that was read last
        if self._next_line() and self._text[:6].upper() == "#NEXUS":
            hint = "export its trees as Newick"
            raise document.error("this is a NEXUS file", hint=hint, line=self._begin.line)

    def place(self) -> Place:
        """Return the place of the token that was read last, or of the end of the text."""
        return self._begin.after(self._text[: self._start])

    def tokens(self) -> Iterator[tuple[str, str]]:
        """Yield marks and labels; drop blanks and comments."""
        while self._end < len(self._text) or self._next_line():
            match = _TOKEN.match(self._text, self._end)
            if match is None:
                self._start = self._end
                self._skip_comment()
                continue
            kind = match.lastgroup
            if kind != "blank":
                self._start = match.start()
            self._end = match.end()
            if kind == "single":
                yield "label", match[kind].replace("''", "'")
            elif kind == "double":
                yield "label", match[kind].replace('""', '"')
            elif kind in ("mark", "plain"):
                yield kind, match[kind]

    def end(self) -> None:
        """Take the place behind the last token for that of errors."""
        self._start = self._end = len(self._text.rstrip())

    def skip_tree(self) -> None:
        """Skip the text from the last token to the next semicolon."""
        self._end = self._start
        while (found := self._text.find(";", self._end)) < 0:
            self._end = len(self._text)
            if not self._next_line():
                return
        self._end = found + 1

    def _next_line(self) -> bool:
        """Replace the text by the next line that is not blank."""
        for number, line in self._lines:
            if line and not line.isspace():
                self._text, self._begin, self._start, self._end = f"{line}\n", Place(number), 0, 0
                return True
        return False

    def _skip_comment(self) -> None:
        """Skip a comment with comments inside, or wait for the end of a comment or quoted label."""
        opening = self._text[self._start]
        if opening == "[":
            depth = 0
            for match in _SQUARE.finditer(self._text, self._start):
                depth += 1 if match[0] == "[" else -1
                if depth == 0:
                    self._end = match.end()
                    return
        if opening not in _CLOSING or not self._read_up_to(_CLOSING[opening]):
            raise _BadTreeError(
                _UNCLOSED.get(opening, f"unexpected {opening!r}"),
                "add ']'" if opening == "[" else "put labels with special characters into quotes",
            )

    def _read_up_to(self, mark: str) -> bool:
        """Add lines, up to one with a mark; return whether there is one.

        A long text is doubled at least, so that reading it again and again takes linear time.
        """
        enough = 2 * len(self._text) if len(self._text) > _LONG else 0
        pieces = [self._text]
        n, found = len(self._text), False
        for _, line in self._lines:
            pieces.append(f"{line}\n")
            n += len(line) + 1
            found = found or mark in line
            if found and n >= enough:
                break
        self._text = "".join(pieces)
        return found


def _next_tree(text: _Text, options: Options) -> _Tree | None:
    """Return the next tree, or None if nothing but blanks and comments follow."""
    tree = _Tree(options)
    for kind, token in text.tokens():
        try:
            if tree.add(kind, token):
                return tree
        except ParseError as error:
            raise _BadTreeError(error.reason, error.hint) from None
    if tree.is_empty():
        return None
    text.end()
    raise _BadTreeError("the tree does not end", "add the closing ');'")


def _written(label: str, options: Options) -> str:
    length = ""
    if options.lengths == "label" and (match := _LABEL_WITH_LENGTH.fullmatch(label)):
        label, length = match[1], f":{match[2]}"
    if not _PLAIN.fullmatch(label):
        label = "'" + label.replace("'", "''") + "'"
    return label + length
