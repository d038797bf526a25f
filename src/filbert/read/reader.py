"""The loop that reads examples, from blocks of lines to batches, for all formats.

The core reads ordinary blocks. From the first unusual block on, lines are read one by one into the
same structure. Both ways give the same result, including the numbers of the nodes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple, get_args

from filbert.errors import InvalidParameterError, ParseError
from filbert.read import labelled_lines
from filbert.read.files import DAMAGED, Input, damaged
from filbert.read.formats import Layout, drop_header, known_format, line_parser
from filbert.read.gathered import Batch, Gathered, as_batch, n_characters
from filbert.read.record import Record

OnError = Literal["raise", "skip"]

_BLOCK = 1 << 24  # bytes of text in memory at a time


class Block(NamedTuple):
    """Some whole lines, and the number of the first of them, from 1."""

    text: bytes
    first_line: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each line, and the line without its line end."""
        for number, line in enumerate(self.text.split(b"\n"), self.first_line):
            yield number, line.rstrip(b"\r")


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

    def __init__(self, source: Input, layout: Layout, on_error: OnError, n_threads: int) -> None:
        self.name = source.name
        self._source = source
        self._layout = layout
        self._kind = known_format(layout, source)
        self._parse = line_parser(self._kind, layout)
        drop_header(self._kind, layout, self._parse, source)
        self._on_error = on_error
        self._n_threads = n_threads
        self._n_examples = 0  # so far, including bad ones

    def read_all(self) -> Reading:
        """Read to the end."""
        blocks = self._blocks()
        lines = labelled_lines.started(self._kind, self._layout)
        usual = None
        if lines is not None:
            unusual = next((b for b in blocks if not lines.add(b.text, self._n_threads)), None)
            usual = labelled_lines.finished(lines, self._kind)
            if unusual is None:
                return Reading(as_batch(usual))
            blocks = chain([unusual], blocks)
        return self._line_by_line(blocks, Gathered(usual, bare_words=self._words))

    def blocks_of(self, n_examples: int) -> Iterator[Block]:
        """Yield blocks of `n_examples` examples, each as soon as its last line has arrived.

        If a compressed file is truncated, yield the lines before that and raise ParseError.
        """
        text: list[bytes] = []
        first = number = 1
        left = n_examples
        try:
            for number, line in enumerate(self._source.lines(), 1):
                text.append(line)
                left -= self._is_example(line)
                if left == 0:
                    yield Block(b"\n".join(text), first)
                    text, first, left = [], number + 1, n_examples
        except DAMAGED as error:
            if left < n_examples:
                yield Block(b"\n".join(text), first)
            place = {"line": first + len(text), "sample": self._n_examples}
            raise damaged(error, self.name, **place) from None
        if left < n_examples:
            yield Block(b"\n".join(text), first)

    def read_quickly(self, block: Block) -> Batch | None:
        """Read a block in the core; return None if it has unusual lines."""
        lines = labelled_lines.started(self._kind, self._layout)
        if lines is None or not lines.add(block.text, self._n_threads):
            return None
        return as_batch(labelled_lines.finished(lines, self._kind))

    def read_lines(self, block: Block, bounds: Bounds) -> Reading:
        """Read a block line by line."""
        gathered = Gathered(names=bounds.names, vectors=bounds.vectors, bare_words=self._words)
        return self._line_by_line([block], gathered, bounds.check)

    def count(self, n_examples: int) -> None:
        """Add to the number of examples read so far, which errors report."""
        self._n_examples += n_examples

    @property
    def _words(self) -> bool:
        """Return whether a word is a tree, which is always so in SVM-light-TK files."""
        return self._layout.bare_words or self._kind == "svmlight-tk"

    def _blocks(self) -> Iterator[Block]:
        first_line = 1
        try:
            for text in self._source.blocks(_BLOCK):
                yield Block(text, first_line)
                first_line += text.count(b"\n")
        except DAMAGED as error:
            raise damaged(error, self.name) from None

    def _is_example(self, line: bytes) -> bool:
        text = line.strip()
        is_comment = self._kind == "svmlight-tk" and text.startswith(b"#")
        return bool(text) and not is_comment

    def _line_by_line(
        self,
        blocks: Iterable[Block],
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
                    gathered.add(record, line)
            except ParseError as error:
                sample = self._n_examples + len(gathered) + len(skipped)
                placed = error.located(source=self.name, line=number, sample=sample)
                if self._on_error == "raise":
                    failure = placed
                    break
                skipped.append(placed)
        return Reading(gathered.finish(), tuple(skipped), failure)

    def _parsed(self, line: bytes) -> Record | None:
        """Parse a line, and convert the column of an error from bytes to characters."""
        try:
            return self._parse(line)
        except ParseError as error:
            column = n_characters(line[: (error.column or 1) - 1]) + 1
            raise error.located(column=column) from None


def check_on_error(on_error: str) -> None:
    """Raise InvalidParameterError for any value except "raise" and "skip"."""
    if on_error not in get_args(OnError):
        raise InvalidParameterError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
