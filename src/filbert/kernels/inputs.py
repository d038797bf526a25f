"""Examples as a kernel takes them, and as a model keeps them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from filbert.errors import InputTypeError
from filbert.examples import Examples
from filbert.forest import Forest, as_forest
from filbert.kernels.algebra import Kernel
from filbert.kernels.matrices import is_sparse
from filbert.kernels.plain import PlainKernel
from filbert.kernels.terms import plain_kernels


def rows_for(kernel: Any, X: Any) -> Any:
    """Return examples that have a `shape` and can be indexed, checked for a kernel.

    What has a shape is left as it is for a kernel of which nothing is known. A table of pandas is
    indexed by its labels, so an array takes its place.
    """
    plain = list(plain_kernels(kernel)) if isinstance(kernel, Kernel) else []
    rows: Any = X
    if isinstance(X, Examples):
        pass
    elif not plain and hasattr(X, "shape"):
        rows = X.to_numpy() if hasattr(X, "iloc") else X
        if len(rows.shape) == 0:
            raise InputTypeError(f"expected several examples, got {X!r}: use a list or an array")
    elif is_sparse(X):
        rows = sp.csr_array(X)
    elif not isinstance(X, Forest) and any(map(_is_of_vectors, plain)):
        rows = np.asarray(X)
    else:
        rows = as_forest(X)
    for one in plain:
        one.rows_of(rows)
    return rows


def without_others(kernel: Any, X: Any) -> Any:
    """Return the examples with what the kernel needs and nothing else, to be kept.

    Forests get nodes of their own: a model need not keep the training set. It then scores the same
    to the last bit when it is stored and read again, because its nodes are numbered alike.
    """
    if isinstance(X, Examples):
        plain = plain_kernels(kernel) if isinstance(kernel, Kernel) else ()
        names = {one.part for one in plain} or set(X.parts)
        return Examples._of({name: _own(part) for name, part in X.parts.items() if name in names})
    return _own(X)


def _is_of_vectors(kernel: PlainKernel) -> bool:
    return kernel.capabilities.of == "vectors"


def _own(part: Any) -> Any:
    if not isinstance(part, Forest):
        return part
    return Forest._of(*part._dag.extract(part._roots))
