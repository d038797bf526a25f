"""JSON values as trees.

``{"name": "Ann", "age": 7, "tags": []}`` is
``(object (.name string) (.age number) (.tags array))``. With ``values=True``, which loses nothing,
it is ``(object (.name (string Ann)) (.age (number 7)) (.tags array))``.

Keys follow a dot, so that no key can be mistaken for a type. Keys that occur twice are kept twice.
Numbers keep their digits, however many they are. ``NaN`` and ``Infinity``, which Python writes,
are numbers.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any

from filbert.errors import InvalidParameterError, ParseError
from filbert.read.documents import Document, Place, TreeRecord
from filbert.read.escape import escape_label
from filbert.read.preorder import children_of

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?|NaN|-?Infinity", re.ASCII)
_BLANKS = re.compile(r"[ \t\n\r]*")
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[\[\]{},]', re.DOTALL)
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}
_CONSTANTS = {True: " true", False: " false", None: " null"}


@dataclass(frozen=True)
class Options:
    """Options of JSON.

    Parameters
    ----------
    values : bool
        Keep strings and numbers, ``(string Ann)``, instead of their types only, ``string``.
    sort_keys : bool
        Sort the members of objects by their keys. By default, they keep their order.
    items : bool
        Give one tree per item of the outermost array, instead of one tree for the whole document.
    """

    values: bool = False
    sort_keys: bool = False
    items: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            if not isinstance(getattr(self, field.name), bool):
                raise InvalidParameterError(
                    f"{field.name} must be a bool, got {getattr(self, field.name)!r}"
                )


class _Number(str):
    """The digits of a number."""

    __slots__ = ()


# Objects become tuples of members and arrays become lists, so that the two can be told apart.
_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple, parse_float=_Number, parse_int=_Number, parse_constant=_Number
)


def read(document: Document, options: Options) -> Iterator[TreeRecord]:
    """Yield the tree of the document's value, or one tree per item as the items arrive."""
    text = _Text(document)
    if not options.items:
        text.read_all()
        value = text.value()
        text.check_end()
        yield TreeRecord(_tree(value, options))
        return
    for number, item in enumerate(text.items()):
        yield TreeRecord(_tree(item, options), {"item": str(number)})


class _Text:
    """The text of a document, as far as it has arrived and has not been used."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._pieces = document.text_pieces()
        self._text = ""
        self._begin = Place()  # of the text
        self._at = 0
        if not self._mark():
            raise document.error("the document is empty", line=1)

    def read_all(self) -> None:
        self._text += "".join(self._pieces)

    def items(self) -> Iterator[Any]:
        """Yield the items of an array."""
        if self._mark() != "[":
            raise self._document.error(
                "the outermost value is not an array", hint="items=True needs an array", line=1
            )
        self._at += 1
        if self._mark() != "]":
            yield self.value()
            while self._mark() == ",":
                self._at += 1
                self._mark()
                yield self.value()
        if self._mark() != "]":
            raise self._error("Expecting ',' delimiter", self._at)
        self._at += 1
        self.check_end()

    def value(self) -> Any:
        """Return the value that begins here."""
        has_arrived = False
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if has_arrived:
                    raise self._error(error.msg, error.pos) from None
                self._wait()
                has_arrived = True
            except RecursionError:
                raise self._document.error(
                    "values are nested too deeply for Python's json module",
                    hint="at most about 1,000 levels are read",
                ) from None
            else:
                # More digits may follow.
                if end < len(self._text) or type(value) is not _Number or not self._more():
                    self._at = end
                    return value

    def check_end(self) -> None:
        """Raise ParseError if anything but white space follows."""
        if self._mark():
            hint = "a file has one value; for JSON Lines, use read_examples"
            raise self._error("Extra data", self._at, hint)

    def _mark(self) -> str:
        """Go to the next character that is not white space, and return it; "" at the end."""
        while True:
            self._at = _BLANKS.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Replace what has been used by the next piece; return False at the end."""
        for piece in self._pieces:
            self._begin = self._begin.after(self._text[: self._at])
            self._text, self._at = self._text[self._at :] + piece, 0
            if piece:
                return True
        return False

    def _wait(self) -> None:
        """Read on until the value that begins here has arrived as a whole."""
        depth = n = 0
        while True:
            for match in _STRUCTURE.finditer(self._text, self._at + n):
                n = match.start() - self._at
                mark = match[0]
                if mark[0] == '"' and not match[1]:
                    break  # the string goes on
                depth += _DEPTH.get(mark, 0)
                n = match.end() - self._at
                if depth < 0 or (depth == 0 and mark in ",]}"):
                    return
            else:
                n = len(self._text) - self._at
            if not self._more():
                return

    def _error(self, reason: str, at: int, hint: str = "") -> ParseError:
        line, column = self._begin.after(self._text[:at])
        return self._document.error(f"not JSON: {reason}", hint=hint, line=line, column=column)


