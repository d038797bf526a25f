"""One example in the form that all formats give, before trees are parsed."""

from dataclasses import dataclass, field
from typing import NamedTuple

Label = str | int | float | bool | tuple[str, ...]

EMPTY_TREE = "(∅)"
"""The tree of one node that stands for an empty tree, which a forest cannot hold."""


class TreeText(NamedTuple):
    """A tree in bracket notation, and the byte of its line at which it begins (from 1).

    None means that the line has the tree in another form. Columns are then counted in the tree.
    """

    text: bytes | str
    column: int | None


class SparseVector(NamedTuple):
    """Feature numbers (from 0, ascending) with their values, and the number of features.

    If the features have names, `names` has them instead of `indices`, in any order.
    """

    indices: list[int]
    values: list[float]
    width: int = 0  # a minimum: the largest feature number may be larger
    names: list[str] | None = None


class Written(NamedTuple):
    """One example to write: its label, its trees in brackets, features and columns, by name.

    Features are pairs of a name or number (from 1) and a value.
    """

    label: Label | None
    trees: dict[str, str]
    vectors: dict[str, list[tuple[str, float]]]
    columns: dict[str, str]


@dataclass(slots=True)
class Record:
    """One example: its label, its trees, feature vectors and columns of text, each by name."""

    label: Label | None
    trees: dict[str, TreeText]
    vectors: dict[str, SparseVector] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
