"""The formats of files with examples: detect the format of a file, and choose its parser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

from filbert.errors import InvalidParameterError, ParseError
from filbert.read import jsonl, svmlight_tk, tsv
from filbert.read.files import Input, format_suffix
from filbert.read.record import Record

Format = Literal["svmlight-tk", "tsv", "jsonl"]
Header = bool | Literal["auto"]
LineParser = Callable[[bytes], Record | None]

_SUFFIXES: dict[str, Format] = {".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class Layout:
    """The places of labels, trees and features: the options of :func:`filbert.read_examples`."""

    format: Format | None = None
    label: str | int | None = None
    tree: str | int | Sequence[str] | None = None
    features: str | Sequence[str] | None = None
    header: Header = "auto"
    bare_words: bool = False

    def __post_init__(self) -> None:
        if self.header not in (True, False, "auto"):
            raise InvalidParameterError(
                f"header must be True, False or 'auto', got {self.header!r}"
            )


def known_format(layout: Layout, source: Input) -> Format:
    """Return the given format, or detect it from the file's name or its first line."""
    kind = layout.format or _SUFFIXES.get(format_suffix(source.name))
    if kind is not None:
        return kind
    line = source.first_line
    if b"|BT|" in line or b"|ET|" in line:
        return "svmlight-tk"
    if line.startswith(b"{"):
        return "jsonl"
    if b"\t" in line:
        return "tsv"
    raise ParseError(
        "the format cannot be detected from the file's name or its first lines",
        hint="pass format='svmlight-tk', 'tsv' or 'jsonl'; for bare trees use Forest.from_brackets",
        source=source.name,
        line=1,
    )


def line_parser(kind: Format, layout: Layout) -> LineParser:
    """Return the parser for the lines of a format, and check the options of that format."""
    if kind not in ("svmlight-tk", "tsv", "jsonl"):
        raise InvalidParameterError(f"format must be 'svmlight-tk', 'tsv' or 'jsonl', got {kind!r}")
    if kind != "tsv" and layout.header is True:
        raise InvalidParameterError("header=True is for TSV files")
    label, tree, features = layout.label, layout.tree, layout.features
    if kind == "svmlight-tk":
        if label is not None or tree is not None:
            raise InvalidParameterError("label= and tree= are for JSON Lines and TSV files")
        return svmlight_tk.parse_line
    if kind == "tsv":
        if isinstance(label, str) or not isinstance(tree, int | None):
            raise InvalidParameterError("in TSV files label= and tree= are column numbers")
        return partial(tsv.parse_line, label=label, tree=tree)
    if isinstance(label, int) or isinstance(tree, int):
        raise InvalidParameterError("in JSON Lines label= and tree= are keys")
    if isinstance(tree, Sequence) and not tree:
        raise InvalidParameterError("tree= needs a key")
    for parameter, keys in (("tree", tree), ("features", features)):
        names = [] if isinstance(keys, str | None) else [k.rpartition(".")[2] for k in keys]
        if len(set(names)) < len(names):
            raise InvalidParameterError(f"{parameter}= needs keys that end in different names")
    return partial(jsonl.parse_line, label=label or "label", tree=tree, features=features)


def drop_header(kind: Format, layout: Layout, parse: LineParser, source: Input) -> None:
    """Drop the line of column names that a TSV file may begin with.

    By default, a first line whose tree has no bracket is a header. If words may be trees, a header
    cannot be distinguished from an example.
    """
    if kind != "tsv" or layout.header is False or (layout.header == "auto" and layout.bare_words):
        return
    source.drop_header(lambda line: layout.header is True or _has_no_bracket(parse, line))


def _has_no_bracket(parse: LineParser, line: bytes) -> bool:
    try:
        record = parse(line)
    except ParseError:
        return False
    return record is not None and b"(" not in cast(bytes, record.trees["tree"].text)
