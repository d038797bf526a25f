"""CSV files: fields may be in quotes, with line ends inside.

The separator is that of the first line: a comma, a semicolon, a tab or a vertical bar. A first line
such as ``sep=;``, which Excel writes, names it.
"""

import csv
import re
from collections.abc import Iterator

from filbert.errors import ParseError
from filbert.read.files import Input

Row = list[str] | ParseError
NumberedRow = tuple[int, Row]

_SEPARATORS = ",;\t|"
_NAMED = re.compile(rb'"?sep=([^"\\s(])"?')
_LARGEST_FIELD = 2**31 - 1


def csv_rows(source: Input) -> Iterator[NumberedRow]:
    """Yield the number of the line at which each row begins, and its fields or its error.

    Blank lines are left out.
    """
    # The default limit of the whole process is 131,072 characters, less than a large tree has.
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_FIELD))
    named = _NAMED.fullmatch(source.first_line)
    separator = named[1].decode("latin-1") if named else _separator(source.first_line)
    if named:
        source.drop_first_row()
    lines = _Lines(source)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        number = lines.number + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, ParseError(f"not CSV: {error}", hint="check the quotes", column=1)
            continue
        except UnicodeDecodeError:
            yield (
                number,
                ParseError(
                    "the text is not valid UTF-8", hint="convert the file to UTF-8", column=1
                ),
            )
            continue
        if any(field.strip() for field in row):
            yield number, row


def write_row(fields: list[str]) -> str:
    """Return a row with all fields in quotes, so that the separator is certain."""
    return ",".join('"' + field.replace('"', '""') + '"' for field in fields)


class _Lines:
    """Decoded lines, counted."""

    def __init__(self, source: Input) -> None:
        self._lines = source.lines(keep_ends=True)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line.decode()


def _separator(line: bytes) -> str:
    """Return the separator that the first line has most of, outside quotes and trees."""
    text = line.decode(errors="replace")
    tree = slice(text.find("(") if "(" in text else len(text), text.rfind(")") + 1)
    outside = "".join(text.replace(text[tree], "").split('"')[::2])
    counts = {one: outside.count(one) for one in _SEPARATORS}
    return max(_SEPARATORS, key=lambda one: counts[one])
