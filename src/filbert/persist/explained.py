"""An Explanation as one array, the bytes of its JSON, and back."""

from typing import Any

import numpy as np

from filbert.errors import ModelFileError, ParseError
from filbert.explanations import Explanation
from filbert.persist.archive import Arrays
from filbert.persist.support_vectors import array_of


def encode(explanation: Explanation) -> tuple[dict[str, Any], Arrays]:
    """Return what a file holds of an explanation."""
    text = explanation.to_json().encode("utf-8", "surrogatepass")  # labels may be any text
    return {}, {"json": np.frombuffer(text, dtype=np.uint8)}


def decode(header: dict[str, Any], arrays: Arrays) -> Explanation:
    """Return the explanation; whatever is wrong with it raises ModelFileError."""
    text = array_of(arrays, "json")
    if text.dtype != np.uint8 or text.ndim != 1:
        raise ModelFileError("the array 'json' is not a text")
    try:
        return Explanation.from_json(text.tobytes())
    except ParseError as error:
        raise ModelFileError(str(error)) from None
