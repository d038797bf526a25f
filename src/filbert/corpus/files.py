"""Parts of a corpus that are files, or ranges of lines of files."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from filbert.corpus.form import Form
from filbert.corpus.pieces import Rows
from filbert.errors import ChangedFileError, MissingFileError, ParseError
from filbert.examples import Examples, only_forest
from filbert.forest import Forest
from filbert.read.ranges import n_lines_before, open_range, open_window
from filbert.reading import read_examples
from filbert.reading_trees import read_folders, read_trees
from filbert.several_files import FileExamples, together
from filbert.skipped import reported_by_caller

_SPLIT = ", or indent the other lines of trees: files are split at lines that begin with a bracket"


class FileRange(NamedTuple):
    """A file, or a range of its lines.

    `size` and `mtime` are those of the file when the corpus was made. `end` is None for a file that
    is read as a whole.
    """

    path: str
    size: int
    mtime: int
    begin: int = 0
    end: int | None = None

    @property
    def n_bytes(self) -> int:
        """The number of bytes to read."""
        return self.size if self.end is None else self.end - self.begin

    def check(self) -> None:
        """Raise an error if the file has changed since the corpus was made."""
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            raise MissingFileError(self.path) from None
        if (now.st_size, now.st_mtime_ns) != (self.size, self.mtime):
            raise ChangedFileError(self.path)


@dataclass(frozen=True)
class TableReading:
    """How files of labelled examples are read: the options of `read_examples`.

    `form` is that of the examples of the first file.
    """

    options: dict[str, Any]
    form: Form

    def read(self, ranges: tuple[FileRange, ...], name: str, n_jobs: int | None) -> Rows:
        """Return the examples of some files."""
        files = [FileExamples(one.path, *self._read(one, n_jobs)) for one in ranges]
        filled = [one for one in files if len(one.X)] or files[:1]
        skipped = _numbered(files)
        _, X, y = filled[0]
        if len(filled) > 1:
            X, y = together(filled)
        rows = Rows(self.form.fit(X, name), y)
        rows.X.skipped = skipped
        return rows

    def _read(self, one: FileRange, n_jobs: int | None) -> tuple[Any, Any]:
        one.check()
        options = {**self.options, "n_jobs": n_jobs}
        if one.end is None:
            return read_examples(one.path, **options)
        with _true_lines(one), open_range(one.path, one.begin, one.end) as source:
            X, y = read_examples(source, **options)
        if X.skipped and one.begin:
            X.skipped = tuple(_at_true_line(one, X.skipped))
        return X, y


@dataclass(frozen=True)
class DocumentReading:
    """How documents are read: the options of `read_trees`. Labels are the names of folders.

    `is_labelled` says whether there are labels.
    """

    options: dict[str, Any]
    is_labelled: bool

    def read(self, ranges: tuple[FileRange, ...], name: str, n_jobs: int | None) -> Rows:
        """Return the trees of some files, without columns."""
        for one in ranges:
            one.check()
        paths = [one.path for one in ranges]
        if self.is_labelled:
            X, y = read_folders(paths, **self.options)
            return Rows(_trees_of(X), y)
        if all(one.end is None for one in ranges):
            return Rows(_trees_of(read_trees(paths, **self.options)), None)
        forests = [self._brackets(one) for one in ranges]
        trees = Forest.concat(forests)
        trees.skipped = tuple(error for forest in forests for error in forest.skipped)
        return Rows(trees, None)

    def _brackets(self, one: FileRange) -> Forest:
        if one.end is None:
            return _trees_of(read_trees(one.path, **self.options))
        options = {key: value for key, value in self.options.items() if key != "format"}
        with _true_lines(one, _SPLIT), open_window(one.path, one.begin, one.end) as stream:
            trees = Forest.from_brackets(stream, **options)
        trees.skipped = tuple(_at_true_line(one, trees.skipped))
        return trees


@dataclass(frozen=True)
class FilePiece:
    """Some files, or ranges of lines of files. Whoever loads it reads the files."""

    name: str
    ranges: tuple[FileRange, ...]
    reading: TableReading | DocumentReading
    n_jobs: int | None = None
    later: None = None

    @cached_property
    def token(self) -> str:
        """A hash of the paths, their sizes and times, the ranges and the options."""
        parts = [[tuple(one) for one in self.ranges], self.reading.options]
        text = json.dumps(parts, sort_keys=True, default=repr)
        return f"files-{sha256(text.encode()).hexdigest()}"

    @property
    def skips(self) -> bool:
        """Whether loading skips lines that cannot be read."""
        return bool(self.reading.options["on_error"] == "skip")

    def without_examples(self) -> Forest | Examples:
        """Return no examples, in the form of those of the files."""
        nothing = Forest.from_brackets(())
        if isinstance(self.reading, DocumentReading):
            return nothing
        return self.reading.form.fit(nothing, self.name)

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        """Read the files."""
        threads = self.n_jobs if n_jobs is None else n_jobs
        with reported_by_caller():  # by the corpus, once
            return self.reading.read(self.ranges, self.name, threads)


@contextmanager
def _true_lines(one: FileRange, hint: str = "") -> Iterator[None]:
    """Give errors the numbers of lines in the file, instead of those in the range.

    The number of the example in the file is not known.
    """
    try:
        yield
    except ParseError as error:
        (placed,) = _at_true_line(one, (error,))
        placed.sample = None if one.begin else placed.sample
        placed.hint += hint
        raise placed from None


def _at_true_line(one: FileRange, errors: tuple[ParseError, ...]) -> Iterator[ParseError]:
    before = n_lines_before(one.path, one.begin) if errors else 0
    for error in errors:
        line = None if error.line is None else error.line + before
        yield error.located(source=one.path, line=line)


def _trees_of(X: Forest | Examples) -> Forest:
    """Return the trees of documents, without columns."""
    trees: Forest = only_forest(X)
    return Forest._of(trees._dag, trees._roots, X.skipped)


def _numbered(files: list[FileExamples]) -> tuple[ParseError, ...]:
    """Return the errors of all files, with the numbers of the examples in the part."""
    errors: list[ParseError] = []
    before = 0
    for one in files:
        errors += [error.located(sample=before + (error.sample or 0)) for error in one.X.skipped]
        before += len(one.X) + len(one.X.skipped)
    return tuple(errors)
