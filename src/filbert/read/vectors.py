"""Feature vectors as text: ``3:0.5 7:1`` with feature numbers, or ``dog:1 cat:2`` with names."""

import re

from filbert.errors import ParseError
from filbert.read.numbers import finite_number
from filbert.read.record import SparseVector

MAX_FEATURE = 2**31 - 1  # the largest index in SciPy's sparse matrices
_ITEM = re.compile(rb"\S+")


def sparse_vector(text: bytes, column: int) -> SparseVector:
    """Read features with numbers if all are numbers, otherwise features with names."""
    items = list(_ITEM.finditer(text))
    if all(item[0].partition(b":")[0].isdigit() for item in items):
        return _numbered(items, column)
    for item in items:
        name = item[0].rpartition(b":")[0].decode(errors="replace")
        if not name.isdigit() and finite_number(name) is not None:
            raise _no_feature(item[0], column + item.start())
    return named_vector(text, column)


def named_vector(text: bytes, column: int) -> SparseVector:
    """Read features with names. A name may have colons: the value is behind the last."""
    names: dict[str, float] = {}
    for item in _ITEM.finditer(text):
        at = column + item.start()
        before, _, value = item[0].rpartition(b":")
        name = _decoded(before, at)
        if not name:
            raise _no_feature(item[0], at)
        if name in names:
            raise ParseError(
                f"feature {name[:40]!r} is there twice", hint="add its values", column=at
            )
        names[name] = _value(value, at)
    return SparseVector([], list(names.values()), 0, list(names))


def dense_vector(text: bytes, column: int) -> SparseVector:
    """Read the values of all features, separated by blanks or commas."""
    values = [_value(item[0], column + item.start()) for item in re.finditer(rb"[^\s,]+", text)]
    kept = [i for i, value in enumerate(values) if value]
    return SparseVector(kept, [values[i] for i in kept], len(values))


def _numbered(items: list[re.Match[bytes]], column: int) -> SparseVector:
    vector = SparseVector([], [])
    previous = 0
    for item in items:
        at = column + item.start()
        number, colon, value = item[0].partition(b":")
        if not colon:
            raise _no_feature(item[0], at)
        index = int(number) if len(number) < 12 else MAX_FEATURE + 1
        if not 1 <= index <= MAX_FEATURE:
            raise ParseError(
                f"feature number {number.decode()[:30]} is out of range",
                hint=f"features are numbered from 1 to {MAX_FEATURE}",
                column=at,
            )
        if index <= previous:
            raise ParseError(
                f"feature {index} after feature {previous}", hint="numbers must ascend", column=at
            )
        previous = index
        vector.indices.append(index - 1)
        vector.values.append(_value(value, at))
    return vector


def written_vector(features: list[tuple[str, float]]) -> str:
    """Return features as text."""
    return " ".join(f"{name}:{value!r}" for name, value in features)


def _no_feature(item: bytes, column: int) -> ParseError:
    return ParseError(
        f"{item.decode(errors='replace')[:40]!r} is not a feature",
        hint="write number:value, such as 7:0.5, or name:value",
        column=column,
    )


def _decoded(name: bytes, column: int) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise ParseError(
            "the name of a feature is not valid UTF-8",
            hint="convert the file to UTF-8",
            column=column,
        ) from None


def _value(text: bytes, column: int) -> float:
    value = finite_number(text.decode(errors="replace"))
    if value is None:
        raise ParseError(
            f"the value {text.decode(errors='replace')[:40]!r} is not a finite number",
            hint="use numbers such as -1, +1 or 0.5",
            column=column,
        )
    return value
