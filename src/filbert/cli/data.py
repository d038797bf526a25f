"""Options and input files that several subcommands share."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import typer
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.read.files import Input, format_suffix, open_input
from filbert.read.formats import Format
from filbert.read.reader import OnError
from filbert.reading import read_examples

FORMAT = typer.Option(None, help="svmlight-tk, tsv or jsonl; detected from the file by default.")
ANY_FORMAT = typer.Option(
    None, help="brackets, svmlight-tk, tsv or jsonl; detected from the file by default."
)
LABEL = typer.Option(None, help="Column (from 0) or JSON key of the label.")
TREE = typer.Option(None, help="Column (from 0) or JSON key of the tree.")
HEADER = typer.Option(
    None, "--header/--no-header", help="A TSV file begins with column names (default: detect)."
)
BARE_WORDS = typer.Option(
    False, "--bare-words", help="Read a word without brackets as a tree of one node."
)
ON_ERROR = typer.Option("raise", help="raise: stop at a bad line; skip: omit it.")
JOBS = typer.Option(None, help="Number of threads (default: all cores).")

BRACKETS = "brackets"

_NAMED_FORMATS = (".tsv", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class DataFile:
    """A file, or ``-`` for standard input, and the options that say how to read it."""

    path: str
    format: str | None
    label: str | None
    tree: str | None
    header: bool | None
    bare_words: bool
    on_error: str
    jobs: int | None

    def labelled(self) -> tuple[Forest, NDArray[Any]]:
        """Read examples that have a label and one tree each."""
        with self._opened() as source:
            return self._examples(source)

    def trees(self) -> Forest:
        """Read trees from labelled or unlabelled examples, or from bare trees in brackets."""
        with self._opened() as source:
            return self._trees(source)

    def trees_and_labels(self) -> tuple[Forest, NDArray[Any] | None]:
        """Read trees, and their labels if the file has any."""
        with self._opened() as source:
            if self._has_labels(source):
                return self._examples(source)
            return self._trees(source), None

    @contextmanager
    def _opened(self) -> Iterator[Input]:
        with open_input(self.path) as source:
            if not source.first_line:
                raise self._no_examples(source)
            yield source

    def _examples(self, source: Input) -> tuple[Forest, NDArray[Any]]:
        X, y = read_examples(
            source,
            format=cast(Format | None, self.format),
            label=_column_or_key(self.label),
            tree=_column_or_key(self.tree),
            header="auto" if self.header is None else self.header,
            bare_words=self.bare_words,
            on_error=cast(OnError, self.on_error),
            n_jobs=self.jobs,
        )
        if len(y) == 0:
            raise self._no_examples(source)
        return _only_forest(X, source.name), y

    def _trees(self, source: Input) -> Forest:
        if self._is_bare(source):
            return Forest.from_brackets(
                source, bare_words=self.bare_words, on_error=cast(OnError, self.on_error)
            )
        return self._without_labels(source)._examples(source)[0]

    def _has_labels(self, source: Input) -> bool:
        if self.label is not None or self._is_bare(source):
            return self.label is not None
        if source.first_line.startswith(b"{"):
            return b'"label"' in source.first_line
        return self._without_labels(source).label is None

    def _is_bare(self, source: Input) -> bool:
        """Return whether a file contains only trees in brackets."""
        named = format_suffix(source.name) in _NAMED_FORMATS
        bare = source.first_line.startswith(b"(") and not named
        return self.format == BRACKETS or (self.format is None and bare)

    def _without_labels(self, source: Input) -> "DataFile":
        """Return options that read the tree as the label too, for files without labels.

        SVM-light-TK lines always have a label. TSV lines with several columns have it in the first.
        """
        line, tree = source.first_line, self.tree
        if self.label is not None:
            return self
        if line.startswith(b"{"):
            return replace(self, label=tree or "tree") if tree or b'"tree"' in line else self
        alone = b"|BT|" not in line and b"\t" not in line
        return replace(self, label="0", tree="0") if alone and tree is None else self

    def _no_examples(self, source: Input) -> InvalidParameterError:
        return InvalidParameterError(f"{source.name} has no examples: check the file and --format")


def label_text(label: Any) -> str:
    """Write a label so that it stays on its line and in its column."""
    return str(label).replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def _column_or_key(text: str | None) -> str | int | None:
    is_number = text is not None and text.isascii() and text.removeprefix("-").isdecimal()
    return int(text) if text is not None and is_number else text


def _only_forest(X: Any, name: str) -> Forest:
    if not isinstance(X, Examples):
        return cast(Forest, X)
    forests = {part: trees for part, trees in X.parts.items() if isinstance(trees, Forest)}
    if len(forests) > 1:
        raise InvalidParameterError(
            f"the examples of {name} have several trees, {', '.join(forests)}: "
            "choose one with --tree (JSON Lines), or write a file with one tree per example"
        )
    unused = [part for part in X.parts if part not in forests]
    typer.echo(
        f"filbert: warning: {', '.join(unused)} of {name} ignored: only trees are used", err=True
    )
    return next(iter(forests.values()))
