"""The list of an index on disk: ``index.json``, which names the files and is replaced as a whole.

A file is named after the identity of its content, a random number. So a name never stands for two
contents, whoever wrote the folder, and a file is of use only to a list that names it.
"""

import json
import os
import re
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from filbert.errors import MissingFileError, ModelFileError
from filbert.search.segments import Ids

FORMAT = "filbert-index"
VERSION = 2  # how to change it: docs/model-files.md
LIST = "index.json"
LOCK = "lock"

_VERSIONS = (1, VERSION)
_CHECK = "checksum"
_LONGEST = 1 << 24
_FILE = re.compile(r"(?:segment|removed|notes)-(?:([0-9a-f]{32})|[0-9]{1,9})\.filbert")
_PART = re.compile(r"\.[0-9a-f]{16}\.part")  # of a process that was killed while it wrote


@dataclass(frozen=True)
class StoredList:
    """What a list says, and a hash of its text: equal lists have the same index."""

    content: dict[str, Any]
    digest: str

    def files(self) -> set[str]:
        """Return the names of the files that the list needs."""
        notes, segments = self.content.get("notes"), self.content.get("segments")
        listed = segments if isinstance(segments, list) else []
        entries = [entry for entry in listed if isinstance(entry, dict)]
        named = {entry.get(key) for entry in entries for key in ("file", "removed")}
        named.add(notes.get("file") if isinstance(notes, dict) else None)
        return {name for name in named if isinstance(name, str)}


def text_of(content: dict[str, Any]) -> tuple[bytes, StoredList]:
    """Return the text of a list, and what it says."""
    whole = {"format": FORMAT, "version": VERSION, **content}
    text = json.dumps({**whole, _CHECK: _sum(whole)}, indent=1).encode()
    return text, StoredList(whole, sha256(text).hexdigest())


def _sum(content: dict[str, Any]) -> str:
    """Return a checksum of a list, by which damage is found that leaves it JSON."""
    return sha256(json.dumps(content).encode()).hexdigest()


def read_list(folder: str) -> StoredList:
    """Read the list of a folder, or raise MissingFileError or ModelFileError."""
    path = os.path.join(folder, LIST)
    with opened(path) as stream:
        text = stream.read(_LONGEST)
    try:
        content = json.loads(text)
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ModelFileError(f"the list of segments is not JSON: {error}").located(path) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError("this is not an index of Filbert").located(path)
    if content.get("version") not in _VERSIONS:
        raise ModelFileError(
            f"the index has format version {str(content.get('version'))[:20]}, but this version "
            f"of Filbert reads the versions {' and '.join(map(str, _VERSIONS))}",
            hint="build the index again",
        ).located(path)
    if _CHECK in content and content.pop(_CHECK) != _sum(content):
        raise ModelFileError(
            "the list of segments is damaged: its checksum is wrong", hint="build the index again"
        ).located(path)
    return StoredList(content, sha256(text).hexdigest())


def opened(path: str) -> IO[bytes]:
    """Open a file of an index. A folder of others may hold a pipe, which would wait for ever."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ModelFileError("this is not a file").located(path)
        return open(path, "rb")
    except NotADirectoryError:
        folder = os.path.dirname(path)
        reason, hint = "this is a file, not an index, which is a folder", "see filbert index"
        raise ModelFileError(reason, hint).located(folder) from None
    except FileNotFoundError:
        raise MissingFileError(path) from None


def file_name(what: str, identity: str) -> str:
    """Return the name of a file."""
    return f"{what}-{identity}.filbert"


def is_file_name(name: Any) -> bool:
    """Whether a list may name this file, which is in the folder of the list."""
    return isinstance(name, str) and _FILE.fullmatch(name) is not None


def is_leftover(name: str) -> bool:
    """Whether this is a file that somebody began to write."""
    return _PART.fullmatch(name) is not None


def identity_of(name: str) -> str | None:
    """Return the identity of a file's content. Files of version 1 had numbers for names."""
    match = _FILE.fullmatch(name)
    assert match is not None
    return match[1]


def ranges_of(ids: Ids) -> NDArray[np.int64]:
    """Return ascending ids as ranges: rows of the first id and the last."""
    begins = np.flatnonzero(np.diff(ids, prepend=-2) != 1)
    ends = np.append(begins[1:], len(ids)) - 1 if len(begins) else begins
    return np.stack([ids[begins], ids[ends]], axis=1)


def ids_of(ranges: NDArray[Any], n: int) -> Ids | None:
    """Return the ids of ranges, or None if they are not `n` ascending ids."""
    if ranges.dtype != np.int64 or ranges.ndim != 2 or ranges.shape[1] != 2:
        return None
    first, last = ranges[:, 0], ranges[:, 1]
    if (
        not ((first >= 0) & (first <= last) & (last < 2**62)).all()
        or (first[1:] <= last[:-1]).any()
    ):
        return None
    counts = last - first + 1
    if int(counts.sum()) != n:
        return None
    return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(n)


def ranges_of_version_1(listed: Any) -> NDArray[Any]:
    """Return the ranges of a list of version 1, which had those of each segment."""
    is_list = isinstance(listed, list) and all(isinstance(pair, list) for pair in listed)
    if not is_list or any([type(x) for x in pair] != [int, int] for pair in listed):
        return np.zeros(0)
    if any(abs(x) >= 2**62 for pair in listed for x in pair):
        return np.zeros(0)
    return np.array(listed, dtype=np.int64).reshape(-1, 2)
