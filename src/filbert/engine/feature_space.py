"""The feature space of a kernel on some examples, as a sparse matrix."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from filbert import _core
from filbert.arrays import FloatArray
from filbert.engine.sums import sum_factors
from filbert.errors import WorkLimitError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.kernels import Kernel, TreeKernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import without_others
from filbert.kernels.matrices import stacked
from filbert.kernels.terms import terms_of
from filbert.progress import progress_bar
from filbert.threads import n_threads

# Steps of about a nanosecond. A kernel matrix takes some tens of steps for two short trees. If
# factors take a hundred times as many, they are too many for features.
_LITTLE_WORK = 1e10
_WORK_PER_PAIR = 2e3
_HINT = (
    "the trees share too many classes of fragments. Raise max_work, or use KernelMatrix, which "
    "needs no factors, or a kernel_tol above 0 with PartialTree"
)


@dataclass(frozen=True)
class Limits:
    """What finding features may take, and how exact those of partial trees are."""

    kernel_tol: float = 0.0
    max_memory: int | None = None
    max_work: float | None = None  # steps; by default more than almost any forest takes
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def max_bytes(self) -> int:
        """The maximum number of bytes for the rows of features."""
        return 2**63 if self.max_memory is None else self.max_memory


@dataclass(frozen=True)
class FeatureSpace:
    """The columns that the examples of a training set have, and all that new examples need.

    Attributes
    ----------
    kernel : Kernel
        A sum of kernels with factors, see :func:`filbert.kernels.terms.terms_of`.
    examples : Forest, Examples, array or sparse matrix
        The training set, with only what the kernel needs.
    terms : list of StoredFactors
        The factors of each term of the kernel.
    scales : list of ndarray
        For each term, one factor for each of its trees or vectors.
    """

    kernel: Kernel
    examples: Any
    terms: list[_core.StoredFactors]
    scales: list[FloatArray]

    @classmethod
    def of(cls, kernel: Kernel, X: Any, limits: Limits) -> "FeatureSpace":
        """Find the columns of examples, as :func:`filbert.kernels.inputs.rows_for` returns them."""
        examples = in_order(X if isinstance(X, Forest) else without_others(kernel, X))
        factors = _factors(kernel, examples, limits)
        scales = [t.scale.reshape(-1) for t in terms_of(kernel, examples, n_jobs=limits.n_jobs)]
        threads = n_threads(limits.n_jobs)
        terms = [term.without_multiples(threads, None) for term in factors.terms]
        return cls(kernel, examples, terms, scales)

    @cached_property
    def factors(self) -> _core.SumFactors:
        """The factors of all terms."""
        return _core.SumFactors(len(self), list(zip(self.terms, self.scales, strict=True)))

    def __len__(self) -> int:
        return n_examples(self.examples)

    @property
    def n_shared(self) -> int:
        """The number of columns before those that belong to one example each."""
        return sum(term.n_columns for term in self.terms)

    def n_columns(self, *, private: bool) -> int:
        """Return the number of all columns."""
        return self.n_shared + (len(self) if private else 0)

    def rows(self, limits: Limits, *, private: bool) -> sp.csr_array:
        """Return the features of the training set."""
        threads = n_threads(limits.n_jobs)
        with progress_bar("listing features", show=limits.verbose > 0) as progress:
            rows = _core.feature_rows(self.factors, private, limits.max_bytes, threads, progress)
        return self._matrix(rows, private=private)

    def new_rows(
        self, X: Any, limits: Limits, *, private: bool
    ) -> tuple[sp.csr_array, FloatArray, FloatArray]:
        """Return the features of other examples, and the errors of theirs and the training set's.

        The product of rows y and i differs by at most ``sqrt(errors[y] * errors_of_training[i])``
        from the kernel. Without errors both arrays are zeros.
        """
        n_new = n_examples(X)
        if n_new == 0:
            empty = sp.csr_array((0, self.n_columns(private=private)))
            return empty, np.zeros(0), np.zeros(len(self))
        joint = _factors(self.kernel, joined(self.examples, X), limits)
        threads = n_threads(limits.n_jobs)
        with progress_bar("listing features", show=limits.verbose > 0) as progress:
            rows, errors, known_errors = _core.new_feature_rows(
                self.factors, joint, private, limits.max_bytes, threads, progress
            )
        exact = len(errors) == 0
        return (
            self._matrix(rows, private=private),
            np.zeros(n_new) if exact else errors,
            np.zeros(len(self)) if exact else known_errors,
        )

    def _matrix(self, rows: tuple[Any, Any, Any], *, private: bool) -> sp.csr_array:
        begins, columns, values = rows
        if begins[-1] < 2**31:  # SciPy wants one type for both
            begins = begins.astype(np.int32)
        else:
            begins, columns = begins.astype(np.int64), columns.astype(np.int64)
        shape = (len(begins) - 1, self.n_columns(private=private))
        matrix = sp.csr_array((values, columns, begins), shape=shape)
        matrix.has_canonical_format = True
        return matrix

    def __getstate__(self) -> dict[str, Any]:
        terms = [term.arrays() for term in self.terms]
        return {
            "kernel": self.kernel,
            "examples": self.examples,
            "terms": terms,
            "scales": self.scales,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        terms = [_core.StoredFactors(*arrays) for arrays in state["terms"]]
        self.__dict__.update({**state, "terms": terms})


def joined(a: Any, b: Any) -> Any:
    """Return the examples of `a`, then those of `b`, with the parts of `a`."""
    if isinstance(a, Examples):
        return Examples._of({name: joined(part, b[name]) for name, part in a.parts.items()})
    return Forest.concat([a, b]) if isinstance(a, Forest) else stacked([a, b])


def in_order(X: Any) -> Any:
    """Return examples with their own nodes, so that columns are the same for the same trees."""
    if isinstance(X, Examples):
        parts = {name: in_order(part) for name, part in X.parts.items()}
        return Examples._of(parts, None, X.feature_names)
    if not isinstance(X, Forest) or X._dag.is_in_order(X._roots):
        return X
    return Forest._of(*X._dag.extract_in_order(X._roots))


def _factors(kernel: Kernel, X: Any, limits: Limits) -> _core.SumFactors:
    """Factorise without comparing nodes pair by pair, which may lead to negative masses."""
    try:
        return sum_factors(
            kernel,
            X,
            max_memory=limits.max_memory,
            max_work=_most_work if limits.max_work is None else lambda *_: limits.max_work,
            kernel_tol=limits.kernel_tol,
            budget=np.inf,
            n_jobs=limits.n_jobs,
            verbose=limits.verbose,
        )
    except WorkLimitError as error:
        max_work = error.max_work
    raise WorkLimitError(max_work, _HINT)


def _most_work(kernel: TreeKernel, trees: Forest) -> float:
    return max(_LITTLE_WORK, _WORK_PER_PAIR * float(len(trees)) ** 2)
