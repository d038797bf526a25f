"""KeLP files: ``label |BT:grct| tree |ET| |BV:bow| how:1 far:1 |EV| |BS:text| How far |ES|``."""

import re
from collections.abc import Callable, Sequence

from filbert.errors import ParseError
from filbert.read.record import EMPTY_TREE, Label, Record, SparseVector, TreeText, Written
from filbert.read.vectors import dense_vector, named_vector, written_vector

_BEGIN = re.compile(rb"\|B([A-Z]+)(?::([^|\s]+))?\|")
_PAIR = re.compile(rb"\|<\||\|,\||\|>\|")
_VECTORS: dict[bytes, Callable[[bytes, int], SparseVector]] = {
    b"V": named_vector,
    b"DV": dense_vector,
}
_LEAF = re.compile(r" ([^ ()]+)")
_ESCAPE_OR_LEAF = re.compile(r"\\.| \(| ((?:\\.|[^ ()\\])+)", re.DOTALL)
_DEFAULT_NAMES = {b"T": "tree", b"V": "features", b"DV": "features", b"S": "text"}


def parse_line(
    line: bytes,
    *,
    label: int | str | bool | None,
    tree: Sequence[str] | None,
    features: Sequence[str] | None,
    empty: bool,
) -> Record | None:
    """Read one line; return None for a blank line.

    `label` is the number of the label if there are several, "all" for a tuple of all labels, or
    False for none. `tree` and `features` name the trees and vectors to read, by default all.
    `empty` says whether trees may be empty.
    """
    if not line.strip():
        return None
    first = _BEGIN.search(line)
    head = line[: first.start()] if first else line
    if pair := _PAIR.search(head):
        raise _pair_error(pair.start())
    if first is None:
        raise ParseError(
            "a line without a tree", hint="write label |BT:name| (S ...) |ET|", column=1
        )
    labels = tuple(_text(item, 1) for item in head.split())
    record = Record(_label(labels, label), {})
    position = first.start()
    while line[position:].strip():
        position = _add(record, line, position, empty)
    if not record.trees:
        raise ParseError(
            "a line without a tree", hint="write |BT:name| (S ...) |ET|", column=first.start() + 1
        )
    if tree is not None:
        record.trees = {name: _chosen(record, name) for name in tree}
    if features is not None:
        record.vectors = {n: vector for n, vector in record.vectors.items() if n in features}
    return record


def _chosen(record: Record, name: str) -> TreeText:
    if name not in record.trees:
        raise ParseError(
            f"there is no tree {name!r}",
            hint=f"choose with tree= among {', '.join(map(repr, record.trees))}",
            column=1,
        )
    return record.trees[name]


def _label(labels: tuple[str, ...], which: int | str | bool | None) -> Label | None:
    if which is False:
        return None
    if which == "all":
        return labels
    if len(labels) == 1 and which is None:
        return labels[0]
    if which is None:
        raise ParseError(
            f"this example has {len(labels)} labels" if labels else "this example has no label",
            hint="pass label=0 for the first label of each line, or label='all' for tuples"
            if labels
            else "write a label before the first |, or pass label=False",
            column=1,
        )
    number = int(which)
    if not -len(labels) <= number < len(labels):
        raise ParseError(
            f"there is no label {number}: the example has {len(labels)}",
            hint="labels are numbered from 0",
            column=1,
        )
    return labels[number]


def _add(record: Record, line: bytes, position: int, empty: bool) -> int:
    """Add the representation that begins at a position; return the position behind it."""
    while line[position : position + 1].isspace():
        position += 1
    begin = _BEGIN.match(line, position)
    if begin is None and _PAIR.match(line, position):
        raise _pair_error(position)
    if begin is None:
        raise ParseError(
            f"expected |BT:name| or the like, found {_shown(line[position:])}",
            hint="each tree, vector and text stands between |B...| and |E...|",
            column=position + 1,
        )
    kind = begin[1]
    if kind not in _DEFAULT_NAMES:
        raise ParseError(
            f"|B{kind.decode()}| is not read",
            hint="trees (T), vectors (V), dense vectors (DV) and texts (S) are: remove the others",
            column=position + 1,
        )
    mark = b"|E" + kind + b"|"
    end = line.find(mark, begin.end())
    if end < 0:
        raise ParseError(
            f"{begin[0].decode(errors='replace')} has no end",
            hint=f"write {mark.decode()}",
            column=position + 1,
        )
    name = _text(begin[2], position + 1) if begin[2] else _DEFAULT_NAMES[kind]
    if name in record.trees or name in record.vectors or name in record.columns:
        raise ParseError(
            f"{name!r} is there twice", hint="give each its own name", column=position + 1
        )
    _read(record, kind, name, line[begin.end() : end], begin.end() + 1, empty)
    return end + len(mark)


def _read(record: Record, kind: bytes, name: str, content: bytes, column: int, empty: bool) -> None:
    if kind == b"T":
        if not content.strip() and not empty:
            raise ParseError(
                f"the tree {name!r} is empty", hint="pass empty='placeholder'", column=column
            )
        record.trees[name] = TreeText(content if content.strip() else EMPTY_TREE, column)
    elif kind == b"S":
        record.columns[name] = _text(content, column).removeprefix(" ").removesuffix(" ")
    else:
        record.vectors[name] = _VECTORS[kind](content, column)


def _pair_error(position: int) -> ParseError:
    return ParseError(
        "a pair of examples",
        hint="write both as one example with two named trees, such as |BT:first| and |BT:second|",
        column=position + 1,
    )


def _text(data: bytes, column: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ParseError(
            "the text is not valid UTF-8",
            hint="convert the file to UTF-8",
            column=column + error.start,
        ) from None


def write_line(example: Written) -> str:
    """Return the line of an example; content that the format cannot hold raises ValueError."""
    labels = example.label if isinstance(example.label, tuple) else (example.label,)
    words = [] if example.label is None else [_word(str(one), "label") for one in labels]
    for name, text in example.columns.items():
        _check_content(text, "|ES|", f"column {name!r}")
        words += [f"|BS:{_word(name, 'name')}| {text} |ES|"]
    for name, features in example.vectors.items():
        for feature, _ in features:
            _word(feature, "feature")
        words += [f"|BV:{_word(name, 'name')}| {written_vector(features)} |EV|"]
    for name, tree in example.trees.items():
        _check_content(tree, "|ET|", f"tree {name!r}")
        own = "" if tree == EMPTY_TREE else _with_leaves_in_brackets(tree)
        words += [f"|BT:{_word(name, 'name')}| {own} |ET|"]
    return " ".join(words)


def _with_leaves_in_brackets(tree: str) -> str:
    """Return a tree without blanks between its nodes, as KeLP writes it."""
    if "\\" not in tree:
        return _LEAF.sub(r"(\1)", tree.replace(" (", "("))
    return _ESCAPE_OR_LEAF.sub(_rewritten, tree)


def _rewritten(match: re.Match[str]) -> str:
    if match[1] is not None:
        return f"({match[1]})"
    return "(" if match[0] == " (" else match[0]


def _word(text: str, what: str) -> str:
    if not text or re.search(r"[\s|]", text):
        raise ValueError(f"the {what} {text[:40]!r} is empty or has white space or |")
    return text


def _check_content(text: str, mark: str, what: str) -> None:
    if mark in text or "\n" in text or "\r" in text:
        raise ValueError(f"{what} has a line end or {mark}: {text[:40]!r}")


def _shown(data: bytes) -> str:
    return repr(data.decode(errors="replace")[:20])
