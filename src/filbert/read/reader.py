"""The loop that reads examples, from blocks of lines to batches, for all formats.

The core reads ordinary blocks. From the first unusual block on, lines are read one by one into the
same structure. Both ways give the same result, including the numbers of the nodes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple, get_args

from filbert.errors import InvalidParameterError, ParseError
from filbert.read import labelled_lines, tsv
from filbert.read.compression import DAMAGED
from filbert.read.files import Input, damaged
from filbert.read.formats import Layout, known_format, parser_for
from filbert.read.gathered import (
    Batch,
    Gathered,
    Vocabulary,
    as_batch,
    in_line,
    n_characters,
    without_features,
)
from filbert.read.numbers import is_number
from filbert.read.other_files import notation_of
from filbert.read.record import Label, Record
from filbert.read.tree_column import TreeColumn

OnError = Literal["raise", "skip"]

_BLOCK = 1 << 24  # bytes of text in memory at a time


class Block(NamedTuple):
    """Some whole lines, and the number of the first of them, from 1.

    `numbers` has the lines of the examples, if they are known.
    """

    text: bytes
    first_line: int
    numbers: list[int]

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each line, and the line without its line end."""
        for number, line in enumerate(self.text.split(b"\n"), self.first_line):
            yield number, line.rstrip(b"\r")


