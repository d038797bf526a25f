"""An index on disk: a folder of files, which are never changed, and a list of them.

The list is replaced as a whole after everything that it names is on disk. So the folder always
holds the old index or the new one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.atomic import check_folder, replacing
from filbert.errors import (
    ConcurrentSaveError,
    CorruptForestError,
    FilbertError,
    InvalidParameterError,
    MissingFileError,
    ModelFileError,
)
from filbert.forest import Forest
from filbert.kernels import TreeKernel
from filbert.locks import exclusive_lock, is_at
from filbert.persist.archive import ArchiveReader, Arrays, open_archive, write_archive
from filbert.persist.files import check_path
from filbert.persist.parameters import kernel_from_json, kernel_to_json
from filbert.search.lists import (
    FORMAT,
    LIST,
    LOCK,
    VERSION,
    StoredList,
    file_name,
    identity_of,
    ids_of,
    is_file_name,
    is_leftover,
    opened,
    ranges_of,
    ranges_of_version_1,
    read_list,
    text_of,
)
from filbert.search.segments import Notes, Segment, Segments, new_identity

# ---------------------------------------------------------------- saving


def save_segments(segments: Segments, path: str | os.PathLike[str]) -> None:
    """Write an index to a folder. Files that the index there has too are not written again.

    Another index is replaced, unless `segments` were loaded from the folder or saved there before:
    then somebody else has changed it, and ConcurrentSaveError is raised.
    """
    check_path(path)
    folder = _made_folder(os.path.realpath(path))
    with _claimed(folder) as lock:
        present = _present(folder)
        _check_unchanged(segments, folder, present)
        _delete_unlisted(folder, present)
        try:
            text, new = text_of(_written(segments, folder, present))
            _check_claim(folder, lock)
            segments.known.add((folder, new.digest))  # before it is there, because of Ctrl-C
            with replacing(os.path.join(folder, LIST)) as stream:
                stream.write(text)
        except BaseException:
            with suppress(OSError, FilbertError):
                _delete_unlisted(folder, _present(folder))
            raise
        _delete_unlisted(folder, new)


def _written(segments: Segments, folder: str, present: StoredList | None) -> dict[str, Any]:
    """Write what the folder does not have yet, and return the list of all."""
    there = set() if present is None else present.files()

    def stored(what: str, identity: str, arrays: Arrays) -> str:
        name = file_name(what, identity)
        if name not in there or not _is_whole(folder, name):
            header = {"format": FORMAT, "version": VERSION, "identity": identity}
            with replacing(os.path.join(folder, name)) as stream:
                write_archive(stream, header, arrays)
        return name

    listed = []
    for segment in segments.segments:
        content = {**segment.arrays, "ids": ranges_of(segment.ids)}
        content = {key: array for key, array in content.items() if len(array)}  # opening takes time
        name, removed = stored("segment", segment.identity, content), None
        if len(segment.removed):
            removed = stored("removed", segment.removed_identity, {"removed": segment.removed})
        listed.append({"file": name, "removed": removed})
    notes = segments.notes
    file = stored("notes", notes.identity, notes.columns) if notes.columns else None
    return {
        "filbert": version("filbert"),
        "kernel": kernel_to_json(segments.kernel),
        "next_id": segments.next_id,  # read after the segments, so that it is beyond their ids
        "segments": listed,
        "notes": {"values": notes.values, "file": file},
        "settings": segments.settings,
    }


def _made_folder(folder: str) -> str:
    if os.path.isdir(folder):
        others = [name for name in os.listdir(folder) if name != LOCK and not is_leftover(name)]
        if others and LIST not in others and not all(map(is_file_name, others)):
            raise InvalidParameterError(
                f"{folder} is a folder with other files: choose another name for the index"
            )
        return folder
    if os.path.exists(folder):
        raise InvalidParameterError(f"{folder} is a file: an index is a folder, choose its name")
    check_folder(folder)
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(folder)
    return folder


def _present(folder: str) -> StoredList | None:
    """Return the list of a folder. A list that Filbert cannot read is not Filbert's to replace."""
    try:
        return read_list(folder)
    except MissingFileError:
        return None
    except ModelFileError as error:
        hint = "delete the folder, or choose another name for the index"
        raise ModelFileError(error.reason, hint, error.path) from None


@contextmanager
def _claimed(folder: str) -> Iterator[IO[bytes]]:
    """Keep other processes, threads and signal handlers from saving to the folder."""
    try:
        with exclusive_lock(os.path.join(folder, LOCK)) as lock:
            _check_claim(folder, lock)
            yield lock
    except BlockingIOError:
        raise ConcurrentSaveError(folder, "an index is being saved there at this moment") from None


def _check_claim(folder: str, lock: IO[bytes]) -> None:
    """Check that the folder is still the one that was locked: somebody may have replaced it."""
    if not is_at(lock, os.path.join(folder, LOCK)):
        raise ConcurrentSaveError(folder, "the folder was deleted meanwhile")


def _check_unchanged(segments: Segments, folder: str, present: StoredList | None) -> None:
    """Check that no additions of somebody else would be lost."""
    known = {digest for where, digest in segments.known if where == folder}
    if present is not None and known and present.digest not in known:
        raise ConcurrentSaveError(
            folder, "the index there has changed since this one was loaded or saved there"
        )


def _delete_unlisted(folder: str, stored: StoredList | None) -> None:
    """Delete the files of earlier lists and of saves that failed or were killed.

    Processes that have mapped them keep their content.
    """
    listed = set() if stored is None else stored.files()
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(folder)
    for name in names:
        if is_leftover(name) or (is_file_name(name) and name not in listed):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


# ---------------------------------------------------------------- opening


