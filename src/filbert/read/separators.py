"""Lines of tables that are separated in another way than their format says."""

import re

from filbert.errors import ParseError

_OLD_LINE_END = re.compile(rb"(?<!\\)\r(?=[^\r\n])")  # not the escaped label of a tree


def separator_hint(line: bytes) -> str:
    """Return what to do about a line of one column, or nothing if it shows no other separator."""
    before_tree = line.partition(b"(")[0].strip(b"\r\n")
    for mark in b";|,":
        if mark in before_tree:
            return f"the columns seem to be separated by {chr(mark)!r}: pass format='csv'"
    if before_tree.strip() and before_tree.endswith(b" "):
        return "the columns seem to be separated by blanks: write a tab between them"
    return ""


def check_line_ends(line: bytes, source: str) -> None:
    """Raise ParseError if a line has several lines that end with a carriage return alone.

    One in quotes is a part of a field.
    """
    if any(_OLD_LINE_END.search(text) for text in line.split(b'"')[::2]):
        raise ParseError(
            "the lines end with a carriage return alone, as in files of old Macs",
            hint="convert the line ends, such as by tr '\\r' '\\n'",
            source=source,
            line=1,
        )
