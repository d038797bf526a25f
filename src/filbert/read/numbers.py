"""Numbers in text, and labels that are numbers."""

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from filbert.errors import ParseError
from filbert.read.record import Label

LabelKind = Literal["text", "numbers", "given"]  # as they are in the file, for "given"

_LARGEST = 2**53  # beyond this, floats are not exact
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DIGITS = 18  # always fit into 64 bits


def finite_number(text: str) -> float | None:
    """Return the number in a text, or None. ``1_000``, ``nan`` and ``inf`` are not numbers here."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def is_number(label: Label | None) -> bool:
    """Return whether a label is a number, also as text."""
    return isinstance(label, int | float) or (
        isinstance(label, str) and finite_number(label) is not None
    )


def to_target(labels: Sequence[Label | None], kind: LabelKind) -> NDArray[Any]:
    """Return labels as text, as numbers, or as they are.

    Labels as they are become booleans, integers or floats if all are, otherwise text.
    """
    values: list[Any] = list(labels)
    kinds = {type(value) for value in values}
    if kinds == {tuple}:
        return _objects(values)
    if kind == "given":
        _check_types(values)
    if any(isinstance(value, str) and "\0" in value for value in values):
        raise ParseError(  # arrays of strings drop it at the end
            "a label has a NUL character", hint="check the file's encoding"
        )
    if kind != "numbers":
        _check_blanks(values)
    if kind == "numbers" and kinds == {str}:
        return _from_texts(values)
    if kind == "text" or (kind == "given" and not kinds <= {int, float, bool}):
        return np.array([str(value) for value in values], dtype=np.str_)
    if kinds == {bool}:
        return np.array(values, dtype=bool)
    if kinds <= {int} and all(abs(value) < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    return _compact([float(value) for value in values])


_TYPES = {bool: "a bool", int: "a number", float: "a number", str: "a text"}


def type_name(label: Label) -> str:
    """Return the type of a label in words; those of KeLP are several texts."""
    return _TYPES.get(type(label), "a list")


def _check_blanks(values: list[Any]) -> None:
    """Raise ParseError if texts differ only in blanks around them, such as "a" and "a "."""
    texts = {value for value in values if isinstance(value, str)}
    for text in texts:
        if text != text.strip() and text.strip() in texts:
            raise ParseError(
                f"the labels {text.strip()!r} and {text!r} differ only in blanks",
                hint="remove the blanks around labels",
            )


def _check_types(values: list[Any]) -> None:
    """Raise ParseError if labels of different types would become one class, such as 1 and "1"."""
    kind_of: dict[str, type] = {}
    # By their texts: the hashes of numbers have no seed, and those of a file could all be equal.
    for value in {(type(value), str(value)): value for value in values}.values():
        kind = float if type(value) is int else type(value)
        whole = kind is bool or (type(value) is float and value.is_integer())
        for text in {str(value), str(int(value)) if whole else str(value)}:
            other = kind_of.setdefault(text, kind)
            if other is not kind:
                raise ParseError(
                    f"the label {text!r:.40} is {_TYPES[other]} in one example and {_TYPES[kind]} "
                    "in another",
                    hint="write all labels in the same way, or pass labels='text'",
                )


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _from_texts(texts: list[str]) -> NDArray[Any]:
    short = max(len(text.lstrip("+-")) for text in texts) <= _DIGITS
    if short and all(_INTEGER.fullmatch(text) for text in texts):
        return np.array([int(text) for text in texts], dtype=np.int64)
    return np.array([float(text) for text in texts])


def _compact(numbers: list[float]) -> NDArray[Any]:
    """Return integers if all numbers are whole, otherwise floats."""
    if all(x.is_integer() and abs(x) <= _LARGEST for x in numbers):
        return np.array([int(x) for x in numbers], dtype=np.int64)
    return np.array(numbers)
