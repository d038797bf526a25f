"""Data files on the command line: which files, in which format, and what is read from them."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from numpy.typing import NDArray

from filbert.cli.console import warn
from filbert.cli.options import Reading
from filbert.errors import InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.detection import format_by_name
from filbert.read.files import STANDARD_INPUT, Input, open_input
from filbert.read.formats import format_of_name
from filbert.read.sources import expand, is_single
from filbert.read.table_columns import LABEL_NAMES
from filbert.reading import read_examples, read_without_labels
from filbert.reading_trees import read_folders, read_trees
from filbert.several_files import FileExamples, labelled_files, together

BRACKETS = "brackets"
FOLDER = "folder"
TABLE_SETTINGS = ("labels", "empty", "features", "n_features")  # of --set, beside the trees
# Other options of the command line, and what --set cannot set at all.
_NOT_SETTINGS = {"format": "use --format", "on_error": "use --on-error", "source": "name the data"}

OnError = Literal["raise", "skip"]


@dataclass(frozen=True)
class DataFiles:
    """The data of a command, and the options that say how to read them."""

    given: Sequence[str]  # paths, patterns, folders, - for standard input
    reading: Reading
    on_error: OnError = "raise"
    jobs: int | None = None
    vocabulary: Mapping[str, Any] | None = None  # names of features that a model knows

    @cached_property
    def paths(self) -> list[str]:
        """The paths. Patterns and folders of tables are replaced by their files."""
        if list(self.given).count(STANDARD_INPUT) > 1:
            raise InvalidParameterError("standard input can be read only once: name - only once")
        found = [path for name in self.given for path in self._files(name)]
        twice = [path for path, n in Counter(found).items() if n > 1]
        if twice:
            warn(f"{', '.join(twice[:3])}: named more than once, and read as often")
        return found

    @property
    def name(self) -> str:
        """The name for messages."""
        return ", ".join(shown_name(path) for path in self.paths[:3])

    def labelled(self) -> tuple[Any, NDArray[Any]]:
        """Read examples that have labels."""
        if self.reading.label == FOLDER:
            source = self.paths if len(self.paths) > 1 else self.paths[0]
            of_folders = read_folders(
                source, format=self.reading.format, on_error=self.on_error, **self.settings()
            )
            _warn_of_nested_classes(of_folders[0]["file"].tolist())
            return of_folders
        X, y = self._joined([self._labelled(path) for path in self.paths])
        assert y is not None
        return X, y

    def trees(self) -> Any:
        """Read trees with or without labels, which are dropped."""
        return self._joined([(self._trees(path), None) for path in self.paths])[0]

    def trees_and_labels(self) -> tuple[Any, NDArray[Any] | None]:
        """Read trees, and their labels if the files have any."""
        if self.reading.label is None:
            for path in self.paths:
                if self.has_trees_only(path):
                    return self.trees(), None
        if self.reading.label == FOLDER:
            return self.labelled()
        read = [self._with_labels_if_any(path) for path in self.paths]
        if any(y is None for _, y in read):
            read = [(X, None) for X, _ in read]
        return self._joined(read)

    def has_trees_only(self, path: str) -> bool:
        """Return whether a path is a file in a tree format other than brackets, or a folder."""
        if self.reading.tree_format is not None:
            return False
        if os.path.isdir(path):
            return True
        if self.reading.format is not None:
            return self.reading.format in TREE_FORMATS and self.reading.format != BRACKETS
        kind = format_by_name(path)
        return kind is not None and kind.name != BRACKETS

    def settings(self) -> dict[str, Any]:
        """Return the options of the format, from --set."""
        return settings_of(self.reading.settings)

    @property
    def bare_words(self) -> bool:
        """Whether a word alone is a tree in a file of brackets. Other options are refused."""
        given = TREE_FORMATS[BRACKETS].options(self.settings())
        return self.reading.bare_words or bool(given.bare_words)

    def options(self, first_line: bytes, *, labels: bool) -> dict[str, Any]:
        """Return the arguments of ``read_examples`` and ``stream``.

        `first_line` is that of the file. If no labels are wanted, files without them are read too.
        """
        label: str | int | bool | None = _column_or_key(self.reading.label)
        if not labels and not (label is None and _is_plain(first_line)):
            label = False
        return {
            "format": self.reading.format,
            "label": label,
            "tree": _column_or_key(self.reading.tree),
            "header": "auto" if self.reading.header is None else self.reading.header,
            "bare_words": self.reading.bare_words,
            "tree_format": self.reading.tree_format,
            "vocabulary": self.vocabulary,
            "n_jobs": self.jobs,
            **self._table_settings(),
        }

    def _table_settings(self) -> dict[str, Any]:
        """Return the options of labelled formats, from --set."""
        settings = self.settings()
        for name in settings:
            if name not in TABLE_SETTINGS and self.reading.tree_format is None:
                listed = ", ".join(TABLE_SETTINGS)
                raise InvalidParameterError(
                    f"--set {name}: labelled formats have no such option; they have {listed}"
                )
        if isinstance(settings.get("features"), str):
            settings["features"] = [
                _column_or_key(name) for name in settings["features"].split(",")
            ]
        return settings

    @contextmanager
    def opened(self, path: str) -> Iterator[Input]:
        """Open a file. A file without a line is an error."""
        with open_input(path) as source:
            if not source.first_line:
                raise no_examples(source.name)
            yield source

    def is_bare(self, source: Input) -> bool:
        """Return whether an open file contains only trees in brackets."""
        if self.reading.tree_format is not None:
            return False
        if self.reading.format is not None:
            return self.reading.format == BRACKETS
        kind = format_by_name(source.name)
        if kind is not None:
            return kind.name == BRACKETS
        return source.first_line.startswith(b"(") and format_of_name(source.name) is None

    def _files(self, name: str) -> list[str]:
        if is_single(name):
            return [name]
        files = [one.name for one in expand(name)]
        if not os.path.isdir(name):
            return files
        format: Any = self.reading.format
        has_trees = any(format_by_name(file) for file in files) if format is None else False
        if has_trees or format in TREE_FORMATS or self.reading.label == FOLDER:
            return [name]  # a folder of documents is read as a whole
        return [one.name for one in labelled_files(name, format)]

    def _labelled(self, path: str) -> tuple[Any, NDArray[Any]]:
        if self.has_trees_only(path):
            return self._labelled_documents(path)
        with self.opened(path) as source:
            if self.is_bare(source):
                raise InvalidParameterError(
                    f"{source.name} has trees without labels: write one label<TAB>tree per line"
                )
            return self._examples(source, labels=True)

    def _labelled_documents(self, path: str) -> tuple[Any, NDArray[Any]]:
        """Read documents whose trees have a column that is the label, such as a comment."""
        X = self._documents(path)
        columns = columns_of(X)
        labels = columns.get(self.reading.label or "")
        if labels is None:
            listed = f"; the trees have the columns {', '.join(columns)}" if columns else ""
            raise InvalidParameterError(
                f"{shown_name(path)} has no labels that are known: use --label with the name of a "
                "column, --label folder if the name of its folder is the label, or a table with a "
                f"column of labels{listed}"
            )
        empty = (labels == "").nonzero()[0].tolist()
        if empty:
            raise InvalidParameterError(
                f"{shown_name(path)}: tree {empty[0] + 1:,} has no {self.reading.label}, which is "
                "its label: fill it in, or leave the tree out"
            )
        return X, labels

    def _trees(self, path: str) -> Any:
        if self.has_trees_only(path):
            return self._documents(path)
        with self.opened(path) as source:
            if self.is_bare(source):
                return self._bare(path, source)
            return self._examples(source, labels=False)[0]

    def _with_labels_if_any(self, path: str) -> tuple[Any, NDArray[Any] | None]:
        with self.opened(path) as source:
            if self.is_bare(source):
                return self._bare(path, source), None
            return self._examples(source, labels=self._has_labels(source))

    def _has_labels(self, source: Input) -> bool:
        """Return whether a table has a column of labels, as far as its first line shows."""
        line = source.first_line
        if self.reading.label is not None:
            return True
        if line.startswith(b"{"):
            return b'"label"' in line
        if b"(" in line:  # the first example of a table without a header, or another format
            return b"\t" in line or not line.startswith(b"(")
        names = re.split(rb"[\t,;]", line.lower())
        return len(names) == 2 or any(
            name.strip().decode(errors="replace") in LABEL_NAMES for name in names
        )

    def _bare(self, path: str, source: Input) -> Forest:
        file = path if os.path.isfile(path) else source  # a file may be read twice
        return Forest.from_brackets(file, bare_words=self.bare_words, on_error=self.on_error)

    def _documents(self, path: str) -> Any:
        return read_trees(
            path, format=self.reading.format, on_error=self.on_error, **self.settings()
        )

    def _examples(self, source: Input, *, labels: bool) -> tuple[Any, Any]:
        options = self.options(source.first_line, labels=labels)
        if not labels:
            X = read_without_labels(source, on_error=self.on_error, **options)
            return self._part(X), None
        X, y = read_examples(source, on_error=self.on_error, **options)
        return self._part(X), y

    def _part(self, X: Any) -> Any:
        """Return only the part that --tree names, if it names one."""
        if not isinstance(X, Examples) or self.reading.tree not in X.parts:
            return X
        return Examples._of({"tree": X[self.reading.tree]}, X.columns)

    def _joined(self, read: list[tuple[Any, Any]]) -> tuple[Any, NDArray[Any] | None]:
        """Return the examples of all files."""
        if len(read) == 1:
            X, y = read[0]
        else:
            pairs = zip(self.paths, read, strict=True)
            X, y = together([FileExamples(shown_name(path), *one) for path, one in pairs])
        if len(X) == 0:
            raise no_examples(self.name)
        return X, y


def only_forest(X: Any, name: str) -> Forest:
    """Return the only forest of the examples, without their vectors and columns."""
    if not isinstance(X, Examples):
        return cast(Forest, X)
    forests = {part: trees for part, trees in X.parts.items() if isinstance(trees, Forest)}
    if len(forests) > 1:
        raise InvalidParameterError(
            f"the examples of {name} have several trees, {', '.join(forests)}: choose one with "
            "--tree"
        )
    return next(iter(forests.values()))


def columns_of(X: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of examples, such as ids, by name."""
    return dict(getattr(X, "columns", {}))


