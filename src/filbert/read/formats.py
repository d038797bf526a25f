"""The formats of files with examples: detect the format of a file, and choose its parser."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Literal, cast, get_args

from filbert.errors import InvalidParameterError, ParseError
from filbert.read import jsonl, klp, svmlight_tk, tsv
from filbert.read.binary_files import named_binary
from filbert.read.catalogue import known_format as known_tree_format
from filbert.read.csv_rows import csv_rows
from filbert.read.files import Input, format_suffix
from filbert.read.numbers import LabelKind
from filbert.read.record import Record
from filbert.read.rows import parse_row
from filbert.read.separators import check_line_ends, separator_hint
from filbert.read.table_columns import (
    LABEL_NAMES,
    TREE_NAMES,
    Column,
    TableColumns,
    looks_like_header,
    table_columns,
)
from filbert.read.tree_column import TreeColumn

Format = Literal["svmlight-tk", "klp", "tsv", "csv", "jsonl", "parquet", "arrow"]
Header = bool | Literal["auto"]
Labels = Literal["auto", "text", "numbers"]
Empty = Literal["error", "placeholder"]
LabelColumn = Column | Literal[False] | None
Columns = Column | Sequence[Column] | None

_SUFFIXES: dict[str, Format] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".klp": "klp",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
_LABEL_KINDS: dict[Format, LabelKind] = {
    "svmlight-tk": "numbers", "klp": "text", "tsv": "text", "csv": "text",
    "jsonl": "given", "parquet": "given", "arrow": "given",
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """The places of labels, trees and features: the options of :func:`filbert.read_examples`.

    `ignores_labels` says that labels are read, because that is fast, but that nobody looks at them.
    """

    format: Format | None = None
    label: LabelColumn = None
    tree: Columns = None
    features: Columns = None
    header: Header = "auto"
    bare_words: bool = False
    labels: Labels = "auto"
    empty: Empty | None = None
    tree_format: str | None = None
    tree_options: Mapping[str, Any] = field(default_factory=dict)
    ignores_labels: bool = False

    @property
    def needs_labels(self) -> bool:
        """Whether each example must have a label."""
        return self.label is not False and not self.ignores_labels

    def __post_init__(self) -> None:
        if self.header not in (True, False, "auto"):
            raise InvalidParameterError(
                f"header must be True, False or 'auto', got {self.header!r}"
            )
        if self.labels not in get_args(Labels):
            raise InvalidParameterError(
                f"labels must be 'auto', 'text' or 'numbers', got {self.labels!r}"
            )
        if self.empty not in (None, *get_args(Empty)):
            raise InvalidParameterError(
                f"empty must be 'error' or 'placeholder', got {self.empty!r}"
            )
        if self.label is True:
            raise InvalidParameterError("label must be a column, a key or False, got True")
        self.tree_column()

    @property
    def words(self) -> bool:
        """Whether a tree may be written without brackets."""
        return self.bare_words or self.tree_format is not None

    def tree_column(self) -> TreeColumn | None:
        """Return what converts the trees, or None if they are in bracket notation."""
        kind = None if self.tree_format is None else known_tree_format(self.tree_format)
        if kind is None or kind.native:
            if self.tree_options:
                name = next(iter(self.tree_options))
                raise InvalidParameterError(f"trees in brackets have no option {name!r}")
            return None
        return TreeColumn(kind, self.tree_options)

    @property
    def has_vectors(self) -> bool:
        """Whether feature vectors are read: not with an empty list of features."""
        return self.features is None or bool(_listed(self.features))

    def label_kind(self, kind: Format) -> LabelKind:
        """Return how the labels of a format are read."""
        return _LABEL_KINDS[kind] if self.labels == "auto" else self.labels


@dataclass(frozen=True)
class Parser:
    """How a file is read: the parser of a line or a row, and the rows if they are not lines.

    `columns` are those of a table. `rows` is None for TSV files, which the core may read.
    """

    parse: Callable[[Any], Record | None]
    rows: Iterator[tuple[int, Any]] | None = None
    columns: TableColumns | None = None

    @property
    def vocabulary(self) -> dict[str, list[str]]:
        """The names of features that are columns of a table, in the order of the user."""
        names = list(self.columns.features) if self.columns else []
        return {"features": names} if names else {}


def format_of_name(path: str | os.PathLike[str]) -> Format | None:
    """Return the format that the extension of a file shows."""
    return _SUFFIXES.get(format_suffix(path))


def known_format(layout: Layout, source: Input) -> Format:
    """Return the given format, or detect it from the file's name or its first line."""
    if layout.format is not None and layout.format not in get_args(Format):
        raise InvalidParameterError(f"format must be {_listed_formats()}, got {layout.format!r}")
    kind = layout.format or format_of_name(source.name)
    binary = named_binary(source)
    if binary.format is not None and kind in (None, binary.format):
        return cast(Format, binary.format)
    if binary.name:
        raise ParseError(
            f"this is {binary.name}{'' if binary.is_text else ', not text in UTF-8'}",
            hint=binary.hint,
            source=source.name,
            line=binary.line,
            column=binary.column,
        )
    check_line_ends(source.first_line, source.name)
    kind = kind or _by_first_line(source.first_line)
    if kind is None:
        if source.first_line.startswith(b"["):
            hint = "this may be a JSON array: write JSON Lines, one object per line"
        else:
            hint = f"pass format={_listed_formats()}; for trees without labels use read_trees"
            if b"(" in source.first_line and (separated := separator_hint(source.first_line)):
                hint = separated
        raise ParseError(
            "the format cannot be detected from the file's name or its first lines",
            hint=hint,
            source=source.name,
            line=1,
        )
    return kind


