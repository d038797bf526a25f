"""From the lines of files with examples to forests and matrices, whatever the format."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from filbert import _core
from filbert.errors import InvalidParameterError, ParseError
from filbert.forest import Forest
from filbert.read import jsonl, svmlight_tk, tsv
from filbert.read.files import format_suffix
from filbert.read.labelled_lines import Usual
from filbert.read.record import Label, Record, SparseVector

Format = Literal["svmlight-tk", "tsv", "jsonl"]
Part = Any  # a Forest, a SciPy sparse matrix or an array

_SUFFIXES: dict[str, Format] = {".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


class Gathered:
    """The examples read so far. All trees go into one forest, whatever their part.

    `names` are those of the trees, by default the first example's; `vectors` those that feature
    vectors may have, by default any.
    """

    def __init__(
        self, names: tuple[str, ...] | None = None, vectors: Collection[str] | None = None
    ) -> None:
        self._reader = _core.Reader()
        self._n_trees = 0
        self._names = names
        self._vector_names = vectors
        self._rows: list[int] = []  # where in the reader an example's first tree is
        self._labels: list[Label | None] = []
        self._vectors: list[dict[str, SparseVector]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, record: Record, line: bytes) -> None:
        """Take one example more, or raise ParseError and be as before."""
        names = tuple(record.trees)
        self._check_vectors(record)
        if self._names is None:
            self._names = names  # forgotten again should this example turn out bad
            try:
                self._add_trees(record, line)
            except ParseError:
                self._names = None
                raise
            return
        if set(names) != set(self._names):
            raise ParseError(
                f"this example has the trees {', '.join(names)}, the first one had "
                f"{', '.join(self._names)}",
                hint="all examples need the same parts",
                column=1,
            )
        self._add_trees(record, line)

    def _check_vectors(self, record: Record) -> None:
        if self._vector_names is None:
            return
        for name in record.vectors:
            if name not in self._vector_names:
                raise ParseError(
                    f"this example has the vector {name!r}, the first ones had none of that name",
                    hint="all batches need the same parts",
                    column=1,
                )

    def _add_trees(self, record: Record, line: bytes) -> None:
        first = self._n_trees
        names = self._names or ()
        for tree_name in names:
            text, column = record.trees[tree_name]
            try:
                self._reader.add_text(text)
            except ParseError as error:
                where = f"in {tree_name!r}: " if len(names) > 1 else ""
                before = 0 if column is None else _n_characters(line[: column - 1])
                raise ParseError(
                    where + error.reason, hint=error.hint, column=before + (error.column or 1)
                ) from None
            self._n_trees += 1
        self._rows.append(first)
        self._labels.append(record.label)
        self._vectors.append(record.vectors)

    def finish(
        self, n_features: int | None, source: str
    ) -> tuple[dict[str, Part], list[Label | None]]:
        """Return the parts by name, and the labels."""
        dag, roots, _ = self._reader.finish()
        rows = np.array(self._rows, dtype=np.intp)
        parts: dict[str, Part] = {
            name: Forest._of(dag, roots[rows + i])
            for i, name in enumerate(self._names or ("tree",))
        }
        vector_names = dict.fromkeys(name for row in self._vectors for name in row)
        for name in self._vector_names or vector_names:
            empty = SparseVector([], [])
            parts[name] = _to_csr(
                [row.get(name, empty) for row in self._vectors], n_features, source
            )
        return parts, self._labels


def usual_parts(usual: Usual, n_features: int | None, source: str) -> dict[str, Part]:
    """Return the parts of examples that the core has read: a tree, and features if there are."""
    parts: dict[str, Part] = {"tree": Forest._of(usual.dag, usual.roots)}
    row_begin, columns, values = usual.features
    if len(columns):
        width = _checked_width(int(columns.max()) + 1, n_features, source)
        parts["features"] = sp.csr_array(
            (values, columns, row_begin), shape=(len(usual.roots), width)
        )
    return parts


def known_format(
    lines: Iterator[bytes], name: str, format: Format | None
) -> tuple[Format, Iterator[bytes]]:
    """Look at the first lines where nothing else tells the format; also give all lines again."""
    kind = format or _SUFFIXES.get(format_suffix(name))
    if kind is not None:
        return kind, lines
    start: list[bytes] = []
    for line in islice(lines, 20):
        start.append(line)
        if line.strip() and not line.startswith(b"#"):
            break  # no more: the next line of a pipe may be long in coming
    return _guessed(start, name), chain(start, lines)


def line_parser(
    kind: Format,
    label: str | int | None,
    tree: str | int | Sequence[str] | None,
    features: str | Sequence[str] | None,
) -> Callable[[bytes], Record | None]:
    """Choose by the format, and check the options that belong to it."""
    if kind == "svmlight-tk":
        if label is not None or tree is not None:
            raise InvalidParameterError("label= and tree= are for JSON Lines and TSV files")
        return svmlight_tk.parse_line
    if kind == "tsv":
        if isinstance(label, str) or not isinstance(tree, int | None):
            raise InvalidParameterError("in TSV files label= and tree= are column numbers")
        return partial(tsv.parse_line, label=label, tree=tree)
    if kind == "jsonl":
        if isinstance(label, int) or isinstance(tree, int):
            raise InvalidParameterError("in JSON Lines label= and tree= are keys")
        if isinstance(tree, Sequence) and not tree:
            raise InvalidParameterError("tree= needs a key")
        for parameter, keys in (("tree", tree), ("features", features)):
            names = [] if isinstance(keys, str | None) else [k.rpartition(".")[2] for k in keys]
            if len(set(names)) < len(names):
                raise InvalidParameterError(f"{parameter}= needs keys that end in different names")
        return partial(jsonl.parse_line, label=label or "label", tree=tree, features=features)
    raise InvalidParameterError(f"format must be 'svmlight-tk', 'tsv' or 'jsonl', got {kind!r}")


def _guessed(start: list[bytes], name: str) -> Format:
    for line in start:
        if not line.strip() or line.startswith(b"#"):
            continue
        if b"|BT|" in line or b"|ET|" in line:
            return "svmlight-tk"
        if line.lstrip().startswith(b"{"):
            return "jsonl"
        if b"\t" in line:
            return "tsv"
        break
    raise ParseError(
        "the format cannot be told from the file's name or its first lines",
        hint="say format='svmlight-tk', 'tsv' or 'jsonl'; for bare trees use Forest.from_brackets",
        source=name,
        line=1,
    )


def lines_of(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends."""
    mark = b"\xef\xbb\xbf"  # a byte order mark, before the first line
    for line in stream:
        yield line.removeprefix(mark).rstrip(b"\r\n")
        mark = b""


def parsed(parse: Callable[[bytes], Record | None], line: bytes) -> Record | None:
    """Formats count columns in bytes; users count characters."""
    try:
        return parse(line)
    except ParseError as error:
        raise error.located(column=_n_characters(line[: (error.column or 1) - 1]) + 1) from None


def _n_characters(text: bytes) -> int:
    return len(text) if text.isascii() else len(text.decode(errors="replace"))


def _to_csr(rows: list[SparseVector], n_features: int | None, source: str) -> sp.csr_array:
    indptr = np.cumsum([0] + [len(row.indices) for row in rows])
    indices = np.array([i for row in rows for i in row.indices], dtype=np.int32)
    values = np.array([v for row in rows for v in row.values], dtype=np.float64)
    width = max(
        int(indices.max()) + 1 if len(indices) else 0, max((row.width for row in rows), default=0)
    )
    width = _checked_width(width, n_features, source)
    return sp.csr_array((values, indices, indptr), shape=(len(rows), width))


def _checked_width(width: int, n_features: int | None, source: str) -> int:
    if n_features is not None and width > n_features:
        raise InvalidParameterError(
            f"{source} has feature {width}, but n_features is {n_features}: raise it"
        )
    return n_features or width