def settings_of(given: Iterable[str] | None) -> dict[str, Any]:
    """Return the options of a format from texts such as ``NAME=VALUE``."""
    return dict(map(_setting, given or ()))


def value_of(text: str) -> Any:
    """Return a value from its text: true, false, none, a number, or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def no_examples(name: str) -> InvalidParameterError:
    """Return the error for data without examples."""
    return InvalidParameterError(f"{name} has no examples: check the file and --format")


def shown_name(path: str) -> str:
    """Return the name of a file for messages."""
    return "standard input" if path == STANDARD_INPUT else path


def label_text(label: Any) -> str:
    """Write a label so that it stays on its line and in its column."""
    text = str(label)
    if text.isprintable():
        return text
    return text.replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def _is_plain(line: bytes) -> bool:
    """Return whether the first line is label<TAB>tree or SVM-light-TK, which the core reads."""
    labelled = b"|BT|" in line and not line.startswith(b"|BT|")
    return labelled or (line.count(b"\t") == 1 and b"(" in line and not line.startswith(b"{"))


def _column_or_key(text: str | None) -> str | int | None:
    is_number = text is not None and text.isascii() and text.removeprefix("-").isdecimal()
    return int(text) if text is not None and is_number else text


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidParameterError(f"--set takes NAME=VALUE, got {text!r}")
    if name in _NOT_SETTINGS:
        raise InvalidParameterError(f"--set {name}: no option of a format: {_NOT_SETTINGS[name]}")
    return name, value_of(value)


def _warn_of_nested_classes(files: list[str]) -> None:
    """Warn if the folder of a class is inside that of another one."""
    folders = {os.path.dirname(file) for file in files}
    for folder in sorted(folders):
        outer = os.path.dirname(folder)
        while outer and outer not in folders and outer != os.path.dirname(outer):
            outer = os.path.dirname(outer)
        if outer in folders and outer != folder:
            warn(
                f"the folder {folder} is inside {outer}: the label of its files is "
                f"{os.path.basename(folder)}, the name of the innermost folder"
            )
            return