def _by_first_line(line: bytes) -> Format | None:
    if b"|BT|" in line or (b"|ET|" in line and b"|BT:" not in line):
        return "svmlight-tk"
    if b"|BT:" in line or b"|BV:" in line or b"|BS:" in line:
        return "klp"
    if line.startswith(b"{"):
        return "jsonl"
    if b"\t" in line:
        return "tsv"
    names = {
        name.strip(b' "').lower().decode(errors="replace") for name in re.split(b"[,;|]", line)
    }
    return "csv" if names & {*LABEL_NAMES} and names & {*TREE_NAMES} else None


def parser_for(kind: Format, layout: Layout, source: Input) -> Parser:
    """Return the parser of a file, and check the options of its format."""
    if layout.tree_format is not None and kind in ("svmlight-tk", "klp"):
        raise InvalidParameterError(
            f"tree_format= is for tables and JSON Lines; the trees of {kind} files are in brackets"
        )
    if layout.header is True and kind not in ("tsv", "csv"):
        raise InvalidParameterError("header=True is for TSV and CSV files")
    if kind == "svmlight-tk":
        return _svmlight_parser(layout)
    if kind == "klp":
        return _klp_parser(layout)
    if kind == "jsonl":
        return _jsonl_parser(layout)
    if kind == "tsv":
        return _tsv_parser(layout, source)
    if kind == "csv":
        return _csv_parser(layout, source)
    return _arrow_parser(kind, layout, source)


def _svmlight_parser(layout: Layout) -> Parser:
    no_label = layout.label is None or layout.label is False
    if not no_label or layout.tree is not None or _listed(layout.features):
        raise InvalidParameterError(
            "label= and tree= are for tables and JSON Lines; SVM-light-TK lines have fixed places"
        )
    return Parser(
        partial(
            svmlight_tk.parse_line,
            text_labels=layout.labels == "text",
            with_label=layout.label is not False,
            empty=layout.empty != "error",
        )
    )


def _klp_parser(layout: Layout) -> Parser:
    label = layout.label
    if not (label is None or label is False or label == "all" or isinstance(label, int)):
        raise InvalidParameterError("in KeLP files label= is the number of a label, 'all' or False")
    names = _listed(layout.tree)
    if not all(isinstance(name, str) for name in [*names, *_listed(layout.features)]):
        raise InvalidParameterError("in KeLP files tree= and features= are names")
    return Parser(
        partial(
            klp.parse_line,
            label=label,
            tree=[str(name) for name in names] or None,
            features=[str(name) for name in _listed(layout.features)] or None,
            empty=layout.empty != "error",
        )
    )


