"""The parts of a corpus: where their examples come from, and how they are loaded."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from filbert.arrays import is_sparse
from filbert.examples import Examples
from filbert.forest import Forest


class Rows(NamedTuple):
    """The examples of one part, in memory.

    Attributes
    ----------
    X : Forest, Examples, array or sparse matrix
    y : ndarray or None
        The labels, if the part has them.
    """

    X: Any
    y: NDArray[Any] | None


class Piece(Protocol):
    """One part of a corpus. Loading it twice gives the same examples, wherever it is loaded."""

    @property
    def name(self) -> str:
        """The name for messages, such as that of a file."""

    @property
    def token(self) -> str:
        """What tells pieces apart: those with the same token hold the same examples."""

    @property
    def later(self) -> Any:
        """The Dask object that stands for the content, or None if Dask does not compute it."""

    @property
    def skips(self) -> bool:
        """Whether loading skips input that cannot be read."""

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        """Return the examples. `content` is what `later` gave, None if there is no `later`."""


@dataclass(frozen=True)
class Given:
    """Examples that are in memory already."""

    name: str
    rows: Rows
    later: None = None
    skips: bool = False

    @cached_property
    def token(self) -> str:
        """A hash of the examples."""
        return hash_of_rows(self.rows)

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        """Return the examples."""
        return self.rows


@dataclass(frozen=True)
class _Derived:
    """A piece that is made of another one."""

    whole: Piece

    @property
    def name(self) -> str:
        """The name of the whole piece."""
        return self.whole.name

    @property
    def later(self) -> Any:
        """The Dask object of the whole piece."""
        return self.whole.later

    @property
    def skips(self) -> bool:
        """Whether loading the whole piece skips input."""
        return self.whole.skips


@dataclass(frozen=True)
class Chosen(_Derived):
    """Some of the examples of a piece, in any order."""

    rows: NDArray[np.intp]

    @property
    def token(self) -> str:
        """The token of the whole piece, with that of the choice."""
        return f"{self.whole.token}[{sha256(self.rows.astype('<i8').tobytes()).hexdigest()}]"

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        """Return the chosen examples."""
        X, y = self.whole.load(content, n_jobs)
        return Rows(X[self.rows], None if y is None else y[self.rows])


@dataclass(frozen=True)
class Changed(_Derived):
    """The examples of a piece after a function, which `mark` tells from others."""

    function: Callable[[Any], Any]
    mark: str

    @property
    def token(self) -> str:
        """The token of the whole piece, with that of the function."""
        return f"{self.whole.token}|{self.mark}"

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        """Return the changed examples."""
        X, y = self.whole.load(content, n_jobs)
        return Rows(self.function(X), y)


def hash_of_rows(rows: Rows) -> str:
    """Return a hash of examples and their labels."""
    known = sha256()
    for array in _arrays(rows.X, rows.y):
        known.update(repr((array.shape, array.dtype.str)).encode())
        is_object = array.dtype.kind == "O"
        known.update(repr(array.tolist()).encode() if is_object else array.tobytes())
    return f"memory-{known.hexdigest()}"


def _arrays(X: Any, y: NDArray[Any] | None) -> Iterator[NDArray[Any]]:
    """Yield arrays that hold all of some examples."""
    if y is not None:
        yield y
    if isinstance(X, Examples):
        for name, part in X.parts.items():
            yield np.array(name)
            yield from _arrays(part, None)
        for name, values in [*X.columns.items(), *X.feature_names.items()]:
            yield np.array(name)
            yield values
    elif isinstance(X, Forest):
        yield from X.to_arrays().values()
    elif is_sparse(X):
        rows = X.tocsr()
        yield from (rows.indptr, rows.indices, rows.data, np.array(rows.shape))
    else:
        yield np.asarray(X)
