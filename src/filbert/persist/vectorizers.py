"""Encode a fitted FragmentVectorizer as a header and arrays, and decode it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from filbert.errors import FilbertError, InputTypeError, ModelFileError
from filbert.fragments import MinedFragments
from filbert.learners.fragments import FragmentVectorizer
from filbert.learners.logistic import TreeLogisticRegression
from filbert.learners.perceptron import TreePerceptron
from filbert.learners.svm import TreeSVC
from filbert.persist import fragment_lists, parameters, tree_logistic, tree_perceptron, tree_svc
from filbert.persist.archive import Arrays
from filbert.persist.checked import (
    array_of,
    arrays_of,
    checked_classes,
    floats_of,
    integers_of,
    storable_classes,
)

_LEARNER = "estimator."  # prefix of the names of the estimator's arrays
_LEARNERS: dict[str, tuple[type, Any]] = {
    "TreeLogisticRegression": (TreeLogisticRegression, tree_logistic),
    "TreePerceptron": (TreePerceptron, tree_perceptron),
    "TreeSVC": (TreeSVC, tree_svc),
}


def encode(vectorizer: FragmentVectorizer) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted transformer."""
    check_is_fitted(vectorizer)
    apart = ("estimator", "fragments")
    own = {k: v for k, v in vectorizer.get_params(deep=False).items() if k not in apart}
    header, arrays = fragment_lists.encode(vectorizer.fragments_)
    header["parameters"] = parameters.to_json(FragmentVectorizer(**own))
    header["fragments_are_given"] = vectorizer.fragments is not None
    if vectorizer.fragments is not None:
        return header, arrays
    arrays |= _encoded_mined(vectorizer)
    if hasattr(vectorizer, "classes_"):
        arrays["classes"], header["classes_are_objects"] = storable_classes(vectorizer.classes_)
    learner = vectorizer.estimator_
    if learner is not None:
        header["estimator"], more = _encoded_learner(learner)
        header["estimator_was_fitted"] = learner is vectorizer.estimator
        arrays |= {**more, "coef": vectorizer.coef_, "intercept": vectorizer.intercept_}
    return header, arrays


def decode(header: dict[str, Any], arrays: Arrays) -> FragmentVectorizer:
    """Return the transformer; inconsistent content raises ModelFileError."""
    try:
        values = parameters.from_json(FragmentVectorizer, header.get("parameters"))
        vectorizer = FragmentVectorizer(**{**values, "estimator": None, "fragments": None})
        vectorizer.check_parameters()
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    vectorizer.fragments_ = fragment_lists.decode(header, arrays)
    vectorizer.estimator_ = None
    if header.get("fragments_are_given") is True:
        vectorizer.fragments, vectorizer.mined_ = vectorizer.fragments_, []
        return vectorizer
    vectorizer.mined_ = _decoded_mined(vectorizer, arrays)
    if "classes" in arrays:
        are_objects = header.get("classes_are_objects")
        vectorizer.classes_ = checked_classes(arrays["classes"], are_objects)
    if header.get("estimator") is not None:
        _take_learner(vectorizer, header, arrays)
    return vectorizer


# ---------------------------------------------------------------- the estimator


def _encoded_learner(learner: Any) -> tuple[dict[str, Any], Arrays]:
    name = type(learner).__name__
    known, module = _LEARNERS.get(name, (None, None))
    if module is None or type(learner) is not known:
        raise InputTypeError(f"a FragmentVectorizer with an estimator {name} cannot be saved")
    content, arrays = module.encode(learner)
    return {"name": name, "content": content}, {_LEARNER + k: a for k, a in arrays.items()}


def _take_learner(vectorizer: FragmentVectorizer, header: dict[str, Any], arrays: Arrays) -> None:
    entry, was_fitted = header["estimator"], header.get("estimator_was_fitted")
    name = entry.get("name") if isinstance(entry, dict) else None
    content = entry.get("content") if isinstance(entry, dict) else None
    if not isinstance(name, str) or name not in _LEARNERS or not isinstance(content, dict):
        raise ModelFileError("the header does not say which estimator the fragments come from")
    if not isinstance(was_fitted, bool):
        raise ModelFileError("the header does not say whether the estimator was fitted")
    learner = _LEARNERS[name][1].decode(content, arrays_of(arrays, _LEARNER))
    n_problems = len(vectorizer.mined_)
    vectorizer.estimator_ = learner
    vectorizer.estimator = learner if was_fitted else clone(learner)
    vectorizer.coef_ = floats_of(arrays, "coef", (n_problems, len(vectorizer.fragments_)))
    vectorizer.intercept_ = floats_of(arrays, "intercept", (n_problems,))


# ---------------------------------------------------------------- fragments of each class


def _encoded_mined(vectorizer: FragmentVectorizer) -> Arrays:
    """Return the fragments of all problems, concatenated, by their columns."""
    mined: list[MinedFragments] = vectorizer.mined_
    return {
        "mined.columns": np.concatenate(vectorizer.columns()).astype(np.int64),
        "mined.ends": np.cumsum([found.n for found in mined]).astype(np.int64),
        "mined.weight": np.concatenate([found.weight for found in mined]),
        "mined.relevance": np.concatenate([found.relevance for found in mined]),
        "mined.frequency": np.concatenate([found.frequency for found in mined]),
        "mined.figures": np.array([[f.base, f.threshold, f.norm] for f in mined]),
    }


def _decoded_mined(vectorizer: FragmentVectorizer, arrays: Arrays) -> list[MinedFragments]:
    n_problems = len(array_of(arrays, "mined.ends"))
    n = len(array_of(arrays, "mined.columns"))
    ends = integers_of(arrays, "mined.ends", n_problems)
    columns = integers_of(arrays, "mined.columns", n)
    fragments = vectorizer.fragments_
    begins = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    right = n_problems > 0 and (np.diff(begins) >= 0).all() and begins[-1] == n
    if not right or not (columns < len(fragments)).all():
        raise ModelFileError("the fragments of the classes are inconsistent")

    def parts(values: NDArray[Any]) -> list[NDArray[Any]]:
        return np.split(values, ends[:-1])

    figures = floats_of(arrays, "mined.figures", (n_problems, 3)).tolist()
    return [
        MinedFragments(
            fragments[places],
            weight,
            relevance,
            frequency,
            base=own[0],
            threshold=own[1],
            norm=own[2],
            criterion=vectorizer.criterion,
        )
        for places, weight, relevance, frequency, own in zip(
            parts(columns),
            parts(floats_of(arrays, "mined.weight", (n,))),
            parts(floats_of(arrays, "mined.relevance", (n,))),
            parts(integers_of(arrays, "mined.frequency", n)),
            figures,
            strict=True,
        )
    ]