def _jsonl_parser(layout: Layout) -> Parser:
    label, tree, features = layout.label, layout.tree, layout.features
    keys = [k for given in (tree, features) for k in _listed(given)]
    if (not isinstance(label, str | None) and label is not False) or any(
        not isinstance(key, str) for key in keys
    ):
        raise InvalidParameterError("in JSON Lines label= and tree= are keys")
    if isinstance(tree, Sequence) and not tree:
        raise InvalidParameterError("tree= needs a key")
    for parameter, given in (("tree", tree), ("features", features)):
        names = [str(key).rpartition(".")[2] for key in _listed(given)]
        if len(set(names)) < len(names):
            raise InvalidParameterError(f"{parameter}= needs keys that end in different names")
    return Parser(
        partial(
            jsonl.parse_line,
            label=None if label is False else label or "label",
            tree=cast(str | Sequence[str] | None, tree),
            features=cast(str | Sequence[str] | None, features),
            empty=layout.empty == "placeholder",
        )
    )


def _tsv_parser(layout: Layout, source: Input) -> Parser:
    row = source.first_row()
    fields = row.decode(errors="replace").split("\t")
    has_header = bool(row) and begins_with_header(fields, layout)
    chosen = (layout.label, layout.tree, layout.features) != (None, None, None)
    if has_header:
        source.drop_first_row()
    if not row or (not has_header and not chosen and len(fields) < 3):
        columns = tsv.TWO_COLUMNS  # the first line may be bad
    else:
        columns = _columns(fields, has_header, layout, source)
    parse = partial(
        tsv.parse_line,
        columns=columns,
        empty=layout.empty == "placeholder",
        words=layout.words,
    )
    return Parser(parse, columns=columns)


def _csv_parser(layout: Layout, source: Input) -> Parser:
    rows = csv_rows(source)
    first = next(rows, None)
    if first is None:
        return Parser(lambda _: None, iter(()))
    fields = first[1]
    if isinstance(fields, ParseError):
        raise fields.located(source=source.name, line=first[0])
    has_header = begins_with_header(fields, layout)
    columns = _columns(fields, has_header, layout, source)
    return _row_parser(rows if has_header else chain([first], rows), columns, layout)


def _arrow_parser(kind: Literal["parquet", "arrow"], layout: Layout, source: Input) -> Parser:
    from filbert.read.arrow_rows import arrow_rows  # noqa: PLC0415 - needs pyarrow

    names, rows = arrow_rows(source, kind)
    return _row_parser(rows, _columns(names, True, layout, source), layout)


def _row_parser(rows: Iterable[tuple[int, Any]], columns: TableColumns, layout: Layout) -> Parser:
    parse = partial(
        parse_row,
        columns=columns,
        empty=layout.empty == "placeholder",
        words=layout.words,
    )
    return Parser(parse, iter(rows), columns)


def begins_with_header(fields: Sequence[str], layout: Layout) -> bool:
    """Return whether the first row has column names.

    If trees may have no brackets, only names that are known distinguish a header from an example.
    """
    if layout.header != "auto":
        return layout.header
    named = any(isinstance(c, str) for c in (layout.label, *_listed(layout.tree)))
    if layout.tree_format is not None:
        known = {field.strip().lower() for field in fields} & {*LABEL_NAMES, *TREE_NAMES}
        return named or bool(known - {"y"})  # which may be the label of an example
    enough = len(fields) > 1 or layout.label is False
    return (named or not layout.bare_words) and enough and looks_like_header(fields)


def _columns(
    fields: Sequence[str], has_header: bool, layout: Layout, source: Input
) -> TableColumns:
    return table_columns(
        fields,
        has_header=has_header,
        label=layout.label,
        tree=layout.tree,
        features=layout.features,
        source=source.name,
    )


def _listed(given: Columns) -> list[Column]:
    if given is None:
        return []
    return [given] if isinstance(given, str | int) else list(given)


def _listed_formats() -> str:
    names = [repr(name) for name in get_args(Format)]
    return f"{', '.join(names[:-1])} or {names[-1]}"
