"""Encode a fitted TreeSVR as a header and arrays, and decode it."""

from typing import Any

from filbert.learners.svr import TreeSVR
from filbert.persist import support_vectors
from filbert.persist.archive import Arrays
from filbert.persist.dual_learners import decode_learner, encode_learner


def encode(learner: TreeSVR) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator."""
    return encode_learner(learner)


def decode(header: dict[str, Any], arrays: Arrays) -> TreeSVR:
    """Return the estimator; inconsistent content raises ModelFileError."""
    found = support_vectors.decode_regressor(header, arrays)
    return decode_learner(TreeSVR, header, arrays, found)
