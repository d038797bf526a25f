"""Rows of a table as examples."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from filbert.errors import ParseError
from filbert.read.numbers import finite_number
from filbert.read.record import EMPTY_TREE, Label, Record, SparseVector, TreeText
from filbert.read.table_columns import TableColumns


def parse_row(row: Sequence[Any], *, columns: TableColumns, empty: bool, words: bool) -> Record:
    """Read one row of texts, numbers and None. `empty` says whether trees may be empty.

    `words` says whether a word without brackets is a tree.
    """
    if len(row) != columns.n:
        raise ParseError(
            f"this row has {len(row)} columns, but the first one has {columns.n}",
            hint="check quotes and separators",
            column=1,
        )
    label = None if columns.label is None else _label(row[columns.label])
    trees = {name: _tree(row[i], name, empty) for name, i in columns.trees.items()}
    if not words:
        check_not_swapped(label, columns, trees)
    others = {name: _as_text(row[i]) for name, i in columns.others.items()}
    vectors = {"features": _vector(row, columns.features)} if columns.features else {}
    return Record(label, trees, vectors, others)


def check_not_swapped(label: Any, columns: TableColumns, trees: Mapping[str, TreeText]) -> None:
    """Raise ParseError if the label is a tree and the tree is not."""
    if len(trees) != 1 or not isinstance(label, str):
        return
    (tree,) = trees.values()
    if label.lstrip().startswith("(") and not _has_bracket(tree.text):
        (number,) = columns.trees.values()
        raise ParseError(
            f"column {columns.label} is a tree, and column {number} is not",
            hint=f"pass label={number}, tree={columns.label}",
            column=1,
        )


def _has_bracket(text: bytes | str) -> bool:
    return "(" in text if isinstance(text, str) else b"(" in text


def _label(value: Any) -> Label:
    if isinstance(value, str):
        return value
    if value is None or not isinstance(value, int | float) or not math.isfinite(value):
        raise ParseError(
            f"the label is {str(value)[:40]!r}" if value is not None else "the label is missing",
            hint="a label is a text or a number",
            column=1,
        )
    return value


def _tree(value: Any, name: str, empty: bool) -> TreeText:
    if isinstance(value, bytes):
        value = value.decode(errors="surrogateescape")
    if value is not None and not isinstance(value, str):
        raise ParseError(f"the tree {name!r} is not a text", hint="write brackets", column=1)
    if value is None or not value.strip():
        if not empty:
            raise ParseError(
                "a row without a tree",
                hint="write a tree, or pass empty='placeholder'",
                column=1,
            )
        value = EMPTY_TREE
    return TreeText(value, None)


def _vector(row: Sequence[Any], features: Mapping[str, int]) -> SparseVector:
    values = [_number(row[i], name) for name, i in features.items()]
    return SparseVector([], values, 0, list(features))


def _number(value: Any, name: str) -> float:
    number = finite_number(value if isinstance(value, str) else str(value))
    if isinstance(value, bool) or number is None:
        raise ParseError(
            f"column {name!r} has {str(value)[:40]!r}, not a number",
            hint="fill it in, or choose other columns with features=",
            column=1,
        )
    return number


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
