"""Tab-separated files: ``label<TAB>tree``, one example per line, without quotes.

The first line may have the names of columns.
"""

from filbert.errors import ParseError
from filbert.read.record import EMPTY_TREE, Record, TreeText
from filbert.read.rows import check_not_swapped, parse_row
from filbert.read.separators import separator_hint
from filbert.read.table_columns import TableColumns

TWO_COLUMNS = TableColumns(2, 0, {"tree": 1})


def parse_line(line: bytes, *, columns: TableColumns, empty: bool, words: bool) -> Record | None:
    """Read one line; return None for a blank line.

    `empty` says whether trees may be empty, `words` whether a word without brackets is a tree.
    """
    if not line.strip():
        return None
    fields = line.split(b"\t")
    if len(fields) != columns.n:
        raise _other_number(line, fields, columns)
    if len(columns.trees) > 1 or columns.features:
        texts = [_decoded(field, fields, i) for i, field in enumerate(fields)]
        return parse_row(texts, columns=columns, empty=empty, words=words)
    ((name, position),) = columns.trees.items()
    text = fields[position]
    begin = sum(len(f) + 1 for f in fields[:position])
    tree = TreeText(text, begin + 1)
    if not text.strip():
        if not empty:
            raise ParseError("a line without a tree", hint="write label<TAB>tree", column=begin + 1)
        tree = TreeText(EMPTY_TREE, None)
    number = columns.label
    label = None if number is None else _decoded(fields[number], fields, number)
    if not words:
        check_not_swapped(label, columns, {name: tree})
        _check_quotes(text, begin + 1)
    others = {one: _decoded(fields[i], fields, i) for one, i in columns.others.items()}
    return Record(label, {name: tree}, {}, others)


def other_columns(text: bytes, columns: TableColumns) -> dict[str, list[str]]:
    """Return the kept columns of some lines.

    Raises
    ------
    LookupError, UnicodeDecodeError
        If a line is bad, which :func:`parse_line` reports.
    """
    n = max(columns.others.values()) + 1  # behind these fields, a line is not split
    rows = [line.rstrip(b"\r").split(b"\t", n) for line in text.split(b"\n") if line.strip()]
    return {name: [row[i].decode() for row in rows] for name, i in columns.others.items()}


def _other_number(line: bytes, fields: list[bytes], columns: TableColumns) -> ParseError:
    n = len(fields)
    found = f"found {n} column{'' if n == 1 else 's'}"
    if columns == TWO_COLUMNS:
        usual = "write two columns, or choose columns with label= and tree="
        return ParseError(
            f"expected label<TAB>tree, {found}",
            hint=(separator_hint(line) if n == 1 else "") or usual,
            column=1,
        )
    return ParseError(
        f"expected {columns.n} columns as in the first line, {found}",
        hint="check the tabs of this line and of the first",
        column=1,
    )


def _check_quotes(tree: bytes, column: int) -> None:
    text = tree.strip()
    if text.startswith(b'"(') and text.endswith(b')"'):
        raise ParseError(
            "the tree is in quotes", hint="pass format='csv', which reads them", column=column
        )


def _decoded(field: bytes, fields: list[bytes], number: int) -> str:
    try:
        return field.decode()
    except UnicodeDecodeError as error:
        raise ParseError(
            "the label is not valid UTF-8" if number == 0 else "the text is not valid UTF-8",
            hint="convert the file to UTF-8",
            column=sum(len(f) + 1 for f in fields[:number]) + error.start + 1,
        ) from None


def write_row(fields: list[str]) -> str:
    """Return a line; a tab or line end in a field raises ValueError."""
    for field in fields:
        if any(mark in field for mark in "\t\n\r"):
            raise ValueError(f"{field[:40]!r} has a tab or a line end: write a csv file")
    return "\t".join(fields)
