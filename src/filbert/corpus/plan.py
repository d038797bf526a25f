"""How files are divided among parts: by size, in order, at the ends of files and lines."""

import os
import stat
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from filbert.corpus.files import FileRange
from filbert.errors import InvalidParameterError
from filbert.read.compression import is_compressed
from filbert.read.formats import Layout
from filbert.read.ranges import has_ranges, range_ends

PART_BYTES = 1 << 26  # of text, about 64 MB

_RATIO = 8  # of text to compressed text, roughly


def files_at(paths: Sequence[str]) -> list[FileRange]:
    """Return files with their sizes and times. Files without a byte are left out."""
    found = []
    for path in map(os.path.abspath, paths):
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidParameterError(
                f"{path!r} is not a file but a pipe or a device. The parts of a corpus are read "
                "several times: write it to a file first, or use filbert.read_examples"
            )
        if status.st_size:
            found.append(FileRange(path, status.st_size, status.st_mtime_ns))
    if not found:
        shown = repr(paths[0]) + (f" and {len(paths) - 1:,} more files" if len(paths) > 1 else "")
        raise InvalidParameterError(f"there are no examples in {shown}: all files are empty")
    return found


def divided(
    files: Sequence[FileRange], n_parts: int | None, layout: Layout | None, opening: bytes = b""
) -> list[tuple[FileRange, ...]]:
    """Divide files among at most `n_parts` parts of about the same size, in order.

    Parameters
    ----------
    files : sequence of FileRange
    n_parts : int, optional
        By default, parts have about 64 MB of text.
    layout : Layout or None
        How tables are read; those of a format with lines may be split. None: split bracket files at
        lines that begin with `opening`, or no files if there is none.
    """
    total = sum(map(_weight, files))
    n = -(-total // PART_BYTES) if n_parts is None else n_parts
    ranges = [one for file in files for one in _ranges(file, -(-_weight(file) * n // total), layout,
                                                      opening)]  # fmt: skip
    return [_merged(ranges[a:b]) for a, b in _groups([_weight(one) for one in ranges], n)]


def _weight(one: FileRange) -> int:
    """Return about how much text a file has. It also has at least one byte."""
    return one.n_bytes * (_RATIO if is_compressed(os.path.splitext(one.path)[1]) else 1)


def _ranges(file: FileRange, n: int, layout: Layout | None, opening: bytes) -> list[FileRange]:
    """Split a file into at most n ranges, if that is possible."""
    if n < 2 or not _can_be_split(file, layout, opening):
        return [file]
    ends = range_ends(file.path, file.size, n, opening=opening)
    begins = [0, *ends[:-1]]
    return [file._replace(begin=a, end=b) for a, b in zip(begins, ends, strict=True)]


def _can_be_split(file: FileRange, layout: Layout | None, opening: bytes) -> bool:
    if layout is not None:
        return has_ranges(file.path, layout)
    return bool(opening) and not is_compressed(os.path.splitext(file.path)[1])


def _groups(weights: Sequence[int], n: int) -> list[tuple[int, int]]:
    """Return the bounds of at most n groups of neighbours with about the same weight."""
    m = len(weights)
    n = min(n, m)
    ends = np.array([*accumulate(weights)])
    cuts = [0]
    for k in range(1, n):
        nearest = int(np.abs(ends - ends[-1] * k / n).argmin()) + 1
        cuts.append(min(max(nearest, cuts[-1] + 1), m - (n - k)))
    return list(zip(cuts, [*cuts[1:], m], strict=True))


def _merged(ranges: Sequence[FileRange]) -> tuple[FileRange, ...]:
    """Join neighbouring ranges of the same file."""
    merged = [ranges[0]]
    for one in ranges[1:]:
        last = merged[-1]
        if last.path == one.path and last.end == one.begin and one.end is not None:
            merged[-1] = last._replace(end=one.end)
        else:
            merged.append(one)
    return tuple(merged)
