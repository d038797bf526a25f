"""The result of a hyper-parameter search, which a file holds in place of the search itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from filbert.errors import FilbertError, InputTypeError, ModelFileError
from filbert.persist import plain
from filbert.persist.archive import Arrays, DecodePart, EncodePart
from filbert.persist.checked import arrays_of

_DELEGATED = {
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"),
    *("classes_", "n_features_in_", "feature_names_in_", "_estimator_type"),
}
_BEST, _RESULTS = "best.", "results."  # prefixes of the names of arrays


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What :func:`filbert.load` gives for a fitted GridSearchCV or another search.

    It predicts with the best estimator, and has the attributes of the search that are plain data.
    It cannot be fitted again, because the folds, the scores and the grid of a search may be code.

    Attributes
    ----------
    search : str
        The class of the search, such as ``"GridSearchCV"``.
    best_estimator_ : estimator
    best_params_ : dict or None
    best_score_ : float or None
    best_index_ : int or None
        None, as for the two above, if the search does not have it.
    cv_results_ : dict
        As in scikit-learn. Among parameters, estimators and functions are given as text.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.model_selection import GridSearchCV
    >>> from filbert import TreeSVC, load, save
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> search = GridSearchCV(TreeSVC(random_state=0), {"C": [0.1, 1]}, cv=2).fit(X, [0, 0, 1, 1])
    >>> path = tempfile.mkdtemp() + "/search.filbert"
    >>> save(search, path)
    >>> result = load(path)
    >>> result.search, sorted(result.best_params_), result.predict(X[:1])
    ('GridSearchCV', ['C'], array([0]))
    """

    search: str
    best_estimator_: Any
    best_params_: dict[str, Any] | None
    best_score_: float | None
    best_index_: int | None
    cv_results_: dict[str, Any]

    def fit(self, X: Any, y: Any = None) -> NoReturn:
        """Raise InputTypeError. Pipelines need this method, but a result cannot be fitted.

        Parameters
        ----------
        X, y
            Not used.
        """
        raise InputTypeError(
            f"a file holds the result of a {self.search}, not the search: fit a new {self.search}, "
            "or its best_estimator_"
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return self.best_estimator_.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name not in _DELEGATED:
            raise AttributeError(f"a SearchResult has no {name!r}: see its best_estimator_")
        return getattr(self.best_estimator_, name)

    def __repr__(self) -> str:
        n = len(self.cv_results_["params"])
        return (
            f"SearchResult of {self.search}: best of {n:,} candidates {self.best_params_}, "
            f"score {self.best_score_}"
        )


def is_search(model: Any) -> bool:
    """Return whether a model is a fitted search with a best estimator, or its result."""
    return hasattr(model, "best_estimator_") and isinstance(
        getattr(model, "cv_results_", None), Mapping
    )


def encode(search: Any, part: EncodePart) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted search."""
    best, own = part(search.best_estimator_)
    arrays = {_BEST + name: array for name, array in own.items()}
    results, candidates = search.cv_results_, search.cv_results_.get("params", [])
    numbers = {
        name: np.asarray(column)
        for name, column in results.items()
        if name != "params" and not name.startswith("param_")
    }
    columns = [name for name, column in numbers.items() if _is_stored(column, len(candidates))]
    arrays |= {f"{_RESULTS}{i}": numbers[name] for i, name in enumerate(columns)}
    is_result = isinstance(search, SearchResult)
    return {
        "search": search.search if is_result else type(search).__name__,
        "best": best,
        "best_params": _values(getattr(search, "best_params_", None)),
        "best_score": plain.to_json(getattr(search, "best_score_", None)),
        "best_index": plain.to_json(getattr(search, "best_index_", None)),
        "candidates": [_values(candidate) for candidate in candidates],
        "columns": columns,
    }, arrays


def decode(header: dict[str, Any], arrays: Arrays, part: DecodePart) -> SearchResult:
    """Return the result; inconsistent content raises ModelFileError."""
    entries, columns, name = (header.get(key) for key in ("candidates", "columns", "search"))
    if not isinstance(entries, list) or not isinstance(columns, list) or not isinstance(name, str):
        raise ModelFileError("the header does not list the candidates of the search")
    best = part(header.get("best"), arrays_of(arrays, _BEST))
    try:
        candidates = [_parameters(entry) for entry in entries]
        chosen = None if header.get("best_params") is None else _parameters(header["best_params"])
        score = plain.from_json(header.get("best_score"))
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    index = header.get("best_index")
    if not isinstance(score, int | float | None) or not isinstance(index, int | None):
        raise ModelFileError("the score of the best candidate is not a number")
    results = _numbers(columns, arrays_of(arrays, _RESULTS), len(candidates))
    results |= {**_by_parameter(candidates), "params": candidates}
    return SearchResult(name, best, chosen, score, index, results)


def _is_stored(column: Any, n: int) -> bool:
    return column.shape == (n,) and column.dtype.kind in "biuf" and column.dtype.itemsize <= 8


def _values(candidate: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if candidate is None else {k: _value(v) for k, v in candidate.items()}


def _value(value: Any) -> Any:
    try:
        return plain.to_json(value)
    except FilbertError:
        return repr(value)


def _parameters(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ModelFileError("the parameters of a candidate are not a JSON object")
    return {name: plain.from_json(value) for name, value in entry.items()}


def _numbers(columns: list[Any], arrays: Arrays, n: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for i, name in enumerate(columns):
        column = arrays.get(str(i))
        if not isinstance(name, str) or column is None or not _is_stored(column, n):
            raise ModelFileError(f"the figures {str(name)[:40]!r} of the search are inconsistent")
        found[name] = column
    return found


def _by_parameter(candidates: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a column for each parameter, masked where a candidate does not have it."""
    columns: dict[str, Any] = {}
    for name in sorted({name for candidate in candidates for name in candidate}):
        column: Any = np.ma.array(np.empty(len(candidates), dtype=object), mask=True)
        for i, candidate in enumerate(candidates):
            if name in candidate:
                column[i] = candidate[name]
        columns[f"param_{name}"] = column
    return columns
