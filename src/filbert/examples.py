"""Examples that have several trees and feature vectors, and reading them from files."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self, cast
from warnings import warn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    ParseError,
    SkippedInputWarning,
)
from filbert.forest import Forest, OnError
from filbert.frames import Columns, frame_parts
from filbert.gathering import (
    Format,
    Gathered,
    Part,
    known_format,
    line_parser,
    lines_of,
    parsed,
    usual_parts,
)
from filbert.read import labelled_lines
from filbert.read.files import open_binary
from filbert.read.numbers import to_target
from filbert.threads import n_threads


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
    def from_frame(cls, frame: Any, *, trees: Columns, features: Columns = ()) -> Self:
        """Take the columns of a pandas DataFrame.

        Parameters
        ----------
        frame : DataFrame
        trees : str, list of str or dict
            The columns of trees, as bracket strings or Trees. One name: the part is called
            ``tree``; several: the parts are called like the columns; a dictionary gives the
            columns by the names of the parts.
        features : str, list of str or dict
            The columns of numbers, together one matrix called ``features``; a dictionary gives
            the columns of several matrices by their names. Where a column is sparse, so is the
            matrix.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"parse": ["(a b)", "(a c)"], "length": [3, 5]})
        >>> Examples.from_frame(frame, trees="parse", features=["length"])
        Examples of 2 rows
          tree      Forest of 2 trees
          features  array of 1 columns
        """
        return cls._of(frame_parts(frame, trees, features))

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
        Threads for TSV and SVM-light-TK files with one tree and one vector a line; all cores by
        default. Results do not depend on it.

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
    gathered = Gathered()
    errors: list[ParseError] = []
    with open_binary(path) as stream:
        kind, lines = known_format(lines_of(stream), name, format)
        parse = line_parser(kind, label, tree, features)
        if kind != "jsonl":
            # Whatever is unusual is read line by line below, where errors are told.
            usual = labelled_lines.read(path, kind, cast(Any, label), cast(Any, tree), threads)
            if usual is not None:
                return _examples(usual_parts(usual, n_features, name)), usual.target()
        for number, line in enumerate(lines, 1):
            try:
                record = parsed(parse, line)
                if record is not None:
                    gathered.add(record, line)
            except ParseError as error:
                sample = len(gathered) + len(errors)
                placed = error.located(source=name, line=number, sample=sample)
                if on_error == "raise":
                    raise placed from None
                errors.append(placed)
    parts, labels = gathered.finish(n_features, name)
    X, y = _examples(parts), to_target(labels)
    X.skipped = tuple(errors)
    if errors:
        warn(SkippedInputWarning(X.skipped, len(y)), stacklevel=2)
    return X, y


def _examples(parts: dict[str, Part]) -> "Forest | Examples":
    return parts["tree"] if parts.keys() == {"tree"} else Examples._of(parts)


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
