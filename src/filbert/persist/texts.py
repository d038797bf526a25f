"""Encode a list of texts as two arrays, and decode it."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from filbert.errors import ModelFileError
from filbert.persist.archive import Arrays
from filbert.persist.checked import array_of, integers_of


def encode(texts: Iterable[str]) -> Arrays:
    """Return the bytes of all texts, one after another, and where each text ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {"bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), "ends": ends}


def decode(arrays: Arrays) -> list[str]:
    """Return the texts; arrays that are not texts raise ModelFileError."""
    content = array_of(arrays, "bytes")
    ends = integers_of(arrays, "ends", len(array_of(arrays, "ends")))
    right = content.dtype == np.uint8 and content.ndim == 1 and (np.diff(ends) >= 0).all()
    if not right or (ends[-1] if len(ends) else 0) != len(content):
        raise ModelFileError("the bytes of a list of texts do not fit their ends")
    plain, begins = content.tobytes(), [0, *ends.tolist()]
    try:
        return [plain[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(begins)]
    except UnicodeDecodeError as error:
        raise ModelFileError(f"a text is not UTF-8: {error}") from None
