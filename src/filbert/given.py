"""Check the trees that users pass: which objects hold one tree per row, and which do not."""

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from filbert.errors import InputTypeError, InvalidParameterError
from filbert.tree import Tree


class InParts:
    """Base class of corpora in parts, which have no single forest or matrix."""


def check_in_one_piece(X: Any) -> None:
    """Raise InputTypeError for a corpus in parts."""
    if isinstance(X, InParts):
        raise whole_needed()


def whole_needed() -> InputTypeError:
    """Return the error for a corpus in parts where all examples are needed."""
    return InputTypeError(
        "this needs all examples in one piece, not a corpus in parts: read them with "
        "filbert.read_examples, or work part by part with corpus.map(function)"
    )


def is_table(X: Any) -> bool:
    """Return whether X has named columns: a DataFrame or a dictionary."""
    if isinstance(X, Mapping):
        return True
    has_columns = hasattr(X, "columns") and hasattr(X, "shape")
    return has_columns and not isinstance(X.columns, Mapping)  # as Examples have


def column_of(X: Any, name: str) -> Any:
    """Return a column of a table by its name."""
    names = _names(X)
    n = names.count(name)
    if n != 1:
        found = "there is no column" if n == 0 else f"{n} columns are called"
        raise InvalidParameterError(
            f"{found} {name!r}; there are {', '.join(map(repr, names[:12]))}"
        )
    return X[name]


def one_tree_a_row(X: Any) -> Any:
    """Return X unchanged if it holds one tree per row, or its only column.

    Sets, and tables and matrices of several columns, raise InputTypeError, which says what to pass
    instead.
    """
    kind = described(X)
    if is_table(X):
        names = _names(X)
        if len(names) == 1 and not isinstance(X, Mapping):
            return X[names[0]]
        raise InputTypeError(
            f"expected one tree per row, got a {kind} of {len(names)} columns: pass the column of "
            f"trees, such as X[{_likely_name(X, names)!r}], or name it in the kernel, such as "
            f"SubsetTree().on({_likely_name(X, names)!r})"
        )
    if isinstance(X, set | frozenset):
        raise InputTypeError(
            f"expected one tree per row, got a {kind}, which has no order and no repeated trees: "
            "pass a list"
        )
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) == 1:
        return X
    if len(shape) == 2 and shape[1] == 1 and isinstance(X, np.ndarray):
        return np.asarray(X)[:, 0]
    raise InputTypeError(
        f"expected one tree per row, got a {kind} of shape {shape}: pass the column of trees, such "
        "as X[:, 0]"
    )


def not_a_tree(position: int, value: Any) -> InputTypeError:
    """Return the error for a sample that is not a string although strings are expected."""
    what = f"sample {position} is not a string in bracket notation but {described(value)}"
    if isinstance(value, Tree):
        return InputTypeError(f"{what}: pass only strings, or only Trees")
    if isinstance(value, os.PathLike):
        return InputTypeError(f"{what}: {file_hint(value)}")
    hint = "leave out rows without a tree" if is_missing(value) else _conversion(value)
    return InputTypeError(f"{what}: {hint}" if hint else what)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def is_file_name(text: Any) -> bool:
    """Return whether a text that is not a tree is the name of a file."""
    if isinstance(text, int):  # of an open file, for the system
        return False
    try:
        return os.path.isfile(text)
    except (TypeError, ValueError):  # such as a NUL in the text
        return False


def file_hint(path: Any) -> str:
    """Return the hint for a user who passed the name of a file instead of a tree."""
    name = os.fsdecode(path)
    return (
        f"to read the file, use filbert.read_examples({name!r}) for labelled trees or "
        f"filbert.read_trees({name!r}) for trees without labels; both take lists of files"
    )


def described(value: Any) -> str:
    """Return the name of a value's type, with its package if it is a third-party type."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package in ("builtins", "filbert") else f"{package}.{kind.__name__}"


def is_tree_like(value: Any) -> bool:
    """Return whether a value may be a tree: a Tree, a text or a tree of NLTK."""
    return isinstance(value, str | bytes | Tree) or is_nltk_tree(value)


def is_nltk_tree(value: Any) -> bool:
    """Return whether a value is a tree of NLTK: a list with a label."""
    return isinstance(value, list) and callable(getattr(value, "label", None))


def _conversion(value: Any) -> str:
    """Return what makes a forest of such objects, or nothing."""
    if is_nltk_tree(value):
        return "pass only strings, or make the forest with Forest.from_nltk"
    package = described(value).partition(".")[0]
    method = {"spacy": "from_spacy", "stanza": "from_stanza", "networkx": "from_networkx"}.get(
        package, "from_nested" if isinstance(value, list | tuple | Mapping) else ""
    )
    return f"use Forest.{method}" if method else ""


def _names(X: Any) -> list[Any]:
    return list(X) if isinstance(X, Mapping) else list(X.columns)


def _likely_name(X: Any, names: list[Any]) -> Any:
    """Return the name of the first column that begins with a tree, or "tree"."""
    for name in names:
        first = next(iter(X[name]), None) if np.ndim(X[name]) else None
        text = first.decode(errors="replace") if isinstance(first, bytes) else first
        if isinstance(first, Tree) or (isinstance(text, str) and text.lstrip().startswith("(")):
            return name
    return "tree"
