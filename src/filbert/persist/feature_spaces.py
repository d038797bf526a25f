"""Encode a fitted TreeFeatures as a header and arrays, and decode it."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from filbert import _core
from filbert.engine.feature_space import FeatureSpace
from filbert.errors import FilbertError, ModelFileError
from filbert.examples import feature_names_of
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import rows_for
from filbert.kernels.terms import terms_of
from filbert.learners.tree_features import TreeFeatures
from filbert.persist import parameters, rows
from filbert.persist.archive import Arrays
from filbert.persist.checked import array_of, arrays_of, floats_of

_EXAMPLES = "examples."  # prefix of the names of the training examples' arrays

# The arrays of a term, in the order of StoredFactors.
_ARRAYS: dict[str, type[np.generic]] = {
    "begin": np.uint64,
    "columns": np.uint32,
    "value_begin": np.uint64,
    "values": np.float64,
    "mass": np.float64,
    "scale": np.float64,
    "diagonal": np.float64,
    "self": np.float64,
    "lost": np.float64,
}


def encode(features: TreeFeatures) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for a fitted transformer."""
    check_is_fitted(features)
    features.check_parameters()
    space = features.space_
    entries, arrays = rows.encode(space.examples, _EXAMPLES)
    for number, (term, scale) in enumerate(zip(space.terms, space.scales, strict=True)):
        own: Arrays = dict(zip(_ARRAYS, cast(Any, term.arrays()), strict=True))
        arrays |= {f"{number}.{name}": array for name, array in own.items()}
        arrays[f"{number}.scale_of_term"] = scale
    header = {
        "parameters": parameters.to_json(features),
        "kernel": parameters.kernel_to_json(space.kernel),
        "examples": entries,
        "private": features.n_features_ > space.n_shared,
    }
    return header, arrays


def decode(header: dict[str, Any], arrays: Arrays) -> TreeFeatures:
    """Return the transformer; inconsistent content raises ModelFileError."""
    try:
        features = TreeFeatures(**parameters.from_json(TreeFeatures, header.get("parameters")))
        features.check_parameters()
        kernel = parameters.kernel_from_json(header.get("kernel"))
        examples = rows.decode(header.get("examples"), arrays_of(arrays, _EXAMPLES))
        rows_for(kernel, examples)
        known = [term.scale.size for term in terms_of(kernel, examples)]
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None
    private = header.get("private")
    if n_examples(examples) == 0 or not isinstance(private, bool):
        raise ModelFileError("there are no training examples")
    terms, scales = [], []
    for number, n in enumerate(known):
        own = arrays_of(arrays, f"{number}.")
        scales.append(floats_of(own, "scale_of_term", (n,)))
        terms.append(_decoded(own, n))
    space = FeatureSpace(kernel, examples, terms, scales)
    features._take(space, feature_names_of(examples), private=private)
    return features


def _decoded(arrays: Arrays, n_trees: int) -> _core.StoredFactors:
    try:
        term = _core.StoredFactors(*(_typed(arrays, name, kind) for name, kind in _ARRAYS.items()))
    except ValueError as error:
        raise ModelFileError(str(error)) from None
    if term.n_trees != n_trees:
        raise ModelFileError(f"the features are of {term.n_trees:,} trees, not of {n_trees:,}")
    return term


def _typed(arrays: Arrays, name: str, kind: type[np.generic]) -> NDArray[Any]:
    array = array_of(arrays, name)
    if array.dtype != kind or array.ndim != 1:
        raise ModelFileError(f"the array {name!r} is of the wrong type")
    return np.ascontiguousarray(array)
