"""An index on disk: a folder of segments, which are never changed, and a list of them.

The list, ``index.json``, is replaced as a whole after everything that it names is on disk. So the
folder always holds the old index or the new one.
"""

import json
import os
import re
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.atomic import check_folder, replacing
from filbert.errors import (
    CorruptForestError,
    FilbertError,
    InvalidParameterError,
    MissingFileError,
    ModelFileError,
)
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.persist.archive import Arrays, open_archive, write_archive
from filbert.persist.files import check_path
from filbert.persist.parameters import kernel_from_json, kernel_to_json
from filbert.search.segments import Ids, Segment, Segments

FORMAT = "filbert-index"
VERSION = 1
LIST = "index.json"

_LONGEST_LIST = 1 << 24
_FILE = re.compile(r"(segment|removed|notes)-([0-9]{1,9})\.filbert")
_TRIES = 3  # if another process replaces the index meanwhile


def save_segments(
    segments: Segments,
    path: str | os.PathLike[str],
    *,
    notes: dict[str, Any] | None = None,
    columns: Arrays | None = None,
) -> None:
    """Write an index to a folder. Segments that are there already are kept as they are.

    `notes` are JSON values and `columns` are arrays that :func:`read_notes` returns.
    """
    check_path(path)
    folder = _made_folder(os.path.realpath(path))
    number = 1 + max([int(match[2]) for match in _files(folder)], default=0)
    listed: list[dict[str, Any]] = []
    for segment in segments.segments:
        if segment.file is None or os.path.dirname(segment.file) != folder:
            name = f"segment-{number}.filbert"
            number += 1
            # Each array takes time to open.
            _write(folder, name, {key: a for key, a in segment.arrays.items() if len(a)})
            own = os.path.join(folder, name)
            segment.file = own if segment.file is None else segment.file
        else:
            name = os.path.basename(segment.file)
        removed = None
        if len(segment.removed):
            removed = f"removed-{number}.filbert"
            number += 1
            _write(folder, removed, {"removed": segment.removed})
        listed.append({"file": name, "ids": _ranges(segment.ids), "removed": removed})
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "filbert": version("filbert"),
        "kernel": kernel_to_json(segments.kernel),
        "next_id": segments.next_id,
        "segments": listed,
        "notes": _kept_notes(folder) if notes is None else {"values": notes, "file": None},
    }
    if columns is not None:
        content["notes"]["file"] = f"notes-{number}.filbert"
        _write(folder, content["notes"]["file"], columns)
    with replacing(os.path.join(folder, LIST)) as stream:
        stream.write(json.dumps(content, indent=1).encode())
    _delete_others(folder, content)


def open_segments(path: str | os.PathLike[str]) -> Segments:
    """Open the index of a folder. Its arrays are mapped into memory."""
    check_path(path)
    for left in reversed(range(_TRIES)):
        try:
            return _opened(os.path.realpath(path))
        except MissingFileError:
            if left == 0:
                raise
        except CorruptForestError as error:
            raise ModelFileError(str(error)).located(path) from None
    raise AssertionError


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether there is an index in a folder."""
    try:
        with open(os.path.join(path, LIST), "rb") as stream:
            return FORMAT.encode() in stream.read(100)  # the list begins with its format
    except OSError:
        return False


def index_summary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what is in an index: its kernel, the number of its trees, segments and bytes."""
    segments = open_segments(path).segments
    folder = os.path.realpath(path)
    content = _read_list(folder)
    removed = sum(int(np.count_nonzero(segment.removed)) for segment in segments)
    sizes = [os.path.getsize(os.path.join(folder, match[0])) for match in _files(folder)]
    return {
        "kind": "TreeIndex",
        "filbert": content.get("filbert"),
        "version": content.get("version"),
        "kernel": repr(kernel_from_json(content.get("kernel"))),
        "trees": sum(len(segment.ids) for segment in segments) - removed,
        "removed": removed,
        "segments": len(segments),
        "bytes": sum(sizes),
    }


