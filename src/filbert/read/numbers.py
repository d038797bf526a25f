"""Numbers in text, and labels that are numbers."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.read.record import Label

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


def to_target(labels: Sequence[Label | None]) -> NDArray[Any]:
    """Return integers or floats if all labels are numbers, also as text; otherwise strings."""
    kinds = {type(label) for label in labels}
    if not kinds or kinds == {bool}:
        return np.array(labels, dtype=bool if kinds else np.int64)
    if kinds == {str}:
        return _from_texts([str(label) for label in labels])
    if kinds == {int} and all(abs(int(label or 0)) < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64)
    if kinds <= {int, float}:
        return _compact([float(label) for label in labels if label is not None])
    return np.array([str(label) for label in labels])


def _from_texts(texts: list[str]) -> NDArray[Any]:
    if all(_INTEGER.fullmatch(text) for text in texts):
        if max(len(text.lstrip("+-")) for text in texts) > _DIGITS:
            return np.array(texts)  # such long digit strings are names
        return np.array([int(text) for text in texts], dtype=np.int64)
    numbers = [x for x in map(finite_number, texts) if x is not None]
    return np.array(numbers) if len(numbers) == len(texts) else np.array(texts)


def _compact(numbers: list[float]) -> NDArray[Any]:
    """Return integers if all numbers are whole, otherwise floats."""
    if all(x.is_integer() and abs(x) <= _LARGEST for x in numbers):
        return np.array([int(x) for x in numbers], dtype=np.int64)
    return np.array(numbers)
