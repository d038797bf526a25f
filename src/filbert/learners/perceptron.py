"""The kernel perceptron, online and on in-memory data."""

import os
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.corpus.checkpoints import Checkpoint
from filbert.corpus.methods import ScoresParts
from filbert.corpus.parts import Parts
from filbert.errors import InvalidParameterError
from filbert.examples import check_feature_names, feature_names_of
from filbert.kernels import Kernel, SubsetTree
from filbert.kernels.algebra import n_examples
from filbert.kernels.inputs import rows_for, warn_without_fragments
from filbert.learners.exclusive import Learning
from filbert.learners.fit_checkpoints import fit_checkpoint
from filbert.learners.kernel_parameter import KernelParameter
from filbert.learners.perceptron_classifier import PerceptronClassifier
from filbert.learners.perceptron_in_memory import InMemory
from filbert.learners.perceptron_model import PerceptronModel, Targets
from filbert.learners.perceptron_online import (
    check_room_for,
    learn_batch,
    learning_bar,
    no_support,
)
from filbert.learners.perceptron_over_parts import (
    PartsOfStream,
    check_suits_parts,
    filled_parts,
)
from filbert.learners.perceptron_parameters import check_parameters
from filbert.learners.targets import (
    checked_weights,
    class_factors,
    classes_given,
    coded_labels,
    shown,
    signs_of,
)


