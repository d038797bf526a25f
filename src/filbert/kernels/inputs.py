"""Examples in the form that a kernel needs and that a model keeps."""

from typing import Any
from warnings import warn

import numpy as np
import scipy

from filbert.arrays import is_sparse
from filbert.errors import InputTypeError, NoFragmentsWarning
from filbert.examples import Examples, only_forest, part_of_table
from filbert.forest import Forest, as_forest
from filbert.given import check_in_one_piece, is_table
from filbert.kernels.algebra import Kernel
from filbert.kernels.plain import PlainKernel
from filbert.kernels.terms import plain_kernels, tree_kernels


def rows_for(kernel: Any, X: Any) -> Any:
    """Return examples that have a `shape` and can be indexed, checked for a kernel.

    A kernel that names its parts reads them from the columns of a table. If the kernel names no
    part, or is a function, a forest replaces Examples that have no other part. Any other X with a
    shape is returned unchanged for a function, except that an array replaces a table, because
    pandas indexes tables by their labels.
    """
    check_in_one_piece(X)
    plain = list(plain_kernels(kernel)) if isinstance(kernel, Kernel) else []
    if all(one.part is None for one in plain):
        X = only_forest(X)
    rows: Any = _named_columns(plain, X)
    if isinstance(rows, Examples):
        pass
    elif not plain and hasattr(X, "shape"):
        rows = X.to_numpy() if hasattr(X, "iloc") else X
        if len(rows.shape) == 0:
            raise InputTypeError(f"expected several examples, got {X!r}: use a list or an array")
    elif is_sparse(X):
        rows = scipy.sparse.csr_array(X)
    elif not isinstance(X, Forest) and any(map(_is_of_vectors, plain)):
        rows = np.asarray(X)
    else:
        rows = as_forest(X)
    for one in plain:
        one.rows_of(rows)
    return rows


def without_others(kernel: Any, X: Any) -> Any:
    """Return the examples with only what the kernel needs, for a model to keep.

    Forests get their own nodes, so a model does not keep the training set. A model that is stored
    and loaded again gives the same scores to the last bit, because its nodes keep their numbers.
    """
    if isinstance(X, Examples):
        plain = plain_kernels(kernel) if isinstance(kernel, Kernel) else ()
        names = {one.part for one in plain} or set(X.parts)
        kept = {name: _own(part) for name, part in X.parts.items() if name in names}
        known = {name: own for name, own in X.feature_names.items() if name in kept}
        return Examples._of(kept, None, known)
    return _own(X)


def warn_without_fragments(kernel: Any, X: Any, *, stacklevel: int = 3) -> None:
    """Warn if the trees of a tree kernel have no fragments: the input is probably wrong.

    Parameters
    ----------
    kernel : Kernel or callable
    X : the examples, as :func:`rows_for` returns them
    stacklevel : int
        As for :func:`warnings.warn`, counted from this function.
    """
    for one in tree_kernels(kernel) if isinstance(kernel, Kernel) else ():
        trees = one.trees_of(X)
        if len(trees) and not one.capabilities.leaves and all(tree.is_leaf for tree in trees):
            warn(NoFragmentsWarning(len(trees), repr(one)), stacklevel=stacklevel)


def _named_columns(plain: list[PlainKernel], X: Any) -> Any:
    """Return the columns of a table that the kernels name as Examples, or any other X unchanged."""
    names = dict.fromkeys(one.part for one in plain)
    if not is_table(X) or not names or None in names:
        return X
    return Examples._of({name: part_of_table(X, name) for name in names if name is not None})


def _is_of_vectors(kernel: PlainKernel) -> bool:
    return kernel.capabilities.of == "vectors"


def _own(part: Any) -> Any:
    if not isinstance(part, Forest):
        return part
    return Forest._of(*part._dag.extract(part._roots))
