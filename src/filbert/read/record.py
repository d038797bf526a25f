"""What every format gives for one example, before trees are parsed."""

from dataclasses import dataclass, field
from typing import NamedTuple

Label = str | int | float | bool


class TreeText(NamedTuple):
    """A tree in bracket notation, and at which byte of its line it begins (from 1).

    None: it stands in the line in another form, and columns are counted within the tree.
    """

    text: bytes | str
    column: int | None


class SparseVector(NamedTuple):
    """Feature numbers, from 0 and ascending, with their values; how many features there are."""

    indices: list[int]
    values: list[float]
    width: int = 0  # at least; the largest number may be larger


@dataclass(slots=True)
class Record:
    """One example: its label, its trees and its feature vectors, each by name."""

    label: Label | None
    trees: dict[str, TreeText]
    vectors: dict[str, SparseVector] = field(default_factory=dict)
