"""Tab-separated files: ``label<TAB>tree``, one example per line."""

from filbert.errors import ParseError
from filbert.read.record import Record, TreeText


def parse_line(line: bytes, *, label: int | None, tree: int | None) -> Record | None:
    """Read one line; return None for a blank line.

    `label` and `tree` are columns, from 0 or from the end (-1). If both are None, the line must
    have exactly two columns.
    """
    if not line.strip():
        return None
    fields = line.split(b"\t")
    if label is None and tree is None:
        if len(fields) != 2:
            raise ParseError(
                f"expected label<TAB>tree, found {len(fields)} "
                f"column{'' if len(fields) == 1 else 's'}",
                hint="write two columns, or choose columns with label= and tree=",
                column=1,
            )
        label, tree = 0, 1
    position = _position(fields, -1 if tree is None else tree)
    text = fields[position]
    name = fields[_position(fields, 0 if label is None else label)]
    begin = sum(len(f) + 1 for f in fields[:position])
    if not text.strip():
        raise ParseError("a line without a tree", hint="write label<TAB>tree", column=begin + 1)
    return Record(_decoded(name), {"tree": TreeText(text, begin + 1)})


def _position(fields: list[bytes], column: int) -> int:
    if not -len(fields) <= column < len(fields):
        raise ParseError(
            f"there is no column {column}: the line has {len(fields)}",
            hint="columns are numbered from 0",
            column=1,
        )
    return column % len(fields)


def _decoded(field: bytes) -> str:
    try:
        return field.decode()
    except UnicodeDecodeError as error:
        raise ParseError(
            "the label is not valid UTF-8",
            hint="convert the file to UTF-8",
            column=error.start + 1,
        ) from None
