"""Vectors of trees over the most relevant fragments (Pighin & Moschitti 2010)."""

from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from filbert.corpus.parts import Parts
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.forest import Forest
from filbert.fragments import (
    Criterion,
    Fragments,
    MinedFragments,
    RecurringFragments,
    Search,
    check_rules,
    mine,
)
from filbert.kernels import SubsetTree, TreeKernel
from filbert.kernels.capabilities import capabilities_of
from filbert.kernels.inputs import rows_for, warn_without_fragments
from filbert.learners.at_once import at_once
from filbert.learners.dual_classifier import DualClassifier
from filbert.learners.kernel_parameter import KernelParameter
from filbert.learners.perceptron import TreePerceptron
from filbert.learners.perceptron_model import PerceptronModel
from filbert.learners.targets import checked_classes, signs_of
from filbert.model import SupportVectorModel


class FragmentVectorizer(KernelParameter, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn trees into sparse vectors over the fragments with the largest weights in a model.

    Or over `fragments` that are given.

    The paper has two linear models. *LIN* uses the model's weights:
    ``transform(X) @ coef_.T + intercept_``. *OPT* learns new weights in the space of these
    fragments: ``make_pipeline(FragmentVectorizer(TreeSVC(...)), LinearSVC())``.

    Parameters
    ----------
    estimator : TreeSVC, TreeLogisticRegression or TreePerceptron, optional
        An estimator with SubsetTree, Subtree or PartialTree as its kernel. If it is fitted, it is
        used unchanged, otherwise a clone is fitted first, with SubsetTree() if it names no kernel.
        (A clone of this transformer, as in a parameter search, has an estimator that is not
        fitted.) If None, fragments are mined without
        a model: all trees have the coefficient 1, so frequent fragments are relevant. With
        chi-square, the trees of a class are compared with the others.
    kernel : SubsetTree, Subtree or PartialTree, optional
        Defines the fragments if there is no estimator. SubsetTree() by default.
    fragments : Fragments or RecurringFragments, optional
        Count these fragments, such as those of :func:`filbert.fragments.recurring_fragments`,
        instead of mining some. :meth:`fit` then learns nothing, and an estimator, a kernel and the
        parameters of mining have no place.
    max_ratio, n_fragments, norm_share, criterion, min_frequency, search, max_fragments
        They apply to each class; see :func:`filbert.fragments.mine`.
    weighted : bool
        Return vectors in the space of the kernel, :math:`t \lambda^{s/2} / \|x\|` (Eq. 5), instead
        of plain counts.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    fragments_ : Fragments
        The fragments found for any class. They are the columns that `transform` returns.
    mined_ : list of MinedFragments
        The fragments of each decision function. There is one function for two classes, and none if
        `fragments` are given.
    estimator_ : TreeSVC, TreeLogisticRegression, TreePerceptron or None
        The fitted estimator.
    classes_ : ndarray
        The classes of the estimator, or of `y` if it is used.
    coef_ : ndarray of shape (n_problems, n_fragments)
        The weights of the model; 0 for a fragment that was found only for other classes. Without an
        estimator, `coef_` and `intercept_` do not exist.
    intercept_ : ndarray of shape (n_problems,)

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> from filbert.kernels import SubsetTree
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> y = ["statement", "statement", "question", "question"]
    >>> svm = TreeSVC(SubsetTree(), C=1.0, loss="hinge", random_state=0)
    >>> vectorizer = FragmentVectorizer(svm, min_frequency=2).fit(X, y)
    >>> vectorizer.get_feature_names_out()[:2].tolist()
    ['(Q (VP …) (NP …))', '(S (NP …) (VP …))']

    All fragments that recur in the training trees, without labels:

    >>> from filbert.fragments import recurring_fragments
    >>> FragmentVectorizer(fragments=recurring_fragments(X), weighted=False).fit_transform(X).shape
    (4, 5)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        kernel: TreeKernel | None = None,
        fragments: Fragments | RecurringFragments | None = None,
        max_ratio: float = 50.0,
        n_fragments: int | None = None,
        norm_share: float | None = None,
        criterion: Criterion = "gradient",
        min_frequency: int = 3,
        search: Search = "greedy",
        max_fragments: int = 1_000_000,
        weighted: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.kernel = kernel
        self.fragments = fragments
        self.max_ratio = max_ratio
        self.n_fragments = n_fragments
        self.norm_share = norm_share
        self.criterion = criterion
        self.min_frequency = min_frequency
        self.search = search
        self.max_fragments = max_fragments
        self.weighted = weighted
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Find the most relevant fragments for the trees `X` of the classes `y`.

        If X is a corpus in parts (:func:`filbert.parts`), which may have its own labels, the
        estimator is fitted on it. Its support vectors are then mined in one piece.

        Parameters
        ----------
        X : Forest, Examples, sequence of trees or bracket strings, or Parts
            The training trees.
        y : array-like, optional
            Their classes. They are needed if an estimator has to be fitted, and for chi-square.

        Returns
        -------
        FragmentVectorizer
            Itself.
        """
        self.check_parameters()
        if self.fragments is not None:
            with at_once(self) as draft:
                draft._take(None, None, [], fragments_of(self.fragments))
            return self
        model, learner, classes = self._model(X, y)
        mined = [
            mine(model, problem=problem, n_jobs=self.n_jobs, **self._rules())
            for problem in range(len(model.coef))
        ]
        fragments, columns = _union([found.fragments for found in mined])
        # A node that is open for one class is open for all.
        mined = [
            replace(found, fragments=fragments[places])
            for found, places in zip(mined, columns, strict=True)
        ]
        with at_once(self) as draft:
            draft._take(learner, classes, mined, fragments)
            if learner is not None:
                draft.coef_ = np.zeros((len(mined), len(fragments)))
                for own, found, places in zip(draft.coef_, mined, columns, strict=True):
                    own[places] = found.weight
                draft.intercept_ = model.intercept.copy()
        return self

    def columns(self) -> list[NDArray[np.intp]]:
        """Return the columns of the fragments of each decision function.

        Returns
        -------
        list of ndarray of int
            One array for each decision function.
        """
        check_is_fitted(self)
        known = self.fragments_.trees
        place = {root: i for i, root in enumerate(known._roots.tolist())}
        roots = [
            found.fragments.trees._dag.find_in(found.fragments.trees._roots, known._dag)
            for found in self.mined_
        ]
        return [np.array([place[root] for root in own.tolist()], dtype=np.intp) for own in roots]

    def transform(self, X: Any) -> sp.csr_array:
        """Return one row per tree: shape (len(X), n_fragments).

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The trees to describe.

        Returns
        -------
        csr_array of shape (len(X), n_fragments)
            Counts, or weighted features.
        """
        check_is_fitted(self)
        rows = self.fragments_.features if self.weighted else self.fragments_.count
        if isinstance(X, Parts):
            return cast(sp.csr_array, X.gather(partial(rows, n_jobs=self.n_jobs)))
        return rows(X, n_jobs=self.n_jobs)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the fragments as bracket strings, with open nodes as ``(NP …)``.

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
        return np.array(self.fragments_.texts(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.target_tags.required = self.fragments is None and (
            self.estimator is not None or self.criterion == "chi2"
        )
        return tags

    # ---------------------------------------------------------------- fitting

    def _rules(self) -> dict[str, Any]:
        names = ("max_ratio", "n_fragments", "norm_share", "criterion", "min_frequency")
        return {name: getattr(self, name) for name in (*names, "search", "max_fragments")}

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        check_rules(**self._rules())
        if not isinstance(self.weighted, bool | np.bool_):
            raise InvalidParameterError(f"weighted must be True or False, got {self.weighted!r}")
        if self.fragments is not None:
            fragments_of(self.fragments)
            if self.estimator is not None or self.kernel is not None:
                raise InvalidParameterError(
                    "fragments are counted as they are, by the kernel that they have: leave out "
                    "estimator and kernel"
                )
        learner = self.estimator
        if not (learner is None or isinstance(learner, DualClassifier | TreePerceptron)):
            raise InputTypeError(
                "estimator must be a TreeSVC, a TreeLogisticRegression or a TreePerceptron, got "
                f"{type(learner).__name__}"
            )
        if self.kernel is not None and not capabilities_of(self.kernel).tree_in_core:
            raise InputTypeError(
                f"kernel must be SubsetTree, Subtree or PartialTree, got {self.kernel!r}"
            )
        if self.kernel is not None and self.estimator is not None:
            raise InvalidParameterError(
                "kernel is for mining without an estimator, which has its own kernel: "
                "leave one of them out"
            )

    def _model(self, X: Any, y: ArrayLike | None) -> tuple[SupportVectorModel, Any, Any]:
        """Return the model to mine, the fitted estimator, and the classes."""
        if self.estimator is not None:
            learner = self.estimator
            if not hasattr(learner, "model_"):
                if y is None and not isinstance(X, Parts):
                    raise InvalidParameterError("y is needed: the estimator is not fitted yet")
                learner = clone(learner)
                if learner.kernel is None:  # the default kernel may have no fragments to mine
                    learner.set_params(kernel=SubsetTree())
                learner.fit(X, y)
            return support_vector_model(learner), learner, learner.classes_
        if isinstance(X, Parts):
            raise InputTypeError(
                "FragmentVectorizer: mining without an estimator needs all trees in one piece: "
                "pass an estimator, such as TreeSVC(SubsetTree()), for a corpus in parts"
            )
        kernel = SubsetTree() if self.kernel is None else clone(self.kernel)
        trees = rows_for(kernel, X)
        if len(trees) == 0:
            raise InvalidParameterError("FragmentVectorizer: there are no trees to learn from")
        warn_without_fragments(kernel, trees, stacklevel=4)
        if self.criterion == "gradient":
            coef, classes = np.ones((1, len(trees))), None
        elif y is None:
            raise InvalidParameterError("criterion='chi2' compares classes, so y is needed")
        else:
            classes, coded = checked_classes(y, len(trees), "FragmentVectorizer")
            coef = signs_of(coded, len(classes)).astype(np.float64)
        return SupportVectorModel(kernel, trees, coef, np.zeros(len(coef))), None, classes

    def _take(
        self, learner: Any, classes: Any, mined: list[MinedFragments], fragments: Fragments
    ) -> None:
        for name in ("classes_", "coef_", "intercept_"):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        self.estimator_ = learner
        self.mined_ = mined
        self.fragments_ = fragments
        if classes is not None:
            self.classes_ = classes


def fragments_of(given: Any) -> Fragments:
    """Return the fragments of a list of them with counts, or the fragments themselves."""
    found = given.fragments if isinstance(given, RecurringFragments) else given
    if not isinstance(found, Fragments):
        raise InputTypeError(
            "fragments must be Fragments, or what recurring_fragments returns, got "
            f"{type(given).__name__}"
        )
    return found


def support_vector_model(learner: Any) -> SupportVectorModel:
    """Return the weighted support vectors of a fitted learner on trees."""
    model = learner.model_
    if isinstance(model, PerceptronModel) and model.kernel.capabilities.tree_in_core:
        if learner.vote:
            raise InvalidParameterError(
                "a perceptron that votes has many weight vectors, not one: use vote=False"
            )
        model = model.scorer(averaged=bool(learner.average))
    if not isinstance(model, SupportVectorModel) or not model.is_of_trees:
        raise InputTypeError(
            f"fragments need one tree kernel, but {type(learner).__name__} was trained "
            f"with {model.kernel!r}: use SubsetTree, Subtree or PartialTree alone"
        )
    return model


def _union(several: list[Fragments]) -> tuple[Fragments, list[NDArray[np.intp]]]:
    """Join lists of fragments, each once, and return the positions of each list's fragments."""
    together = Forest.concat([fragments.trees for fragments in several])
    everything = Fragments(
        several[0].kernel, together, np.concatenate([fragments.open for fragments in several])
    )
    _, first, number = np.unique(together._roots, return_index=True, return_inverse=True)
    open = everything.open_by_fragment()
    for i, known in enumerate(first[number].tolist()):  # open in one, open in all
        open[known] |= open[i]
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    ends = np.cumsum([len(fragments) for fragments in several])
    return everything[first[order]], np.split(place[number], ends[:-1])
