"""What queries of a TreeIndex may be: trees, or ids of trees of the index."""

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np

from filbert.errors import InputTypeError, InvalidParameterError
from filbert.forest import Forest
from filbert.kernels.algebra import is_number
from filbert.search.segments import Ids


def check_not_excluded(exclude_self: bool | None) -> None:
    """Raise an error if trees that are not given by ids are to be left out of their results."""
    if exclude_self:
        raise InvalidParameterError(
            "exclude_self is for trees of the index: pass their ids as queries"
        )


def ids_or_none(queries: Any) -> Ids | None:
    """Return queries that are whole numbers as ids, and None for anything else."""
    kind = getattr(getattr(queries, "dtype", None), "kind", None)  # an array, or a Series of pandas
    if kind in ("i", "u"):
        return checked_ids(queries)
    is_list = isinstance(queries, list | tuple | range) and len(queries) > 0
    if is_list and all(is_number(one, Integral) for one in queries):
        return checked_ids(queries)
    return None


def checked_ids(ids: Any) -> Ids:
    """Return ids as an array of whole numbers."""
    array = np.asarray(ids)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputTypeError(f"ids must be a list of whole numbers, got {ids!r:.60}")
    return array.astype(np.int64)


def batches(queries: Iterable[Any], size: int) -> Iterator[Any]:
    """Yield queries in batches. An iterator is read as batches are taken."""
    if isinstance(queries, Forest):
        for first in range(0, len(queries), size):
            yield queries[first : first + size]
        return
    batch = []
    for query in queries:
        batch.append(query)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
