"""The interface of the tree formats: a reader takes a document and yields trees as text.

A tree format is one module of this folder, listed in :mod:`filbert.read.catalogue`. It has

* ``Options``: a frozen dataclass, the keyword arguments that users pass to ``read_trees``;
* ``read(document, options)``: yield one :class:`TreeRecord` per tree, in the document's order, as
  soon as the text of the tree has arrived;
* ``write(labels, parents, options)``, if the format can be written: return the text of one tree,
  given by its labels and the numbers of its nodes' parents, in preorder.

A reader that raises :class:`~filbert.errors.ParseError` gives up its document. A reader that can
go on after one bad tree yields the error in the place of the tree, so that nobody counts the trees
behind it wrongly. Nothing here recurses on the depth of a tree.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import IO, Any, NamedTuple

from filbert.errors import ParseError


class TreeRecord(NamedTuple):
    """One tree in bracket notation, and what else is known of it, such as a name or a line.

    Bytes are UTF-8.
    """

    text: str | bytes
    columns: Mapping[str, str] = MappingProxyType({})


Row = TreeRecord | ParseError
"""What a reader yields: a tree, or why there is none in this place."""

Read = Callable[["Document", Any], Iterable[Row]]

_PIECE = 1 << 20  # bytes


class Place(NamedTuple):
    """A line and a column of a text, from 1."""

    line: int = 1
    column: int = 1

    def after(self, text: str) -> "Place":
        """Return the place behind a text that begins here."""
        last = text.rfind("\n")
        if last < 0:
            return Place(self.line, self.column + len(text))
        return Place(self.line + text.count("\n"), len(text) - last)


@dataclass(frozen=True)
class Document:
    """A document to read: its name for messages, and its content, read once.

    ``is_text`` says that the content was given as text and is UTF-8, whatever it declares itself.
    """

    name: str
    stream: IO[bytes] = field(repr=False)
    is_text: bool = False

    def read_bytes(self) -> bytes:
        """Return the whole content."""
        return self.stream.read()

    def read_text(self) -> str:
        """Return the whole content, which must be UTF-8; a byte order mark is dropped."""
        return self._decoded(self.read_bytes(), 1).removeprefix("\ufeff")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number of each line, from 1, and the line without its line end."""
        for number, line in enumerate(self.stream, 1):
            text = self._decoded(line, number)
            yield number, (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n")

    def pieces(self) -> Iterator[bytes]:
        """Yield the content in pieces. Of a pipe, each piece is yielded when it arrives."""
        # read1 waits for one part of a pipe only, so that Ctrl-C is noticed between the parts.
        read = getattr(self.stream, "read1", self.stream.read)
        while piece := read(_PIECE):
            yield piece

    def text_pieces(self) -> Iterator[str]:
        """Yield the text, which must be UTF-8, in pieces without a byte order mark."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        place = Place()
        for piece in chain(self.pieces(), [b""]):  # no bytes: the end
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                line, column = place.after(error.object[: error.start].decode())
                raise self._not_utf8(line, column) from None
            if place == Place():
                text = text.removeprefix("\ufeff")
            place = place.after(text)
            yield text

    def error(self, reason: str, *, hint: str = "", line: int | None = None,
              column: int | None = None) -> ParseError:  # fmt: skip
        """Return the error for a place in this document."""
        return ParseError(reason, hint=hint, source=self.name, line=line, column=column)

    def _decoded(self, data: bytes, line: int) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            before = data[: error.start]
            place = Place(line).after(before.decode(errors="replace"))
            raise self._not_utf8(*place) from None

    def _not_utf8(self, line: int, column: int) -> ParseError:
        hint = "convert the file to UTF-8"
        return self.error("the text is not UTF-8", hint=hint, line=line, column=column)


def rows_of(read: Read, document: Document, options: Any) -> Iterator[Row]:
    """Yield what a document has. If the reader gives it up, the error is the last row."""
    try:
        yield from read(document, options)
    except ParseError as error:
        yield error if error.source else error.located(source=document.name)


def trees_of(read: Read, document: Document, options: Any) -> Iterator[TreeRecord]:
    """Yield the trees of a document, and raise the first error."""
    for row in read(document, options):
        if isinstance(row, ParseError):
            raise row
        yield row
