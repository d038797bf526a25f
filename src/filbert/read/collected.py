"""Collecting the trees of documents in one structure, document by document."""

from bisect import bisect_right
from collections.abc import Iterable
from io import BytesIO
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import ParseError
from filbert.read.bracket_files import read_brackets
from filbert.read.catalogue import TreeFormat
from filbert.read.documents import Document, TreeRecord, rows_of

_MOST_TEXTS = 1 << 14  # texts that wait to be parsed,
_MOST_CHARACTERS = 1 << 24  # and their length


class Collected(NamedTuple):
    """Trees in the order of their documents, and the errors of what was skipped.

    The `sample` of an error is its place among the trees and the errors before it. Bracket notation
    does not give it.
    """

    dag: _core.Dag
    roots: NDArray[np.uint32]
    document_of: NDArray[np.intp]  # the number of each tree's document, from 0
    columns: dict[str, list[str]]
    skipped: tuple[ParseError, ...]


class TreeCollector(Protocol):
    """A collector of trees."""

    def add(self, document: Document) -> int:
        """Read a document and return the number of its trees.

        ParseError leaves the trees that the document has given so far.
        """

    def note(self, error: ParseError) -> None:
        """Note the error of a document or tree that is skipped, in the place of its trees."""

    def finish(self) -> Collected:
        """Return all trees."""


def tree_collector(kind: TreeFormat, options: Any, *, skip: bool) -> TreeCollector:
    """Return a collector of trees for a format. If `skip`, it skips trees that it cannot read."""
    if kind.native:
        return _BracketCollector(options.bare_words, skip)
    return _TextCollector(kind, options, skip)


def collect_texts(texts: Iterable[str | bytes], kind: TreeFormat, options: Any) -> Collected:
    """Read texts of one tree each. An error has the number of its text."""
    collector = tree_collector(kind, options, skip=False)
    for sample, text in enumerate(texts):
        data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
        document = Document("", BytesIO(data), is_text=isinstance(text, str))
        try:
            n = collector.add(document)
        except ParseError as error:
            raise error.located(sample=sample) from None
        if n != 1:
            raise ParseError(
                f"this text has {n or 'no'} trees",
                hint="each text must have one tree; read_trees reads documents of several",
                sample=sample,
            )
    return collector.finish()


class _BracketCollector:
    """Reads documents in bracket notation as the core does, each by itself.

    Neighbours of similar size are merged, so that each part is copied only a few times and the
    whole takes no more memory than needed.
    """

    def __init__(self, bare_words: bool, skip: bool) -> None:
        self._bare_words = bare_words
        self._skip = skip
        self._parts: list[tuple[_core.Dag, NDArray[np.uint32]]] = []
        self._n_trees: list[int] = []
        self._skipped: list[ParseError] = []

    def add(self, document: Document) -> int:
        n = 0
        try:
            dag, roots, problems = read_brackets(
                document.stream, skip=self._skip, bare_words=self._bare_words
            )
            n = len(roots)
            self._parts.append((dag, roots))
            self._skipped += [
                ParseError(reason, hint=hint, source=document.name, line=line, column=column)
                for _, reason, hint, line, column in problems
            ]
        except ParseError as error:
            raise error.located(source=document.name) from None
        finally:
            self._n_trees.append(n)
        while len(self._parts) > 1 and self._parts[-2][0].size < 2 * self._parts[-1][0].size:
            self._merge_last()
        return n

    def note(self, error: ParseError) -> None:
        self._skipped.append(error)

    def finish(self) -> Collected:
        while len(self._parts) > 1:
            self._merge_last()
        dag, roots = self._parts[0] if self._parts else _core.TreeReader().finish()[:2]
        documents = np.repeat(np.arange(len(self._n_trees)), self._n_trees)
        return Collected(dag, roots, documents, {}, tuple(self._skipped))

    def _merge_last(self) -> None:
        (a, roots_a), (b, roots_b) = self._parts[-2:]
        dag, roots_a, roots_b = _core.merge(a, roots_a, b, roots_b)
        self._parts[-2:] = [(dag, np.concatenate([roots_a, roots_b]))]


class _TextCollector:
    """Reads documents by the module of their format, and parses the texts that it gives."""

    def __init__(self, kind: TreeFormat, options: Any, skip: bool) -> None:
        self._read = kind.read
        self._options = options
        self._skip = skip
        self._reader = _core.TreeReader(skip_errors=skip, bare_words=True)
        self._texts: list[object] = []  # not yet parsed
        self._n_characters = 0
        self._n = 0  # trees so far
        self._columns: dict[str, list[str]] = {}
        self._names: list[str] = []  # of documents
        self._begin: list[int] = []  # and the numbers of their first trees
        self._skipped: list[tuple[int, ParseError]] = []  # with the number of trees before each

    def add(self, document: Document) -> int:
        self._names.append(document.name)
        self._begin.append(self._n)
        for row in rows_of(self._read, document, self._options):
            if isinstance(row, TreeRecord):
                self._add_record(row)
            elif self._skip:
                self.note(row)
            else:
                raise row
            if len(self._texts) >= _MOST_TEXTS or self._n_characters >= _MOST_CHARACTERS:
                self._parse()
        return self._n - self._begin[-1]

    def note(self, error: ParseError) -> None:
        self._skipped.append((self._n, error))

    def finish(self) -> Collected:
        self._parse()
        dag, roots, problems = self._reader.finish()
        begin = [*self._begin, self._n]
        documents = np.repeat(np.arange(len(self._names)), np.diff(begin))
        columns = self._columns
        for column in columns.values():
            column.extend([""] * (self._n - len(column)))
        if problems:
            bad = {problem[0] for problem in problems}
            good = [i for i in range(self._n) if i not in bad]
            documents = documents[good]
            columns = {name: [column[i] for i in good] for name, column in columns.items()}
        bad_texts = [
            (tree or 0, self._located(reason, hint, tree)) for tree, reason, hint, *_ in problems
        ]
        return Collected(dag, roots, documents, columns, self._in_order(bad_texts))

    def _in_order(self, bad_texts: list[tuple[int, ParseError]]) -> tuple[ParseError, ...]:
        """Return all errors, each with its place among the trees that were read and the errors."""
        errors = [(tree, 0, i, error) for i, (tree, error) in enumerate(self._skipped)]
        errors += [(tree, 1, i, error) for i, (tree, error) in enumerate(bad_texts)]
        errors.sort(key=itemgetter(0, 1, 2))
        # The trees that the core has refused are counted already.
        bad = 0
        placed = []
        for n, (tree, is_text, _, error) in enumerate(errors):
            placed.append(error.located(sample=tree - bad + n))
            bad += is_text
        return tuple(placed)

    def _add_record(self, record: TreeRecord) -> None:
        self._texts.append(record.text)
        self._n_characters += len(record.text)
        for name, value in record.columns.items():
            column = self._columns.setdefault(name, [])
            if len(column) < self._n:  # the trees before this one do not have this column
                column.extend([""] * (self._n - len(column)))
            column.append(value)
        self._n += 1

    def _parse(self) -> None:
        texts, self._texts, self._n_characters = self._texts, [], 0
        try:
            self._reader.add_texts(texts)
        except ParseError as error:
            raise self._located(error.reason, error.hint, error.sample) from None

    def _located(self, reason: str, hint: str, tree: int | None) -> ParseError:
        """Return the error for a tree; places in its text say nothing about the document."""
        name = self._names[bisect_right(self._begin, tree or 0) - 1]
        return ParseError(reason, hint=hint, source=name, sample=tree)
