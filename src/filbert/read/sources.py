"""Expanding what users call a source of documents into inputs, each opened when it is read.

Folders and patterns give their files in the order of their names. Hidden files and folders, whose
names begin with a dot, are left out. Links to folders are followed. Each folder is visited once, so
links that form a loop do no harm.
"""

import glob
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from filbert.errors import InputTypeError, InvalidParameterError, MissingFileError
from filbert.read.files import STANDARD_INPUT, name_of, open_binary

Place = str | os.PathLike[str] | IO[bytes]
TreeSource = Place | Iterable[Place]
"""A path, pattern, folder, ``"-"``, open binary file, or several of these."""


@dataclass(frozen=True)
class NamedInput:
    """One document that can be opened."""

    name: str
    place: Place
    folder: str = ""  # the folder in which it was found, if the user named a folder

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the document, decompressed, as a stream with ``peek``.

        A file that the user has opened stays open.
        """
        if isinstance(self.place, str | os.PathLike):
            with open_binary(self.place) as file, _with_peek(file) as stream:
                yield stream
        else:
            with _with_peek(self.place) as stream:
                yield stream


def is_single(source: TreeSource) -> bool:
    """Return whether a source is one document by its kind, whatever the disk holds."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return path == STANDARD_INPUT or not (os.path.isdir(path) or _is_pattern(path))
    return hasattr(source, "read")


def expand(source: TreeSource) -> list[NamedInput]:
    """Return the documents of a source, unopened.

    Raises
    ------
    MissingFileError
        If there is no such file, or no file matches the pattern.
    InputTypeError, InvalidParameterError
        If the source is not a path, an open binary file or several of these, or is empty.
    """
    if isinstance(source, str | os.PathLike):
        return _of_path(os.fspath(source))
    if hasattr(source, "read"):
        return [_of_file(source)]
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise _wrong_type(source)
    inputs = [found for place in source for found in _of_item(place)]
    if not inputs:
        raise InvalidParameterError("the list of files is empty: name at least one file")
    return inputs


def _of_item(place: Any) -> list[NamedInput]:
    if not isinstance(place, str | os.PathLike) and not hasattr(place, "read"):
        raise _wrong_type(place)
    return expand(place)


def _of_file(file: Any) -> NamedInput:
    if isinstance(file, io.TextIOBase):
        raise InputTypeError(
            f"{name_of(file)} is open in text mode: open it in binary mode, open(path, 'rb')"
        )
    return NamedInput(name_of(file), file)


def _of_path(path: str) -> list[NamedInput]:
    if path == STANDARD_INPUT:
        return [NamedInput(name_of(path), path)]
    if os.path.isdir(path):
        inputs = [NamedInput(file, file, path) for file in _files_below(path)]
        if not inputs:
            raise InvalidParameterError(f"the folder {path!r} has no files")
        return inputs
    if _is_pattern(path):
        files = [file for file in _matches(path) if not os.path.isdir(file)]
        if not files:
            raise MissingFileError(path, "no file matches the pattern")
        return [NamedInput(file, file) for file in sorted(files)]
    if not os.path.lexists(path):
        if path.lstrip()[:1] in ("(", "<", "{", "["):
            raise InvalidParameterError(
                f"{path.strip()[:40]!r} is not a path but looks like the text of a document: "
                "use Forest.from_texts([text], format=...)"
            )
        raise MissingFileError(path)
    return [NamedInput(path, path)]


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not os.path.lexists(path)


def _matches(pattern: str) -> set[str]:
    """Return the paths that match a pattern.

    ``glob`` follows links anew at each level and does not end where links form loops, so ``**`` is
    done here, folder by folder.
    """
    start, *others = re.split(r"(?:^|(?<=/))\*\*(?:/|$)", pattern)
    found = set(glob.glob(start)) if start else {""}
    for rest in others:
        folders = _folders_below(folder for folder in sorted(found) if os.path.isdir(folder or "."))
        found = {
            path
            for folder in folders
            for path in glob.glob(os.path.join(glob.escape(folder), rest or "*"))
        }
    return found


def _files_below(folder: str) -> list[str]:
    """Return the files of a folder and the folders in it, sorted."""

    def is_file(entry: os.DirEntry[str]) -> bool:  # a broken link is an error when it is opened
        return entry.is_file() or (entry.is_symlink() and not entry.is_dir())

    folders = _folders_below([folder])
    return sorted(file for inner in folders for file in _entries(inner, is_file))


def _folders_below(folders: Iterable[str]) -> list[str]:
    """Return folders and all folders below them, each once."""
    found: list[str] = []
    seen: set[tuple[int, int]] = set()
    stack = list(folders)[::-1]
    while stack:
        folder = stack.pop()
        status = os.stat(folder or ".")
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            found.append(folder)
            stack.extend(sorted(_entries(folder, os.DirEntry.is_dir), reverse=True))
    return found


def _entries(folder: str, wanted: Callable[[os.DirEntry[str]], bool]) -> list[str]:
    with os.scandir(folder or ".") as entries:
        names = [e.name for e in entries if not e.name.startswith(".") and wanted(e)]
    return [os.path.join(folder, name) for name in names]


@contextmanager
def _with_peek(stream: Any) -> Iterator[IO[bytes]]:
    if hasattr(stream, "peek"):
        yield stream
        return
    if not isinstance(stream, io.RawIOBase | io.BufferedIOBase):  # another object with ``read``
        content = stream.read()
        if not isinstance(content, bytes):
            raise InputTypeError(f"{name_of(stream)} gives {type(content).__name__}, not bytes")
        stream = io.BytesIO(content)
    buffered = io.BufferedReader(stream)
    try:
        yield buffered
    finally:
        buffered.detach()


def _wrong_type(source: Any) -> InputTypeError:
    return InputTypeError(
        "documents are read from a path, a pattern, a folder, a file open in binary mode or a list "
        f"of these, not from {type(source).__name__}"
    )
