"""Files that are as usual, TSV or SVM-light-TK with one tree a line, read by the core.

Of SVM-light-TK also with one vector of features.

An optimisation and no more: what is wrong in a file, or only rare, is read line by line, which also
says what is wrong and where.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.read.formats import Format, Layout
from filbert.read.numbers import finite_number
from filbert.read.record import Label

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


def started(kind: Format, layout: Layout) -> _core.LabelledLines | None:
    """Return what reads such a file, or None: the core does not.

    svmlight_tk.py and tsv.py say what the columns mean.
    """
    if kind == "svmlight-tk":
        return _core.LabelledLines.svmlight_tk(piece_bytes=_PIECE)
    if kind == "jsonl":
        return None
    label, tree, words = layout.label, layout.tree, layout.bare_words
    if label is None and tree is None:
        return _core.LabelledLines.tsv(0, 1, n_columns=2, piece_bytes=_PIECE, bare_words=words)
    columns = [0 if label is None else label, -1 if tree is None else tree]
    numbers = [int(c) for c in columns if isinstance(c, int) and abs(c) <= _LARGEST_COLUMN]
    if len(numbers) < len(columns):
        return None
    return _core.LabelledLines.tsv(
        numbers[0], numbers[1], n_columns=0, piece_bytes=_PIECE, bare_words=words
    )


def finished(lines: _core.LabelledLines, kind: Format) -> Usual:
    """Return what has been read."""
    dag, roots, texts, label_of, features = lines.finish()
    return Usual(dag, roots, [_label(text, kind) for text in texts], label_of, features)


def _label(text: bytes, kind: Format) -> Label:
    if kind == "tsv":
        return text.decode()  # the core takes nothing but UTF-8
    number = finite_number(text.strip().decode())
    assert number is not None, "the core takes nothing but numbers"
    return number
