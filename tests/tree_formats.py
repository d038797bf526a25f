"""Read and write documents of a tree format in memory."""

from io import BytesIO
from typing import Any

from filbert import Forest
from filbert.errors import ParseError
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.documents import Document, TreeRecord, rows_of, trees_of

CHAIN = 100_000  # nodes of a chain that is far deeper than Python's stack


def read(format: str, text: str, **options: Any) -> list[TreeRecord]:
    """The records of a document."""
    kind = TREE_FORMATS[format]
    document = Document("file", BytesIO(text.encode()))
    return list(trees_of(kind.read, document, kind.options(options)))


def read_skipping(format: str, text: str, **options: Any) -> tuple[list[str], list[ParseError]]:
    """The trees of a document in bracket notation, and the errors of those that are skipped."""
    kind = TREE_FORMATS[format]
    document = Document("file", BytesIO(text.encode()))
    rows = list(rows_of(kind.read, document, kind.options(options)))
    records = [row.text for row in rows if isinstance(row, TreeRecord)]
    return records, [row for row in rows if isinstance(row, ParseError)]


def read_texts(format: str, text: str, **options: Any) -> list[str]:
    """The trees of a document in bracket notation."""
    return [record.text for record in read(format, text, **options)]


def read_forest(format: str, text: str, **options: Any) -> Forest:
    """The trees of a document."""
    return Forest.from_brackets(read_texts(format, text, **options))


def write(format: str, trees: Forest, **options: Any) -> str:
    """The trees as a document."""
    kind = TREE_FORMATS[format]
    chosen = kind.options(options)
    return "".join(kind.write(*tree.to_parents(), chosen) + "\n" for tree in trees)
