"""Save a model to a file, and load it."""

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from filbert.errors import InputTypeError, MissingFileError, ModelFileError
from filbert.explanations import Explanation
from filbert.forest import Forest
from filbert.learners.embedding import DistributedTreeEmbedding
from filbert.learners.fragments import FragmentVectorizer
from filbert.learners.perceptron import TreePerceptron
from filbert.learners.svm import TreeSVC
from filbert.learners.symbol_selection import SymbolSelector
from filbert.persist import (
    embeddings,
    explained,
    forests,
    perceptrons,
    selectors,
    support_vectors,
    vectorizers,
)
from filbert.persist.archive import Arrays, open_archive, write_archive
from filbert.persist.atomic import replacing
from filbert.unpack import unpacked

FORMAT = "filbert-model"
VERSION = 1  # how to change it: docs/model-files.md

# The kinds of content. A name in a file is looked up only in this table and never imported.
_Encode = Callable[[Any], tuple[dict[str, Any], Arrays]]
_Decode = Callable[[dict[str, Any], Arrays], Any]
_KINDS: dict[str, tuple[type, _Encode, _Decode]] = {
    "TreeSVC": (TreeSVC, support_vectors.encode, support_vectors.decode),
    "TreePerceptron": (TreePerceptron, perceptrons.encode, perceptrons.decode),
    "FragmentVectorizer": (FragmentVectorizer, vectorizers.encode, vectorizers.decode),
    "SymbolSelector": (SymbolSelector, selectors.encode, selectors.decode),
    "DistributedTreeEmbedding": (DistributedTreeEmbedding, embeddings.encode, embeddings.decode),
    "Forest": (Forest, forests.encode, forests.decode),
    "Explanation": (Explanation, explained.encode, explained.decode),
}

SAVED = frozenset(kind for kind, _, _ in _KINDS.values())  # the types that can be saved


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, a forest or an explanation to a file, for :func:`load`.

    The same model gives the same bytes. An existing file is replaced only when the new one is
    complete. A `random_state` that is not a number is not stored.

    Parameters
    ----------
    model : estimator of Filbert, Forest or Explanation
        For a fitted search, the best estimator is saved. A Pipeline of several steps cannot be
        saved as a whole.
    path : path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from filbert import TreeSVC
    >>> clf = TreeSVC().fit(["(S (A a))", "(S (B b))"], ["yes", "no"])
    >>> with TemporaryDirectory() as folder:
    ...     save(clf, f"{folder}/answers.filbert")
    ...     load(f"{folder}/answers.filbert").predict(["(S (B c) (B b))"])
    array(['no'], dtype='<U3')
    """
    _check_path(path)
    model = _alone(model)
    name = type(model).__name__
    known, encode, _ = _KINDS.get(name, (None, None, None))
    if encode is None or type(model) is not known:
        raise InputTypeError(
            f"save takes one of {', '.join(_KINDS)}, or a pipeline or search that ends with one, "
            f"not {name}"
        )
    content, arrays = encode(model)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "filbert": version("filbert"),
        "kind": name,
        "content": content,
    }
    with replacing(path) as stream:
        write_archive(stream, header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load what :func:`save` wrote. A loaded estimator predicts the same to the last bit.

    Nothing in a file is executed, so files of unknown origin can be loaded. Any defect in a file
    raises :class:`~filbert.errors.ModelFileError`.
    """
    _check_path(path)
    try:
        with open(path, "rb") as stream, open_archive(stream) as archive:
            decode = _decoder(archive.header)
            return decode(archive.header["content"], archive.arrays())
    except FileNotFoundError:
        raise MissingFileError(path) from None
    except ModelFileError as error:
        raise error.located(path) from None


def _alone(model: Any) -> Any:
    """Return the estimator in a pipeline or search; raise if the pipeline has other steps."""
    before, learner = unpacked(model)
    if before:
        steps = ", ".join(type(step).__name__ for step in before)
        raise InputTypeError(
            f"a file holds one estimator, but this pipeline has others before it: {steps}. Save "
            "pipeline[-1], and make a pipeline of these steps and the loaded estimator"
        )
    return learner


def _decoder(header: dict[str, Any]) -> _Decode:
    if header.get("format") != FORMAT:
        raise ModelFileError("this zip file is not a Filbert model")
    number, writer = header.get("version"), str(header.get("filbert"))[:40]
    if type(number) is not int or number < 1:
        raise ModelFileError("the header has no format version")
    if number > VERSION:
        raise ModelFileError(
            f"it was written by Filbert {writer} in format version {number}, but this version "
            f"reads format versions up to {VERSION}",
            hint="update Filbert, or save the model again with this version",
        )
    name = header.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        raise ModelFileError(f"it holds a {str(name)[:40]!r}, which this version does not know")
    if not isinstance(header.get("content"), dict):
        raise ModelFileError("the header has no content")
    return _KINDS[name][2]


def _check_path(path: Any) -> None:
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(
            f"expected a path, got {type(path).__name__}: open files are not supported"
        )
