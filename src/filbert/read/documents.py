"""The interface of the tree formats: a reader takes a document and yields trees as text.

A tree format is one module of this folder, listed in :mod:`filbert.read.catalogue`. It has

* ``Options``: a frozen dataclass, the keyword arguments that users pass to ``read_trees``;
* ``read(document, options)``: yield one :class:`TreeRecord` per tree, in the document's order;
* ``write(labels, parents, options)``, if the format can be written: return the text of one tree,
  given by its labels and the numbers of its nodes' parents, in preorder.

A reader that raises :class:`~filbert.errors.ParseError` gives up its document. A reader that can
go on after one bad tree calls ``document.skip(error)`` instead. Nothing here recurses on the depth
of a tree.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import IO, NamedTuple

from filbert.errors import ParseError


class TreeRecord(NamedTuple):
    """One tree in bracket notation, and what else is known of it, such as a name or a line.

    Bytes are UTF-8.
    """

    text: str | bytes
    columns: Mapping[str, str] = MappingProxyType({})


def _raise(error: ParseError) -> None:
    raise error


@dataclass(frozen=True)
class Document:
    """A document to read: its name for messages, and its content, read once.

    ``skip(error)`` reports one bad tree: it raises the error, or notes it if the user wants bad
    trees to be skipped. ``is_text`` says that the content was given as text and is UTF-8, whatever
    it declares itself.
    """

    name: str
    stream: IO[bytes] = field(repr=False)
    skip: Callable[[ParseError], None] = field(default=_raise, repr=False)
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

    def error(self, reason: str, *, hint: str = "", line: int | None = None,
              column: int | None = None) -> ParseError:  # fmt: skip
        """Return the error for a place in this document."""
        return ParseError(reason, hint=hint, source=self.name, line=line, column=column)

    def _decoded(self, data: bytes, line: int) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            before = data[: error.start]
            raise self.error(
                "the text is not UTF-8",
                hint="convert the file to UTF-8",
                line=line + before.count(b"\n"),
                column=len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1,
            ) from None
