"""Reading the rows to predict in batches of bounded size, each bad row in its place."""

import io
import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from filbert.cli.data import BRACKETS, DataFiles, no_examples, shown_name
from filbert.errors import ParseError
from filbert.forest import Forest
from filbert.read.files import Input, open_input
from filbert.skipped import reported_by_caller
from filbert.streaming import read_batches

_BRACKET = re.compile(rb"\\.|[()]", re.DOTALL)


class Batch(NamedTuple):
    """Some rows in their order: those that could be read, and the errors of the others."""

    X: Any  # Forest or Examples; None if no row could be read
    errors: dict[int, ParseError]  # by position in the batch
    path: str
    lines: list[int]  # of all rows; empty if the format does not record them

    def __len__(self) -> int:
        return len(self.errors) + (0 if self.X is None else len(self.X))


Handler = Callable[[Batch], None]


def each_batch(files: DataFiles, size: int, n_features: int | None, handle: Handler) -> None:
    """Call `handle` with the rows of all files, `size` at a time, as soon as they have arrived."""
    for path in files.paths:
        seen = 0

        def count(batch: Batch) -> None:
            nonlocal seen
            seen += len(batch)
            handle(batch)

        _read_file(files, path, size, n_features, count)
        if not seen:
            raise no_examples(shown_name(path))


def _read_file(
    files: DataFiles, path: str, size: int, n_features: int | None, handle: Handler
) -> None:
    if files.has_trees_only(path):
        _read_documents(files, path, size, handle)
        return
    with files.opened(path) as source:
        if files.is_bare(source):
            for batch in _of_brackets(source, path, size, files.bare_words):
                handle(batch)
        else:
            options = files.options(source.first_line, labels=False)
            options["ignores_labels"] = True
            if n_features is None:
                options.setdefault("features", [])  # the model uses only trees
            else:
                options.setdefault("n_features", n_features)
            _read_table(source, path, size, options, handle)


def _read_table(
    source: Input, path: str, size: int, options: dict[str, Any], handle: Handler
) -> None:
    n_rows = 0
    for X, _, skipped, lines in read_batches(source, size, on_error="skip", **options):
        errors = {(error.sample or 0) - n_rows: error for error in skipped}
        batch = Batch(X, errors, path, lines)
        n_rows += len(batch)
        handle(batch)


def _read_documents(files: DataFiles, path: str, size: int, handle: Handler) -> None:
    """Read the trees of documents. A document that cannot be read has one row, its last."""
    from filbert.read.detection import selected
    from filbert.read.sources import expand
    from filbert.streaming_trees import tree_batches

    kind, inputs = selected(expand(path), files.reading.format)
    if kind is not None and kind.name == BRACKETS:
        for one in inputs:
            _read_file(files, one.name, size, None, handle)
        return
    for batch in tree_batches(path, size, files.reading.format, files.settings()):
        handle(Batch(batch.X, batch.errors, batch.name, batch.lines))


# ---------------------------------------------------------------- bare trees


class _Text(NamedTuple):
    """The lines of one tree, or of several trees that share a line."""

    first_line: int
    text: bytes


def _of_brackets(source: Input, path: str, size: int, bare_words: bool) -> Iterator[Batch]:
    texts = _tree_texts(source, path)
    while some := list(islice(texts, size)):
        yield _bracket_batch(some, source.name, path, bare_words)


def _tree_texts(source: Input, path: str) -> Iterator[_Text]:
    """Yield lines until their brackets are closed.

    A bracket in the first column opens a new tree, so a bad tree spoils no other. But if all
    brackets of the file are closed, its trees may go on in the first column.
    """
    lines: list[bytes] = []
    first = depth = 0
    goes_on: bool | None = None
    for number, line in enumerate(source.lines(), 1):
        if lines and line.startswith(b"(") and goes_on is None:
            goes_on = _closes_all(path)
        if lines and line.startswith(b"(") and not goes_on:
            yield _Text(first, b"\n".join(lines))
            lines, depth = [], 0
        if not lines:
            if not line.strip():
                continue
            first = number
        lines.append(line)
        depth += _depth_after(line)
        if depth <= 0:
            yield _Text(first, b"\n".join(lines))
            lines, depth = [], 0
    if lines:
        yield _Text(first, b"\n".join(lines))


def _closes_all(path: str) -> bool:
    """Return whether a file, which can be read again, closes all its brackets."""
    if not os.path.isfile(path):
        return False
    depth = 0
    try:
        with open_input(path) as source:
            for line in source.lines():
                depth += _depth_after(line)
                if depth < 0:
                    return False
    except ParseError:  # it is damaged: reading it will say where
        return False
    return depth == 0


def _depth_after(line: bytes) -> int:
    if b"\\" not in line:
        return line.count(b"(") - line.count(b")")
    marks = [mark for mark in _BRACKET.findall(line) if len(mark) == 1]
    return marks.count(b"(") - marks.count(b")")


def _bracket_batch(texts: list[_Text], name: str, path: str, bare_words: bool) -> Batch:
    with reported_by_caller():
        X = Forest.from_brackets(
            [one.text for one in texts], bare_words=bare_words, on_error="skip"
        )
        if not X.skipped:
            return Batch(X, {}, path, [one.first_line for one in texts])
        return _one_by_one(texts, name, path, bare_words)


def _one_by_one(texts: list[_Text], name: str, path: str, bare_words: bool) -> Batch:
    """Read texts of which some are bad, or hold several trees."""
    forests: list[Forest] = []
    errors: dict[int, ParseError] = {}
    lines: list[int] = []
    for first, text in texts:
        try:
            trees = Forest.from_brackets(
                io.BytesIO(text + b"\n"), bare_words=bare_words, on_error="raise"
            )
        except ParseError as error:
            line = first + (error.line or 1) - 1
            errors[len(lines)] = error.located(source=name, line=line, sample=len(lines))
            lines.append(first)
            continue
        forests.append(trees)
        lines += [first] * len(trees)
    return Batch(Forest.concat(forests) if forests else None, errors, path, lines)
