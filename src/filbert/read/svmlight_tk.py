"""SVM-light-TK files: ``label |BT| tree |BT| tree |ET| 1:0.5 7:1 |BV| 3:1 |EV|`` per line.

Comments at the end of a line are dropped.
"""

import re

from filbert.errors import ParseError
from filbert.read.numbers import finite_number
from filbert.read.record import (
    EMPTY_TREE,
    Label,
    Record,
    SparseVector,
    TreeText,
    Written,
)
from filbert.read.vectors import sparse_vector, written_vector

_QUERY = b"qid:"


def parse_line(line: bytes, *, text_labels: bool, with_label: bool, empty: bool) -> Record | None:
    """Read one line; return None for a blank line or a comment.

    `empty` says whether trees may be empty. ``qid:`` becomes a column.
    """
    text = line.strip()
    if not text or text.startswith(b"#"):
        return None
    head, begin, body = line.partition(b"|BT|")
    if not begin:
        raise ParseError("a line without a tree", hint="write label |BT| (S ...) |ET|", column=1)
    label, columns = _head(head, text_labels, with_label)
    middle, end, tail = body.partition(b"|ET|")
    if not end:
        raise ParseError(
            "the trees have no end", hint="write |ET| after the last tree", column=len(head) + 1
        )
    trees = _trees(middle, len(head) + len(begin) + 1, empty)
    tail, query = _without_query(tail)
    vectors = _vectors(tail, column=len(line) - len(tail) + 1)
    return Record(label, trees, vectors, query or columns)


def _head(head: bytes, text_labels: bool, with_label: bool) -> tuple[Label | None, dict[str, str]]:
    """Read what is before the trees: the label, and perhaps the number of a query."""
    items = head.split()
    columns = {}
    if items and items[-1].startswith(_QUERY):
        columns = _query(items.pop())
    if not with_label:
        return None, columns
    text = b" ".join(items).decode(errors="replace")
    if text_labels and len(items) == 1:
        return text, columns
    value = finite_number(text)
    if value is None:
        what = "is not one word" if text_labels else "is not a finite number"
        hint = "" if text_labels else "use numbers such as -1, +1 or 0.5, or pass labels='text'"
        raise ParseError(f"the label {text[:40]!r} {what}", hint=hint, column=1)
    return value, columns


def _query(item: bytes) -> dict[str, str]:
    return {"qid": item.removeprefix(_QUERY).decode(errors="replace")}


def _without_query(tail: bytes) -> tuple[bytes, dict[str, str]]:
    """Take the number of a query from the start of the features."""
    text = tail.lstrip()
    if not text.startswith(_QUERY):
        return tail, {}
    item = text.split(maxsplit=1)[0]
    return text[len(item) :], _query(item)


def _trees(text: bytes, column: int, empty: bool) -> dict[str, TreeText]:
    found = []
    for part in text.split(b"|BT|"):
        if part.strip():
            found.append(TreeText(part, column))
        elif empty:
            found.append(TreeText(EMPTY_TREE, column))
        else:
            raise ParseError(
                "an empty tree",
                hint="write a tree after |BT|, or pass empty='placeholder'",
                column=column + len(part),
            )
        column += len(part) + len(b"|BT|")
    if len(found) == 1:
        return {"tree": found[0]}
    return {f"tree_{i}": tree for i, tree in enumerate(found, 1)}


def _vectors(text: bytes, column: int) -> dict[str, SparseVector]:
    """Read the feature vectors: between ``|ET|`` and ``|EV|``, separated by ``|BV|``."""
    text = text.partition(b"#")[0].partition(b"|EV|")[0]
    found = []
    for part in text.split(b"|BV|"):
        found.append(sparse_vector(part, column))
        column += len(part) + len(b"|BV|")
    if len(found) == 1:
        return {"features": found[0]} if found[0].values else {}
    return {f"features_{i}": vector for i, vector in enumerate(found, 1)}


def write_line(example: Written) -> str:
    """Return the line of an example; content that the format cannot hold raises ValueError.

    Trees and vectors lose their names.
    """
    label = example.label
    if isinstance(label, bool) or not isinstance(label, int | float):
        raise ValueError(
            f"the label {str(label)[:40]!r} is not a number: pass label_map=, such as "
            "{'yes': 1, 'no': -1}"
        )
    words = [repr(label), *_written_query(example.columns)]
    for tree in example.trees.values():
        if "|BT|" in tree or "|ET|" in tree:
            raise ValueError(f"a tree has the label |BT| or |ET|: {tree[:40]!r}")
        words += ["|BT|", *([] if tree == EMPTY_TREE else [tree])]
    words.append("|ET|")
    for number, features in enumerate(example.vectors.values()):
        for name, _ in features:
            _check_feature(name)
        words += [*(["|BV|"] if number else []), written_vector(features)]
    return " ".join([*words, *(["|EV|"] if example.vectors else [])])


def _written_query(columns: dict[str, str]) -> list[str]:
    for name, text in columns.items():
        if name != "qid":
            raise ValueError(f"there is no place for column {name!r}: pass columns=[]")
        if not text or re.search(r"[\s|]", text):
            raise ValueError(f"the qid {text[:40]!r} is empty or has white space or |")
    return [f"qid:{columns['qid']}"] if columns else []


def _check_feature(name: str) -> None:
    if name.isdigit():
        return
    if not name or finite_number(name) is not None or re.search(r"[\s|#]", name):
        raise ValueError(f"the feature {name[:40]!r} is a number or has white space, | or #")
