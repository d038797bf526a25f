"""Dense or sparse matrices of features: checks and products of rows."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from filbert.arrays import FloatArray, is_sparse
from filbert.errors import InvalidParameterError
from filbert.kernels.algebra import empty_matrix

_BYTES = 64 << 20  # of products of sparse rows in memory at a time
_ENTRY = 16  # bytes of a sparse product and its index
_STEPS = 1 << 26  # of a block of dense rows: less than a tenth of a second; then Ctrl-C is noticed


def checked_matrix(X: Any, kernel: str, part: str | None) -> Any:
    """Return X as a matrix of finite numbers, in CSR format if it is sparse.

    `kernel` and `part` are for error messages, which name the sample and the column.
    """
    where = "" if part is None else f" of part {part!r}"
    matrix: Any = _rows_of(X, where) if is_sparse(X) else _array(X)
    if matrix is None:
        raise InvalidParameterError(
            f"{kernel} needs vectors, an array or a sparse matrix of two dimensions, "
            f"got {type(X).__name__}{where}"
        )
    values = matrix.data if is_sparse(X) else matrix.reshape(-1)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        if is_sparse(X):
            row, column = _row_of(matrix, bad[0]), int(matrix.indices[bad[0]])
        else:
            row, column = divmod(int(bad[0]), matrix.shape[1])
        raise InvalidParameterError(
            f"column {column} of sample {row}{where} is {values[bad[0]]}: "
            "fill it in or leave the sample out"
        )
    return matrix


def _array(X: Any) -> Any:
    """Return X as an array of two dimensions, or None if it is not one."""
    try:
        values = np.asarray(X)
        if values.dtype.kind not in "biufO":
            return None
        values = values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        return None
    return values if values.ndim == 2 else None


def _rows_of(X: Any, where: str) -> "scipy.sparse.csr_array | None":
    """Return X in CSR format, or None. SciPy does not check indices and could crash on bad ones."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        return None
    if isinstance(X, scipy.sparse.csr_matrix | scipy.sparse.csr_array):
        _check_indices(X, where)
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
        return scipy.sparse.csr_array(X, dtype=np.float64)
    except ValueError as error:
        raise InvalidParameterError(
            f"a damaged sparse matrix{where}: {error}; build it again from (row, column) pairs"
        ) from None


def _check_indices(X: Any, where: str) -> None:
    n = X.shape[1]
    bad = np.flatnonzero((X.indices < 0) | (X.indices >= n))
    if len(bad):
        raise InvalidParameterError(
            f"sample {_row_of(X, bad[0])}{where} has a feature in column {X.indices[bad[0]]}, "
            f"but columns are numbered from 0 to {n - 1}"
        )


def _row_of(matrix: Any, entry: Any) -> int:
    return int(np.searchsorted(matrix.indptr, entry, side="right")) - 1


def aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both with the same number of columns. Sparse ones keep only the columns they use."""
    if a.shape[1] != b.shape[1] and not (is_sparse(a) and is_sparse(b)):
        raise InvalidParameterError(
            f"vectors of {a.shape[1]:,} and of {b.shape[1]:,} features cannot be compared"
        )
    if not (is_sparse(a) and is_sparse(b)):
        return a, b
    n = max(a.shape[1], b.shape[1])
    # The work of a product grows with the columns, and feature numbers may be large hashes.
    if n > 2 * (a.nnz + b.nnz):
        used = np.unique(a.indices if b is a else np.concatenate([a.indices, b.indices]))
        first = _with_columns(a, np.searchsorted(used, a.indices), len(used))
        if b is a:
            return first, first
        return first, _with_columns(b, np.searchsorted(used, b.indices), len(used))
    if b is a:
        return a, a
    return _with_columns(a, a.indices, n), _with_columns(b, b.indices, n)


def stacked(matrices: list[Any]) -> Any:
    """Return all rows in one matrix, sparse if any input is. Columns keep their numbers."""
    widths = {matrix.shape[1] for matrix in matrices}
    if all(map(is_sparse, matrices)):
        return scipy.sparse.csr_array(
            scipy.sparse.vstack(
                [_with_columns(m, m.indices, max(widths)) for m in matrices], format="csr"
            )
        )
    if len(widths) > 1:
        raise InvalidParameterError(
            f"vectors of {min(widths):,} and of {max(widths):,} features cannot be compared"
        )
    if any(map(is_sparse, matrices)):
        return scipy.sparse.csr_array(
            scipy.sparse.vstack([scipy.sparse.csr_array(m) for m in matrices], format="csr")
        )
    return np.vstack(matrices)


def _with_columns(
    matrix: "scipy.sparse.csr_array", indices: Any, n: int
) -> "scipy.sparse.csr_array":
    return scipy.sparse.csr_array((matrix.data, indices, matrix.indptr), shape=(matrix.shape[0], n))


def products(a: Any, b: Any) -> FloatArray:
    """Return x . y for all rows x of `a` and y of `b`."""
    if not is_sparse(a) and not is_sparse(b):
        return in_blocks(lambda x, y: x @ y.T, a, b)
    values = empty_matrix(a.shape[0], b.shape[0])
    columns = b.T.tocsr() if is_sparse(b) else b.T
    n = max(1, _BYTES // (_ENTRY * max(1, b.shape[0])))
    for i in range(0, a.shape[0], n):
        some = a[i : i + n] @ columns
        values[i : i + n] = some.toarray() if is_sparse(some) else some
    return values


def in_blocks(of_pairs: Callable[[FloatArray, FloatArray], Any], a: Any, b: Any) -> FloatArray:
    """Return a matrix of all pairs of dense rows, computed in square blocks.

    NumPy and SciPy do not notice Ctrl-C before they return. If `b` is `a`, the matrix is symmetric,
    and only one half is computed.
    """
    values = empty_matrix(a.shape[0], b.shape[0])
    n = max(1, math.isqrt(_STEPS // max(1, a.shape[1])))
    for i in range(0, a.shape[0], n):
        rows = slice(i, i + n)
        for j in range(i if b is a else 0, b.shape[0], n):
            columns = slice(j, j + n)
            values[rows, columns] = of_pairs(a[rows], b[columns])
            if b is a and j > i:
                values[columns, rows] = values[rows, columns].T
    return values


def squares(a: Any) -> FloatArray:
    """Return x . x for all rows."""
    return np.asarray((a.multiply(a) if is_sparse(a) else a * a).sum(axis=1)).ravel()
