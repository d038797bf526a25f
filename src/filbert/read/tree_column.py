"""Trees of a table in another notation than brackets, such as a column of glycans."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from filbert.errors import ParseError
from filbert.read.catalogue import TreeFormat
from filbert.read.documents import Document, trees_of
from filbert.read.record import EMPTY_TREE


class TreeColumn:
    """Converts texts of one tree each to bracket notation.

    Parameters
    ----------
    kind : TreeFormat
        Any format but that of brackets.
    options : mapping
        The options of the format.
    """

    def __init__(self, kind: TreeFormat, options: Mapping[str, Any]) -> None:
        self._read = kind.read
        self._options = kind.options(dict(options))

    def converted(self, text: str | bytes) -> str | bytes:
        """Return a tree in bracket notation. The column of an error is that of the text."""
        if text == EMPTY_TREE:
            return text
        data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
        document = Document("", BytesIO(data), is_text=isinstance(text, str))
        try:
            records = list(trees_of(self._read, document, self._options))
        except ParseError as error:
            if (error.line or 1) == 1:
                raise
            place = f"line {error.line}, column {error.column or 1} of the tree: "
            raise ParseError(place + error.reason, hint=error.hint, column=1) from None
        if len(records) != 1:
            raise ParseError(
                f"this text has {len(records) or 'no'} trees", hint="write one tree", column=1
            )
        return records[0].text
