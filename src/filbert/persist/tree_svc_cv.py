"""Encode a fitted TreeSVCCV as a header and arrays, and decode it."""

from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from filbert.errors import FilbertError, ModelFileError
from filbert.learners.svm import TreeSVC
from filbert.learners.svm_search import TreeSVCCV
from filbert.persist import plain, searches
from filbert.persist.archive import Arrays, DecodePart, EncodePart

_COUNTS = ("n_splits", "n_searched")


def encode(search: TreeSVCCV, part: EncodePart) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted search.

    A splitter is code, so its number of folds takes its place. A generator's state is gone.
    """
    check_is_fitted(search)
    search.check_parameters()
    header, arrays = searches.encode(search, part)
    values = search.get_params(deep=False)
    if hasattr(values["cv"], "split"):
        values["cv"] = max(2, search.n_splits_)
    if not isinstance(values["random_state"], int | np.integer):
        values["random_state"] = None
    header["parameters"] = {name: plain.to_json(value) for name, value in values.items()}
    header["left_out"] = plain.to_json(search.left_out_)
    return header | {name: int(getattr(search, f"{name}_")) for name in _COUNTS}, arrays


def decode(header: dict[str, Any], arrays: Arrays, part: DecodePart) -> TreeSVCCV:
    """Return the estimator; inconsistent content raises ModelFileError."""
    found = searches.decode(header, arrays, part)
    search = TreeSVCCV(**_parameters(header.get("parameters")))
    best = found.best_estimator_
    n = len(found.cv_results_["params"])
    if type(best) is not TreeSVC or found.best_params_ is None or found.best_score_ is None:
        raise ModelFileError("the best estimator of the search is not a TreeSVC")
    if found.best_index_ is None or not 0 <= found.best_index_ < n:
        raise ModelFileError("the best setting is not one of the settings of the search")
    search.best_estimator_, search.classes_ = best, best.classes_
    search.best_params_, search.best_score_ = found.best_params_, found.best_score_
    search.best_index_, search.cv_results_ = found.best_index_, found.cv_results_
    for name in _COUNTS:
        value = header.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ModelFileError(f"{name!r} is not a number")
        setattr(search, f"{name}_", value)
    search.left_out_ = _left_out(header.get("left_out"))
    return search


def _parameters(values: Any) -> dict[str, Any]:
    known = signature(TreeSVCCV).parameters
    if not isinstance(values, dict) or not values.keys() <= known.keys():
        raise ModelFileError("the parameters are not those of TreeSVCCV in this version of Filbert")
    try:
        found = {name: plain.from_json(value) for name, value in values.items()}
        TreeSVCCV(**found).check_parameters()
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    except TypeError:
        raise ModelFileError("a parameter of TreeSVCCV has a value of the wrong kind") from None
    return found


def _left_out(entries: Any) -> list[dict[str, Any]]:
    try:
        left_out = plain.from_json(entries)
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    if not isinstance(left_out, list) or not all(isinstance(one, dict) for one in left_out):
        raise ModelFileError("the settings that were left out are not listed")
    return left_out
