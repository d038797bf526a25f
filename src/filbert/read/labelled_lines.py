"""Files that are as usual, TSV or SVM-light-TK with one tree a line, read by the core.

Of SVM-light-TK also with one vector of features.

An optimisation and no more: where anything in a file is wrong, or only rare, :func:`read` gives
None, and the file is read line by line, which also says what is wrong with it and where.
"""

import os
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import ParseError
from filbert.read.files import open_binary
from filbert.read.numbers import finite_number, to_target
from filbert.read.record import Label

_BLOCK = 1 << 24  # bytes of text in memory at a time
_PIECE = 1 << 20  # bytes that a thread reads at a time
_LARGEST_COLUMN = 2**31


class Usual(NamedTuple):
    """What was read: trees as a shared structure and their roots in it, labels and features."""

    dag: _core.Dag
    roots: NDArray[np.uint32]
    labels: list[Label]  # each once
    label_of: NDArray[np.uint32]
    features: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
    """Row begins, columns and values, as SciPy's sparse matrices have them."""

    def target(self) -> NDArray[Any]:
        """Return a label for each tree."""
        return to_target(self.labels)[self.label_of]


def read(
    path: str | os.PathLike[str],
    kind: Literal["tsv", "svmlight-tk"],
    label: int | None,
    tree: int | None,
    n_threads: int,
) -> Usual | None:
    """Read a file."""
    if not os.path.isfile(path):
        return None  # a pipe can be read only once, so that there would be no second way
    lines = _lines(kind, label, tree)
    try:
        if lines is None or not _add_file(lines, path, n_threads):
            return None
    except ParseError:  # a damaged archive
        return None
    return _finished(lines, kind)


def read_text(
    text: bytes,
    kind: Literal["tsv", "svmlight-tk"],
    label: int | None,
    tree: int | None,
    n_threads: int,
) -> Usual | None:
    """Read some lines."""
    lines = _lines(kind, label, tree)
    if lines is None or not lines.add(text, n_threads):
        return None
    return _finished(lines, kind)


def _finished(lines: _core.LabelledLines, kind: str) -> Usual | None:
    dag, roots, label_texts, label_of, features = lines.finish()
    labels = [_label(text, kind) for text in label_texts]
    known = [value for value in labels if value is not None]
    if len(known) < len(labels):
        return None
    return Usual(dag, roots, known, label_of, features)


def _lines(kind: str, label: int | None, tree: int | None) -> _core.LabelledLines | None:
    """Choose by the format; svmlight_tk.py and tsv.py say what the columns mean."""
    if kind == "svmlight-tk":
        return _core.LabelledLines.svmlight_tk(piece_bytes=_PIECE)
    if label is None and tree is None:
        return _core.LabelledLines.tsv(label=0, tree=1, n_columns=2, piece_bytes=_PIECE)
    label, tree = 0 if label is None else label, -1 if tree is None else tree
    for column in (label, tree):
        if not isinstance(column, int) or abs(column) > _LARGEST_COLUMN:
            return None
    return _core.LabelledLines.tsv(int(label), int(tree), n_columns=0, piece_bytes=_PIECE)


def _add_file(lines: _core.LabelledLines, path: str | os.PathLike[str], n_threads: int) -> bool:
    mark = b"\xef\xbb\xbf"  # a byte order mark, before the first line
    with open_binary(path) as stream:
        while block := stream.read(_BLOCK):
            block += stream.readline()  # up to the end of a line
            if not lines.add(block.removeprefix(mark), n_threads):
                return False
            mark = b""
    return True


def _label(text: bytes, kind: str) -> Label | None:
    if kind == "svmlight-tk":
        return finite_number(text.strip().decode(errors="replace"))
    return text.decode()  # the core takes nothing but UTF-8
