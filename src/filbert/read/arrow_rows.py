"""Parquet and Arrow (Feather) tables as rows, by pyarrow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Literal

from filbert.errors import InvalidParameterError, MissingLibraryError, ParseError
from filbert.read.files import Input

try:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet
except ModuleNotFoundError as error:
    raise MissingLibraryError("a Parquet or Arrow table", error.name or "", "tables") from None

_BATCH = 10_000  # rows in memory at a time


def arrow_rows(
    source: Input, kind: Literal["parquet", "arrow"]
) -> tuple[list[str], Iterator[tuple[int, list[Any]]]]:
    """Return the names of the columns, and numbered rows of Python values."""
    content = pa.BufferReader(source.read_all())
    with _damage_reported(kind, source.name):
        if kind == "parquet":
            file = pa.parquet.ParquetFile(content)
            names, batches = file.schema_arrow.names, file.iter_batches(_BATCH)
        else:
            table = pa.feather.read_table(content)
            names, batches = table.column_names, table.to_batches(_BATCH)
    return names, _rows(batches, kind, source.name)


def _rows(batches: Iterable[Any], kind: str, source: str) -> Iterator[tuple[int, list[Any]]]:
    number = 0
    with _damage_reported(kind, source):
        for batch in batches:
            batch.validate(full=True)  # pyarrow trusts offsets and could crash
            columns = [column.to_pylist() for column in batch.columns]
            for row in zip(*columns, strict=True):
                number += 1
                yield number, list(row)


@contextmanager
def _damage_reported(kind: str, source: str) -> Iterator[None]:
    """Raise ParseError for the errors of pyarrow."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ParseError(
            f"the {kind.capitalize()} table is damaged: {error}",
            hint="write it again, or check format=",
            source=source,
        ) from None


def write_table(stream: IO[bytes], kind: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of texts and numbers as a table."""
    try:
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise InvalidParameterError(f"the table cannot be written: {error}") from None
    if kind == "parquet":
        pa.parquet.write_table(table, stream)
    else:
        pa.feather.write_feather(table, stream)
