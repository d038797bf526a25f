"""Read the trees of documents of any format: files, folders, patterns and pipes."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError, ParseError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.progress import progress_bar
from filbert.read.catalogue import TreeFormat
from filbert.read.collected import Collected, TreeCollector, tree_collector
from filbert.read.detection import format_of, selected
from filbert.read.documents import Document
from filbert.read.reader import OnError, check_on_error
from filbert.read.sources import NamedInput, TreeSource, expand, is_single
from filbert.skipped import warn_of_skipped


def read_trees(
    source: TreeSource,
    *,
    format: str | None = None,
    on_error: OnError = "raise",
    verbose: int = 0,
    **options: Any,
) -> Forest | Examples:
    r"""Read trees from documents: parse trees, XML, HTML, JSON, source code and others.

    Parameters
    ----------
    source : path, pattern, folder, "-", open binary file, or list of these
        A pattern such as ``"wsj/**/*.mrg"`` stands for the files that match it. Of a folder, all
        files below it are read that have an extension of the format. Both are sorted by name.
        Hidden files are left out. ``"-"`` is standard input. Compressed files are decompressed.
    format : str, optional
        ``"brackets"``, ``"xml"``, ``"html"``, ``"json"``, ``"python"``, ... By default, it is
        detected from the extension, or from the first characters where they leave no doubt.
    on_error : {"raise", "skip"}
        Whether a bad document raises :class:`~filbert.errors.ParseError`, or is skipped with a
        warning and listed in ``X.skipped``. If the format allows it, a single bad tree is skipped.
        Otherwise, the trees that precede the error in its document are kept. The `sample` of an
        error is the place that its tree would have, except in bracket notation.
    verbose : int
        Show a progress bar over the files if it is above 0.
    **options
        The options of the format.

    Returns
    -------
    Forest or Examples
        A forest if there is nothing but trees. Otherwise Examples with the part ``tree`` and
        columns: those of the format, such as ``line`` or ``name``, and ``file`` if `source` is a
        pattern, a folder or a list.

    Examples
    --------
    >>> import io
    >>> read_trees(io.BytesIO(b"(S (NP a) (VP b))\n(S (NP a) (VP c))"))
    Forest of 2 trees: 10 nodes, 8 distinct subtrees
      0  (S (NP a) (VP b))
      1  (S (NP a) (VP c))
    """
    check_on_error(on_error)
    reading = _Reading(on_error == "skip", options)
    read = reading.read(expand(source), format, verbose)
    forest = Forest._of(read.dag, read.roots)
    columns: dict[str, Any] = dict(read.columns)
    if not is_single(source):
        columns["file"] = np.array(reading.names, dtype=object)[read.document_of]
    X = Examples._of({"tree": forest}, columns) if columns else forest
    X.skipped = read.skipped
    warn_of_skipped(X.skipped, len(forest), stacklevel=2)
    return X


def read_folders(
    source: Any,
    *,
    format: str | None = None,
    on_error: OnError = "raise",
    **options: Any,
) -> tuple[Examples, NDArray[np.str_]]:
    """Read trees, and take the name of the folder of each file as the label of its trees."""
    if is_single(source):
        raise InvalidParameterError(
            'label="folder" needs a folder, a pattern or a list of files: a file has no folder of '
            "its class beside others"
        )
    X = read_trees(source, format=format, on_error=on_error, **options)
    assert isinstance(X, Examples)
    files = X.columns["file"]
    folders = {file: os.path.dirname(os.path.abspath(file)) for file in files.tolist()}
    if isinstance(source, str | os.PathLike):
        for file, folder in folders.items():
            if folder == os.path.abspath(source):
                raise InvalidParameterError(
                    f"{file} has no label: it is in {os.fspath(source)!r} itself, not in a folder "
                    "of its class"
                )
    return X, np.array([os.path.basename(folders[file]) for file in files.tolist()])


class _Reading:
    """The documents of one call of ``read_trees``."""

    def __init__(self, skip: bool, options: dict[str, Any]) -> None:
        self._skip = skip
        self._options = options
        self._kind: TreeFormat | None = None
        self._collector: TreeCollector | None = None
        self.names: list[str] = []
        self._early: list[ParseError] = []  # errors before the format is known

    def read(self, inputs: list[NamedInput], format: str | None, verbose: int) -> Collected:
        """Read all inputs."""
        kind, inputs = selected(inputs, format)
        if kind is not None:
            self._start(kind)
        with progress_bar("reading", show=verbose > 0) as progress:
            for number, one in enumerate(inputs):
                self._add(one, is_known=format is not None)
                if progress is not None:
                    progress(number + 1, len(inputs))
        if self._collector is None:
            raise self._early[0]  # the format of none of the documents is known
        return self._collector.finish()

    def _start(self, kind: TreeFormat) -> TreeCollector:
        self._kind = kind
        options = kind.options(self._options)
        self._collector = tree_collector(kind, options, skip=self._skip)
        for error in self._early:
            self._collector.note(error)
        return self._collector

    def _add(self, one: NamedInput, is_known: bool) -> None:
        try:
            with one.open() as stream:
                kind = format_of(one, stream, self._kind, is_given=is_known)
                collector = self._collector or self._start(kind)
                self.names.append(one.name)
                collector.add(Document(one.name, stream))
        except ParseError as error:
            placed = error if error.source else error.located(source=one.name)
            if not self._skip:
                raise placed from None
            (self._early.append if self._collector is None else self._collector.note)(placed)
