"""Save a model to a file, and load it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from filbert.atomic import replacing
from filbert.errors import (
    FilbertError,
    InputTypeError,
    InvalidParameterError,
    MissingFileError,
    ModelFileError,
)
from filbert.persist import kinds
from filbert.persist.archive import ArchiveReader, open_archive, write_archive

FORMAT = "filbert-model"
VERSION = 1  # how to change it: docs/model-files.md


def save(
    model: Any, path: str | os.PathLike[str], *, reading: Mapping[str, Any] | None = None
) -> None:
    """Write models, pipelines, searches, trees, kernels or results to a file, for :func:`load`.

    The same model gives the same bytes. An existing file is replaced only when the new one is
    complete. A `random_state` that is not a number is not stored.

    Parameters
    ----------
    model : estimator of Filbert, Pipeline, search, Forest, Examples or Explanation
        All estimators must be fitted. The steps of a Pipeline may be Filbert's estimators and those
        of scikit-learn that the page on model files lists. Of a search, the file holds the best
        estimator and the figures of all candidates.
    path : path
        The file to write. It is complete or unchanged.
    reading : mapping, optional
        How the trees were read: their `format`, and its `settings` as a list of texts such as
        ``"attributes=true"``. The commands read other data of this format alike.

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
    check_path(path)
    if callable(getattr(model, "save", None)):  # an index, which is a folder
        raise InputTypeError(f"a {type(model).__name__} is saved by its own method, save(path)")
    entry, arrays = kinds.encode(model)
    header = {"format": FORMAT, "version": VERSION, "filbert": version("filbert"), **entry}
    if reading is not None:
        header["reading"] = checked_reading(reading, InvalidParameterError)
    with replacing(path) as stream:
        write_archive(stream, header, arrays)


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Load what :func:`save` wrote. A loaded estimator predicts the same to the last bit.

    Nothing in a file is executed, so files of unknown origin can be loaded. Any defect in a file
    raises :class:`~filbert.errors.ModelFileError`.

    Parameters
    ----------
    path : path
        The file.
    mmap : bool
        Leave large arrays of numbers in the file and map them into memory, read-only. Trees are
        always copied. The checksums of mapped arrays are not checked, and the file must not be
        shortened or overwritten in place while it is in use. :func:`save` never does so.

    Returns
    -------
    estimator or Explanation
        What was saved.

    Examples
    --------
    >>> import tempfile
    >>> from filbert import Forest, load, save
    >>> path = tempfile.mkdtemp() + "/trees.filbert"
    >>> save(Forest(["(S (NP a) (VP b))"]), path)
    >>> load(path)
    Forest of 1 tree: 5 nodes, 5 distinct subtrees
      0  (S (NP a) (VP b))
    """
    with _opened(path, mmap) as archive:
        return kinds.decode(archive.header, archive.arrays())


def load_predictor(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> Any:
    """Load only what predicts, which needs no scikit-learn for the learners of Filbert.

    Of a TreeSVC and a TreePerceptron, it returns an object with `classes_`, `decision_function` and
    `predict`, which give the same values to the last bit. Anything else is loaded by :func:`load`.

    Parameters
    ----------
    path : path
        The file.
    n_jobs : int, optional
        Threads for predicting, whatever the estimator was saved with.

    Returns
    -------
    object
        What predicts.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVC(random_state=0).fit(X, [0, 0, 1, 1])
    >>> import tempfile
    >>> from filbert import save
    >>> path = tempfile.mkdtemp() + "/model.filbert"
    >>> save(clf, path)
    >>> load_predictor(path).predict(["(Q (VP e) (NP a))"])
    array([1])
    """
    with _opened(path) as archive:
        return kinds.decode_predictor(archive.header, archive.arrays(), n_jobs)


def reading_of(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Return how the trees of a model were read, if its file says so: see :func:`save`.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict or None
        The `format` of the trees, and its `settings`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from filbert import TreeSVC, save
    >>> clf = TreeSVC().fit(["(a (b (@id x)))", "(a (b (@id y)))"], ["yes", "no"])
    >>> with TemporaryDirectory() as folder:
    ...     path = f"{folder}/pages.filbert"
    ...     save(clf, path, reading={"format": "xml", "settings": ["attributes=true"]})
    ...     reading_of(path)
    {'format': 'xml', 'settings': ['attributes=true']}
    """
    with _opened(path) as archive:
        found = archive.header.get("reading")
        return None if found is None else checked_reading(found, ModelFileError)


def checked_reading(reading: Any, error: type[FilbertError]) -> dict[str, Any]:
    """Return a format and its settings; raise an error if they are something else."""
    found = dict(reading) if isinstance(reading, Mapping) else {}
    format, settings = found.get("format"), found.get("settings")
    if (
        found.keys() != {"format", "settings"}
        or not isinstance(format, str)
        or not isinstance(settings, list)
        or not all(isinstance(text, str) and "=" in text for text in settings)
        or not "".join([format, *settings]).isprintable()  # commands show them in a terminal
    ):
        raise error("reading: expected a format and a list of settings such as 'attributes=true'")
    return found


@contextmanager
def _opened(path: str | os.PathLike[str], mmap: bool = False) -> Iterator[ArchiveReader]:
    """Open a file of this version. Errors within the block name the file."""
    check_path(path)
    try:
        with open(path, "rb") as stream, open_archive(stream, mapped=bool(mmap)) as archive:
            check_version(archive.header)
            yield archive
    except FileNotFoundError:
        raise MissingFileError(path) from None
    except IsADirectoryError:
        raise ModelFileError(
            "this is a folder, not a model file", "for an index, use TreeIndex.load"
        ).located(path) from None
    except ModelFileError as error:
        raise error.located(path) from None


def check_format(header: dict[str, Any]) -> int:
    """Return the format version of a file; raise ModelFileError if it is not a model file."""
    if header.get("format") != FORMAT:
        raise ModelFileError("this zip file is not a Filbert model")
    number = header.get("version")
    if type(number) is not int or number < 1:
        raise ModelFileError("the header has no format version")
    return number


def check_version(header: dict[str, Any]) -> None:
    """Raise ModelFileError if a file is not a model file that this version can read."""
    number, writer = check_format(header), str(header.get("filbert"))[:40]
    if number > VERSION:
        raise ModelFileError(
            f"it was written by Filbert {writer} in format version {number}, but this version "
            f"reads format versions up to {VERSION}",
            hint="update Filbert, or save the model again with this version",
        )


def check_path(path: Any) -> None:
    """Raise InputTypeError for anything but a path, such as an open file."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(
            f"expected a path, got {type(path).__name__}: open files are not supported"
        )
