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

from filbert.errors import InvalidParameterError
from filbert.read.documents import Document, TreeRecord
from filbert.read.escape import escape_label
from filbert.read.preorder import children_of

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?|NaN|-?Infinity", re.ASCII)
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
    """Yield the tree of the document's value, or one tree per item."""
    value = _value(document)
    if not options.items:
        yield TreeRecord(_tree(value, options))
        return
    if not isinstance(value, list):
        raise document.error(
            "the outermost value is not an array", hint="items=True needs an array", line=1
        )
    for number, item in enumerate(value):
        yield TreeRecord(_tree(item, options), {"item": str(number)})


def _value(document: Document) -> Any:
    text = document.read_text()
    if not text.strip():
        raise document.error("the document is empty", line=1)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        more = error.msg == "Extra data"
        hint = "a file has one value; for JSON Lines, use read_examples" if more else ""
        raise document.error(
            f"not JSON: {error.msg}", hint=hint, line=error.lineno, column=error.colno
        ) from None
    except RecursionError:
        raise document.error(
            "values are nested too deeply for Python's json module",
            hint="at most about 1,000 levels are read",
        ) from None


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
