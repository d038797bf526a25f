"""Encode a fitted TreeRanker as a header and arrays, and decode it."""

from typing import Any

from filbert.errors import ModelFileError
from filbert.learners.ranker import TreeRanker
from filbert.persist import support_vectors
from filbert.persist.archive import Arrays
from filbert.persist.dual_learners import decode_learner, encode_learner


def encode(learner: TreeRanker) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator."""
    header, arrays = encode_learner(learner)
    return header | {"n_pairs": learner.n_pairs_, "has_groups": learner.has_groups_}, arrays


def decode(header: dict[str, Any], arrays: Arrays) -> TreeRanker:
    """Return the estimator; inconsistent content raises ModelFileError."""
    found = support_vectors.decode_regressor(header, arrays)
    learner = decode_learner(TreeRanker, header, arrays, found)
    n_pairs = header.get("n_pairs")
    if type(n_pairs) is not int or n_pairs < 1:
        raise ModelFileError("'n_pairs' is not a positive integer")
    learner.n_pairs_ = n_pairs
    has_groups = header.get("has_groups", True)
    if type(has_groups) is not bool:
        raise ModelFileError("'has_groups' is neither true nor false")
    learner.has_groups_ = has_groups
    return learner
