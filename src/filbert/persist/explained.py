"""Encode an Explanation as one array, the bytes of its JSON, and decode it."""

from typing import Any

import numpy as np

from filbert.errors import ModelFileError, ParseError
from filbert.explanations import Explanation
from filbert.persist.archive import Arrays
from filbert.persist.checked import array_of


def encode(explanation: Explanation) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for an explanation."""
    text = explanation.to_json().encode("utf-8", "surrogatepass")  # labels may be any text
    return {}, {"json": np.frombuffer(text, dtype=np.uint8)}


def decode(header: dict[str, Any], arrays: Arrays) -> Explanation:
    """Return the explanation; any defect raises ModelFileError."""
    text = array_of(arrays, "json")
    if text.dtype != np.uint8 or text.ndim != 1:
        raise ModelFileError("the array 'json' is not text")
    try:
        return Explanation.from_json(text.tobytes())
    except ParseError as error:
        raise ModelFileError(str(error)) from None
