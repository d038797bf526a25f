"""Convert columns of a pandas DataFrame to forests and matrices, without importing pandas."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.forest import Forest, as_forest
from filbert.given import column_of, is_tree_like
from filbert.tree import Tree

Columns = str | Sequence[str] | Mapping[str, Any]


def frame_parts(frame: Any, trees: Columns, features: Columns) -> dict[str, Any]:
    """Return the parts for :meth:`filbert.Examples.from_frame`."""
    if not hasattr(frame, "columns") or not hasattr(frame, "dtypes"):
        raise InputTypeError(f"expected a pandas DataFrame, got {type(frame).__name__}")
    parts: dict[str, Any] = {}
    for name, column in _named_trees(trees).items():
        parts[name] = _forest(column_of(frame, column), column)
    for name, columns in _named_features(features).items():
        if name in parts:
            raise InvalidParameterError(f"a tree and a matrix are both called {name!r}")
        parts[name] = _matrix([(column, column_of(frame, column)) for column in columns])
    return parts


def _named_trees(trees: Columns) -> dict[str, str]:
    if isinstance(trees, str):
        return {"tree": trees}
    return dict(trees) if isinstance(trees, Mapping) else {column: column for column in trees}


def _named_features(features: Columns) -> dict[str, list[str]]:
    if not isinstance(features, Mapping):
        features = {"features": features} if features else {}
    return {
        name: [columns] if isinstance(columns, str) else list(columns)
        for name, columns in features.items()
    }


def _forest(series: Any, column: str) -> Forest:
    trees = series.tolist()
    for sample, tree in enumerate(trees):
        if not is_tree_like(tree):
            raise InputTypeError(
                f"column {column!r}, sample {sample}: {tree!r:.40} is not a tree; "
                "use bracket strings or Trees"
            )
    if len({isinstance(tree, Tree) for tree in trees}) > 1:
        trees = [str(tree) if isinstance(tree, Tree) else tree for tree in trees]
    try:
        return as_forest(trees)
    except ParseError as error:
        raise error.located(source=f"column {column!r}, sample {error.sample}") from None


def _matrix(columns: list[tuple[str, Any]]) -> Any:
    """Return an array, or a sparse matrix if a column is sparse."""
    if not columns:
        raise InvalidParameterError("a matrix of features needs at least one column")
    for name, series in columns:
        if series.dtype.kind not in "biuf":
            raise InputTypeError(
                f"column {name!r} holds {series.dtype}, not numbers: convert it first, for "
                "instance with astype(float) or scikit-learn's OneHotEncoder"
            )
    if not any(_is_sparse(series) for _, series in columns):
        dense = [
            _finite(name, series.to_numpy(np.float64, na_value=np.nan)) for name, series in columns
        ]
        return np.column_stack(dense)
    rows, values = zip(*(_entries(name, series) for name, series in columns), strict=True)
    ends = np.cumsum([0, *map(len, rows)])
    shape = (len(columns[0][1]), len(columns))
    return scipy.sparse.csc_array(
        (np.concatenate(values), np.concatenate(rows), ends), shape=shape
    ).tocsr()


def _is_sparse(series: Any) -> bool:
    return hasattr(series, "sparse")  # pandas has this accessor only for sparse columns


def _entries(name: str, series: Any) -> tuple[Any, Any]:
    """Return the rows of a column that are not zero, and their values."""
    if _is_sparse(series) and series.dtype.fill_value == 0:
        stored = series.array
        values = _finite(name, stored.sp_values.astype(np.float64))
        return stored.sp_index.to_int_index().indices, values
    column = _finite(name, series.to_numpy(np.float64, na_value=np.nan))
    rows = np.flatnonzero(column)
    return rows, column[rows]


def _finite(name: str, values: Any) -> Any:
    if not np.isfinite(values).all():
        raise InvalidParameterError(
            f"column {name!r} has missing or infinite values: fill them in or drop their rows"
        )
    return values
