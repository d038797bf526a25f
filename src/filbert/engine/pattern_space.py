"""The patterns of training trees, as the columns of sparse rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from filbert import _core
from filbert.engine.feature_space import in_order
from filbert.forest import Forest
from filbert.kernels import LocalPatterns
from filbert.progress import progress_bar
from filbert.threads import n_threads
from filbert.tree import Tree

_LONGEST_NAME = 10_000  # characters of a pattern's text
_MOST_NODES = 1_000_000  # of a pattern as a tree

_Arrays = tuple[Any, Any, Any]  # of sparse rows: begins, patterns, values


@dataclass(frozen=True)
class PatternSpace:
    """All patterns of some trees, each with a number.

    Attributes
    ----------
    kernel : LocalPatterns
    table : the patterns, also those that are only parts of others
    """

    kernel: LocalPatterns
    table: _core.PatternTable

    @classmethod
    def of(
        cls, kernel: LocalPatterns, trees: Forest, *, n_jobs: int | None, verbose: int
    ) -> "tuple[PatternSpace, sp.csr_array]":
        """Return the space of training trees, and their rows.

        Patterns are numbered in the order in which the trees have them, however their forest was
        built.
        """
        trees = in_order(trees)
        space = cls(kernel, _core.PatternTable(kernel._spec()))
        arrays = space._read(space.table.add_rows, trees, n_jobs, verbose)
        return space, space._rows(arrays)

    def rows(self, trees: Forest, *, n_jobs: int | None, verbose: int) -> sp.csr_array:
        """Return the rows of trees. Patterns that are not in the space count in the norms only."""
        return self._rows(self._read(self.table.known_rows, trees, n_jobs, verbose))

    @cached_property
    def patterns(self) -> NDArray[np.uint32]:
        """The patterns that are columns."""
        return self.table.features()

    def names(self, patterns: NDArray[Any] | None = None) -> list[str]:
        """Return patterns as text, by default all. Those of 10,000 characters are cut off."""
        chosen = self.patterns if patterns is None else patterns.astype(np.uint32)
        return self.table.texts(chosen, _LONGEST_NAME)

    def tree(self, pattern: int) -> Tree:
        """Return a pattern as the fragment it is. The ends of a row of siblings are left out."""
        labels, parents, *_ = self.table.tree(pattern, _MOST_NODES)
        return Forest.from_parents(labels, parents)[0]

    def _read(self, read: Any, trees: Forest, n_jobs: int | None, verbose: int) -> _Arrays:
        with progress_bar("reading patterns", show=verbose > 0) as progress:
            normalize = bool(self.kernel.normalize)
            arrays: _Arrays = read(trees._dag, trees._roots, normalize, n_threads(n_jobs), progress)
        return arrays

    def _rows(self, arrays: _Arrays) -> sp.csr_array:
        indptr, patterns, values = arrays
        # Most of scikit-learn's linear models take 32-bit indices only.
        short = max(len(values), self.table.size) < 2**31
        index = np.int32 if short else np.int64
        column_of = np.zeros(self.table.size, dtype=index)
        column_of[self.patterns] = np.arange(len(self.patterns))
        shape = (len(indptr) - 1, len(self.patterns))
        return sp.csr_array((values, column_of[patterns], indptr.astype(index)), shape=shape)

    def __reduce__(self) -> Any:
        return _space_of, (self.kernel, self.table.to_arrays())


def patterns_of_columns(
    kernel: LocalPatterns, trees: Forest, columns: sp.csc_array, *, n_jobs: int | None
) -> tuple[PatternSpace, NDArray[np.uint32]]:
    """Return an example pattern for each column of factors, whose entries are multiples of its own.

    Columns that are multiples of each other may be one column of the factors. Those that are not
    one get different patterns.
    """
    space, rows = PatternSpace.of(kernel, trees, n_jobs=n_jobs, verbose=0)
    known: dict[tuple[bytes, bytes], list[int]] = {}  # the last pattern of a key is not taken out
    for i, key in reversed(list(enumerate(_directions(rows.tocsc())))):
        known.setdefault(key, []).append(i)
    same = [known[key] for key in _directions(columns)]
    found = [patterns.pop() if len(patterns) > 1 else patterns[0] for patterns in same]
    return space, space.patterns[np.array(found, dtype=np.intp)]


def _directions(columns: sp.csc_array) -> Iterator[tuple[bytes, bytes]]:
    """Yield the rows of each column, and its values as multiples of the first one."""
    columns.sort_indices()
    for begin, end in pairwise(columns.indptr.tolist()):
        values = columns.data[begin:end]
        multiples = np.round(values / values[:1], 9)
        yield columns.indices[begin:end].astype(np.int64).tobytes(), multiples.tobytes()


def _space_of(kernel: LocalPatterns, arrays: Any) -> PatternSpace:
    return PatternSpace(kernel, _core.PatternTable.from_arrays(kernel._spec(), *arrays))