class Rows(NamedTuple):
    """Some rows of a table, each with its number or that of its first line, from 1."""

    rows: Iterable[tuple[int, Any]]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the rows."""
        return [number for number, _ in self.rows]

    def lines(self) -> Iterable[tuple[int, Any]]:
        """Return the rows, as :meth:`Block.lines` returns lines."""
        return self.rows


@dataclass(frozen=True)
class Bounds:
    """Limits on the examples of a batch, given by the batches before it: see `Gathered`."""

    names: tuple[str, ...] | None = None
    vectors: Collection[str] | None = None
    check: Callable[[Record], None] | None = None  # raises ParseError for a bad record


class Reading(NamedTuple):
    """The examples that were read, and the errors of those that could not be read.

    `failure` is the error that ended reading with ``on_error="raise"``.
    """

    batch: Batch
    skipped: tuple[ParseError, ...] = ()
    failure: ParseError | None = None


class ExampleReader:
    """A reader of the examples of a source, all at once or some lines at a time."""

    def __init__(
        self,
        source: Input,
        layout: Layout,
        on_error: OnError,
        n_threads: int,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.name = source.name
        self._source = source
        self._kind = known_format(layout, source)
        self._parser = parser_for(self._kind, layout, source)
        self.label_kind = layout.label_kind(self._kind)
        self.has_labels = layout.label is not False
        self._needs_labels = layout.needs_labels
        self.has_vectors = layout.has_vectors
        self._bare_words = layout.bare_words
        self._tree_column = layout.tree_column()
        self._text_labels = layout.labels == "text"
        self._on_error = on_error
        self._n_threads = n_threads
        self.vocabulary: Vocabulary = {**self._parser.vocabulary, **(vocabulary or {})}
        self._n_examples = 0  # so far, including bad ones

    def read_all(self) -> Reading:
        """Read to the end."""
        if self._parser.rows is not None:
            return self._line_by_line([Rows(self._parser.rows)], self._gathered())
        blocks = self._blocks()
        lines = self._core_lines()
        usual = None
        if lines is not None:
            unusual, usual = self._usual_start(blocks, lines)
            if unusual is None:
                return Reading(self._batch(usual))
            blocks = chain([unusual], blocks)
        if usual is not None and not self.has_vectors:
            usual = without_features(usual)
        return self._line_by_line(blocks, self._gathered(usual))

    def blocks_of(self, n_examples: int) -> Iterator[Block | Rows]:
        """Yield blocks of `n_examples` examples, each as soon as its last line has arrived.

        If a compressed file is truncated, yield the lines before that and raise ParseError.
        """
        if self._parser.rows is not None:
            yield from self._rows_of(self._parser.rows, n_examples)
            return
        text: list[bytes] = []
        numbers: list[int] = []
        first = 1
        try:
            for number, line in enumerate(self._source.lines(), 1):
                text.append(line)
                if self._is_example(line):
                    numbers.append(number)
                if len(numbers) == n_examples:
                    yield Block(b"\n".join(text), first, numbers)
                    text, numbers, first = [], [], number + 1
        except DAMAGED as error:
            if numbers:
                yield Block(b"\n".join(text), first, numbers)
            place = {"line": first + len(text), "sample": self._n_examples}
            raise damaged(error, self.name, **place) from None
        if numbers:
            yield Block(b"\n".join(text), first, numbers)

    def _rows_of(self, rows: Iterator[tuple[int, Any]], n_examples: int) -> Iterator[Rows]:
        block: list[tuple[int, Any]] = []
        try:
            for row in rows:
                block.append(row)
                if len(block) == n_examples:
                    yield Rows(block)
                    block = []
        except DAMAGED as error:
            if block:
                yield Rows(block)
            raise damaged(error, self.name, sample=self._n_examples) from None
        if block:
            yield Rows(block)

    def read_quickly(self, block: Block | Rows) -> Batch | None:
        """Read a block in the core; return None if it has unusual lines."""
        lines = self._core_lines()
        if lines is None or isinstance(block, Rows):
            return None
        unusual, usual = self._usual_start(iter([block]), lines)
        return self._batch(usual) if unusual is None else None

    def _batch(self, usual: labelled_lines.Usual) -> Batch:
        batch = as_batch(usual)
        if not self.has_vectors:
            batch.vectors.clear()
        return batch

    def read_lines(self, block: Block | Rows, bounds: Bounds) -> Reading:
        """Read a block line by line."""
        gathered = self._gathered(names=bounds.names, vectors=bounds.vectors)
        return self._line_by_line([block], gathered, bounds.check)

    def count(self, n_examples: int) -> None:
        """Add to the number of examples read so far, which errors report."""
        self._n_examples += n_examples

    def _gathered(
        self,
        start: labelled_lines.Usual | None = None,
        *,
        names: tuple[str, ...] | None = None,
        vectors: Collection[str] | None = None,
    ) -> Gathered:
        """Return what collects examples. A table names its parts, even if it has no rows."""
        table = self._parser.columns
        return Gathered(
            start,
            names=names or (None if table is None else tuple(table.trees)),
            vectors=vectors,
            columns=() if table is None else tuple(table.others),
            vocabulary=self.vocabulary,
            bare_words=self._words,
        )

    @property
    def _words(self) -> bool:
        """Return whether a word is a tree, which is always so in SVM-light-TK files."""
        return self._bare_words or self._kind == "svmlight-tk" or self._tree_column is not None

    def _core_lines(self) -> Any:
        """Return the core's reader, or None if it does not read such files."""
        columns = self._parser.columns
        if self._tree_column is not None or self.vocabulary:
            return None
        if columns is None and not self.has_labels:
            return None
        return labelled_lines.started(
            self._kind,
            columns,
            bare_words=self._bare_words,
            number_labels=self.label_kind == "numbers",
        )

    def _usual_start(
        self, blocks: Iterator[Block], lines: Any
    ) -> tuple[Block | None, labelled_lines.Usual]:
        """Read blocks in the core up to the first unusual one; return that, and what was read."""
        columns = self._parser.columns
        others: dict[str, list[str]] = {name: [] for name in columns.others} if columns else {}
        unusual = None
        for block in blocks:
            texts = self._other_columns(block)
            # To the core, a line with an empty label is unusual.
            if texts is None or not lines.add(block.text, self._n_threads):
                unusual = block
                break
            for name, column in texts.items():
                others[name].extend(column)
        usual = labelled_lines.finished(
            lines, self._kind, text_labels=self._text_labels, columns=others
        )
        return unusual, usual

    def _other_columns(self, block: Block) -> dict[str, list[str]] | None:
        """Return the columns that the core does not read; None if a line of the block is bad."""
        columns = self._parser.columns
        if columns is None:
            return {}
        try:
            return tsv.other_columns(block.text, columns) if columns.others else {}
        except (LookupError, UnicodeDecodeError):
            return None

    def _blocks(self) -> Iterator[Block]:
        first_line = 1
        try:
            for text in self._source.blocks(_BLOCK):
                yield Block(text, first_line, [])
                first_line += text.count(b"\n")
        except DAMAGED as error:
            raise damaged(error, self.name) from None

    def _is_example(self, line: bytes) -> bool:
        text = line.strip()
        is_comment = self._kind == "svmlight-tk" and text.startswith(b"#")
        return bool(text) and not is_comment

    def _line_by_line(
        self,
        blocks: Iterable[Block | Rows],
        gathered: Gathered,
        check: Callable[[Record], None] | None = None,
    ) -> Reading:
        skipped: list[ParseError] = []
        failure = None
        for number, line in chain.from_iterable(block.lines() for block in blocks):
            try:
                record = self._parsed(line)
                if record is not None:
                    if check is not None:
                        check(record)
                    self._add(gathered, record, line)
            except ParseError as error:
                sample = self._n_examples + len(gathered) + len(skipped)
                placed = self._placed(error, number, sample)
                if self._on_error == "raise":
                    failure = placed
                    break
                skipped.append(placed)
        return Reading(gathered.finish(), tuple(skipped), failure)

    def _add(self, gathered: Gathered, record: Record, line: Any) -> None:
        """Read the trees of an example. Say so if they look like those of another notation."""
        try:
            gathered.add(record, line)
        except ParseError as error:
            texts = [tree.text for tree in record.trees.values()]
            notations = {notation_of(text) for text in texts} - {""}
            if self._kind in ("svmlight-tk", "klp"):
                raise
            if notations:
                raise error.located(hint=f"pass tree_format={min(notations)!r}") from None
            if all(map(_begins_with_bracket, texts)):
                raise
            other = "if the trees are in another notation, pass tree_format='iupac' or another one"
            if self._parser.columns is not None:
                other += ", and if they are in another column, tree="
            raise error.located(hint=f"{error.hint}; {other}" if error.hint else other) from None

    def _placed(self, error: ParseError, number: int, sample: int) -> ParseError:
        if self._kind in ("parquet", "arrow"):  # they have rows, but no lines
            place = f"{self.name}, row {number}"
            return ParseError(error.reason, hint=error.hint, source=place, sample=sample)
        return error.located(source=self.name, line=number, sample=sample)

    def _parsed(self, line: Any) -> Record | None:
        """Parse a line, and convert the column of an error from bytes to characters."""
        if isinstance(line, ParseError):
            raise line
        try:
            record = self._parser.parse(line)
        except ParseError as error:
            if not isinstance(line, bytes):
                raise
            column = n_characters(line[: (error.column or 1) - 1]) + 1
            raise error.located(column=column) from None
        if record is not None and self._tree_column is not None:
            self._convert(record, line, self._tree_column)
        if record is not None and not self.has_vectors:
            record.vectors = {}
        if record is not None and self._needs_labels:
            if record.label == "":
                raise ParseError(
                    "the label is empty",
                    hint="fill it in, or leave the line out with on_error='skip'",
                )
            if self.label_kind == "numbers":
                check_number(record.label)
        return record

    def _convert(self, record: Record, line: Any, column: TreeColumn) -> None:
        """Write the trees of an example in bracket notation."""
        for name, tree in record.trees.items():
            try:
                record.trees[name] = tree._replace(text=column.converted(tree.text))
            except ParseError as error:
                raise in_line(error, record, name, line) from None


def _begins_with_bracket(text: str | bytes) -> bool:
    return text.lstrip()[:1] in ("(", b"(")


def check_number(label: Label | None) -> None:
    """Raise ParseError if a label is not a number."""
    if not is_number(label):
        raise ParseError(
            f"the label {str(label)[:40]!r} is not a number", hint="pass labels='text'", column=1
        )


def check_on_error(on_error: str) -> None:
    """Raise InvalidParameterError for any value except "raise" and "skip"."""
    if on_error not in get_args(OnError):
        raise InvalidParameterError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
