"""The kinds of content that a file may hold, and how each one is encoded.

A kind is imported when it is needed, because some kinds need libraries that take long to import.
"""

import sys
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from filbert.errors import InputTypeError, InvalidParameterError, ModelFileError
from filbert.kernels import Kernel
from filbert.persist import searches, sklearn_table, transformers
from filbert.persist.archive import Arrays
from filbert.unpack import set_jobs, unpacked


class Kind(NamedTuple):
    """Where a class is defined, and the module of this folder that encodes it.

    The module has the functions `encode` and `decode`. If `what` is not empty, they are called
    ``encode_{what}`` and ``decode_{what}``.
    """

    home: str
    codec: str
    what: str = ""

    def encoder(self) -> Any:
        """Return the function that encodes an object."""
        return self._function("encode")

    def decoder(self) -> Any:
        """Return the function that decodes an object."""
        return self._function("decode")

    def _function(self, verb: str) -> Any:
        name = f"{verb}_{self.what}" if self.what else verb
        return getattr(_codec(self.codec), name)


# A name in a file is looked up only in these tables, and those of kernels, of transformers and of
# scikit-learn's estimators. It is never imported.
ESTIMATORS = {
    "TreeSVC": Kind("filbert.learners.svm", "tree_svc"),
    "TreeLogisticRegression": Kind("filbert.learners.logistic", "tree_logistic"),
    "TreePerceptron": Kind("filbert.learners.perceptron", "tree_perceptron"),
    "TreeRanker": Kind("filbert.learners.ranker", "tree_ranker"),
    "TreeSVR": Kind("filbert.learners.svr", "tree_svr"),
    "FragmentVectorizer": Kind("filbert.learners.fragments", "vectorizers"),
    "SymbolSelector": Kind("filbert.learners.symbol_selection", "selectors"),
    "DistributedTreeEmbedding": Kind("filbert.learners.embedding", "embeddings"),
    "PatternVectorizer": Kind("filbert.learners.pattern_vectorizer", "pattern_vectorizers"),
    "KernelMatrix": Kind("filbert.learners.kernel_matrix", "kernel_matrices"),
    "TreeFeatures": Kind("filbert.learners.tree_features", "feature_spaces"),
}
_LEAVES = {
    **ESTIMATORS,
    "Forest": Kind("filbert.forest", "forests"),
    "Tree": Kind("filbert.tree", "small", "tree"),
    "Examples": Kind("filbert.examples", "example_sets"),
    "Explanation": Kind("filbert.explanations.data", "explained"),
    "Fragment": Kind("filbert.fragments.data", "small", "fragment"),
    "Fragments": Kind("filbert.fragments.data", "fragment_lists"),
    "MinedFragments": Kind("filbert.fragments.mined", "fragment_lists", "mined"),
    "SupportVectorModel": Kind("filbert.model", "support_vectors"),
    "OneHotColumns": Kind("filbert.datasets.one_hot", "one_hot"),
    "RandomizationResult": Kind("filbert.metrics", "small", "test"),
    "Kernel": Kind("filbert.kernels.algebra", "small", "kernel"),
}
# The functions of these also take a function that encodes or decodes their parts.
_COMPOSED = {
    "Pipeline": Kind("sklearn.pipeline", "pipelines", "pipeline"),
    "FeatureUnion": Kind("sklearn.pipeline", "pipelines", "union"),
    "CalibratedClassifierCV": Kind("sklearn.calibration", "calibrated"),
    "SearchResult": Kind("filbert.persist.searches", "searches"),
    "TreeSVCCV": Kind("filbert.learners.svm_search", "tree_svc_cv"),
}
# The parts of estimators that predict, by the name of the estimator.
_PREDICTORS = {
    "TreeSVC": Kind("filbert.predictors", "support_vectors", "classifier"),
    "TreeLogisticRegression": Kind("filbert.predictors", "support_vectors", "logistic"),
    "TreePerceptron": Kind("filbert.learners.perceptron_classifier", "perceptrons", "classifier"),
    "TreeRanker": Kind("filbert.predictors", "support_vectors", "regressor"),
    "TreeSVR": Kind("filbert.predictors", "support_vectors", "regressor"),
}
_DEEPEST = 10  # nesting of pipelines and searches: a file must not exhaust the stack


