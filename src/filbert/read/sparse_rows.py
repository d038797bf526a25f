"""Feature vectors of many examples as one sparse matrix, by number or by name."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert.errors import ParseError
from filbert.read.record import SparseVector

EMPTY = SparseVector([], [])

_NOT_A_NUMBER = 2**63


class SparseRows(NamedTuple):
    """Concatenated sparse vectors, in the form of SciPy's CSR matrices."""

    row_begin: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    width: int
    names: Sequence[str] | None = None  # of the columns, if features have names


class FeatureNaming:
    """Whether the features of a vector have numbers or names, decided by the first features."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._named = dict.fromkeys(vocabulary, True)

    def check(self, name: str, vector: SparseVector) -> None:
        """Raise ParseError if a vector has names but the vectors before it have numbers."""
        if not vector.values:
            return
        if vector.names is not None and self._named.get(name, True) is False:
            raise ParseError(
                f"the features of {name!r} have names, but those before have numbers",
                hint="write number:value, such as 7:0.5; if names are meant, pass vocabulary=",
                column=1,
            )
        self._named.setdefault(name, vector.names is not None)

    def numbered(self, name: str) -> None:
        """Note that the features of a vector have numbers."""
        self._named.setdefault(name, False)


def sparse_rows(
    rows: Sequence[SparseVector], vocabulary: Sequence[str] | None = None
) -> SparseRows:
    """Return vectors as a matrix.

    The columns of named features are those of the vocabulary, which leaves other features out. By
    default, they are all features, sorted by name. Names that are numbers come first, in order.
    """
    if vocabulary is not None or any(row.names is not None for row in rows):
        return _named_rows(rows, vocabulary)
    row_begin = np.cumsum([0] + [len(row.indices) for row in rows], dtype=np.int64)
    columns = np.array([i for row in rows for i in row.indices], dtype=np.int32)
    values = np.array([v for row in rows for v in row.values], dtype=np.float64)
    width = max(
        int(columns.max()) + 1 if len(columns) else 0, max((row.width for row in rows), default=0)
    )
    return SparseRows(row_begin, columns, values, width)


def stacked(a: SparseRows, b: SparseRows) -> SparseRows:
    """Return the rows of two matrices with feature numbers."""
    return SparseRows(
        np.concatenate([a.row_begin, b.row_begin[1:] + a.row_begin[-1]]),
        np.concatenate([a.columns, b.columns]),
        np.concatenate([a.values, b.values]),
        max(a.width, b.width),
    )


def _named_rows(rows: Sequence[SparseVector], vocabulary: Sequence[str] | None) -> SparseRows:
    named = [_names_of(row) for row in rows]
    if vocabulary is None:
        vocabulary = sorted({name for names in named for name in names}, key=_by_number)
    number = {name: i for i, name in enumerate(vocabulary)}
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    for names, row in zip(named, rows, strict=True):
        known = sorted(
            (number[name], value)
            for name, value in zip(names, row.values, strict=True)
            if name in number
        )
        columns += [column for column, _ in known]
        values += [value for _, value in known]
        ends.append(len(columns))
    return SparseRows(
        np.array(ends, dtype=np.int64),
        np.array(columns, dtype=np.int32),
        np.array(values, dtype=np.float64),
        len(vocabulary),
        vocabulary,
    )


def _by_number(name: str) -> tuple[int, str]:
    return (len(name), name) if name.isdecimal() else (_NOT_A_NUMBER, name)


def _names_of(row: SparseVector) -> list[str]:
    return [str(i + 1) for i in row.indices] if row.names is None else row.names
