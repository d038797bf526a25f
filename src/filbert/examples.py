"""Examples that have several trees and feature vectors, and reading them from files."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Literal, Self, cast
from warnings import warn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert import _core
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    ParseError,
    SkippedInputWarning,
)
from filbert.forest import Forest, OnError
from filbert.read import jsonl, labelled_lines, svmlight_tk, tsv
from filbert.read.files import format_suffix, open_binary
from filbert.read.numbers import to_target
from filbert.read.record import Label, Record, SparseVector
from filbert.threads import n_threads

Format = Literal["svmlight-tk", "tsv", "jsonl"]
Part = Any  # a Forest, a SciPy sparse matrix or an array

_SUFFIXES: dict[str, Format] = {".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


class Examples:
    """Row-aligned parts by name: forests and matrices of features.

    Indexing with integers, slices and masks selects rows of all parts, as scikit-learn does it;
    indexing with a name gives that part.

    Examples
    --------
    >>> import numpy as np
    >>> X = Examples(tree=Forest(["(a b)", "(a c)"]), features=np.eye(2))
    >>> X
    Examples of 2 rows
      tree      Forest of 2 trees
      features  array of 2 columns
    >>> X[1:]["tree"][0]
    <Tree (a c)>
    """

    def __init__(self, **parts: Part) -> None:
        self._set(parts)

    @classmethod
    def _of(cls, parts: dict[str, Part]) -> Self:
        """Make examples from parts of any name, also such that Python has other uses for."""
        examples = cls.__new__(cls)
        examples._set(parts)
        return examples

    def _set(self, parts: dict[str, Part]) -> None:
        if not parts:
            raise InvalidParameterError("Examples need at least one part, such as tree=forest")
        lengths = {name: _n_rows(name, part) for name, part in parts.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} has {n:,}" for name, n in lengths.items())
            raise InvalidParameterError(f"parts must have the same number of rows: {listed}")
        self._parts = {name: _as_part(name, part) for name, part in parts.items()}
        self._n = next(iter(lengths.values()))
        self.skipped: tuple[ParseError, ...] = ()

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts by name."""
        return dict(self._parts)

    def __len__(self) -> int:
        return self._n

    @property
    def shape(self) -> tuple[int]:
        """``(n_rows,)``: what scikit-learn needs in order to split examples as they are."""
        return (self._n,)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            if index not in self._parts:
                raise KeyError(f"there is no part {index!r}; there are {', '.join(self._parts)}")
            return self._parts[index]
        if isinstance(index, tuple):
            if len(index) != 2 or index[1] is not Ellipsis:
                raise IndexError("examples have one axis: use X[indices] or X['part']")
            index = index[0]
        if isinstance(index, int | np.integer):
            return {name: part[index] for name, part in self._parts.items()}
        return Examples._of({name: part[index] for name, part in self._parts.items()})

    def __repr__(self) -> str:
        width = max(map(len, self._parts))
        lines = [f"  {name:{width}}  {_described(part)}" for name, part in self._parts.items()]
        return "\n".join([f"Examples of {self._n:,} row{'' if self._n == 1 else 's'}", *lines])


def read_examples(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    label: str | int | None = None,
    tree: str | int | Sequence[str] | None = None,
    features: str | Sequence[str] | None = None,
    n_features: int | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
) -> tuple[Any, NDArray[Any]]:
    """Read labelled trees from a file.

    Parameters
    ----------
    path : path
        ``.gz`` and ``.xz`` are unpacked.
    format : {"svmlight-tk", "tsv", "jsonl"}, optional
        By default known by the extension or by the first line.
    label : str or int, optional
        JSON Lines: the label's key (default ``"label"``). TSV: its column (default the first).
    tree : str, int or list of str, optional
        JSON Lines: the key or keys of trees, ``"trees.grct"`` for nested ones (default ``"tree"``,
        or all of ``"trees"``). TSV: the tree's column (default the second of two).
    features : str or list of str, optional
        JSON Lines: the key or keys of feature vectors (default ``"features"`` where it is there).
    n_features : int, optional
        The width of the feature matrices; by default the largest feature number.
    on_error : {"raise", "skip"}
        Whether a bad line raises :class:`~filbert.errors.ParseError`, or is left out with a warning
        and a note in ``X.skipped``.
    n_jobs : int, optional
        Threads for TSV and SVM-light-TK files with one tree a line; all cores by default. Results
        do not depend on it.

    Returns
    -------
    X : Forest or Examples
        A forest where each example is one tree; otherwise Examples with the parts ``tree`` or
        ``tree_1``, ``tree_2``, ... (JSON: the keys), and ``features`` as sparse matrices.
    y : ndarray
        The labels: integers or floats where all of them are, else strings.
    """
    if on_error not in ("raise", "skip"):
        raise InvalidParameterError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
    threads = n_threads(n_jobs)
    name = os.fspath(path)
    gathered = _Gathered()
    errors: list[ParseError] = []
    with open_binary(path) as stream:
        lines = _lines(stream)
        kind, lines = _known_format(lines, name, format)
        parse = _line_parser(kind, label, tree, features)
        if kind != "jsonl":
            # Whatever is unusual is read line by line below, where errors are told.
            usual = labelled_lines.read(path, kind, cast(Any, label), cast(Any, tree), threads)
            if usual is not None:
                return Forest._of(*usual[0]), usual[1]
        for number, line in enumerate(lines, 1):
            try:
                record = _parsed(parse, line)
                if record is not None:
                    gathered.add(record, line)
            except ParseError as error:
                sample = len(gathered) + len(errors)
                placed = error.located(source=name, line=number, sample=sample)
                if on_error == "raise":
                    raise placed from None
                errors.append(placed)
    X, y = gathered.finish(n_features, name)
    X.skipped = tuple(errors)
    if errors:
        warn(SkippedInputWarning(X.skipped, len(y)), stacklevel=2)
    return X, y


