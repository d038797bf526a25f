"""Encode a Forest as arrays, and decode it."""

from typing import Any

from filbert.errors import FilbertError, ModelFileError
from filbert.forest import Forest
from filbert.persist.archive import Arrays


def encode(forest: Forest) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for trees: the nodes that they need, each once."""
    return {}, forest.to_arrays()


def decode(header: dict[str, Any], arrays: Arrays) -> Forest:
    """Return the trees; arrays that do not describe a forest raise ModelFileError."""
    try:
        return Forest.from_arrays(arrays)
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
