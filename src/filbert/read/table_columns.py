"""The columns of a table: which hold the label, the trees and the features, and which are kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from filbert.errors import InvalidParameterError

Column = str | int

LABEL_NAMES = ("label", "class", "target", "y")
TREE_NAMES = ("tree", "parse")
_NO_LABELS = ("", "id", "index", "number", "file", "qid", "sent_id")  # beside a column of trees
_LISTED = 20


@dataclass(frozen=True)
class TableColumns:
    """The numbers of columns, from 0. `others` are kept as text, by their names."""

    n: int
    label: int | None
    trees: Mapping[str, int]
    features: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)


def looks_like_header(fields: Sequence[str]) -> bool:
    """Return whether the first row has column names: no field has a bracket, and none is empty.

    The first may be empty: pandas writes no name for the index.
    """
    return not any("(" in one for one in fields) and all(one.strip() for one in fields[1:])


def table_columns(
    first: Sequence[str],
    *,
    has_header: bool,
    label: Column | Literal[False] | None,
    tree: Column | Sequence[Column] | None,
    features: Column | Sequence[Column] | None,
    source: str,
) -> TableColumns:
    """Choose columns by the options, or by the names if these leave no doubt.

    Without a header, `first` is the first example. Doubt raises InvalidParameterError, which lists
    the columns.
    """
    table = _Table(first, has_header, source)
    feature_numbers = {table.name(i): i for i in map(table.number, _listed(features))}
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        if not tree:
            raise InvalidParameterError("tree= needs a column")
        trees = [table.number(one) for one in tree]
        label_number = table.label(label, trees)
        named = {table.name(i): i for i in trees}
    else:
        label_number, tree_number = table.label_and_tree(label, tree)
        trees = [tree_number]
        # The part is called "tree", unless that is the name of a column that is kept.
        own = table.name(tree_number)
        taken = [table.name(i) for i in range(table.n) if i not in (label_number, tree_number)]
        named = {own if "tree" in taken else "tree": tree_number}
    table.check_disjoint([label_number, *trees, *map(table.number, _listed(features))])
    used = {label_number, *trees, *feature_numbers.values()}
    others = {table.name(i): i for i in range(table.n) if i not in used}
    return TableColumns(table.n, label_number, named, feature_numbers, others)


class _Table:
    """The columns of a table, by name or by number."""

    def __init__(self, first: Sequence[str], has_header: bool, source: str) -> None:
        self.n = len(first)
        self._first = first
        self._has_header = has_header
        self._source = source
        names = [one.strip() for one in first] if has_header else []
        self._names = [name.removeprefix("#") for name in names[:1]] + names[1:]

    def name(self, number: int) -> str:
        """Return the name of a column; a column without a unique name is ``column_<number>``."""
        name = self._names[number] if self._has_header else ""
        return name if name and self._names.count(name) == 1 else f"column_{number}"

    def number(self, column: Any) -> int:
        """Return the number of a column that the user chose."""
        if isinstance(column, str):
            if not self._has_header:
                raise self._error(f"there is no column {column!r}, because there is no header")
            if self._names.count(column) != 1:
                n = self._names.count(column)
                found = f"{n} columns are called" if n else "there is no column"
                raise self._error(f"{found} {column!r}")
            return self._names.index(column)
        if isinstance(column, bool) or not isinstance(column, int):
            raise InvalidParameterError(f"a column is a name or a number, got {column!r}")
        if not -self.n <= column < self.n:
            raise self._error(f"there is no column {column}")
        return column % self.n

    def check_disjoint(self, numbers: Iterable[int | None]) -> None:
        """Raise InvalidParameterError if a column has two uses, such as label and tree."""
        seen: set[int | None] = set()
        for number in numbers:
            if number is not None and number in seen:
                name = repr(self._names[number]) if self._has_header else number
                raise self._error(
                    f"column {name} is chosen twice: label=, tree= and features= are different "
                    "columns"
                )
            seen.add(number)

    def label(self, label: Any, trees: Iterable[int]) -> int | None:
        """Return the column of the label beside chosen trees."""
        if label is not None:
            return None if label is False else self.number(label)
        found = self._known(LABEL_NAMES, trees)
        if len(found) != 1:
            raise self._error("the column of the label is not certain: pass label=")
        return found[0]

    def label_and_tree(self, label: Any, tree: Any) -> tuple[int | None, int]:
        """Return the columns of the label and of the tree."""
        if not self._has_header:
            return self._by_position(label, tree)
        trees = [self.number(tree)] if tree is not None else []
        labels = [self.number(label)] if label is not None and label is not False else []
        trees = trees or self._known(TREE_NAMES, labels)
        if label is None:
            labels = self._known(LABEL_NAMES, trees)
        if self.n == 2 and label is not False:
            was_certain = bool(labels)
            trees, labels = _the_other_of_two(trees, labels)
            if label is None and not was_certain and self._names[labels[0]].lower() in _NO_LABELS:
                labels = []
        elif self.n == 1:
            trees = [0]
        if len(trees) != 1:
            raise self._error("the column of trees is not certain: pass tree=")
        if label is False:
            return None, trees[0]
        if len(labels) != 1:
            raise self._error("the column of the label is not certain: pass label=")
        return labels[0], trees[0]

    def _by_position(self, label: Any, tree: Any) -> tuple[int | None, int]:
        if label is None and tree is None and self.n != 2:
            raise self._error("the columns of the label and the tree are not certain: pass label= "
                              "and tree=")  # fmt: skip
        if label is False and tree is None and self.n > 2:
            raise self._error("the column of trees is not certain: pass tree=")
        tree_number = self.number(-1 if tree is None else tree)
        if label is False:
            return None, tree_number
        if label is None:
            return (1 - tree_number if self.n == 2 else 0), tree_number
        if tree is None and self.n == 2:
            return self.number(label), 1 - self.number(label)
        return self.number(label), tree_number

    def _known(self, known: tuple[str, ...], but: Iterable[int]) -> list[int]:
        names = [name.lower() for name in self._names]
        return [i for i, name in enumerate(names) if name in known and i not in set(but)]

    def _error(self, what: str) -> InvalidParameterError:
        shown = [
            repr(self._names[i]) if self._has_header else f"{i} ({self._first[i][:20]!r} first)"
            for i in range(min(self.n, _LISTED))
        ]
        more = ", ..." if self.n > _LISTED else ""
        return InvalidParameterError(
            f"{self._source}: {what}; the columns are {', '.join(shown)}{more}"
        )


def _the_other_of_two(trees: list[int], labels: list[int]) -> tuple[list[int], list[int]]:
    """Complete the choice in a table of two columns: by default, a label and then a tree."""
    if not trees and not labels:
        return [1], [0]
    if not trees and len(labels) == 1:
        return [1 - labels[0]], labels
    if not labels and len(trees) == 1:
        return trees, [1 - trees[0]]
    return trees, labels


def _listed(columns: Any) -> list[Column]:
    if columns is None:
        return []
    return [columns] if isinstance(columns, str | int) else list(columns)