def open_segments(path: str | os.PathLike[str], *, check: bool = False) -> Segments:
    """Open the index of a folder. Its arrays are mapped into memory.

    With `check`, all files are read first, and a checksum that is wrong raises ModelFileError.
    """
    check_path(path)
    folder = os.path.realpath(path)
    while True:
        found = read_list(folder)
        try:
            for name in sorted(found.files()) if check else ():
                with _archive(folder, name, mapped=False) as archive:
                    archive.arrays()
            return _opened(folder, found)
        except MissingFileError:
            if read_list(folder).digest == found.digest:
                raise
            # Another process has replaced the list and deleted files of the old one.
        except CorruptForestError as error:
            raise ModelFileError(str(error)).located(path) from None


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether there is an index in a folder."""
    try:
        with open(os.path.join(path, LIST), "rb") as stream:
            return FORMAT.encode() in stream.read(100)  # the list begins with its format
    except OSError:
        return False


def index_summary(path: str | os.PathLike[str], *, check: bool = False) -> dict[str, Any]:
    """Return what is in an index: its kernel, the number of its trees, segments and bytes."""
    folder = os.path.realpath(path)
    segments = open_segments(folder, check=check)
    found = read_list(folder)
    sizes = [os.path.getsize(os.path.join(folder, name)) for name in found.files()]
    return {
        "kind": "TreeIndex",
        "filbert": found.content.get("filbert"),
        "version": found.content.get("version"),
        "kernel": repr(segments.kernel),
        "trees": len(segments),
        "removed": sum(int(np.count_nonzero(one.removed)) for one in segments.segments),
        "segments": len(segments.segments),
        "bytes": sum(sizes),
    }


def _opened(folder: str, found: StoredList) -> Segments:
    content = found.content
    try:
        kernel = kernel_from_json(content.get("kernel"))
    except FilbertError as error:
        raise ModelFileError(str(error)).located(folder) from None
    listed, next_id = content.get("segments"), content.get("next_id")
    if not isinstance(kernel, TreeKernel) or not isinstance(listed, list):
        raise ModelFileError("its list does not have a tree kernel and segments").located(folder)
    if type(next_id) is not int or not 0 <= next_id < 2**62:
        raise ModelFileError("its list does not have the next id").located(folder)
    names = [str(entry.get("file")) for entry in listed if isinstance(entry, dict)]
    if len({*names}) < len(names):
        raise ModelFileError("its list names a file twice").located(folder)
    segments = [_segment(folder, kernel, entry) for entry in listed]
    last = -1
    for segment in segments:
        if len(segment.ids) and int(segment.ids[0]) <= last:
            raise ModelFileError("the ids of its segments do not ascend").located(folder)
        last = int(segment.ids[-1]) if len(segment.ids) else last
    if last >= next_id:
        raise ModelFileError("its ids are larger than its list says").located(folder)
    result = Segments(kernel, segments, next_id, _notes(folder, content.get("notes")))
    settings = content.get("settings")
    result.settings = settings if isinstance(settings, dict) else {}
    result.known.add((folder, found.digest))
    return result


def _segment(folder: str, kernel: TreeKernel, entry: Any) -> Segment:
    if not isinstance(entry, dict):
        raise ModelFileError("its list describes no segment").located(folder)
    nothing = Forest(())
    spec = kernel._spec()
    empty = _core.build_segment(spec, nothing._dag, nothing._roots, 1, None)
    identity, stored = _read(folder, entry.get("file"))
    ranges = stored.pop("ids", np.zeros((0, 2), dtype=np.int64))
    if "ids" in entry:
        ranges = ranges_of_version_1(entry["ids"])
    arrays = {**empty, **stored}
    n = len(arrays.get("positions", ()))
    ids = ids_of(ranges, n)
    if ids is None:
        raise ModelFileError("the ids of a segment are damaged").located(folder)
    more: dict[str, Any] = {"identity": identity}
    if entry.get("removed") is not None:
        more["removed_identity"], kept = _read(folder, entry["removed"])
        removed: NDArray[Any] = kept.get("removed", np.zeros(0))
        if removed.dtype != np.uint8 or removed.shape != (n,):
            raise ModelFileError("the list of removed trees is damaged").located(folder)
        more["removed"] = removed
    return Segment.of(kernel, arrays, ids, **more)


def _notes(folder: str, listed: Any) -> Notes:
    values = listed.get("values") if isinstance(listed, dict) else None
    if not isinstance(listed, dict) or not isinstance(values, dict):
        return Notes()
    if listed.get("file") is None:
        return Notes(values)
    identity, columns = _read(folder, listed["file"])
    return Notes(values, columns, identity)


def _read(folder: str, name: Any) -> tuple[str, Arrays]:
    """Return the identity of a file and its arrays. A file of version 1 gets an identity."""
    with _archive(folder, name) as archive:
        return identity_of(name) or new_identity(), archive.arrays()


def _is_whole(folder: str, name: str) -> bool:
    """Whether a file is there. One that is damaged raises an error: it may be mapped here."""
    try:
        with _archive(folder, name):
            return True
    except MissingFileError:
        return False


@contextmanager
def _archive(folder: str, name: Any, *, mapped: bool = True) -> Iterator[ArchiveReader]:
    """Open a file that a list names. Checksums are checked unless it is mapped."""
    if not is_file_name(name):
        raise ModelFileError(f"its list names the file {str(name)[:40]!r}").located(folder)
    path = os.path.join(folder, name)
    try:
        with opened(path) as stream, open_archive(stream, mapped=mapped) as archive:
            if archive.header.get("identity") != identity_of(name):
                raise ModelFileError("the file has the content of another one")
            yield archive
    except ModelFileError as error:
        raise error.located(path) from None
