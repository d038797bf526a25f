"""SVM-light-TK files: ``label |BT| tree |BT| tree |ET| 1:0.5 7:1 |BV| 3:1 |EV|`` per line."""

import re

from filbert.errors import ParseError
from filbert.read.numbers import finite_number
from filbert.read.record import Record, SparseVector, TreeText

_MAX_FEATURE = 2**31 - 1  # the largest index in SciPy's sparse matrices
_ITEM = re.compile(rb"\S+")


def parse_line(line: bytes) -> Record | None:
    """Read one line; return None for a blank line or a comment."""
    text = line.strip()
    if not text or text.startswith(b"#"):
        return None
    head, begin, body = line.partition(b"|BT|")
    if not begin:
        raise ParseError("a line without a tree", hint="write label |BT| (S ...) |ET|", column=1)
    label = _number(head.strip(), "label", column=1)
    middle, end, tail = body.partition(b"|ET|")
    if not end:
        raise ParseError(
            "the trees have no end", hint="write |ET| after the last tree", column=len(head) + 1
        )
    trees = _trees(middle, column=len(head) + len(begin) + 1)
    vectors = _vectors(tail, column=len(line) - len(tail) + 1)
    return Record(label, trees, vectors)


def _trees(text: bytes, column: int) -> dict[str, TreeText]:
    found = []
    for part in text.split(b"|BT|"):
        found.append(TreeText(part, column))
        if not part.strip():
            raise ParseError(
                "an empty tree", hint="write a tree after |BT|", column=column + len(part)
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
        found.append(_vector(part, column))
        column += len(part) + len(b"|BV|")
    if len(found) == 1:
        return {"features": found[0]} if found[0].indices else {}
    return {f"features_{i}": vector for i, vector in enumerate(found, 1)}


def _vector(text: bytes, column: int) -> SparseVector:
    vector = SparseVector([], [])
    previous = 0
    for item in _ITEM.finditer(text):
        at = column + item.start()
        number, colon, value = item[0].partition(b":")
        if not colon or not number.isdigit():
            raise ParseError(
                f"{item[0].decode(errors='replace')[:40]!r} is not a feature",
                hint="write number:value, such as 7:0.5",
                column=at,
            )
        index = int(number) if len(number) < 12 else _MAX_FEATURE + 1
        if not 1 <= index <= _MAX_FEATURE:
            raise ParseError(
                f"feature number {number.decode()[:30]} is out of range",
                hint=f"features are numbered from 1 to {_MAX_FEATURE}",
                column=at,
            )
        if index <= previous:
            raise ParseError(
                f"feature {index} after feature {previous}", hint="numbers must ascend", column=at
            )
        previous = index
        vector.indices.append(index - 1)
        vector.values.append(_number(value, "value", column=at))
    return vector


def _number(text: bytes, what: str, column: int) -> float:
    value = finite_number(text.decode(errors="replace"))
    if value is None:
        raise ParseError(
            f"the {what} {text.decode(errors='replace')[:40]!r} is not a finite number",
            hint="use numbers such as -1, +1 or 0.5",
            column=column,
        )
    return value
