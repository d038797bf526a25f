"""One example in the form that all formats give, before trees are parsed."""

from dataclasses import dataclass, field
from typing import NamedTuple

Label = str | int | float | bool


class TreeText(NamedTuple):
    """A tree in bracket notation, and the byte of its line at which it begins (from 1).

    None means that the line has the tree in another form. Columns are then counted in the tree.
    """

    text: bytes | str
    column: int | None


class SparseVector(NamedTuple):
    """Feature numbers (from 0, ascending) with their values, and the number of features."""

    indices: list[int]
    values: list[float]
    width: int = 0  # a minimum: the largest feature number may be larger


@dataclass(slots=True)
class Record:
    """One example: its label, its trees and its feature vectors, each by name."""

    label: Label | None
    trees: dict[str, TreeText]
    vectors: dict[str, SparseVector] = field(default_factory=dict)