def read_notes(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return the notes and columns that were saved with an index."""
    folder = os.path.realpath(path)
    notes = _read_list(folder).get("notes")
    values = notes.get("values") if isinstance(notes, dict) else None
    if not isinstance(notes, dict) or not isinstance(values, dict):
        return {}, {}
    name = notes.get("file")
    return values, {} if name is None else _read(folder, name)


def _opened(folder: str) -> Segments:
    content = _read_list(folder)
    try:
        kernel = kernel_from_json(content.get("kernel"))
    except FilbertError as error:
        raise ModelFileError(str(error)).located(folder) from None
    listed, next_id = content.get("segments"), content.get("next_id")
    if not isinstance(kernel, TreeKernel) or not isinstance(listed, list):
        raise ModelFileError("its list does not have a tree kernel and segments").located(folder)
    if type(next_id) is not int or not 0 <= next_id < 2**62:
        raise ModelFileError("its list does not have the next id").located(folder)
    segments = [_segment(folder, kernel, entry) for entry in listed]
    last = -1
    for segment in segments:
        if len(segment.ids) and int(segment.ids[0]) <= last:
            raise ModelFileError("the ids of its segments do not ascend").located(folder)
        last = int(segment.ids[-1]) if len(segment.ids) else last
    if last >= next_id:
        raise ModelFileError("its ids are larger than its list says").located(folder)
    return Segments(kernel, segments, next_id)


def _segment(folder: str, kernel: TreeKernel, entry: Any) -> Segment:
    if not isinstance(entry, dict):
        raise ModelFileError("its list describes no segment").located(folder)
    nothing = Forest(())
    spec = kernel._spec()
    empty = _core.build_segment(spec, nothing._dag, nothing._roots, 1, None)
    arrays = {**empty, **_read(folder, entry.get("file"))}
    n = len(arrays.get("positions", ()))
    ids = _ids(entry.get("ids"), n)
    if ids is None:
        raise ModelFileError("the ids of a segment are damaged").located(folder)
    more: dict[str, Any] = {"file": os.path.join(folder, entry["file"])}
    if entry.get("removed") is not None:
        removed: NDArray[Any] = _read(folder, entry["removed"]).get("removed", np.zeros(0))
        if removed.dtype != np.uint8 or removed.shape != (n,):
            raise ModelFileError("the list of removed trees is damaged").located(folder)
        more["removed"] = removed
    return Segment.of(kernel, arrays, ids, **more)


def _ranges(ids: Ids) -> list[list[int]]:
    """Return ascending ids as ranges: pairs of the first id and the last."""
    cuts = np.flatnonzero(np.diff(ids) != 1) + 1
    parts = np.split(ids, cuts) if len(ids) else []
    return [[int(part[0]), int(part[-1])] for part in parts]


def _ids(ranges: Any, n: int) -> Ids | None:
    """Return the ids of ranges, or None if they are not `n` ascending ids."""
    if not isinstance(ranges, list):
        return None
    parts, next_id, n_ids = [np.zeros(0, np.int64)], 0, 0
    for pair in ranges:
        if not isinstance(pair, list) or [type(x) for x in pair] != [int, int]:
            return None
        first, last = pair
        n_ids += last - first + 1
        if not next_id <= first <= last < 2**62 or n_ids > n:
            return None
        parts.append(np.arange(first, last + 1, dtype=np.int64))
        next_id = last + 1
    return np.concatenate(parts) if n_ids == n else None


def _write(folder: str, name: str, arrays: Arrays) -> None:
    with replacing(os.path.join(folder, name)) as stream:
        write_archive(stream, {"format": FORMAT, "version": VERSION}, arrays)


def _read(folder: str, name: Any) -> Arrays:
    if not isinstance(name, str) or _FILE.fullmatch(name) is None:
        raise ModelFileError(f"its list names the file {str(name)[:40]!r}").located(folder)
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as stream, open_archive(stream, mapped=True) as archive:
            return archive.arrays()
    except FileNotFoundError:
        raise MissingFileError(path) from None
    except ModelFileError as error:
        raise error.located(path) from None


def _read_list(folder: str) -> dict[str, Any]:
    path = os.path.join(folder, LIST)
    try:
        with open(path, "rb") as stream:
            text = stream.read(_LONGEST_LIST)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(path) from None
    try:
        content = json.loads(text)
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ModelFileError(f"the list of segments is not JSON: {error}").located(path) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError("this is not an index of Filbert").located(path)
    if content.get("version") != VERSION:
        raise ModelFileError(
            f"the index has format version {str(content.get('version'))[:20]}, but this version "
            f"of Filbert reads version {VERSION}",
            hint="build the index again",
        ).located(path)
    return content


def _made_folder(folder: str) -> str:
    if os.path.isdir(folder):
        others = [name for name in os.listdir(folder) if not name.endswith(".part")]
        if others and LIST not in others and not all(map(_FILE.fullmatch, others)):
            raise InvalidParameterError(
                f"{folder} is a folder with other files: choose another name for the index"
            )
        return folder
    if os.path.exists(folder):
        raise InvalidParameterError(f"{folder} is a file: an index is a folder, choose its name")
    check_folder(folder)
    os.mkdir(folder)
    return folder


def _files(folder: str) -> list[re.Match[str]]:
    return [match for name in os.listdir(folder) if (match := _FILE.fullmatch(name))]


def _kept_notes(folder: str) -> Any:
    with suppress(FilbertError):
        return _read_list(folder).get("notes")
    return None


def _delete_others(folder: str, content: dict[str, Any]) -> None:
    """Delete the files of earlier lists. Processes that have mapped them keep their content."""
    named = {entry["file"] for entry in content["segments"]}
    named |= {entry["removed"] for entry in content["segments"]}
    named.add((content["notes"] or {}).get("file"))
    for match in _files(folder):
        if match[0] not in named:
            with suppress(OSError):
                os.unlink(os.path.join(folder, match[0]))
