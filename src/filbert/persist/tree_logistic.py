"""Encode a fitted TreeLogisticRegression as a header and arrays, and decode it."""

from typing import Any

from filbert.learners.logistic import TreeLogisticRegression
from filbert.persist.archive import Arrays
from filbert.persist.dual_learners import decode_classifier, encode_classifier


def encode(learner: TreeLogisticRegression) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator."""
    return encode_classifier(learner)


def decode(header: dict[str, Any], arrays: Arrays) -> TreeLogisticRegression:
    """Return the estimator; inconsistent content raises ModelFileError."""
    return decode_classifier(TreeLogisticRegression, header, arrays)
