"""Make a corpus in parts from files, from Dask or from data in memory."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from filbert.corpus.dask_objects import delayed_piece, is_dask, pieces_of_dask
from filbert.corpus.from_files import pieces_of_files
from filbert.corpus.memory import rows_of
from filbert.corpus.parts import Parts
from filbert.corpus.pieces import Given, Piece
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.given import described
from filbert.read.formats import Columns, Empty, Header, LabelColumn, Labels
from filbert.read.gathered import Vocabulary
from filbert.read.reader import OnError, check_on_error


def parts(
    source: Any,
    *,
    n_parts: int | None = None,
    format: str | None = None,
    label: LabelColumn = None,
    tree: Columns = None,
    features: Columns = None,
    header: Header = "auto",
    bare_words: bool = False,
    labels: Labels = "auto",
    empty: Empty | None = None,
    tree_format: str | None = None,
    n_features: int | None = None,
    vocabulary: Vocabulary | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
    **options: Any,
) -> Parts:
    r"""Make a corpus in parts, for data that are larger than memory or for a Dask cluster.

    Learners take the corpus in place of X: ``TreeSVC().fit(filbert.parts("corpus/*.tsv"))``. Each
    part must fit into memory. Learners load the parts several times.

    Parameters
    ----------
    source : path, pattern, folder or list of paths; Dask object; or list of parts
        *Files* are those of :func:`filbert.read_examples`, also compressed. They must not change.
        On Dask, the workers read them, so all workers need the same paths.
        *Dask*: a ``dask.bag`` of lines or of (label, tree) pairs, a ``dask.dataframe`` with a
        column of trees, or a list of delayed objects. Each partition is a part.
        *Parts in memory* are Forests, Examples or (X, y) pairs.
    n_parts : int, optional
        Files: the number of parts, which get about the same amount of text. Files of TSV, JSON
        Lines, SVM-light-TK, KeLP and bracket formats are split at line ends if they are not
        compressed. Other files are not split, so there may be fewer parts. By default, a part has
        about 64 MB of text. Parts should not be small: each is trained by itself first.
    format, label, tree, features, header, bare_words, empty, tree_format, on_error, n_jobs
        As for :func:`filbert.read_examples`. ``label=False`` reads trees without labels, also from
        files in a tree format. For a ``dask.dataframe``, `label`, `tree` and `features` are names
        of columns, by default ``"label"``, ``"tree"`` and none.
    labels : {"auto", "text", "numbers"}
        As for :func:`filbert.read_examples`. The first examples decide for all parts.
    n_features : int, optional
        The width of matrices of numbered features, the same in all parts. Required if there are
        numbered features.
    vocabulary : mapping, optional
        As for :func:`filbert.read_examples`. Required if there are named features.
    **options
        The options of the format, as for :func:`filbert.read_examples`.

    Returns
    -------
    Parts
        The corpus.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.tsv").write_text("yes\t(a b)\nno\t(a c)\n")
    >>> _ = (folder / "b.tsv").write_text("no\t(a (c d))\n")
    >>> corpus = parts(folder / "*.tsv", n_parts=2)
    >>> len(corpus), corpus.labels().tolist()
    (3, ['yes', 'no', 'no'])
    >>> [X.n_nodes for X in corpus.map(lambda X: X)]
    [4, 3]
    """
    check_on_error(on_error)
    if n_parts is not None and (
        isinstance(n_parts, bool) or not isinstance(n_parts, int) or n_parts < 1
    ):
        raise InvalidParameterError(f"n_parts must be a positive integer, got {n_parts!r}")
    reading = {
        "format": format,
        "label": label,
        "tree": tree,
        "features": features,
        "header": header,
        "bare_words": bare_words,
        "labels": labels,
        "empty": empty,
        "tree_format": tree_format,
        "n_features": n_features,
        "vocabulary": vocabulary,
        "on_error": on_error,
    }
    if is_dask(source):
        _check_not_given("n_parts", n_parts, "repartition the Dask object")
        return Parts(pieces_of_dask(source, {**reading, **options}, n_jobs))
    if _is_of_paths(source):
        return Parts(pieces_of_files(source, n_parts, reading, options, n_jobs))
    _check_is_list(source)
    _check_not_given("n_parts", n_parts, "pass a list with that many parts")
    for name, value in {**reading, **options}.items():
        if name in options or value != _DEFAULTS.get(name):
            _check_not_given(name, value, "it says how files are read, which these parts are not")
    return Parts([_piece(one, f"part {i}") for i, one in enumerate(source)])


_DEFAULTS = {"header": "auto", "bare_words": False, "labels": "auto", "on_error": "raise"}


def _piece(one: Any, name: str) -> Piece:
    return delayed_piece(one, name) if is_dask(one) else Given(name, rows_of(one, name))


def _is_of_paths(source: Any) -> bool:
    if isinstance(source, list | tuple) and source:
        return all(isinstance(one, str | os.PathLike) for one in source)
    return isinstance(source, str | os.PathLike)


def _check_not_given(name: str, value: Any, hint: str) -> None:
    if value is not None:
        raise InvalidParameterError(f"{name}= does not apply here: {hint}")


def _check_is_list(source: Any) -> None:
    """Raise an error, with the way out, for anything but a list of parts."""
    if isinstance(source, Parts):
        raise InputTypeError("this is a corpus in parts already")
    if isinstance(source, Forest | Examples) or _is_table(source):
        raise InputTypeError(
            f"{described(source)} is in one piece: pass it to `fit` as it is, or pass a list of "
            "parts, such as [(X[:n], y[:n]), (X[n:], y[n:])]"
        )
    if isinstance(source, Iterator) or hasattr(source, "read"):
        raise InputTypeError(
            f"parts are loaded several times, but {described(source)} can be read only once: pass "
            "paths, or a list of parts"
        )
    if not isinstance(source, list | tuple):
        raise InputTypeError(
            "a corpus in parts is made from paths, a Dask object or a list of parts, not from "
            f"{described(source)}"
        )
    if not source:
        raise InvalidParameterError("the list of parts is empty: pass at least one")
    if isinstance(source, tuple) and len(source) == 2 and not _is_part(source[1]):
        raise InputTypeError("a pair (X, y) is one part: pass a list of such pairs")
    if any(isinstance(one, str | bytes) for one in source):
        raise InputTypeError(
            "lines and trees are not parts: pass paths, or a list of (X, y) with several trees in "
            "each X. For lines in memory, use filbert.read_examples"
        )


def _is_part(one: Any) -> bool:
    return isinstance(one, Forest | Examples | tuple) or is_dask(one)


def _is_table(source: Any) -> bool:
    return isinstance(source, Mapping) or (
        hasattr(source, "shape") and isinstance(source, Iterable)
    )
