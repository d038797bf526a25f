"""The factors of kernel matrices of vectors: products of features."""

from typing import Any

import numpy as np
import scipy

from filbert import _core
from filbert.arrays import is_sparse
from filbert.errors import OutOfMemoryError
from filbert.kernels import Linear
from filbert.threads import n_threads

MOST_PRODUCTS = 4 << 30  # bytes of products of features, by default


def vector_factors(
    kernel: Any,
    vectors: Any,
    *,
    max_memory: int | None = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> _core.VectorOperator:
    """Factorise the kernel matrix of vectors: all products of up to `degree` features.

    Parameters
    ----------
    kernel : VectorKernel
        A kernel with factors: Linear or Polynomial.
    vectors : array or sparse matrix, as ``kernel.vectors_of`` returns them
    max_memory : int, optional
        The maximum number of bytes for the products, 4 GiB by default.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Raises
    ------
    OutOfMemoryError
        If `max_memory` does not suffice. This is checked before the work begins.
    """
    rows = scipy.sparse.csr_array(vectors, copy=is_sparse(vectors))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    _, degree, gamma, coef0 = kernel._spec()
    try:
        return _core.VectorOperator(
            rows.indptr.astype(np.int64, copy=False),
            rows.indices.astype(np.int64, copy=False),
            rows.data,
            degree,
            gamma,
            coef0,
            bool(kernel.normalize),
            MOST_PRODUCTS if max_memory is None else max_memory,
            n_threads(n_jobs),
            progress,
        )
    except OutOfMemoryError as error:
        what = error.what
    raise OutOfMemoryError(f"{kernel!r}: {what}")


def constant_factors(n: int) -> _core.VectorOperator:
    """Return the factors of a kernel that is 1 for all pairs of `n` examples."""
    return vector_factors(Linear(normalize=False), np.ones((n, 1)))
