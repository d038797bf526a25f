"""Which tree format a document has: as the user says, by its name, or by how it begins."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import IO, Any

from filbert.errors import InvalidParameterError, ParseError
from filbert.read.catalogue import TREE_FORMATS, TreeFormat, known_format
from filbert.read.files import format_suffix
from filbert.read.formats import format_of_name
from filbert.read.other_files import check_is_document
from filbert.read.sources import NamedInput

_LOOK = 1 << 12  # bytes that are inspected

_BY_SUFFIX = {suffix: kind for kind in TREE_FORMATS.values() for suffix in kind.suffixes}

# How documents begin, after white space and a byte order mark. Only what no other format begins
# with: ``(A,B)`` may be Newick, ``<p>`` may be XML or HTML.
_BEGINNINGS: dict[str, re.Pattern[bytes]] = {
    "brackets": re.compile(rb"(\(\s*)+[^\s(),:;]+\s+[^\s,:;]"),
    "xml": re.compile(rb"<\?xml\s"),
    "html": re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE),
    "json": re.compile(rb'\{\s*["}]|\[\s*["{\[\]\d]'),
    "conllu": re.compile(rb"(#[^\n]*\n\s*)*\d+(-\d+)?(\t[^\t\n]+){9}\r?\n"),
}


def format_by_name(path: Any) -> TreeFormat | None:
    """Return the format that the extension of a file shows."""
    return _BY_SUFFIX.get(format_suffix(path))


def format_by_content(stream: IO[Any]) -> TreeFormat | None:
    """Return the format that the beginning of a document shows; nothing is consumed."""
    start: bytes = stream.peek(_LOOK)[:_LOOK]  # type: ignore[attr-defined]
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        text = start.decode("utf-16", errors="ignore").lstrip().encode()
    for name, beginning in _BEGINNINGS.items():
        if beginning.match(text):
            return TREE_FORMATS[name]
    return None


def selected(
    inputs: Sequence[NamedInput], format: str | None
) -> tuple[TreeFormat | None, list[NamedInput]]:
    """Return the format of the inputs, and the inputs to read.

    Of the files in a folder, those of other formats are left out. The format is None if no name
    shows it.
    """
    kind = known_format(format) if format is not None else _only_format(inputs)
    if kind is None:
        folders = [one.folder for one in inputs if one.folder]
        if folders:
            raise InvalidParameterError(
                f"the names of the files in {folders[0]!r} show no tree format: pass format=, or "
                "use read_examples for labelled trees"
            )
        return None, list(inputs)
    kept = [one for one in inputs if not one.folder or format_by_name(one.name) is kind]
    if not kept:
        raise InvalidParameterError(
            f"the folder has no files of the format {kind.name} ({', '.join(kind.suffixes)})"
        )
    return kind, kept


def detected(one: NamedInput, stream: IO[Any], kind: TreeFormat | None) -> TreeFormat:
    """Return the format of an open input of which the name shows nothing.

    `kind` is the format of the inputs before it, which it must share.
    """
    labelled = format_of_name(one.name)
    if labelled is not None:
        raise ParseError(
            f"a {labelled} file has labelled trees",
            hint="use read_examples, with label=False if there are no labels",
            source=one.name,
        )
    found = format_by_content(stream)
    if found is None:
        raise ParseError(
            "the format cannot be detected from the name of the file or its beginning",
            hint=f"pass format=, one of {', '.join(TREE_FORMATS)}; for labelled trees, use "
            "read_examples",
            source=one.name,
        )
    if kind is not None and found is not kind:
        raise ParseError(
            f"this is {found.name}, but the files before it are {kind.name}",
            hint="read each format by itself, or pass format=...",
            source=one.name,
        )
    return found


def format_of(
    one: NamedInput, stream: IO[Any], known: TreeFormat | None, *, is_given: bool
) -> TreeFormat:
    """Return the format of an open input.

    `known` is the format of the inputs before it, or the one that the user names (`is_given`).
    """
    start: bytes = stream.peek(_LOOK)[:_LOOK]  # type: ignore[attr-defined]
    is_known = known is not None and (is_given or format_by_name(one.name))
    check_is_document(start, known.name if known is not None and is_known else None, one.name)
    return known if known is not None and is_known else detected(one, stream, known)


def _only_format(inputs: Sequence[NamedInput]) -> TreeFormat | None:
    files: dict[str, list[str]] = defaultdict(list)
    for one in inputs:
        kind = format_by_name(one.name)
        if kind is not None:
            files[kind.name].append(one.name)
    if len(files) > 1:
        listed = ", ".join(
            f"{name} ({len(found)}, such as {found[0]})" for name, found in sorted(files.items())
        )
        raise InvalidParameterError(
            f"there are files of several formats: {listed}. Pass the one to read as format=..."
        )
    return TREE_FORMATS[next(iter(files))] if files else None
