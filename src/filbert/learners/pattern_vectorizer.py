"""Vectors of trees over their local patterns."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from filbert.corpus.methods import by_parts
from filbert.engine.pattern_space import PatternSpace
from filbert.errors import InvalidParameterError
from filbert.kernels import LocalPatterns
from filbert.kernels.capabilities import capabilities_of
from filbert.learners.at_once import at_once
from filbert.threads import n_threads


class PatternVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn trees into sparse vectors over the local patterns of the training trees.

    The entry of a tree and a pattern is :math:`\lambda^{s/2} f(n) / \|x\|`, see
    :class:`~filbert.kernels.LocalPatterns`. With ``A = fit_transform(X)``, ``A @ A.T`` is
    ``kernel(X)``. With ``B = transform(Y)``, ``B @ A.T`` is ``kernel(Y, X)``: patterns that no
    training tree has are in no column, but they count in the norms.

    Parameters
    ----------
    kernel : LocalPatterns, optional
        The patterns and their values. LocalPatterns() by default.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.
    verbose : int
        If positive, show progress.

    Attributes
    ----------
    space_ : PatternSpace
        The patterns of the training trees.
    n_features_ : int
        Their number: the number of columns.

    Examples
    --------
    >>> vectorizer = PatternVectorizer(LocalPatterns(damping="none", normalize=False))
    >>> vectorizer.fit_transform(["(NP D N)"]).toarray()
    array([[1., 1., 1., 1., 1., 1., 1., 1., 1.]])
    >>> vectorizer.get_feature_names_out().tolist()  # doctest: +NORMALIZE_WHITESPACE
    ['D', 'N', 'NP', 'NP > D', 'NP > N', '(NP D N)', '(NP ^ D …)', '(NP … D N …)', '(NP … N $)']
    >>> vectorizer.transform(["(NP D A N)"]).toarray()
    array([[1., 1., 1., 1., 1., 0., 1., 0., 1.]])
    """

    def __init__(
        self,
        kernel: LocalPatterns | None = None,
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the patterns of training trees.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The training trees.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        PatternVectorizer
            Itself.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_array:
        """Find the patterns of training trees and return their vectors.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The training trees.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        csr_array of shape (len(X), n_patterns)
            One row for each tree.
        """
        self.check_parameters()
        kernel = LocalPatterns() if self.kernel is None else clone(self.kernel)
        trees = kernel.trees_of(X)
        if len(trees) == 0:
            raise InvalidParameterError("PatternVectorizer: there are no trees to learn from")
        space, rows = PatternSpace.of(kernel, trees, n_jobs=self.n_jobs, verbose=self.verbose)
        with at_once(self) as draft:
            draft._take(space)
        return rows

    @by_parts
    def transform(self, X: Any) -> sp.csr_array:
        """Return one row for each tree, with a column for each pattern.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The trees to describe.

        Returns
        -------
        csr_array of shape (len(X), n_patterns)
            One row for each tree.
        """
        check_is_fitted(self)
        trees = self.space_.kernel.trees_of(X)
        return self.space_.rows(trees, n_jobs=self.n_jobs, verbose=self.verbose)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the patterns as text.

        ==================  ========================================================
        ``NP``              a label
        ``S > NP > D``      a path
        ``(S NP VP)``       a production
        ``(S (NP D) VP)``   a cut subtree
        ``(S … NP VP …)``   siblings; ``^`` and ``$`` are the ends of the row
        ``(… she ran)``     adjacent leaves
        ==================  ========================================================

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
        return np.array(self.space_.names(), dtype=object)

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        n_threads(self.n_jobs)
        if self.kernel is None:
            return
        if not capabilities_of(self.kernel).explicit:
            raise InvalidParameterError(
                f"PatternVectorizer: kernel must be LocalPatterns(), got {self.kernel!r}"
            )
        self.kernel._check()

    # ---------------------------------------------------------------- for scikit-learn

    @property
    def _n_features_out(self) -> int:
        return self.n_features_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    def _take(self, space: PatternSpace) -> None:
        self.space_ = space
        self.n_features_ = len(space.patterns)
