"""The parts of a corpus of files."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any, cast

from filbert.corpus.files import DocumentReading, FilePiece, FileRange, TableReading
from filbert.corpus.form import Form
from filbert.corpus.plan import divided, files_at
from filbert.errors import InvalidParameterError
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.detection import format_by_name, selected
from filbert.read.files import STANDARD_INPUT, Input
from filbert.read.formats import Layout, format_of_name
from filbert.read.sources import NamedInput, expand, is_single
from filbert.several_files import is_several, labelled_files
from filbert.streaming import StreamBatch, read_batches

_SAMPLE = 64  # examples that decide about the form of all


def pieces_of_files(
    source: Any,
    n_parts: int | None,
    reading: dict[str, Any],
    options: dict[str, Any],
    n_jobs: int | None,
) -> list[FilePiece]:
    """Return the parts of files. `reading` and `options` are those of `filbert.parts`."""
    if source == STANDARD_INPUT or (isinstance(source, list | tuple) and STANDARD_INPUT in source):
        raise InvalidParameterError(
            "the parts of a corpus are read several times, and standard input only once: write it "
            "to a file first, or use filbert.read_examples"
        )
    if _is_of_documents(source, reading):
        return _documents(source, n_parts, reading, options, n_jobs)
    return _tables(source, n_parts, reading, options, n_jobs)


# ---------------------------------------------------------------- files of labelled examples


def _tables(
    source: Any,
    n_parts: int | None,
    reading: dict[str, Any],
    options: dict[str, Any],
    n_jobs: int | None,
) -> list[FilePiece]:
    layout = _layout(reading, options)
    files = files_at([_path(one) for one in _labelled(source, reading["format"])])
    reading = {**reading, **options}
    if reading["vocabulary"] is not None:
        reading["vocabulary"] = {
            name: list(map(str, names)) for name, names in reading["vocabulary"].items()
        }
    first = _sample(files, reading)
    if first.y is not None:
        reading["labels"] = "text" if first.y.dtype.kind in "UO" else "numbers"
    how = TableReading(reading, Form.of(first.X))
    return _pieces(divided(files, n_parts, layout), how, n_jobs)


def _layout(reading: dict[str, Any], options: dict[str, Any]) -> Layout:
    if options and reading["tree_format"] is None:
        raise InvalidParameterError(
            f"filbert.parts has no parameter {next(iter(options))!r} for labelled files"
        )
    names = {field.name for field in fields(Layout)}
    places = {name: value for name, value in reading.items() if name in names}
    return Layout(**places, tree_options=options)


def _labelled(source: Any, format: Any) -> list[NamedInput]:
    return labelled_files(source, format) if is_several(source) else expand(source)


def _sample(files: Sequence[FileRange], reading: dict[str, Any]) -> StreamBatch:
    """Return the first examples."""
    for file in files:
        with closing(cast(Any, read_batches(file.path, _SAMPLE, **reading))) as batches:
            for batch in batches:
                if batch.X is not None:
                    return cast(StreamBatch, batch)
    raise InvalidParameterError(f"there are no examples in {files[0].path!r}: check the file")


# ---------------------------------------------------------------- documents


def _is_of_documents(source: Any, reading: dict[str, Any]) -> bool:
    if reading["format"] in TREE_FORMATS or reading["label"] == "folder":
        if reading["label"] not in (False, "folder"):
            raise InvalidParameterError(
                f"{reading['format']} files have no labels: pass label=False, or label='folder' to "
                "take the names of their folders"
            )
        return True
    if reading["format"] is not None or reading["tree_format"] is not None:
        return False
    inputs = expand(source)
    if not all(format_by_name(one.name) is not None for one in inputs):
        return reading["label"] is False and _is_of_brackets(inputs[0])
    if reading["label"] is False:
        return True
    raise InvalidParameterError(
        "these files have trees without labels: pass label=False, or label='folder' to take the "
        "names of their folders"
    )


def _is_of_brackets(one: NamedInput) -> bool:
    """Return whether a file begins with a tree in brackets, and its name shows no other format."""
    if format_of_name(one.name) is not None or not os.path.isfile(one.name):
        return False
    with one.open() as stream:
        first_line = Input(stream, one.name).first_line
    return first_line.startswith(b"(") and b"\t" not in first_line


def _documents(
    source: Any,
    n_parts: int | None,
    reading: dict[str, Any],
    options: dict[str, Any],
    n_jobs: int | None,
) -> list[FilePiece]:
    is_labelled = reading["label"] == "folder"
    if is_labelled and isinstance(source, str | os.PathLike) and is_single(source):
        raise InvalidParameterError(
            "label='folder' needs a folder, a pattern or a list of files, not a single file"
        )
    kind, inputs = selected(expand(source), reading["format"])
    if kind is None and not is_labelled:
        kind = TREE_FORMATS["brackets"]  # as the first file shows
    given: dict[str, Any] = {"format": None if kind is None else kind.name, **options}
    if reading["bare_words"]:
        given["bare_words"] = True
    if kind is not None:
        kind.options({name: value for name, value in given.items() if name != "format"})
    if is_labelled:
        _check_folders(source, inputs)
    how = DocumentReading({**given, "on_error": reading["on_error"]}, is_labelled)
    opening = b"(" if kind is not None and kind.native and not is_labelled else b""
    files = files_at([_path(one) for one in inputs])
    return _pieces(divided(files, n_parts, None, opening), how, n_jobs)


def _check_folders(source: Any, inputs: Sequence[NamedInput]) -> None:
    """Raise InvalidParameterError if a file is in the folder that has the folders of classes."""
    if not isinstance(source, str | os.PathLike) or not os.path.isdir(source):
        return
    for one in inputs:
        if os.path.dirname(os.path.abspath(one.name)) == os.path.abspath(source):
            raise InvalidParameterError(
                f"{one.name} has no label: it is in {os.fspath(source)!r} itself, not in a folder "
                "of its class"
            )


# ---------------------------------------------------------------- both


def _path(one: NamedInput) -> str:
    return os.fspath(cast(str, one.place))


def _pieces(
    groups: Sequence[tuple[FileRange, ...]],
    how: TableReading | DocumentReading,
    n_jobs: int | None,
) -> list[FilePiece]:
    return [FilePiece(_name(group), group, how, n_jobs) for group in groups]


def _name(group: tuple[FileRange, ...]) -> str:
    """Return the name of a part for messages."""
    first, last = group[0], group[-1]
    if len(group) > 1:
        return f"{first.path} to {last.path}"
    if first.end is None or (first.begin, first.end) == (0, first.size):
        return first.path
    return f"{first.path}, bytes {first.begin:,} to {first.end:,}"