def encode(model: Any, depth: int = 0) -> tuple[dict[str, Any], Arrays]:
    """Return the kind and content of what is saved, and its arrays."""
    if depth > _DEEPEST:
        raise InvalidParameterError(f"pipelines are nested more than {_DEEPEST} deep")
    part = partial(encode, depth=depth + 1)
    name = _name_of(model)
    if name in _LEAVES:
        content, arrays = _LEAVES[name].encoder()(model)
    elif name in _COMPOSED:
        content, arrays = _COMPOSED[name].encoder()(model, part)
    elif transformers.is_known(model):
        name, (content, arrays) = type(model).__name__, transformers.encode(model)
    elif sklearn_table.is_known(model):
        name, (content, arrays) = type(model).__name__, _codec("sklearn_parts").encode(model)
    else:
        raise _refusal(model, depth)
    return {"kind": name, "content": content}, arrays


def decode(entry: Any, arrays: Arrays, depth: int = 0) -> Any:
    """Return what was saved; inconsistent content raises ModelFileError."""
    if depth > _DEEPEST:
        raise ModelFileError(f"pipelines are nested more than {_DEEPEST} deep")
    name, content = _entry(entry)
    if name in _LEAVES:
        return _LEAVES[name].decoder()(content, arrays)
    if name in _COMPOSED:
        return _COMPOSED[name].decoder()(content, arrays, partial(decode, depth=depth + 1))
    if name in transformers.NAMES:
        return transformers.decode(name, content, arrays)
    return _codec("sklearn_parts").decode(name, content, arrays)


def decode_predictor(entry: Any, arrays: Arrays, n_jobs: int | None) -> Any:
    """Return the part of an estimator that predicts, or all that was saved if it has none."""
    name, content = _entry(entry)
    if name in _PREDICTORS:
        return _PREDICTORS[name].decoder()(content, arrays, n_jobs)
    model = decode(entry, arrays)
    set_jobs(model, n_jobs)
    return model


def is_known(kind: str) -> bool:
    """Return whether this version reads a kind of content."""
    tables = (_LEAVES, _COMPOSED, transformers.NAMES, sklearn_table.PARTS)
    return any(kind in table for table in tables)


def is_saved(estimator: Any) -> bool:
    """Return whether an object is one of Filbert's estimators, which can be saved.

    Parameters
    ----------
    estimator : object
        Any object.

    Returns
    -------
    bool
        True if :func:`save` takes it.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> is_saved(TreeSVC()), is_saved("TreeSVC")
    (True, False)
    """
    return _name_of(estimator) in {*ESTIMATORS, "TreeSVCCV"}


def _name_of(model: Any) -> str | None:
    """Return the kind of an object in the tables above. Subclasses are of another kind."""
    name = type(model).__name__
    kind = _LEAVES.get(name) or _COMPOSED.get(name)
    # The module of an object's class has been imported.
    if kind is not None and getattr(sys.modules.get(kind.home), name, None) is type(model):
        return name
    if isinstance(model, Kernel):
        return "Kernel"
    return "SearchResult" if searches.is_search(model) else None


def _entry(entry: Any) -> tuple[str, dict[str, Any]]:
    """Return the kind and the content in a header."""
    name = entry.get("kind") if isinstance(entry, dict) else None
    content = entry.get("content") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not is_known(name):
        raise ModelFileError(f"it holds a {str(name)[:40]!r}, which this version does not know")
    if not isinstance(content, dict):
        raise ModelFileError("the header has no content")
    return name, content


def _codec(module: str) -> Any:
    return import_module(f"filbert.persist.{module}")


def _refusal(model: Any, depth: int) -> InputTypeError:
    name = type(model).__name__
    if depth > 0:
        return InputTypeError(
            f"a {name} cannot be saved, because a file holds no code. Filbert's estimators can be "
            f"saved, and of scikit-learn's {', '.join(sklearn_table.PARTS)}, and pipelines, "
            "unions, searches and calibrated models of these. Save the last step alone, "
            "pipeline[-1], and make a pipeline of the other steps and the loaded estimator"
        )
    unpacked(model)  # raises an error for a search without a best estimator
    return InputTypeError(
        f"save takes one of {', '.join(_LEAVES)}, or a Pipeline or a search of Filbert's and some "
        f"of scikit-learn's estimators, not {name}"
    )
