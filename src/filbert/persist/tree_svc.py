"""Encode a fitted TreeSVC as a header and arrays, and decode it."""

from typing import Any

from filbert.learners.svm import TreeSVC
from filbert.persist.archive import Arrays
from filbert.persist.dual_learners import decode_classifier, encode_classifier, figure_of, or_none

_OF_PLANES = ("sample_size", "delta_calls", "delta_computed", "n_planes", "iteration_bound")


def encode(svm: TreeSVC) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator."""
    header, arrays = encode_classifier(svm)
    header["C"] = svm.C_
    return header | {name: or_none(getattr(svm, f"{name}_")) for name in _OF_PLANES}, arrays


def decode(header: dict[str, Any], arrays: Arrays) -> TreeSVC:
    """Return the estimator; inconsistent content raises ModelFileError."""
    svm = decode_classifier(TreeSVC, header, arrays)
    for name in _OF_PLANES:
        known = header.get(name) is not None
        setattr(svm, f"{name}_", figure_of(header, name) if known else None)
    svm.C_ = figure_of(header, "C") if "C" in header else float(*svm._known_cost())
    svm.history_ = None
    return svm