class _Gathered:
    """The examples read so far. All trees go into one forest, whatever their part."""

    def __init__(self) -> None:
        self._reader = _core.Reader()
        self._n_trees = 0
        self._names: tuple[str, ...] | None = None
        self._rows: list[int] = []  # where in the reader an example's first tree is
        self._labels: list[Label | None] = []
        self._vectors: list[dict[str, SparseVector]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, record: Record, line: bytes) -> None:
        names = tuple(record.trees)
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

    def finish(self, n_features: int | None, source: str) -> tuple[Any, NDArray[Any]]:
        dag, roots, _ = self._reader.finish()
        rows = np.array(self._rows, dtype=np.intp)
        parts: dict[str, Part] = {
            name: Forest._of(dag, roots[rows + i])
            for i, name in enumerate(self._names or ("tree",))
        }
        vector_names = dict.fromkeys(name for row in self._vectors for name in row)
        for name in vector_names:
            empty = SparseVector([], [])
            parts[name] = _to_csr(
                [row.get(name, empty) for row in self._vectors], n_features, source
            )
        y = to_target(self._labels)
        return (parts["tree"] if parts.keys() == {"tree"} else Examples._of(parts)), y


def _known_format(
    lines: Iterator[bytes], name: str, format: Format | None
) -> tuple[Format, Iterator[bytes]]:
    """Look at the first lines where nothing else tells the format; also give all lines again."""
    start = list(islice(lines, 20))
    kind = format or _SUFFIXES.get(format_suffix(name)) or _guessed(start, name)
    return kind, _chained(start, lines)


def _line_parser(
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


def _lines(stream: Any) -> Iterator[bytes]:
    mark = b"\xef\xbb\xbf"  # a byte order mark, before the first line
    for line in stream:
        yield line.removeprefix(mark).rstrip(b"\r\n")
        mark = b""


def _chained(start: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from start
    yield from rest


def _parsed(parse: Callable[[bytes], Record | None], line: bytes) -> Record | None:
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
    if n_features is not None and width > n_features:
        raise InvalidParameterError(
            f"{source} has feature {width}, but n_features is {n_features}: raise it"
        )
    return sp.csr_array((values, indices, indptr), shape=(len(rows), n_features or width))


def _as_part(name: str, part: Part) -> Part:
    """Sparse matrices by rows: others cannot be sliced, or only slowly."""
    if isinstance(part, Forest):
        return part
    sparse: bool = sp.issparse(part)
    if not sparse:
        return np.asarray(part)
    if part.format == "csr":
        return part
    try:
        if hasattr(part, "check_format"):
            part.check_format(full_check=True)  # SciPy trusts indices, and would crash
        return part.tocsr()
    except ValueError as error:
        raise InvalidParameterError(
            f"part {name!r} is a damaged sparse matrix: {error}; make it anew from (row, column) "
            "pairs"
        ) from None


def _n_rows(name: str, part: Part) -> int:
    if isinstance(part, Forest):
        return len(part)
    try:
        shape: tuple[int, ...] = part.shape if hasattr(part, "shape") else np.shape(part)
        found = f"{type(part).__name__} of {len(shape)} dimensions"
    except ValueError:
        shape, found = (), f"{type(part).__name__} with rows of different lengths"
    if len(shape) != 2:
        raise InputTypeError(
            f"part {name!r} must be a Forest or a two-dimensional matrix, got {found}; "
            "trees in brackets become one by Forest(texts)"
        )
    return int(shape[0])


def _described(part: Part) -> str:
    if isinstance(part, Forest):
        return f"Forest of {len(part):,} trees"
    kind = "sparse matrix" if sp.issparse(part) else "array"
    return f"{kind} of {part.shape[1]:,} columns"
