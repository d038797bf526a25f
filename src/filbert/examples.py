"""Examples with several trees and feature vectors."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.forest import Forest, as_forest
from filbert.frames import Columns, frame_parts
from filbert.given import column_of, described, is_table, is_tree_like

Part = Any  # a Forest, a SciPy sparse matrix or an array


class Examples:
    """Named parts with the same rows: forests and feature matrices.

    Trees may have any form that :class:`~filbert.TreeSVC` accepts, such as a list or column of
    bracket strings. Matrices are two-dimensional arrays, tables of numbers or sparse matrices.

    Indexing with integers, slices and masks selects rows of all parts, as in scikit-learn.
    Indexing with a name returns that part.

    Examples
    --------
    >>> import numpy as np
    >>> X = Examples(tree=["(a b)", "(a c)"], features=np.eye(2))
    >>> X
    Examples of 2 rows
      tree      Forest of 2 trees
      features  array of 2 columns
    >>> X[1:]["tree"][0]
    <Tree (a c)>
    """

    def __init__(self, **parts: Part) -> None:
        self._set(parts)

    @classmethod
    def from_frame(cls, frame: Any, *, trees: Columns, features: Columns = ()) -> Self:
        """Make examples from the columns of a pandas DataFrame.

        Parameters
        ----------
        frame : DataFrame
        trees : str, list of str or dict
            The columns of trees, as bracket strings or Trees. For a single name, the part is called
            ``tree``. For several names, the parts have the names of the columns. A dictionary maps
            the names of parts to columns.
        features : str, list of str or dict
            The columns of numbers, which together form one matrix called ``features``. A dictionary
            maps the names of matrices to their columns. If a column is sparse, the matrix is too.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"parse": ["(a b)", "(a c)"], "length": [3, 5]})
        >>> Examples.from_frame(frame, trees="parse", features=["length"])
        Examples of 2 rows
          tree      Forest of 2 trees
          features  array of 1 columns
        """
        return cls._of(frame_parts(frame, trees, features))

    @classmethod
    def _of(cls, parts: dict[str, Part]) -> Self:
        """Make examples from parts with any names, including names that Python reserves."""
        examples = cls.__new__(cls)
        examples._set(parts)
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
        self.skipped: tuple[ParseError, ...] = ()

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts by name."""
        return dict(self._parts)

    def __len__(self) -> int:
        return self._n

    @property
    def shape(self) -> tuple[int]:
        """``(n_rows,)``. scikit-learn needs it to split examples."""
        return (self._n,)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            if index not in self._parts:
                raise KeyError(f"there is no part {index!r}; there are {', '.join(self._parts)}")
            return self._parts[index]
        if isinstance(index, tuple):
            if len(index) != 2 or index[1] is not Ellipsis:
                raise IndexError("examples have one axis: use X[indices] or X['part']")
            index = index[0]
        if isinstance(index, int | np.integer):
            return {name: part[index] for name, part in self._parts.items()}
        return Examples._of({name: part[index] for name, part in self._parts.items()})

    def __repr__(self) -> str:
        width = max(map(len, self._parts))
        lines = [f"  {name:{width}}  {_described(part)}" for name, part in self._parts.items()]
        return "\n".join([f"Examples of {self._n:,} row{'' if self._n == 1 else 's'}", *lines])


def part_of_table(X: Any, name: str) -> Part:
    """Return a column of a DataFrame or an entry of a dictionary as a forest or a matrix."""
    column = column_of(X, name)
    if getattr(column, "ndim", 2) == 1 and not _holds_trees(column):
        column = np.asarray(column)[:, None]
    return _as_part(name, column)


def _as_part(name: str, part: Any) -> Part:
    if isinstance(part, Forest):
        return part
    if sp.issparse(part):
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


def _described(part: Part) -> str:
    if isinstance(part, Forest):
        return f"Forest of {len(part):,} trees"
    kind = "sparse matrix" if sp.issparse(part) else "array"
    return f"{kind} of {part.shape[1]:,} columns"
