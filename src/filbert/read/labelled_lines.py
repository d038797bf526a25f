"""Reading of ordinary files in the core: TSV or SVM-light-TK with one tree per line.

SVM-light-TK lines may also have one feature vector.

This is only an optimisation. Bad or unusual lines are read one by one in Python, which also reports
what is wrong and where.
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
    """The examples that the core read: the shared nodes, the roots, labels and features."""

    dag: _core.Dag
    roots: NDArray[np.uint32]
    labels: list[Label]  # distinct
    label_of: NDArray[np.uint32]
    features: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
    """Row starts, columns and values, in the form of SciPy's CSR matrices."""


def started(kind: Format, layout: Layout) -> _core.LabelledLines | None:
    """Return a reader of the core for such a file, or None if the core cannot read it.

    svmlight_tk.py and tsv.py define the columns.
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
    """Return the examples that have been read."""
    dag, roots, texts, label_of, features = lines.finish()
    return Usual(dag, roots, [_label(text, kind) for text in texts], label_of, features)


def _label(text: bytes, kind: Format) -> Label:
    if kind == "tsv":
        return text.decode()  # the core accepts only UTF-8
    number = finite_number(text.strip().decode())
    assert number is not None, "the core accepts only numbers"
    return number
