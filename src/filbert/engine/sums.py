"""The factors of sums of kernels, by term. A single kernel is a sum of one term."""

from collections.abc import Callable
from typing import Any

from filbert import _core
from filbert.engine.patterns import pattern_factors
from filbert.engine.tree_factors import factorize
from filbert.engine.vector_factors import constant_factors, vector_factors
from filbert.forest import Forest
from filbert.kernels import Kernel, TreeKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.terms import Term, terms_of
from filbert.progress import progress_bar

WorkLimit = Callable[[TreeKernel, Forest], float | None]  # maximum steps for a term of trees


def sum_factors(
    kernel: Kernel,
    X: Any,
    *,
    max_memory: int | None = None,
    max_work: WorkLimit | None = None,
    kernel_tol: float = 0.0,
    budget: float = 1.0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> _core.SumFactors:
    """Factorise the matrix of a sum of kernels.

    The result has `kernel_errors`: for examples i and j, the kernel of the factors differs by at
    most ``sqrt(kernel_errors[i] * kernel_errors[j])`` from the kernel. They are empty if no term
    was pruned.

    Parameters
    ----------
    kernel : Kernel
        A kernel that :func:`filbert.kernels.terms.terms_of` accepts.
    X : the examples
    max_memory : int, optional
        The maximum number of bytes for the factors of a term.
    max_work : callable, optional
        Returns the maximum number of steps for a tree kernel and its trees, such as
        :func:`filbert.engine.work.work_limit`.
    kernel_tol, budget : float
        The largest error of a term's tree kernel, and the work before nodes are compared pair by
        pair, see :func:`filbert.engine.tree_factors.factorize`.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int
        If positive, show progress.

    Raises
    ------
    OutOfMemoryError, WorkLimitError
        If the memory or the work limit does not suffice.
    """
    terms = terms_of(kernel, X, n_jobs=n_jobs)
    factors = []
    for number, term in enumerate(terms, 1):
        what = "factorising" if len(terms) == 1 else f"term {number} of {len(terms)}"
        with progress_bar(what, show=verbose > 0) as progress:
            options = {"max_memory": max_memory, "n_jobs": n_jobs, "progress": progress}
            of_trees = {"kernel_tol": kernel_tol, "budget": budget}
            own = _term_factors(term, X, max_work, of_trees, options)
        factors.append((own, term.scale.reshape(-1)))
    return _core.SumFactors(n_examples(X), factors)


def _term_factors(
    term: Term,
    X: Any,
    max_work: WorkLimit | None,
    of_trees: dict[str, Any],
    options: dict[str, Any],
) -> _core.KernelOperator | _core.VectorOperator:
    rows = term.rows_of(X)
    if term.kind == "constant":
        return constant_factors(n_examples(rows))
    if term.kind == "vectors":
        return vector_factors(term.kernel, rows, **options)
    if term.kind == "patterns":
        return pattern_factors(term.kernel, rows, **options)
    most = None if max_work is None else max_work(term.kernel, rows)
    return factorize(term.kernel, rows, max_work=most, **of_trees, **options)