def _tree(value: Any, options: Options) -> str:
    """Return a value in bracket notation."""
    pieces: list[str] = []
    write = pieces.append
    members = _Members()
    values = options.values
    outer: list[tuple[Iterator[Any], bool]] = []  # what is left of the objects and arrays around
    items, in_object = iter((value,)), False
    while True:
        for item in items:
            if in_object:
                key, item = item  # noqa: PLW2901
                write(members[key])
            kind = type(item)
            if kind is tuple or kind is list:
                outer.append((items, in_object))
                in_object = kind is tuple
                write(" (object" if in_object else " (array")
                items = iter(_sorted(item) if in_object and options.sort_keys else item)
                break
            if kind is str:
                write(f" (string {escape_label(item)})" if values and item else " string")
            elif kind is _Number:
                write(f" (number {item})" if values else " number")
            else:
                write(_CONSTANTS[item])
            if in_object:
                write(")")
        else:
            if not outer:
                return "".join(pieces)[1:]
            items, in_object = outer.pop()
            write("))" if in_object else ")")


class _Members(dict[str, str]):
    """Opening brackets with the labels of keys, made when they are first needed."""

    def __missing__(self, key: str) -> str:
        self[key] = opening = f" ({escape_label('.' + key)}"
        return opening


def _sorted(members: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return sorted(members, key=itemgetter(0))


# ---------------------------------------------------------------- writing


def write(labels: list[str], parents: list[int], options: Options) -> str:
    """Return the JSON value of a tree that was read with ``values=True``.

    Raises
    ------
    InvalidParameterError
        If the tree has not this form.
    """
    children = children_of(parents)
    pieces: list[str] = []
    stack: list[int | str] = [0]  # nodes to write, and text that is ready
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        label, below = labels[item], children[item]
        if label in ("object", "array"):
            start, end = "{}" if label == "object" else "[]"
            pieces.append(start)
            stack.append(end)
            for child in reversed(below):
                stack += _member(labels, children, child) if label == "object" else [child]
                stack.append(", ")
            if below:
                stack.pop()
        else:
            pieces.append(_scalar(label, [labels[c] for c in below if not children[c]], len(below)))
    return "".join(pieces)


def _member(labels: list[str], children: list[list[int]], node: int) -> list[int | str]:
    """Return what is to be written for a member of an object, last things first."""
    label, below = labels[node], children[node]
    if not label.startswith(".") or len(below) != 1:
        raise InvalidParameterError(
            f"below 'object', a node must be called '.key' and have one child, got {label!r} with "
            f"{len(below)}"
        )
    return [below[0], f"{json.dumps(label[1:], ensure_ascii=False)}: "]


def _scalar(label: str, leaves: list[str], n_children: int) -> str:
    """Return a value without parts. All children must be leaves."""
    if len(leaves) == n_children:
        if label == "string" and n_children <= 1:
            return json.dumps("".join(leaves), ensure_ascii=False)
        if label == "number" and n_children == 1 and _NUMBER.fullmatch(leaves[0]):
            return leaves[0]
        if label in ("true", "false", "null") and not n_children:
            return label
    raise InvalidParameterError(
        f"the node {label!r} with {n_children} children is no JSON value: JSON is written from "
        "trees that were read as JSON with values=True"
    )
