"""Encode the parts of examples as a header and arrays, and decode them."""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from filbert.arrays import is_sparse
from filbert.errors import InputTypeError, InvalidParameterError, ModelFileError
from filbert.examples import Examples, feature_names_of
from filbert.forest import Forest
from filbert.persist import texts
from filbert.persist.archive import Arrays
from filbert.persist.checked import arrays_of

_NAMES = "names."  # prefix of the arrays with the names of features


def encode(X: Any, prefix: str, *, keep_types: bool = False) -> tuple[list[dict[str, Any]], Arrays]:
    """Return the names and kinds of the parts, and their arrays with a prefix before the names.

    Numbers become float64 and features keep their names, unless `keep_types` is set.
    """
    parts = X.parts if isinstance(X, Examples) else {None: X}
    header: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for number, (name, part) in enumerate(parts.items()):
        kind, own, more = _encoded(name, part, keep_types)
        features = feature_names_of(X).get(name or "")
        if features is not None and not keep_types:
            own |= {f"{_NAMES}{key}": array for key, array in texts.encode(features).items()}
        header.append({"name": name, "kind": kind, **more})
        arrays |= {f"{prefix}{number}.{key}": array for key, array in own.items()}
    return header, arrays


def decode(header: Any, arrays: Arrays, *, keep_types: bool = False) -> Any:
    """Return the examples; inconsistent content raises ModelFileError."""
    parts = decode_parts(header, arrays, keep_types=keep_types)
    if None not in parts:
        named = (arrays_of(arrays, f"{number}.{_NAMES}") for number in range(len(parts)))
        names = {n: texts.decode(own) for n, own in zip(parts, named, strict=True) if own}
        try:
            return Examples._of(parts, None, names)
        except InvalidParameterError as error:
            raise ModelFileError(str(error)) from None
    if len(parts) > 1:
        raise ModelFileError("a part of the examples has no name")
    return parts[None]


def decode_parts(header: Any, arrays: Arrays, *, keep_types: bool = False) -> dict[Any, Any]:
    """Return the parts by name, or by None if there is one part without a name."""
    if not isinstance(header, list) or not header:
        raise ModelFileError("the header does not list the parts of the examples")
    parts: dict[Any, Any] = {}
    for number, entry in enumerate(header):
        name = entry.get("name", "") if isinstance(entry, dict) else 0
        if not isinstance(name, str | None) or name in parts:
            raise ModelFileError("a part of the examples has no unique name")
        parts[name] = _decoded(entry, arrays_of(arrays, f"{number}."), keep_types)
    return parts


def _encoded(name: Any, part: Any, keep_types: bool) -> tuple[str, Arrays, dict[str, Any]]:
    if isinstance(part, Forest):
        return "forest", part.to_arrays(), {}
    dtype = _stored_type(name, part) if keep_types else np.dtype(np.float64)
    if is_sparse(part):
        rows = scipy.sparse.csr_array(part, dtype=dtype)
        indices, ends = rows.indices.astype(np.int64), rows.indptr[1:].astype(np.int64)
        return (
            "sparse",
            {"columns": indices, "ends": ends, "values": rows.data},
            {"width": int(rows.shape[1])},
        )
    return "dense", {"values": np.ascontiguousarray(part, dtype=dtype)}, {}


def _stored_type(name: str, part: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = part.dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise InputTypeError(
            f"part {name!r} has the type {dtype}, which cannot be saved: convert it to floats, "
            "integers or bools"
        )
    return dtype


def _decoded(entry: dict[str, Any], arrays: Arrays, keep_types: bool) -> Any:
    kind = entry.get("kind")
    if kind == "forest":
        return Forest.from_arrays(arrays)
    if kind not in ("dense", "sparse"):
        raise ModelFileError(f"a part of the examples is of the kind {str(kind)[:40]!r}")
    values = arrays.get("values")
    dtype = values.dtype if keep_types and values is not None else np.dtype(np.float64)
    if dtype.kind not in "biuf":
        raise ModelFileError("the values of a part of the examples are not numbers")
    if kind == "dense":
        return _checked(arrays, "values", dtype, 2)
    return _decoded_rows(entry.get("width"), arrays, dtype)


def _decoded_rows(width: Any, arrays: Arrays, dtype: np.dtype[Any]) -> "scipy.sparse.csr_array":
    values = _checked(arrays, "values", dtype, 1)
    columns = _checked(arrays, "columns", np.int64, 1)
    ends = _checked(arrays, "ends", np.int64, 1)
    if type(width) is not int or not 0 <= width < 2**63 or len(columns) != len(values):
        raise ModelFileError("the arrays of a sparse part are inconsistent")
    begins = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    inside = (columns >= 0).all() and (columns < width).all()
    if not inside or (np.diff(begins) < 0).any() or begins[-1] != len(values):
        raise ModelFileError("the arrays of a sparse part are not those of a matrix")
    return scipy.sparse.csr_array((values, columns, begins), shape=(len(ends), width))


def _checked(arrays: Arrays, name: str, dtype: Any, n_axes: int) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != n_axes:
        raise ModelFileError(
            f"the array {name!r} of a part is missing or does not have {n_axes} axes"
        )
    return array
