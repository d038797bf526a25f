"""Encode a fitted PatternVectorizer as a header and arrays, and decode it."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from filbert import _core
from filbert.engine.pattern_space import PatternSpace
from filbert.errors import FilbertError, ModelFileError
from filbert.kernels.capabilities import capabilities_of
from filbert.learners.pattern_vectorizer import PatternVectorizer
from filbert.persist import parameters
from filbert.persist.archive import Arrays
from filbert.persist.checked import array_of

# The arrays of the patterns, in the order of PatternTable.from_arrays.
_ARRAYS: dict[str, type[np.generic]] = {
    "label_bytes": np.uint8,
    "label_ends": np.uint64,
    "kinds": np.uint32,
    "key_ends": np.uint64,
    "keys": np.uint32,
}


def encode(vectorizer: PatternVectorizer) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted transformer."""
    check_is_fitted(vectorizer)
    vectorizer.check_parameters()
    space = vectorizer.space_
    header = {
        "parameters": parameters.to_json(vectorizer),
        "kernel": parameters.kernel_to_json(space.kernel),
    }
    return header, dict(zip(_ARRAYS, space.table.to_arrays(), strict=True))


def decode(header: dict[str, Any], arrays: Arrays) -> PatternVectorizer:
    """Return the transformer; inconsistent content raises ModelFileError."""
    try:
        values = parameters.from_json(PatternVectorizer, header.get("parameters"))
        vectorizer = PatternVectorizer(**values)
        vectorizer.check_parameters()
        kernel: Any = parameters.kernel_from_json(header.get("kernel"))
        if not capabilities_of(kernel).explicit:
            raise ModelFileError(f"a PatternVectorizer cannot have the kernel {kernel!r}")
        table = _core.PatternTable.from_arrays(kernel._spec(), *_checked(arrays))
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    vectorizer._take(PatternSpace(kernel, table))
    return vectorizer


def _checked(arrays: Arrays) -> list[Any]:
    found = []
    for name, kind in _ARRAYS.items():
        array = array_of(arrays, name)
        if array.dtype != kind or array.ndim != 1:
            raise ModelFileError(f"the array {name!r} is of the wrong type")
        found.append(np.ascontiguousarray(array))
    return found
