"""Encode OneHotColumns, the categories of each feature by column, and decode them."""

from typing import Any

import numpy as np

from filbert.datasets.one_hot import OneHotColumns
from filbert.errors import ModelFileError
from filbert.persist import texts
from filbert.persist.archive import Arrays
from filbert.persist.checked import array_of, arrays_of, integers_of

_VALUES = "values."  # prefix of the names of the arrays of categories


def encode(columns: OneHotColumns) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays: for each column, the number of its feature and its value."""
    found = [("", 0)] * len(columns)
    for number, known in enumerate(columns._columns):
        for value, column in known.items():
            found[column] = (value, number)
    own = texts.encode(value for value, _ in found)
    header = {"features": list(columns.features), "frozen": columns.frozen}
    return header, {
        "feature": np.array([number for _, number in found], dtype=np.int64),
        **{_VALUES + name: array for name, array in own.items()},
    }


def decode(header: dict[str, Any], arrays: Arrays) -> OneHotColumns:
    """Return the columns; inconsistent content raises ModelFileError."""
    names, frozen = header.get("features"), header.get("frozen")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelFileError("the header does not list the features")
    if not isinstance(frozen, bool):
        raise ModelFileError("the header does not say whether columns may be added")
    values = texts.decode(arrays_of(arrays, _VALUES))
    numbers = integers_of(arrays, "feature", len(array_of(arrays, "feature")))
    pairs = list(zip(numbers.tolist(), values, strict=False))
    wrong = len(numbers) != len(values) or (numbers >= len(names)).any()
    if wrong or len(set(pairs)) < len(pairs):
        raise ModelFileError("the values of the features are inconsistent")
    columns = OneHotColumns(names)
    for column, (number, value) in enumerate(pairs):
        columns._columns[number][value] = column
    columns._n, columns.frozen = len(pairs), frozen
    return columns
