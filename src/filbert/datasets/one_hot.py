"""Encode categories as columns of a sparse matrix, numbered as they are seen."""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp

from filbert.errors import InvalidParameterError


class OneHotColumns:
    """One column of zeros and ones for each value of each feature.

    A new value gets the next free column. Column numbers therefore depend only on the order of the
    examples, and examples may come one at a time from an endless stream. After :meth:`freeze` no
    columns are added: new values, as in test data, have no column, and their examples have one
    entry less. None has no column either.

    Parameters
    ----------
    names : iterable of str
        The features, in the order in which rows give their values.

    Examples
    --------
    >>> columns = OneHotColumns(["color", "size"])
    >>> columns.encode(["red", "small"]), columns.encode(["blue", "small"])
    ([0, 1], [1, 2])
    >>> columns.names
    ['color=red', 'size=small', 'color=blue']
    >>> columns.freeze().transform([["red", "large"], ["blue", None]]).toarray()
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.features = tuple(names)
        self.frozen = False
        self._columns: list[dict[str, int]] = [{} for _ in self.features]
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def names(self) -> list[str]:
        """The names of the columns in order, as ``feature=value``."""
        names = [""] * self._n
        for feature, columns in zip(self.features, self._columns, strict=True):
            for value, column in columns.items():
                names[column] = f"{feature}={value}"
        return names

    def freeze(self) -> "OneHotColumns":
        """Add no columns from now on.

        Returns
        -------
        OneHotColumns
            Itself.
        """
        self.frozen = True
        return self

    def encode(self, row: Sequence[str | None]) -> list[int]:
        """Return the columns in which an example has a 1, in ascending order.

        Parameters
        ----------
        row : sequence of str or None
            One value for each feature.

        Returns
        -------
        list of int
            The numbers of the columns.
        """
        if len(row) != len(self._columns):
            raise InvalidParameterError(
                f"a row has {len(row)} values, but there are {len(self._columns)} features: "
                f"{', '.join(self.features)}"
            )
        found = []
        for value, columns in zip(row, self._columns, strict=True):
            column = columns.get(value) if value is not None else None
            if column is not None:
                found.append(column)
            elif value is not None and not self.frozen:
                columns[value] = self._n
                found.append(self._n)
                self._n += 1
        found.sort()
        return found

    def transform(self, rows: Iterable[Sequence[str | None]]) -> sp.csr_array:
        """Return the matrix of some examples; its width is the final number of columns.

        Parameters
        ----------
        rows : iterable of sequences of str or None
            One value for each feature, for each example.

        Returns
        -------
        csr_array of shape (number of rows, number of columns)
            Zeros and ones.
        """
        gathered = OneHotRows(self)
        for row in rows:
            gathered.add(row)
        return gathered.matrix()


class OneHotRows:
    """Collects the rows of a matrix, in a few bytes each."""

    def __init__(self, columns: OneHotColumns) -> None:
        self._columns = columns
        self._indices = array("i")
        self._ends = array("q", [0])

    def add(self, row: Sequence[str | None]) -> None:
        """Add one example."""
        self._indices.extend(self._columns.encode(row))
        self._ends.append(len(self._indices))

    def matrix(self) -> sp.csr_array:
        """Return all rows."""
        indices = np.array(self._indices, dtype=np.int32)
        shape = (len(self._ends) - 1, len(self._columns))
        return sp.csr_array((np.ones(len(indices)), indices, np.array(self._ends)), shape=shape)
