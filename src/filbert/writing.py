"""Write labelled examples to files of any labelled format."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp

from filbert.errors import InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest, as_forest
from filbert.read import csv_rows, jsonl, klp, svmlight_tk, tsv
from filbert.read.formats import Format, format_of_name
from filbert.read.numbers import finite_number
from filbert.read.output import Target, open_output
from filbert.read.record import Label, Written
from filbert.tree import Tree

_LINE_WRITERS: dict[Format, Callable[[Written], str]] = {
    "svmlight-tk": svmlight_tk.write_line,
    "klp": klp.write_line,
    "jsonl": jsonl.write_line,
}


def write_examples(
    X: Any,
    y: Any,
    path: Target,
    *,
    format: Format | None = None,
    columns: Sequence[str] | None = None,
    label_map: Mapping[Any, Any] | None = None,
) -> None:
    r"""Write labelled examples to a file that :func:`filbert.read_examples` reads.

    Parameters
    ----------
    X : Forest, Examples, or sequence of trees
        The examples to write.
    y : sequence of labels, or None
        In KeLP files, a tuple stands for several labels. None writes no labels.
    path : path, "-" or open binary file
        ``"-"`` is standard output. Names that end in ``.gz``, ``.xz``, ``.bz2`` or ``.zst`` are
        compressed. The file is complete or unchanged.
    format : {"svmlight-tk", "klp", "tsv", "csv", "jsonl", "parquet", "arrow"}, optional
        By default, it is detected from the extension.
    columns : list of str, optional
        The columns of text to write; by default all.
    label_map : mapping, optional
        What to write for each label, such as ``{"yes": 1, "no": -1}`` for SVM-light-TK files.

    Raises
    ------
    InvalidParameterError
        If the format cannot hold the examples. Nothing is written.

    Examples
    --------
    >>> X = Examples(tree=["(a b)", "(a c)"]).with_columns(qid=[1, 2])
    >>> write_examples(X, ["yes", "no"], "-", format="svmlight-tk", label_map={"yes": 1, "no": -1})
    1 qid:1 |BT| (a b) |ET|
    -1 qid:2 |BT| (a c) |ET|
    """
    kind = _format(path, format)
    examples = _Examples(X, y, columns, label_map)
    if kind in ("svmlight-tk", "jsonl"):
        examples.check_feature_names(kind)
    with open_output(path) as stream:
        if kind in _LINE_WRITERS:
            for row in examples.rows(_LINE_WRITERS[kind]):
                stream.write(row)
        elif kind in ("tsv", "csv"):
            module = tsv if kind == "tsv" else csv_rows
            stream.write(_encoded(_checked(module.write_row, examples.header(kind), "the header")))
            for row in examples.rows(lambda one: module.write_row(_fields(one))):
                stream.write(row)
        else:
            from filbert.read.arrow_rows import write_table  # noqa: PLC0415 - needs pyarrow

            write_table(stream, kind, examples.table(kind))


def _format(path: Target, format: Format | None) -> Format:
    kind = format
    if kind is None and isinstance(path, str | os.PathLike):
        kind = format_of_name(path)
    if kind is None or kind not in get_args(Format):
        listed = ", ".join(map(repr, get_args(Format)))
        what = "the name does not show the format" if format is None else f"got {format!r}"
        raise InvalidParameterError(f"format must be one of {listed}; {what}")
    return kind


class _Examples:
    """Examples to write, row by row."""

    def __init__(
        self,
        X: Any,
        y: Any,
        columns: Sequence[str] | None,
        label_map: Mapping[Any, Any] | None,
    ) -> None:
        examples = X if isinstance(X, Examples) else Examples(tree=as_forest(X))
        self._n = len(examples)
        parts = examples.parts
        self._forests = {n: part for n, part in parts.items() if isinstance(part, Forest)}
        if not self._forests:
            raise InvalidParameterError("there are no trees to write: X has only matrices")
        self._features = {
            name: _features(part, name, examples.feature_names.get(name))
            for name, part in parts.items()
            if not isinstance(part, Forest)
        }
        self._columns = {
            name: examples.columns[name]
            for name in (examples.columns if columns is None else columns)
            if _is_column(name, examples)
        }
        self._names = examples.feature_names
        self._labels = None if y is None else _labels(y, self._n, label_map)

    def check_feature_names(self, kind: Format) -> None:
        """Raise InvalidParameterError if the name of a feature would be read as a number."""
        for part, names in self._names.items():
            for name in names:
                if finite_number(name) is not None:
                    raise InvalidParameterError(
                        f"the feature {name!r} of {part!r} would be read as a number from a {kind} "
                        "file: rename it, or write a klp file"
                    )

    def header(self, kind: Format) -> list[str]:
        """Return the names of the columns of a table."""
        if self._features:
            raise InvalidParameterError(
                f"{kind} files have no place for the matrix {next(iter(self._features))!r}: use "
                "jsonl, klp or svmlight-tk, or write X without it"
            )
        names = [*([] if self._labels is None else ["label"]), *self._forests, *self._columns]
        for name in names:
            if names.count(name) > 1 or name != name.strip() or not name or "(" in name:
                raise InvalidParameterError(
                    f"{name!r} cannot be the name of a column: names are unique, not empty and "
                    "have no brackets or blanks around them. Pass columns= to leave it out"
                )
        return names

    def table(self, kind: Format) -> dict[str, list[Any]]:
        """Return the columns of a table; labels keep their types."""
        columns: dict[str, list[Any]] = {name: [] for name in self.header(kind)}
        if any(isinstance(label, tuple) for label in self._labels or ()):
            raise InvalidParameterError("several labels need a KeLP file")
        for one in self.records():
            label = [] if one.label is None else [one.label]
            row = [*label, *one.trees.values(), *one.columns.values()]
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        return columns

    def records(self) -> Iterator[Written]:
        """Yield the examples."""
        texts = {name: _texts(forest) for name, forest in self._forests.items()}
        vectors = {name: features() for name, features in self._features.items()}
        for i in range(self._n):
            yield Written(
                None if self._labels is None else self._labels[i],
                {name: next(trees) for name, trees in texts.items()},
                {name: next(rows) for name, rows in vectors.items()},
                {name: column[i] for name, column in self._columns.items()},
            )

    def rows(self, write: Callable[[Written], str]) -> Iterator[bytes]:
        """Yield the lines of the examples."""
        for number, one in enumerate(self.records()):
            yield _encoded(_checked(write, one, f"sample {number}"))


def _checked(write: Callable[[Any], str], one: Any, where: str) -> str:
    try:
        return write(one)
    except ValueError as error:
        raise InvalidParameterError(f"{where} cannot be written: {error}") from None


def _encoded(line: str) -> bytes:
    try:
        return (line + "\n").encode()
    except UnicodeEncodeError:
        raise InvalidParameterError(f"{line[:60]!r} is not valid Unicode: replace it") from None


def _fields(one: Written) -> list[str]:
    label = [] if one.label is None else [_label_text(one.label)]
    return [*label, *one.trees.values(), *one.columns.values()]


def _label_text(label: Label) -> str:
    if isinstance(label, tuple):
        raise ValueError("several labels need a KeLP file")
    return str(label)


def _is_column(name: str, examples: Examples) -> bool:
    if name not in examples.columns:
        listed = ", ".join(map(repr, examples.columns)) or "none"
        raise InvalidParameterError(f"there is no column {name!r}; there are {listed}")
    return True


def _labels(y: Any, n: int, label_map: Mapping[Any, Any] | None) -> list[Label]:
    values = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if len(values) != n:
        raise InvalidParameterError(f"y has {len(values):,} labels for {n:,} examples")
    if label_map is not None:
        for value in values:
            if value not in label_map:
                raise InvalidParameterError(f"label_map has no entry for the label {value!r}")
        values = [label_map[value] for value in values]
    return [_label(value, i) for i, value in enumerate(values)]


def _label(value: Any, sample: int) -> Label:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return tuple(map(str, value))
    is_good = not isinstance(value, float) or np.isfinite(value)
    is_good = is_good and not (isinstance(value, str) and (not value or "\0" in value))
    if not isinstance(value, str | int | float) or not is_good:
        raise InvalidParameterError(
            f"the label of sample {sample} is {value!r:.40}: labels are finite numbers, or "
            "texts that are not empty and have no NUL"
        )
    return value


def _texts(forest: Forest) -> Iterator[str]:
    """Yield the trees in brackets; a repeated tree is written once."""
    known: dict[int, str] = {}
    for root in forest._roots.tolist():
        if root not in known:
            known[root] = str(Tree(forest._dag, root))
        yield known[root]


def _features(part: Any, name: str, names: Any) -> Callable[[], Iterator[list[tuple[str, float]]]]:
    """Check a matrix, and return what yields the features of its rows."""
    matrix = sp.csr_array(part)
    matrix.sort_indices()
    values = matrix.data.astype(np.float64)
    if not np.isfinite(values).all():
        raise InvalidParameterError(f"part {name!r} has values that are not finite numbers")
    if names is None:
        names = [str(i + 1) for i in range(matrix.shape[1])]

    def rows() -> Iterator[list[tuple[str, float]]]:
        for i in range(matrix.shape[0]):
            span = slice(matrix.indptr[i], matrix.indptr[i + 1])
            columns, own = matrix.indices[span].tolist(), values[span].tolist()
            yield [(names[j], value) for j, value in zip(columns, own, strict=True)]

    return rows
