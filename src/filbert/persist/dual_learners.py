"""Encode what learners in the dual have in common as a header and arrays, and decode it."""

from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from filbert.errors import FilbertError, ModelFileError
from filbert.kernels.algebra import n_examples
from filbert.learners.dual import DualLearner
from filbert.learners.dual_classifier import DualClassifier
from filbert.persist import convergence, parameters, support_vectors
from filbert.persist.archive import Arrays
from filbert.persist.checked import integers_of, kernel_error_of, storable_classes
from filbert.predictors import SupportVectorPredictor

_FIGURES = ("objective", "duality_gap", "n_iter")

Learner = TypeVar("Learner", bound=DualLearner)
Classifier = TypeVar("Classifier", bound=DualClassifier)

# ---------------------------------------------------------------- any learner


def encode_learner(learner: DualLearner) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted estimator, without those of classes."""
    check_is_fitted(learner)
    header, arrays = support_vectors.encode(learner.model_)
    header["parameters"] = parameters.to_json(learner)
    learner.check_parameters()
    header |= {
        "engine": learner.engine_,
        "engine_reason": learner.engine_reason_,
        "kernel_error": learner.kernel_error_,
        **{name: or_none(getattr(learner, f"{name}_")) for name in _FIGURES},
    }
    return header, {
        **arrays,
        "indices": learner.support_.astype(np.int64),
        **convergence.encode(learner.convergence_),
    }


def decode_learner(
    cls: type[Learner], header: dict[str, Any], arrays: Arrays, found: SupportVectorPredictor
) -> Learner:
    """Return the estimator with the model that was found in the same file."""
    try:
        learner = cls(**parameters.from_json(cls, header.get("parameters")))
        learner.check_parameters()
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    learner.model_, learner.engine_ = found.model_, found.engine_
    n = n_examples(learner.model_.support)
    learner.support_ = integers_of(arrays, "indices", n).astype(np.intp, copy=False)
    if (np.diff(learner.support_) <= 0).any():
        raise ModelFileError("the indices of the support vectors are not in ascending order")
    learner.dual_coef_, learner.intercept_ = learner.model_.coef, learner.model_.intercept
    learner.objective_ = figure_of(header, "objective")
    learner.kernel_error_ = kernel_error_of(header)
    learner.duality_gap_ = figure_of(header, "duality_gap")
    learner.n_iter_ = int(figure_of(header, "n_iter"))
    learner.convergence_ = convergence.decode(arrays, len(learner.intercept_))
    learner.engine_reason_ = header.get("engine_reason", "")
    if not isinstance(learner.engine_reason_, str):
        raise ModelFileError("the reason for the engine is not text")
    return learner


# ---------------------------------------------------------------- classifiers


def encode_classifier(learner: DualClassifier) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted classifier."""
    header, arrays = encode_learner(learner)
    arrays["classes"], header["classes_are_objects"] = storable_classes(learner.classes_)
    arrays["n_support"] = learner.n_support_.astype(np.int64)
    return header, arrays


def decode_classifier(cls: type[Classifier], header: dict[str, Any], arrays: Arrays) -> Classifier:
    """Return the classifier; inconsistent content raises ModelFileError."""
    found = support_vectors.decode_classifier(header, arrays)
    learner = decode_learner(cls, header, arrays, found)
    learner.classes_ = found.classes_
    by_class = integers_of(arrays, "n_support", len(learner.classes_))
    learner.n_support_ = by_class.astype(np.intp, copy=False)
    n = len(learner.support_)
    if int(learner.n_support_.sum(dtype=object)) != n:
        raise ModelFileError(f"the classes' support vectors do not add up to {n:,}")
    return learner


# ---------------------------------------------------------------- figures of the training


def or_none(value: float | None) -> float | None:
    """Return a figure as JSON has it: JSON has no NaN."""
    return value if value is not None and np.isfinite(value) else None


def figure_of(header: dict[str, Any], name: str) -> float:
    """Return a figure of a header; NaN if it is null."""
    value = header.get(name, "")
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelFileError(f"{name!r} is not a number")
    return value
