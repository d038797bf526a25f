"""The feature space of a tree kernel as a sparse matrix, for linear learners."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.corpus.methods import by_parts
from filbert.engine.feature_space import FeatureSpace, Limits
from filbert.errors import InvalidParameterError
from filbert.examples import check_feature_names, feature_names_of
from filbert.kernels import Kernel, SubsetTree
from filbert.kernels.algebra import is_number, n_examples
from filbert.kernels.inputs import rows_for, warn_without_fragments
from filbert.kernels.terms import check_expression, check_is_sum
from filbert.learners.at_once import at_once
from filbert.learners.feature_examples import FeatureExamples
from filbert.learners.kernel_parameter import KernelParameter
from filbert.learners.tolerance import check_kernel_tol
from filbert.threads import n_threads
from filbert.tree import Tree


class TreeFeatures(KernelParameter, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn trees into sparse vectors whose products are the kernel, exactly.

    A linear learner with an L2 penalty on these vectors is the kernel machine with the same loss.
    So scikit-learn's linear models, matrix factorisations and clusterings work on trees, with any
    number of trees whose features fit into memory.

    A column is a class of fragments: all fragments that occur in the same training trees equally
    often, taken together. With `m_t` the sum of their weights, `x_it` their number in tree `i`, and
    :math:`\|i\|` the norm if the kernel normalises,

    .. math:: A_{it} = \sqrt{m_t} \, x_{it} / \|i\|

    The fragments that only one training tree has are one more column for this tree, its *private*
    column. So there are as many private columns as training trees, after all others.

    - ``A = fit_transform(X)``: ``A @ A.T`` is ``kernel(X)``.
    - ``B = transform(Y)``: ``B @ A.T`` is ``kernel(Y, X)``. A new tree may have only some of the
      fragments of a class. Its entry is then smaller. Fragments of new trees that no training tree
      has are in no column, so ``B @ B.T`` is *not* ``kernel(Y)``.

    New trees are factorised together with the training trees, which therefore are kept. This takes
    as long for one tree as for a few thousand: transform many trees at a time.

    Parameters
    ----------
    kernel : Kernel, optional
        SubsetTree() by default. Also Subtree, PartialTree, LocalPatterns, Linear and Polynomial,
        and sums of these on parts of :class:`~filbert.Examples`. The columns of the terms are side
        by side.
    private : bool
        Whether there are private columns. Without them ``A @ A.T`` differs from ``kernel(X)`` on
        the diagonal, and nowhere else. ``B @ A.T`` then lacks what a tree shares with only one
        training tree.
    kernel_tol : float
        The largest error of kernels in the factors of PartialTree, relative to the kernel of a tree
        with itself. Larger values save time and memory. With 0 the features are exact.
    max_memory : int, optional
        The maximum number of bytes for the factors of a term, and for the features.
    max_work : float, optional
        The maximum number of steps to find the factors of a term. By default more than almost any
        trees take.
    n_jobs : int, optional
        Threads; None for all cores, within what joblib grants (see :mod:`filbert.threads`). The
        result does not depend on it.
    verbose : int
        If positive, show progress.

    Attributes
    ----------
    space_ : FeatureSpace
        The training examples and the columns of their features.
    n_features_ : int
        The number of columns.
    kernel_error_ : float
        The largest error of a kernel of training examples, 0 if features are exact.

    Examples
    --------
    >>> trees = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(S (NP d) (VP c))"]
    >>> features = TreeFeatures(SubsetTree(0.5, normalize=False))
    >>> A = features.fit_transform(trees)
    >>> (A @ A.T).toarray()
    array([[2.125, 1.25 , 0.5  ],
           [1.25 , 2.125, 1.25 ],
           [0.5  , 1.25 , 2.125]])
    >>> B = features.transform(["(S (NP a) (VP e))"])
    >>> (B @ A.T).toarray()
    array([[1.25, 1.25, 0.5 ]])
    >>> features.get_feature_names_out()[:3].tolist()
    ['(S (NP …) (VP …))', '(S (NP …) (VP c))', '(S (NP a) (VP …))']
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        private: bool = True,
        kernel_tol: float = 0.0,
        max_memory: int | None = None,
        max_work: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.private = private
        self.kernel_tol = kernel_tol
        self.max_memory = max_memory
        self.max_work = max_work
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns of training examples.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The training examples.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        TreeFeatures
            Itself.

        Raises
        ------
        OutOfMemoryError
            If the factors take more than `max_memory`.
        WorkLimitError
            If the trees share so many classes of fragments that the kernel matrix takes much less
            time, or if it takes more than `max_work`.
        """
        space = self._space_of(X)
        with at_once(self) as draft:
            draft._take(space, feature_names_of(X), private=bool(self.private))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_array:
        """Find the columns of training examples and return their features.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The training examples.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        sparse array of shape (len(X), n_features)
            One row for each example.
        """
        space = self._space_of(X)
        private = bool(self.private)
        rows = space.rows(self._limits(), private=private)
        with at_once(self) as draft:
            draft._take(space, feature_names_of(X), private=private)
        return rows

    @by_parts
    def transform(self, X: Any) -> sp.csr_array:
        """Return the features of examples in the columns of the training examples.

        Training examples get the same features as by `fit_transform`, up to rounding. With
        PartialTree, a part of an entry may be in another column of the same training trees. The
        products are the same.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples.

        Returns
        -------
        sparse array of shape (len(X), n_features)
            One row for each example.
        """
        return self.transform_with_errors(X)[0]

    def transform_with_errors(self, X: Any) -> tuple[sp.csr_array, FloatArray]:
        """Return the features of examples, and the largest error of each row's products.

        With `kernel_tol`, no entry of row `i` of ``B @ A.T`` differs by more than ``errors[i]``
        from the kernel. Without it, the errors are zeros.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples.

        Returns
        -------
        rows : csr_array of shape (len(X), n_features)
            One row for each example.
        errors : ndarray of shape (len(X),)
            The largest error of each row's products.
        """
        check_is_fitted(self)
        self.check_parameters()
        examples = rows_for(self.space_.kernel, X)
        check_feature_names(self._names_of_features, X)
        private = self.n_features_ > self.space_.n_shared  # as it was in fit
        rows, errors, known = self.space_.new_rows(examples, self._limits(), private=private)
        return rows, np.sqrt(errors * known.max())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return an example fragment for each column, as a bracket string.

        For SubsetTree it is the largest fragment of the class, with open nodes as ``(NP …)``. Other
        fragments of the class are parts of it. For Subtree it is the largest subtree. For
        PartialTree it is a fragment that all nodes of the class have in common, found by aligning
        their children: it need not be of the class. Examples of kernels on parts begin with the
        name of the part. A private column is named after the tree: ``only (S …)``. Columns of
        vectors have a number.

        Fragments are not kept, so this takes about as long as `fit`.

        Parameters
        ----------
        input_features : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        ndarray of str
            One text for each column.
        """
        check_is_fitted(self)
        return FeatureExamples(self.space_, self._limits()).names(self.n_features_)

    def example_fragment(self, column: int) -> Tree:
        """Return the example fragment of one column as a tree, see `get_feature_names_out`.

        The open nodes of a subset tree are leaves. For a private column it is the whole tree.

        Parameters
        ----------
        column : int
            The number of the column.

        Returns
        -------
        Tree
            The fragment.
        """
        check_is_fitted(self)
        if not is_number(column, Integral) or not 0 <= column < self.n_features_:
            raise InvalidParameterError(
                f"TreeFeatures: columns are numbered from 0 to {self.n_features_ - 1}, "
                f"got {column!r}"
            )
        return FeatureExamples(self.space_, self._limits()).tree(int(column))

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        if not isinstance(self.private, bool | np.bool_):
            raise InvalidParameterError(
                f"TreeFeatures: private must be True or False, got {self.private!r}"
            )
        check_kernel_tol("TreeFeatures", self.kernel_tol)
        most = self.max_memory
        if most is not None and (not is_number(most, Integral) or not 1 <= most < 2**63):
            raise InvalidParameterError(
                f"TreeFeatures: max_memory must be a positive integer or None, got {most!r}"
            )
        work = self.max_work
        if work is not None and (not is_number(work, Real) or not work > 0):
            raise InvalidParameterError(
                f"TreeFeatures: max_work must be a positive number or None, got {work!r}"
            )
        n_threads(self.n_jobs)
        if self.kernel is None:
            return
        if not isinstance(self.kernel, Kernel):
            raise InvalidParameterError(
                "TreeFeatures: kernel must be a kernel of filbert.kernels, such as SubsetTree(), "
                f"got {self.kernel!r}"
            )
        check_expression(self.kernel)
        check_is_sum(self.kernel, "Use KernelMatrix, which accepts any kernel.")

    # ---------------------------------------------------------------- for scikit-learn

    @property
    def _n_features_out(self) -> int:
        return self.n_features_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ---------------------------------------------------------------- fitting

    def _space_of(self, X: Any) -> FeatureSpace:
        self.check_parameters()
        kernel = SubsetTree() if self.kernel is None else clone(self.kernel)
        examples = rows_for(kernel, X)
        if n_examples(examples) == 0:
            raise InvalidParameterError("TreeFeatures: there are no examples to learn from")
        warn_without_fragments(kernel, examples, stacklevel=4)
        return FeatureSpace.of(kernel, examples, self._limits())

    def _limits(self) -> Limits:
        most = None if self.max_memory is None else int(self.max_memory)
        work = None if self.max_work is None else float(self.max_work)
        return Limits(float(self.kernel_tol), most, work, self.n_jobs, self.verbose)

    def _take(self, space: FeatureSpace, names: Mapping[str, Any], *, private: bool) -> None:
        self.space_ = space
        self._names_of_features = dict(names)
        self.n_features_ = space.n_columns(private=private)
        self.kernel_error_ = float(space.factors.kernel_errors.max(initial=0.0))
