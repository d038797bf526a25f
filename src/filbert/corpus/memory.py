"""Examples that users pass as a part of a corpus."""

from typing import Any

import numpy as np

from filbert.corpus.form import is_rows
from filbert.corpus.pieces import Rows
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.forest import as_forest
from filbert.given import described


def rows_of(one: Any, name: str) -> Rows:
    """Return the examples of an object: a Forest, Examples or (X, y). The name is for errors."""
    X, y = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
    if isinstance(X, list):  # also an empty one, of a part from which a filter left nothing
        X = as_forest(X)
    if not is_rows(X):
        raise InputTypeError(
            f"{name} must be a Forest, Examples or a pair (X, y) of these and labels, got "
            f"{described(one)}"
        )
    if y is None:
        return Rows(X, None)
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != X.shape[0]:
        raise InvalidParameterError(
            f"{name} has {X.shape[0]:,} examples, but y has shape {labels.shape}"
        )
    return Rows(X, labels)
