"""Reading of ordinary files in the core: TSV or SVM-light-TK with one tree per line.

SVM-light-TK lines may also have one feature vector.

This is only an optimisation. Bad or unusual lines are read one by one in Python, which also reports
what is wrong and where.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from filbert import _core
from filbert.read.formats import Format
from filbert.read.numbers import finite_number
from filbert.read.record import Label
from filbert.read.table_columns import TableColumns

_PIECE = 1 << 20  # bytes that a thread reads at a time


class Usual(NamedTuple):
    """The examples that the core read: the shared nodes, the roots, labels and features."""

    dag: _core.Dag
    roots: NDArray[np.uint32]
    labels: list[Label]  # distinct
    label_of: NDArray[np.uint32]
    features: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
    """Row starts, columns and values, in the form of SciPy's CSR matrices."""
    columns: dict[str, list[str]]


def started(
    kind: Format, columns: TableColumns | None, *, bare_words: bool, number_labels: bool
) -> _core.LabelledLines | None:
    """Return a reader of the core for such a file, or None if the core cannot read it.

    svmlight_tk.py and tsv.py define the columns. With `number_labels`, a line with another label
    is unusual.
    """
    if kind == "svmlight-tk":
        return _core.LabelledLines.svmlight_tk(piece_bytes=_PIECE)
    if kind != "tsv" or columns is None or columns.features or list(columns.trees) != ["tree"]:
        return None
    tree = columns.trees["tree"]
    label = tree if columns.label is None else columns.label  # the core always reads a label
    return _core.LabelledLines.tsv(
        label,
        tree,
        n_columns=columns.n,
        piece_bytes=_PIECE,
        bare_words=bare_words,
        number_labels=number_labels and columns.label is not None,
    )


def finished(
    lines: _core.LabelledLines, kind: Format, *, text_labels: bool, columns: dict[str, list[str]]
) -> Usual:
    """Return the examples that have been read, with the columns beside them."""
    dag, roots, texts, label_of, features = lines.finish()
    labels = [_label(text, kind, text_labels) for text in texts]
    return Usual(dag, roots, labels, label_of, features, columns)


def _label(text: bytes, kind: Format, text_labels: bool) -> Label:
    if kind == "tsv":
        return text.decode()  # the core accepts only UTF-8
    if text_labels:
        return text.strip().decode()
    number = finite_number(text.strip().decode())
    assert number is not None, "the core accepts only numbers"
    return number
