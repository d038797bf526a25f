"""What users give as trees: which objects hold one tree a row, and which only seem to."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from filbert.errors import InputTypeError, InvalidParameterError
from filbert.tree import Tree


def is_table(X: Any) -> bool:
    """Whether X has named columns: a DataFrame or a dictionary."""
    return isinstance(X, Mapping) or (hasattr(X, "columns") and hasattr(X, "shape"))


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
    """Return X as it is where it holds one tree a row, or its only column.

    Raises InputTypeError for tables and matrices of several columns, which say the way out.
    """
    kind = described(X)
    if is_table(X):
        names = _names(X)
        if len(names) == 1 and not isinstance(X, Mapping):
            return X[names[0]]
        raise InputTypeError(
            f"expected one tree a row, got a {kind} of {len(names)} columns: pass the column of "
            f"trees, such as X[{_likely_name(X, names)!r}], or name it in the kernel, such as "
            f"SubsetTree().on({_likely_name(X, names)!r})"
        )
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) == 1:
        return X
    if len(shape) == 2 and shape[1] == 1 and isinstance(X, np.ndarray):
        return np.asarray(X)[:, 0]
    raise InputTypeError(
        f"expected one tree a row, got a {kind} of shape {shape}: pass the column of trees, such "
        "as X[:, 0]"
    )


def not_a_tree(position: int, value: Any) -> InputTypeError:
    """Return what to raise for a sample that is no string, where strings are expected."""
    what = f"sample {position} is not a string in bracket notation but {described(value)}"
    if isinstance(value, Tree):
        return InputTypeError(f"{what}: give strings alone, or Trees alone")
    if isinstance(value, os.PathLike):
        return InputTypeError(f"{what}: {file_hint(value)}")
    if callable(getattr(value, "label", None)):  # as NLTK's trees have it
        return InputTypeError(f"{what}: pass str(tree), if that writes it in brackets")
    return InputTypeError(what)


def is_file_name(text: Any) -> bool:
    """Whether a text that is no tree is the name of a file."""
    try:
        return os.path.isfile(text)
    except (TypeError, ValueError):  # a NUL, for instance
        return False


def file_hint(path: Any) -> str:
    """Return what to do with the name of a file in place of a tree."""
    name = os.fsdecode(path)
    return (
        f"to read the file, use filbert.read_examples({name!r}) for labelled trees or "
        f"Forest.from_brackets({name!r}) for trees alone"
    )


def described(value: Any) -> str:
    """Return the name of a type, with the package of others' types: there are other Trees."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package in ("builtins", "filbert") else f"{package}.{kind.__name__}"


def is_tree_like(value: Any) -> bool:
    """Whether a value is given as a tree: a Tree or a text."""
    return isinstance(value, str | bytes | Tree)


def _names(X: Any) -> list[Any]:
    return list(X) if isinstance(X, Mapping) else list(X.columns)


def _likely_name(X: Any, names: list[Any]) -> Any:
    """The first column that begins with a tree, else one called so."""
    for name in names:
        first = next(iter(X[name]), None) if np.ndim(X[name]) else None
        text = first.decode(errors="replace") if isinstance(first, bytes) else first
        if isinstance(first, Tree) or (isinstance(text, str) and text.lstrip().startswith("(")):
            return name
    return "tree"
