"""Examples with several trees and feature vectors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import is_sparse
from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.forest import Forest, as_forest
from filbert.frames import Columns, frame_parts
from filbert.given import check_in_one_piece, column_of, described, is_table, is_tree_like

Part = Any  # a Forest, a SciPy sparse matrix or an array
TextColumn = NDArray[np.object_]  # strings: fixed-width arrays would pay for the longest everywhere


class Examples:
    """Named parts with the same rows, forests and feature matrices, and columns of text beside.

    Kernels see the parts. Columns such as ids, groups and file names travel with the rows and are
    added by :meth:`with_columns`. Learners and kernels accept examples with exactly one forest and
    no matrix like that forest.

    Trees may have any form that :class:`~filbert.TreeSVC` accepts, such as a list or column of
    bracket strings. Matrices are two-dimensional arrays, tables of numbers or sparse matrices.

    Indexing with integers, slices and masks selects rows of all parts and columns, as in
    scikit-learn. Indexing with a name returns that part or column.

    Parameters
    ----------
    **parts : trees, arrays or sparse matrices
        The parts by name. All must have the same number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = Examples(tree=["(a b)", "(a c)"], features=np.eye(2)).with_columns(id=["q1", "q2"])
    >>> X
    Examples of 2 rows
      tree      Forest of 2 trees
      features  array of 2 columns
      id        text, such as 'q1'
    >>> X[1:]["tree"][0], X[1:]["id"]
    (<Tree (a c)>, array(['q2'], dtype=object))
    """

    def __init__(self, **parts: Part) -> None:
        self._set(parts)

    @classmethod
    def from_frame(
        cls, frame: Any, *, trees: Columns, features: Columns = (), columns: Sequence[str] = ()
    ) -> Self:
        """Make examples from the columns of a pandas DataFrame.

        Parameters
        ----------
        frame : DataFrame
            The table. It is not changed.
        trees : str, list of str or dict
            The columns of trees, as bracket strings or Trees. For a single name, the part is called
            ``tree``. For several names, the parts have the names of the columns. A dictionary maps
            the names of parts to columns.
        features : str, list of str or dict
            The columns of numbers, which together form one matrix called ``features``. A dictionary
            maps the names of matrices to their columns. If a column is sparse, the matrix is too.
        columns : list of str
            Columns to keep as text, such as an id: see :attr:`columns`.

        Returns
        -------
        filbert.Examples
            One row for each row of the table.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"parse": ["(a b)", "(a c)"], "length": [3, 5]})
        >>> Examples.from_frame(frame, trees="parse", features=["length"])
        Examples of 2 rows
          tree      Forest of 2 trees
          features  array of 1 columns
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        kept = {name: column_of(frame, name) for name in names}
        return cls._of(frame_parts(frame, trees, features), kept)

    @classmethod
    def _of(
        cls,
        parts: Mapping[str, Part],
        columns: Mapping[str, Any] | None = None,
        feature_names: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make examples from parts with any names, including names that Python reserves."""
        examples = cls.__new__(cls)
        examples._set(dict(parts))
        examples._set_columns(columns or {})
        examples._set_feature_names(feature_names or {})
        return examples

    def _set(self, parts: dict[str, Part]) -> None:
        if not parts:
            raise InvalidParameterError("Examples need at least one part, such as tree=forest")
        parts = {name: _as_part(name, part) for name, part in parts.items()}
        lengths = {name: part.shape[0] for name, part in parts.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} has {n:,}" for name, n in lengths.items())
            raise InvalidParameterError(f"parts must have the same number of rows: {listed}")
        self._parts = parts
        self._n: int = next(iter(lengths.values()))
        self._columns: dict[str, TextColumn] = {}
        self._feature_names: dict[str, TextColumn] = {}
        self.skipped: tuple[ParseError, ...] = ()

    def _set_columns(self, columns: Mapping[str, Any]) -> None:
        for name, values in columns.items():
            if name in self._parts or name in self._columns:
                kind = "part" if name in self._parts else "column"
                raise InvalidParameterError(
                    f"there is a {kind} {name!r} already: give the column another name"
                )
            column = _as_text(name, values)
            if len(column) != self._n:
                raise InvalidParameterError(
                    f"column {name!r} has {len(column):,} values for {self._n:,} rows"
                )
            self._columns[name] = column

    def _set_feature_names(self, feature_names: Mapping[str, Any]) -> None:
        for name, values in feature_names.items():
            part = self._parts.get(name)
            if part is None or isinstance(part, Forest):
                raise InvalidParameterError(f"there is no matrix {name!r} to name the features of")
            names = _as_text(name, values)
            if len(names) != part.shape[1] or len(set(names)) < len(names):
                raise InvalidParameterError(
                    f"part {name!r} has {part.shape[1]:,} features, so it needs as many different "
                    f"names, got {len(set(names)):,}"
                )
            self._feature_names[name] = names

    def with_columns(self, **columns: Any) -> Self:
        """Return the same examples with further columns of text, one value per row.

        Parameters
        ----------
        **columns : sequence
            The values of each column. They are kept as text.

        Returns
        -------
        filbert.Examples
            New examples that share the parts.

        Examples
        --------
        >>> X = Examples(tree=["(a b)", "(a c)"]).with_columns(id=[7, 8])
        >>> X.columns["id"]
        array(['7', '8'], dtype=object)
        """
        together = self._of(self._parts, self._columns, self._feature_names)
        together._set_columns(columns)
        together.skipped = self.skipped
        return together

    def with_feature_names(self, **names: Sequence[str]) -> Self:
        """Return the same examples with names for the features of matrices.

        Parameters
        ----------
        **names : sequence of str
            For each matrix, one name per feature. All names of a matrix must differ.

        Returns
        -------
        filbert.Examples
            New examples that share the parts.

        Examples
        --------
        >>> X = Examples(bow=[[1, 0], [2, 1]]).with_feature_names(bow=["dog", "cat"])
        >>> X.feature_names["bow"]
        array(['dog', 'cat'], dtype=object)
        """
        together = self._of(self._parts, self._columns, {**self._feature_names, **names})
        together.skipped = self.skipped
        return together

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts by name."""
        return dict(self._parts)

    @property
    def columns(self) -> Mapping[str, TextColumn]:
        """The columns of text by name, such as ids: arrays of strings with one value per row."""
        return dict(self._columns)

    @property
    def feature_names(self) -> Mapping[str, TextColumn]:
        """The names of features by the name of their matrix, if the features have names."""
        return dict(self._feature_names)

    def __len__(self) -> int:
        return self._n

    @property
    def shape(self) -> tuple[int]:
        """``(n_rows,)``. scikit-learn needs it to split examples."""
        return (self._n,)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            if index in self._columns:
                return self._columns[index]
            if index not in self._parts:
                names = ", ".join([*self._parts, *self._columns])
                raise KeyError(f"there is no part {index!r}; there are {names}")
            return self._parts[index]
        if isinstance(index, tuple):
            if len(index) != 2 or index[1] is not Ellipsis:
                raise IndexError("examples have one axis: use X[indices] or X['part']")
            index = index[0]
        parts = {name: _rows(part, index) for name, part in self._parts.items()}
        columns = {name: column[_row_index(index)] for name, column in self._columns.items()}
        if isinstance(index, int | np.integer):
            return {**parts, **columns}
        return Examples._of(parts, columns, self._feature_names)

    def __repr__(self) -> str:
        shown = {name: _described(part) for name, part in self._parts.items()}
        shown |= {name: _described_text(column) for name, column in self._columns.items()}
        width = max(map(len, shown))
        lines = [f"  {name:{width}}  {text}" for name, text in shown.items()]
        return "\n".join([f"Examples of {self._n:,} row{'' if self._n == 1 else 's'}", *lines])


def only_forest(X: Any) -> Any:
    """Return the forest of Examples that have exactly one and no matrix, or any other X unchanged.

    Columns of text beside the forest are not for kernels.
    """
    if isinstance(X, Examples) and len(X._parts) == 1:
        (part,) = X._parts.values()
        if isinstance(part, Forest):
            return part
    return X


def feature_names_of(X: Any) -> Mapping[str, TextColumn]:
    """Return the names of features by part; none if X is not Examples."""
    return X.feature_names if isinstance(X, Examples) else {}


def check_feature_names(known: Mapping[str, TextColumn], X: Any) -> None:
    """Raise InvalidParameterError if X has the same matrices with other names of features."""
    for name, names in feature_names_of(X).items():
        if name in known and not np.array_equal(known[name], names):
            raise InvalidParameterError(
                f"the features of part {name!r} have other names than those of the training data: "
                "read the data with vocabulary=X_train.feature_names"
            )


def part_of_table(X: Any, name: str) -> Part:
    """Return a column of a DataFrame or an entry of a dictionary as a forest or a matrix."""
    column = column_of(X, name)
    if getattr(column, "ndim", 2) == 1 and not _holds_trees(column):
        column = np.asarray(column)[:, None]
    return _as_part(name, column)


def _as_part(name: str, part: Any) -> Part:
    if isinstance(part, Forest):
        return part
    check_in_one_piece(part)
    if is_sparse(part):
        return _by_rows(name, part)
    if isinstance(part, Iterator):
        part = list(part)
    return _forest(name, part) if _holds_trees(part) else _matrix(name, part)


def _holds_trees(part: Any) -> bool:
    """Return whether the first row is a tree or text, or there are no rows and no numeric type."""
    if isinstance(part, str | bytes) or not np.iterable(part):
        return False
    if isinstance(part, Mapping):
        return True  # as_forest raises the error
    if is_table(part):
        part = np.asarray(part)
    if len(part) == 0:
        return not hasattr(part, "dtype") or part.dtype.kind not in "biufc"
    first = next(iter(part))
    if isinstance(first, list | tuple | np.ndarray):
        return any(map(is_tree_like, first))
    return is_tree_like(first)


def _forest(name: str, part: Any) -> Forest:
    try:
        return as_forest(part)
    except InputTypeError as error:
        raise InputTypeError(f"part {name!r}: {error}") from None
    except ParseError as error:
        raise error.located(source=f"part {name!r}, sample {error.sample}") from None


def _matrix(name: str, part: Any) -> Any:
    try:
        matrix = np.asarray(part)
        found = f"{described(part)} of {matrix.ndim} dimensions"
        is_matrix = matrix.ndim == 2
    except ValueError:
        is_matrix, found = False, f"{described(part)} with rows of different lengths"
    if not is_matrix:
        raise InputTypeError(
            f"part {name!r} must be trees or a two-dimensional matrix of numbers, got {found}"
        )
    return matrix


def _by_rows(name: str, part: Any) -> Any:
    """Return a sparse matrix in CSR form: other forms cannot be sliced, or only slowly."""
    if part.ndim != 2:
        raise InputTypeError(
            f"part {name!r} must be trees or a two-dimensional matrix of numbers, got "
            f"{described(part)} of {part.ndim} dimensions"
        )
    if part.format == "csr":
        return part
    try:
        if hasattr(part, "check_format"):
            part.check_format(full_check=True)  # SciPy trusts indices and could crash
        return part.tocsr()
    except ValueError as error:
        raise InvalidParameterError(
            f"part {name!r} is a damaged sparse matrix: {error}; make it again from (row, column) "
            "pairs"
        ) from None


def _as_text(name: str, values: Any) -> TextColumn:
    """Return values as a one-dimensional array of strings; missing values are empty strings."""
    if isinstance(values, str | bytes) or not np.iterable(values):
        raise InputTypeError(
            f"column {name!r} must be a sequence with one value per row, got {described(values)}"
        )
    values = list(values)
    column: TextColumn = np.empty(len(values), dtype=object)
    column[:] = [value if type(value) is str else _text(name, value) for value in values]
    column.flags.writeable = False
    return column


def _text(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    if not isinstance(value, str) and np.iterable(value):
        raise InputTypeError(
            f"column {name!r} must have one text or number per row, got {described(value)}"
        )
    return str(value)


def _rows(part: Part, index: Any) -> Part:
    try:
        return part[index]
    except NotImplementedError:  # before SciPy 1.15, sparse arrays of one dimension are missing
        return part[[index]]


def _row_index(index: Any) -> Any:
    """Convert lists to arrays; NumPy would make an empty list floats."""
    if isinstance(index, slice | int | np.integer):
        return index
    index = np.asarray(index)
    return index.astype(np.intp) if index.size == 0 and index.dtype != bool else index


def _described_text(column: TextColumn) -> str:
    return f"text, such as {column[0][:40]!r}" if len(column) else "text"


def _described(part: Part) -> str:
    if isinstance(part, Forest):
        return f"Forest of {len(part):,} trees"
    kind = "sparse matrix" if is_sparse(part) else "array"
    return f"{kind} of {part.shape[1]:,} columns"
