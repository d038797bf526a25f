"""The factors of sums of kernels, term by term."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from filbert import _core
from filbert.errors import OutOfMemoryError
from filbert.kernels import Constant, Kernel, Linear, PartialTree, VectorKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.matrices import is_sparse
from filbert.kernels.terms import Term, terms_of
from filbert.model import factorize
from filbert.progress import progress_bar
from filbert.threads import n_threads
from filbert.work import row_steps, steps_worth_trying

MOST_PRODUCTS = 4 << 30  # bytes of products of features, where nothing else is said


def sum_factors(
    kernel: Kernel,
    X: Any,
    *,
    max_memory: int | None = None,
    limited: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> _core.SumOperator:
    """Factorise the matrix of a sum of kernels.

    Parameters
    ----------
    kernel : Kernel
        What :func:`filbert.kernels.terms.terms_of` takes.
    X : the examples
    max_memory : int, optional
        The most bytes that the factors of a term may take.
    limited : bool
        Whether to give up where a PartialTree takes more work than by rows.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int
        Whether to show progress.

    Raises
    ------
    OutOfMemoryError, WorkLimitError
        Where memory or work do not suffice.
    """
    terms = terms_of(kernel, X, n_jobs=n_jobs)
    factors = []
    for number, term in enumerate(terms, 1):
        with progress_bar(f"term {number} of {len(terms)}", show=verbose > 0) as progress:
            own = _term_factors(term, X, limited, max_memory, n_jobs, progress)
        factors.append((own, term.scale.reshape(-1)))
    return _core.SumOperator(n_examples(X), factors)


def _term_factors(
    term: Term,
    X: Any,
    limited: bool,
    max_memory: int | None,
    n_jobs: int | None,
    progress: Any,
) -> _core.KernelOperator | _core.VectorOperator:
    kernel = term.kernel
    options: dict[str, Any] = {"max_memory": max_memory, "n_jobs": n_jobs, "progress": progress}
    if isinstance(kernel, Constant):
        return constant_factors(len(term.scale))
    if isinstance(kernel, VectorKernel):
        return vector_factors(kernel, term.rows_of(X), **options)
    trees = term.rows_of(X)
    max_work = None
    if limited and isinstance(kernel.exact(), PartialTree):
        max_work = steps_worth_trying(kernel, row_steps(kernel, trees))
    return factorize(kernel, trees, max_work=max_work, **options)


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
    kernel : Linear or Polynomial
    vectors : array or sparse matrix, as ``kernel.vectors_of`` gives them
    max_memory : int, optional
        The most bytes that the products may take, 4 GiB by default.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with ``(done, total)``.

    Raises
    ------
    OutOfMemoryError
        Where `max_memory` does not suffice. That is known before the work begins.
    """
    rows = sp.csr_array(vectors, copy=True) if is_sparse(vectors) else sp.csr_array(vectors)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    linear = isinstance(kernel, Linear)
    try:
        return _core.VectorOperator(
            rows.indptr.astype(np.int64, copy=False),
            rows.indices.astype(np.int64, copy=False),
            rows.data,
            1 if linear else int(kernel.degree),
            1.0 if linear else float(kernel.gamma),
            0.0 if linear else float(kernel.coef0),
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
