"""Saving a model to a file, and loading it."""

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from filbert.errors import InputTypeError, MissingFileError, ModelFileError
from filbert.learners.fragments import FragmentVectorizer
from filbert.learners.perceptron import TreePerceptron
from filbert.learners.svm import TreeSVC
from filbert.persist import perceptrons, support_vectors, vectorizers
from filbert.persist.archive import Arrays, open_archive, write_archive
from filbert.persist.atomic import replacing

FORMAT = "filbert-model"
VERSION = 1  # how to change it: docs/model-files.md

# What files may hold. A name in a file means what it means here, and is never imported.
_Encode = Callable[[Any], tuple[dict[str, Any], Arrays]]
_Decode = Callable[[dict[str, Any], Arrays], Any]
_ESTIMATORS: dict[str, tuple[type, _Encode, _Decode]] = {
    "FragmentVectorizer": (FragmentVectorizer, vectorizers.encode, vectorizers.decode),
    "TreePerceptron": (TreePerceptron, perceptrons.encode, perceptrons.decode),
    "TreeSVC": (TreeSVC, support_vectors.encode, support_vectors.decode),
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, for :func:`load`.

    The same model gives the same bytes. A file that was there is replaced only when the new one is
    complete. A `random_state` that is not a number is not kept.

    Parameters
    ----------
    model : TreeSVC, TreePerceptron or FragmentVectorizer
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
    name = type(model).__name__
    known, encode, _ = _ESTIMATORS.get(name, (None, None, None))
    if encode is None or type(model) is not known:
        raise InputTypeError(
            f"save takes a fitted {' or '.join(_ESTIMATORS)}, not {name}: "
            "save that part of a pipeline or search"
        )
    content, arrays = encode(model)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "filbert": version("filbert"),
        "estimator": name,
        "content": content,
    }
    with replacing(path) as stream:
        write_archive(stream, header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read what :func:`save` wrote: an estimator that predicts the same to the last bit.

    Nothing in a file is run, so files of unknown origin can be loaded; whatever is wrong with one
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


def _decoder(header: dict[str, Any]) -> _Decode:
    if header.get("format") != FORMAT:
        raise ModelFileError("this zip is not a model of Filbert")
    number, writer = header.get("version"), str(header.get("filbert"))[:40]
    if type(number) is not int or number < 1:
        raise ModelFileError("the header does not tell the version of the format")
    if number > VERSION:
        raise ModelFileError(
            f"it was written by Filbert {writer} in version {number} of the format, and this one "
            f"reads up to version {VERSION}",
            hint="update Filbert, or save the model with this version",
        )
    name = header.get("estimator")
    if not isinstance(name, str) or name not in _ESTIMATORS:
        raise ModelFileError(f"it holds an estimator {str(name)[:40]!r}, which is not known here")
    if not isinstance(header.get("content"), dict):
        raise ModelFileError("the header has no content")
    return _ESTIMATORS[name][2]


def _check_path(path: Any) -> None:
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"expected a path, got {type(path).__name__}: open files are not one")
