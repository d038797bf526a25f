"""A transformer from examples to their kernels with the training examples."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.corpus.methods import by_parts
from filbert.errors import InvalidParameterError
from filbert.examples import check_feature_names, feature_names_of
from filbert.kernels import Kernel, SubsetTree
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import rows_for, warn_without_fragments, without_others
from filbert.kernels.terms import check_expression
from filbert.learners.at_once import at_once
from filbert.learners.kernel_parameter import KernelParameter
from filbert.threads import n_threads


class KernelMatrix(
    KernelParameter,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Turn trees into rows of the kernel matrix: ``transform(Y)`` is ``kernel(Y, X)``.

    With it, scikit-learn's estimators for precomputed kernels are the last step of a pipeline on
    trees, and a search may vary the parameters of the kernel:
    ``GridSearchCV(pipeline, {"kernelmatrix__kernel__decay": [0.2, 0.4]})``. Estimators for
    precomputed distances, such as ``KNeighborsClassifier(metric="precomputed")``, need
    ``distances=True``: they would take the largest kernels for the largest distances. The matrix is
    dense. For many trees use :class:`~filbert.TreeFeatures` with a linear model.

    Parameters
    ----------
    kernel : Kernel, optional
        Any kernel of :mod:`filbert.kernels`. SubsetTree() by default.
    distances : bool
        Return distances in the feature space, the roots of k(x, x) - 2 k(x, y) + k(y, y), in place
        of kernels. With a normalised kernel they are between 0 and 2. Distances below about 1e-8
        times the norms are rounding errors.
    n_jobs : int, optional
        Threads; None for all cores, within what joblib grants (see :mod:`filbert.threads`).

    Attributes
    ----------
    examples_ : Forest, Examples, array or sparse matrix
        The training examples, with only what the kernel needs.
    kernel_ : Kernel
        A copy of the kernel, as it was in `fit`.

    Examples
    --------
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from sklearn.pipeline import make_pipeline
    >>> trees = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(S (NP d) (VP c))"]
    >>> KernelMatrix().fit(trees).transform(trees[:1]).round(2)
    array([[1.  , 0.61, 0.25]])
    >>> pipeline = make_pipeline(KernelMatrix(), KernelRidge(kernel="precomputed"))
    >>> pipeline.fit(trees, [1.0, 2.0, 3.0]).predict(trees[1:2]).round(1)
    array([1.4])
    """

    def __init__(
        self, kernel: Kernel | None = None, *, distances: bool = False, n_jobs: int | None = None
    ) -> None:
        self.kernel = kernel
        self.distances = distances
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the training examples.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The training examples.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        KernelMatrix
            Itself.
        """
        self.check_parameters()
        kernel = SubsetTree() if self.kernel is None else clone(self.kernel)
        examples = rows_for(kernel, X)
        if n_examples(examples) == 0:
            raise InvalidParameterError("KernelMatrix: there are no examples to compare with")
        warn_without_fragments(kernel, examples)
        with at_once(self) as draft:
            draft._take(kernel, without_others(kernel, examples), feature_names_of(X))
        return self

    @by_parts
    def transform(self, X: Any) -> FloatArray:
        """Compute the kernels, or the distances, of examples and the training examples.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples of the rows.

        Returns
        -------
        ndarray of shape (len(X), number of training examples)
            Kernel values, or distances.
        """
        check_is_fitted(self)
        self.check_parameters()
        examples = rows_for(self.kernel_, X)
        check_feature_names(self._names_of_features, X)
        if n_examples(examples) == 0:
            return np.empty((0, self._n_features_out))
        kernels = np.asarray(self.kernel_(examples, self.examples_, n_jobs=self.n_jobs))
        if not self.distances:
            return kernels
        own = self.kernel_.diag(examples, n_jobs=self.n_jobs)[:, np.newaxis]
        squares = own - 2 * kernels + self.kernel_.diag(self.examples_, n_jobs=self.n_jobs)
        distances: FloatArray = np.sqrt(np.maximum(0.0, squares))
        return distances

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        n_threads(self.n_jobs)
        if not isinstance(self.distances, bool | np.bool_):
            raise InvalidParameterError(
                f"KernelMatrix: distances must be True or False, got {self.distances!r}"
            )
        if self.kernel is None:
            return
        if not isinstance(self.kernel, Kernel):
            raise InvalidParameterError(
                "KernelMatrix: kernel must be a kernel of filbert.kernels, such as SubsetTree(), "
                f"got {self.kernel!r}"
            )
        check_expression(self.kernel)

    # ---------------------------------------------------------------- for scikit-learn

    @property
    def _n_features_out(self) -> int:
        return n_examples(self.examples_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    def _take(self, kernel: Kernel, examples: Any, names: Mapping[str, Any]) -> None:
        self.kernel_ = kernel
        self.examples_ = examples
        self._names_of_features = dict(names)
