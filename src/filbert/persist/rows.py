"""Encode examples that are not a single forest as a header and arrays, and decode them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert.errors import ModelFileError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.kernels.matrices import is_sparse
from filbert.persist.archive import Arrays

_PREFIX = "support."  # followed by the number of the part
_MOST_PARTS = 15  # each has up to six arrays


def encode(X: Any) -> tuple[list[dict[str, Any]], Arrays]:
    """Return the names and kinds of the parts, and their arrays."""
    parts = X.parts if isinstance(X, Examples) else {None: X}
    if len(parts) > _MOST_PARTS:
        raise ModelFileError(f"examples of more than {_MOST_PARTS} parts cannot be saved", "")
    header: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for number, (name, part) in enumerate(parts.items()):
        kind, own, more = _encoded(part)
        header.append({"name": name, "kind": kind, **more})
        arrays |= {f"{_PREFIX}{number}.{key}": array for key, array in own.items()}
    return header, arrays


def decode(header: Any, arrays: Arrays) -> Any:
    """Return the examples; inconsistent content raises ModelFileError."""
    if not isinstance(header, list) or not 0 < len(header) <= _MOST_PARTS:
        raise ModelFileError("the header does not list the parts of the support vectors")
    parts: dict[Any, Any] = {}
    for number, entry in enumerate(header):
        prefix = f"{_PREFIX}{number}."
        own = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
        name = entry.get("name", "") if isinstance(entry, dict) else 0
        if not isinstance(name, str | None) or name in parts:
            raise ModelFileError("a part of the support vectors has no unique name")
        parts[name] = _decoded(entry, own)
    if None in parts:
        if len(parts) > 1:
            raise ModelFileError("a part of the support vectors has no name")
        return parts[None]
    return Examples._of(parts)


def _encoded(part: Any) -> tuple[str, Arrays, dict[str, Any]]:
    if isinstance(part, Forest):
        return "forest", part.to_arrays(), {}
    if is_sparse(part):
        rows = sp.csr_array(part, dtype=np.float64)
        indices, ends = rows.indices.astype(np.int64), rows.indptr[1:].astype(np.int64)
        return (
            "sparse",
            {"columns": indices, "ends": ends, "values": rows.data},
            {"width": int(rows.shape[1])},
        )
    return "dense", {"values": np.ascontiguousarray(part, dtype=np.float64)}, {}


def _decoded(entry: dict[str, Any], arrays: Arrays) -> Any:
    kind = entry.get("kind")
    if kind == "forest":
        return Forest.from_arrays(arrays)
    if kind == "dense":
        return _checked(arrays, "values", np.float64, 2)
    if kind == "sparse":
        return _decoded_rows(entry.get("width"), arrays)
    raise ModelFileError(f"a part of the support vectors is of the kind {str(kind)[:40]!r}")


def _decoded_rows(width: Any, arrays: Arrays) -> sp.csr_array:
    values = _checked(arrays, "values", np.float64, 1)
    columns = _checked(arrays, "columns", np.int64, 1)
    ends = _checked(arrays, "ends", np.int64, 1)
    if type(width) is not int or not 0 <= width < 2**63 or len(columns) != len(values):
        raise ModelFileError("the arrays of a sparse part are inconsistent")
    begins = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    inside = (columns >= 0).all() and (columns < width).all()
    if not inside or (np.diff(begins) < 0).any() or begins[-1] != len(values):
        raise ModelFileError("the arrays of a sparse part are not those of a matrix")
    return sp.csr_array((values, columns, begins), shape=(len(ends), width))


def _checked(arrays: Arrays, name: str, dtype: Any, n_axes: int) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != n_axes:
        raise ModelFileError(
            f"the array {name!r} of a part is missing or does not have {n_axes} axes"
        )
    return array