class TreePerceptron(KernelParameter, ScoresParts, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""The perceptron with kernels of trees and of vectors (Aiolli et al. 2007).

    The perceptron visits examples one by one. With labels :math:`y_t = \pm 1`, the weights change

    .. math:: w \leftarrow w + y_t c_t \phi(x_t) \quad\text{if}\quad
              y_t \, w \cdot \phi(x_t) \le \text{margin}

    where :math:`c_t` is the example's weight. A score of 0 is an error. More than two classes are
    learnt one against the rest. A score counts as equal to the margin if it differs from it by less
    than :math:`10^{-12}` of the largest possible score, which is rounding.

    There are two engines, with the same result up to rounding. *Online*, the model is a weighted
    DAG of the support vectors' trees and lists of the vectors' features. It grows with each support
    vector, and `partial_fit` accepts batches of any size. With *factors*, `fit` visits in-memory
    data in the space of the fragments that trees share, which is much faster.

    One thread may learn while others predict, explain, save or copy. They see the model between two
    examples.

    Parameters
    ----------
    kernel : Kernel, optional
        SubsetTree() by default. A kernel of trees (Subtree, SubsetTree, PartialTree) or of vectors
        (Linear, Polynomial, RBF), or a sum of such kernels, which may be scaled and normalised.
    n_epochs : int
        How often `fit` visits all examples.
    margin : float
        Also learn from examples within this margin.
    average : bool
        Predict with the average of the weights after each example, instead of the last weights. It
        does not change what is learnt and may be set after training.
    vote : bool
        Predict by votes of all these weights instead of their average (Freund & Schapire 1999).
        This needs kernels with all support vectors. Decision values are then means of -1, 0 and +1.
        It may also be set after training.
    fit_intercept : bool
        Fit an intercept, the weight of a constant feature of 1. False by default, unlike in
        TreeSVC, because the paper's perceptron has none. If kernels are normalised, the constant
        weighs as much as all fragments of a tree together.
    shuffle : bool, optional
        Visit the examples in a new random order in each epoch of `fit`. With None, the default,
        `fit` shuffles in-memory examples and takes a corpus in parts in its order. `partial_fit`
        never shuffles.
    class_weight : dict or "balanced", optional
        Factors of the examples' weights by class; "balanced" needs `fit`.
    max_nodes : int, optional
        The maximum number of distinct nodes in the model. If it is exceeded, support vectors are
        removed until the model has at most nine tenths of this number.
    forget : {"oldest", "lightest"}
        Remove the oldest support vectors first, or those with the smallest coefficients.
    engine : {"auto", "online", "factors"}
        How `fit` computes. "auto" uses factors if they exist and save work.
    kernel_tol : float
        The largest error of kernels in the factors of PartialTree, relative to the kernel of a tree
        with itself. Larger values save time. With 0 the factors are exact.
    n_jobs : int, optional
        Threads; None for all cores, within what joblib grants (see :mod:`filbert.threads`). The
        result does not depend on it.
    random_state : int, RandomState or None
        The order of examples under `shuffle`, the same in each call by default, as in
        scikit-learn's Perceptron.
    verbose : int
        If positive, show progress with the share of wrong predictions so far.

    Attributes
    ----------
    classes_ : ndarray
    model_ : PerceptronModel
        The support vectors and the log of updates.
    n_seen_ : int
        The number of examples visited, counted again in each epoch. Examples of weight 0 are
        skipped.
    n_updates_ : int
        How often weights changed, summed over the problems.
    n_errors_ : int
        The number of wrong predictions, each made before learning from the example.
    error_history_ : ndarray of int
        The number of wrong predictions in each block of 1,000 examples.
    n_support_vectors_ : int
    dual_coef_ : ndarray of shape (n_problems, n_support_vectors)
        The coefficients of the average, or of the last weights if `average` is False.
    n_nodes_ : int
        The number of distinct nodes of the support vectors' trees, which are the nodes of the DAG,
        summed over the terms of trees.
    n_tree_nodes_ : int
        The number of nodes of these trees, counted with repetition.
    n_forgotten_ : int
        The number of support vectors removed.
    engine_ : {"factors", "online"}
        How `fit` computed; "online" after `partial_fit`.
    engine_reason_ : str
        The reason for this engine.
    kernel_error_ : float
        The largest error of a kernel in `fit`, 0 if kernels were exact.

    Examples
    --------
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> y = ["statement", "statement", "question", "question"]
    >>> clf = TreePerceptron().partial_fit(X[:2], y[:2], classes=["question", "statement"])
    >>> clf.partial_fit(X[2:], y[2:]).predict(["(Q (VP e) (NP a))"])
    array(['question'], dtype='<U9')
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_epochs: int = 1,
        margin: float = 0.0,
        average: bool = True,
        vote: bool = False,
        fit_intercept: bool = False,
        shuffle: bool | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        max_nodes: int | None = None,
        forget: Literal["oldest", "lightest"] = "oldest",
        engine: Literal["auto", "online", "factors"] = "auto",
        kernel_tol: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_epochs = n_epochs
        self.margin = margin
        self.average = average
        self.vote = vote
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.max_nodes = max_nodes
        self.forget = forget
        self.engine = engine
        self.kernel_tol = kernel_tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ---------------------------------------------------------------- learning

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from examples, starting again from nothing, in `n_epochs` epochs.

        After Ctrl-C the model is that of the examples so far, and `partial_fit` can continue it.

        A corpus in parts (:func:`filbert.parts`), which may have its own labels, is visited part by
        part in each epoch. If its examples are in order, the result is that of one piece.

        Parameters
        ----------
        X, y : examples and array-like of labels, or a corpus in parts
            Examples and their labels, or a corpus in parts.
        sample_weight : array of floats, optional
            How much each example changes the model. An example with the weight 0 is skipped.
        checkpoint : path, optional
            For examples in one piece: a folder that keeps the model every half minute. After an
            interruption, the same call continues from there, and gives the same model to the last
            bit.

        Returns
        -------
        TreePerceptron
            Itself.
        """
        with Learning(self):
            if isinstance(X, Parts):
                if checkpoint is not None:
                    raise InvalidParameterError(
                        "TreePerceptron: checkpoint is for examples in one piece: read them with "
                        "filbert.read_examples"
                    )
                return self._fit_parts(X, y, sample_weight)
            if y is None:
                raise InvalidParameterError("TreePerceptron needs y, the class of each example")
            if checkpoint is None:
                return self._fit(X, y, sample_weight)
            self.check_parameters()
            kernel = self._new_kernel()
            X = rows_for(kernel, X)
            given = {"y": y, "sample_weight": sample_weight}
            with fit_checkpoint(self, checkpoint, kernel, X, **given) as kept:
                return self._fit(X, y, sample_weight, kept)

    def _fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        kept: Checkpoint | None = None,
    ) -> Self:
        self.check_parameters()
        kernel = self._new_kernel()
        X = rows_for(kernel, X)
        memory = InMemory(self, kernel, X, y, sample_weight)
        warn_without_fragments(kernel, X, stacklevel=4)
        interrupted = memory.learn(kept)
        if memory.model.n_seen > 0:
            self._take(memory.model, memory.engine, memory.reason, memory.kernel_error)
            self._names_of_features = feature_names_of(X)
        if interrupted:
            raise KeyboardInterrupt
        return self

    def _fit_parts(
        self, corpus: Parts, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Self:
        self.check_parameters()
        check_suits_parts(self)
        stream = PartsOfStream(self, self._new_kernel(), corpus, y, sample_weight)
        interrupted = stream.learn()
        if stream.model.n_seen > 0:
            self._take(stream.model, "online", "a corpus in parts is learnt online", 0.0)
            self._names_of_features = stream.feature_names
        if interrupted:
            raise KeyboardInterrupt
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue to learn from a batch of examples, in their order.

        The whole batch is checked before learning begins, so an error leaves the model unchanged.
        After Ctrl-C the model is that of the examples so far.

        Other threads may predict, save or copy meanwhile. They see the model between two examples.
        Only one thread may learn; a second thread gets a ConcurrentLearningError.

        Parameters
        ----------
        X, y : examples and array-like of labels, or a corpus in parts
            Examples and their labels. The parts of a corpus (:func:`filbert.parts`), which may have
            its own labels, are one batch each.
        classes : list of labels
            All classes that will ever occur. The first call needs them.
        sample_weight : array of floats, optional
            How much each example changes the model. An example with the weight 0 is skipped.

        Returns
        -------
        TreePerceptron
            Itself.
        """
        with Learning(self):
            if isinstance(X, Parts):
                return self._partial_fit_parts(X, y, classes, sample_weight)
            if y is None:
                raise InvalidParameterError("TreePerceptron needs y, the class of each example")
            return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit_parts(
        self,
        corpus: Parts,
        y: ArrayLike | None,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Self:
        labels = corpus.split(corpus.labels() if y is None else y, "y")
        weights = corpus.split(checked_weights(sample_weight, len(corpus)), "sample_weight")
        for part, rows in filled_parts(corpus):
            self._partial_fit(rows.X, labels[part], classes, weights[part])
        return self

    def _partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Self:
        self.check_parameters()
        if self.class_weight == "balanced":
            raise InvalidParameterError(
                "TreePerceptron: class_weight='balanced' needs all examples. Use fit, or weights "
                "by class."
            )
        known = self._known_classes(classes)
        kernel = self._new_kernel()
        X = rows_for(kernel, X)
        check_feature_names(getattr(self, "_names_of_features", {}), X)
        n = n_examples(X)
        coded = coded_labels(y, n, known)
        weights = checked_weights(sample_weight, n)
        weights = weights * class_factors(self.class_weight, known, coded)
        targets = Targets(signs_of(coded, len(known)), weights, float(self.margin))
        check_room_for(self, kernel, X, len(known))
        model = getattr(self, "model_", None)
        if model is None:
            model = PerceptronModel(kernel, known, intercept=bool(self.fit_intercept))
        batch = model.batch(X, self.n_jobs)
        order = np.arange(n, dtype=np.uint32)
        try:
            with learning_bar("learning", n, show=self.verbose > 0) as tell:
                learn_batch(self, model, batch, targets, order, no_support(n), tell)
        finally:
            error = getattr(self, "kernel_error_", 0.0)
            self._take(model, "online", "partial_fit learns online", error)
            self._names_of_features = feature_names_of(X)
        return self

    def _known_classes(self, classes: ArrayLike | None) -> NDArray[Any]:
        given = None if classes is None else classes_given(classes, "TreePerceptron")
        if not hasattr(self, "classes_"):
            if given is None:
                raise InvalidParameterError(
                    "the first call of partial_fit needs classes=[...], all that will occur"
                )
            return given
        if given is not None and not np.array_equal(given, self.classes_):
            raise InvalidParameterError(
                f"classes are {shown(given)}, but they were {shown(self.classes_)} so far: they "
                "cannot change"
            )
        if self._new_kernel() != self.model_.kernel or self.fit_intercept != self.model_.intercept:
            raise InvalidParameterError(
                f"the model was learnt with {self.model_.kernel!r} and "
                f"fit_intercept={self.model_.intercept}, which have been changed: use fit to start "
                "again"
            )
        known: NDArray[Any] = self.classes_
        return known

    def _new_kernel(self) -> Kernel:
        return SubsetTree() if self.kernel is None else clone(self.kernel)

    def _take(self, model: PerceptronModel, engine: str, reason: str, kernel_error: float) -> None:
        figures = {f"{name}_": value for name, value in model.figures().items()}
        learnt = {"classes_": model.classes, "engine_": engine, "engine_reason_": reason}
        learnt["kernel_error_"] = kernel_error
        self.__dict__.update({**figures, **learnt, "model_": model})  # in one step for readers

    # ---------------------------------------------------------------- predicting

    def decision_function(self, X: Any) -> FloatArray:
        """Score examples.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples to predict.

        Returns
        -------
        ndarray of shape (len(X),), or (len(X), n_classes) for more than two classes
            The scores of the second class, or of each class.
        """
        check_is_fitted(self)
        return self._classifier().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each example.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The examples to predict.

        Returns
        -------
        ndarray of shape (len(X),)
            Labels from `classes_`.
        """
        check_is_fitted(self)
        return self._classifier().predict(X)

    def _classifier(self) -> PerceptronClassifier:
        return PerceptronClassifier(
            self.model_,
            self.engine_,
            bool(self.average),
            bool(self.vote),
            self.n_jobs,
            getattr(self, "_names_of_features", {}),
        )

    def at_this_time(self) -> Self:
        """Return a copy of the model so far. Later learning does not change it.

        Returns
        -------
        TreePerceptron
            The copy.
        """
        check_is_fitted(self)
        now = copy(self)
        model = self.model_.at_this_time()
        now._take(model, self.engine_, self.engine_reason_, self.kernel_error_)
        return now

    @property
    def dual_coef_(self) -> FloatArray:
        """The coefficients of the support vectors: shape (n_problems, n_support_vectors).

        They are those of the average, or of the last weights if `average` is False.
        """
        check_is_fitted(self)
        model: PerceptronModel = self.model_
        support, log = model.plain()
        return log.coef(model.n_problems, n_examples(support), averaged=bool(self.average))

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` and `partial_fit` call it first.
        """
        check_parameters(self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
