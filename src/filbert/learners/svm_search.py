"""Support vector machines over tree kernels, with a search for the kernel, the loss and C."""

import sys
import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from math import inf
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from filbert.arrays import FloatArray
from filbert.corpus.parts import Parts
from filbert.errors import InputTypeError, InvalidParameterError, MissingLibraryError
from filbert.kernels import Kernel
from filbert.kernels.inputs import rows_for
from filbert.labels import checked_groups
from filbert.learners.at_once import at_once
from filbert.learners.dual_parameters import check_choice, check_cost, check_positive
from filbert.learners.search_folds import folds_of, sampled
from filbert.learners.search_kernels import default_kernels
from filbert.learners.search_race import SCORES, Race, Setting
from filbert.learners.svm import TreeSVC
from filbert.learners.targets import checked_classes
from filbert.progress import progress_bar

_SEARCH_TOL = 1e-2  # a gap that hardly changes predictions
_LOSSES = ("squared_hinge", "hinge")


class TreeSVCCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector classification with a kernel, a loss and a C that cross-validation chooses.

    All kernels see the same forest. For each kernel, all folds, losses and values of C share one
    factorisation, and each C starts from the solution for the one before it. Settings that are
    clearly worse than the best after the first folds are not tried on the others. A
    :class:`TreeSVC` with the best setting is then trained on all examples.

    The result depends only on the examples and the seed, unless `time_budget` is set. What was not
    tried is listed in `left_out_`.

    Parameters
    ----------
    kernels : sequence of Kernel, optional
        The kernels to try. By default local patterns, subset trees with and without leaves, partial
        trees and a sum of these, with several decays. The first kernel with the first loss and the
        middle C wins unless another setting is better by more than half a standard error.
    Cs : sequence of float
        The values of C to try.
    losses : sequence of {"squared_hinge", "hinge"}
        The losses to try. The first is tried with every kernel, the others with the best kernels.
    cv : int or splitter
        The number of stratified folds, or a splitter of scikit-learn. If `fit` gets groups, the
        examples of a group stay in one fold. Small classes may give fewer folds.
    scoring : {"accuracy", "balanced_accuracy", "f1_macro"}
    max_examples : int, optional
        If there are more examples, the search uses a random sample of about this size, in which
        each class has its share. The best setting is still trained on all examples. None uses all.
    max_work : float
        A kernel is left out if its values may take more than this many steps, of about a nanosecond
        each. This concerns PartialTree on large trees. The first kernel always takes part.
    time_budget : float, optional
        Seconds after which no further setting is tried. The result then depends on the speed of
        the machine. At least one kernel is tried. The time does not include the final training.
    class_weight : dict or "balanced", optional
        Factors of C by class.
    fit_intercept : bool
        Fit an intercept, see TreeSVC.
    tol : float
        The relative duality gap of the final training. The search reaches a gap of 0.01.
    max_memory : int, optional
        The maximum number of bytes for the factors or the rows of a kernel.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        Seed of the sample, the folds and the order of examples.
    verbose : int
        If positive, show progress.

    Attributes
    ----------
    best_estimator_ : TreeSVC
        Trained on all examples with the best setting.
    best_params_ : dict
        Its kernel, loss and C.
    best_score_ : float
        The mean score of the best setting over the folds. It is too high by a little, because the
        setting was chosen by it.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict of arrays
        As in scikit-learn. The score of a fold is NaN if the setting was not tried on it.
    n_splits_ : int
        The number of folds, 0 if there were too few examples to split. Then nothing is searched,
        and the first kernel, the first loss and the middle C are used.
    n_searched_ : int
        The number of examples in the search.
    left_out_ : list of dict
        Settings that were not tried on all folds for another reason than their scores: kernel,
        loss, C and the reason.
    classes_ : ndarray

    Examples
    --------
    >>> X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))"]
    >>> clf = TreeSVCCV(cv=2, random_state=0).fit(X, ["says", "says", "asks", "asks"])
    >>> clf.predict(["(Q (VP e) (NP a))"])
    array(['asks'], dtype='<U4')
    >>> sorted(clf.best_params_)
    ['C', 'kernel', 'loss']
    """

    def __init__(
        self,
        kernels: Sequence[Kernel] | None = None,
        *,
        Cs: Sequence[float] = (0.1, 1.0, 10.0, 100.0),
        losses: Sequence[str] = _LOSSES,
        cv: Any = 3,
        scoring: str = "accuracy",
        max_examples: int | None = 3000,
        max_work: float = 1e9,
        time_budget: float | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.Cs = Cs
        self.losses = losses
        self.cv = cv
        self.scoring = scoring
        self.max_examples = max_examples
        self.max_work = max_work
        self.time_budget = time_budget
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike | None = None, *, groups: ArrayLike | None = None) -> Self:
        """Search, and train the best setting on all trees.

        Parameters
        ----------
        X : Forest, Examples, or sequence of trees or bracket strings
            The training trees.
        y : array-like
            The class of each example.
        groups : array-like, optional
            The group of each example, such as its document. A group is in one fold only.

        Returns
        -------
        TreeSVCCV
            Itself.
        """
        self.check_parameters()
        if isinstance(X, Parts):
            raise InputTypeError(
                "TreeSVCCV searches on examples in one piece: read a part of the corpus with "
                "filbert.read_examples, and train TreeSVC with best_params_ on the whole corpus"
            )
        if y is None:
            raise InvalidParameterError("TreeSVCCV needs y, the class of each example")
        kernels = self._kernels()
        examples = rows_for(kernels[0], X)
        classes, coded = checked_classes(y, examples.shape[0], "TreeSVCCV")
        together = None if groups is None else checked_groups(groups, len(coded), "groups")
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        part = sampled(coded, self.max_examples, rng)
        folds = folds_of(coded[part], None if together is None else together[part], self.cv, seed)
        race = self._race(kernels, examples, classes[coded], part, folds, seed)
        best = race.best() if folds else self._without_search(race)
        svm = self._learner(kernels[best.kernel], seed).set_params(
            loss=best.loss, C=best.C, tol=self.tol, verbose=self.verbose
        )
        svm.fit(examples, classes[coded])
        with at_once(self) as draft:
            draft._keep(svm, race, best, len(part))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each tree with the best estimator.

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
        predicted: NDArray[Any] = self.best_estimator_.predict(X)
        return predicted

    def decision_function(self, X: Any) -> FloatArray:
        """Score trees with the best estimator.

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
        return self.best_estimator_.decision_function(X)

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean scores against C, a line for each kernel and loss. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        check_is_fitted(self)
        if ax is None:
            ax = _new_axes()
        lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
        scores = self.cv_results_["mean_test_score"]
        for values, score in zip(self.cv_results_["params"], scores, strict=True):
            if np.isfinite(score):
                key = repr(values["kernel"]), values["loss"]
                lines.setdefault(key, []).append((values["C"], score))
        for (kernel, loss), points in lines.items():
            ax.plot(*zip(*sorted(points), strict=True), marker="o", label=f"{kernel}, {loss}")
        ax.set_xscale("log")
        ax.set_xlabel("C")
        ax.set_ylabel(f"mean {self.scoring} over the folds")
        ax.legend(fontsize="small")
        return ax

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value.

        `fit` calls it first. Call it yourself before reading X from a large file.
        """
        _check_list("kernels", self.kernels if self.kernels is not None else [None])
        _check_list("Cs", self.Cs)
        for C in self.Cs:
            check_cost("TreeSVCCV", C)
        _check_list("losses", self.losses)
        for loss in self.losses:
            check_choice("TreeSVCCV", "losses", loss, _LOSSES)
        check_choice("TreeSVCCV", "scoring", self.scoring, tuple(SCORES))
        check_positive("TreeSVCCV", "max_examples", self.max_examples, 2**63)
        for name in ("max_work", "time_budget"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not value > 0):
                raise InvalidParameterError(f"TreeSVCCV: {name} must be positive, got {value!r}")
        _check_cv(self.cv)
        for kernel in self._kernels():
            if not isinstance(kernel, Kernel):
                raise InvalidParameterError(
                    f"TreeSVCCV: kernels must list kernels such as SubsetTree(), got {kernel!r}"
                )
            self._learner(kernel, 0).set_params(tol=self.tol).check_parameters()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ---------------------------------------------------------------- the search

    def _kernels(self) -> list[Any]:
        return default_kernels() if self.kernels is None else list(self.kernels)

    def _learner(self, kernel: Any, seed: int) -> TreeSVC:
        return TreeSVC(
            kernel,
            class_weight=self.class_weight,
            fit_intercept=self.fit_intercept,
            tol=max(self.tol, _SEARCH_TOL),
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
            random_state=seed,
        )

    def _race(
        self,
        kernels: list[Any],
        X: Any,
        y: NDArray[Any],
        part: NDArray[np.intp],
        folds: list[Any],
        seed: int,
    ) -> Race:
        if len(part) < len(y):
            X, y = X[part], y[part]
            if self.verbose > 0:
                print(f"searching on a sample of {len(part):,} examples", file=sys.stderr)
        budget = inf if self.time_budget is None else float(self.time_budget)
        with progress_bar("searching", show=self.verbose > 0) as progress:
            race = Race(
                learner=lambda kernel: self._learner(kernel, seed),
                kernels=kernels,
                losses=list(dict.fromkeys(self.losses)),
                Cs=sorted({float(C) for C in self.Cs}),
                X=X,
                y=y,
                folds=folds,
                scoring=self.scoring,
                max_work=float(self.max_work),
                deadline=time.monotonic() + budget,
                report=progress or (lambda done, total: None),
            )
            if folds:
                race.run()
        return race

    def _without_search(self, race: Race) -> Setting:
        race.left_out |= dict.fromkeys(race.settings, "there were too few examples for two folds")
        return race.reference

    def _keep(self, svm: TreeSVC, race: Race, best: Setting, n_searched: int) -> None:
        settings = race.settings
        params = [_params(race, setting) for setting in settings]
        self.best_estimator_ = svm
        self.best_index_ = settings.index(best)
        self.best_params_ = params[self.best_index_]
        self.cv_results_ = _results(race, params)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.n_splits_ = len(race.folds)
        self.n_searched_ = n_searched
        self.left_out_ = [
            {**_params(race, setting), "reason": reason}
            for setting, reason in race.left_out.items()
        ]
        self.classes_ = svm.classes_


def _params(race: Race, setting: Setting) -> dict[str, Any]:
    return {"kernel": race.kernels[setting.kernel], "loss": setting.loss, "C": setting.C}


def _results(race: Race, params: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the scores in the form of scikit-learn."""
    n = len(race.folds)
    scores = np.full((len(params), n), np.nan)
    for row, setting in zip(scores, race.settings, strict=True):
        own = race.scores.get(setting, [])
        row[: len(own)] = own
    seen = np.isfinite(scores).sum(axis=1)
    counts = np.maximum(seen, 1)
    means = np.where(seen, np.nansum(scores, axis=1) / counts, np.nan)
    squares = np.nansum((scores - means[:, None]) ** 2, axis=1) / counts
    # Those with more folds first, then by their means.
    keys = np.array([(-k, -m if k else 0.0) for k, m in zip(seen, means, strict=True)])
    order = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    ranks = np.array([1 + int((order < own).sum()) for own in order])
    results: dict[str, Any] = {"params": params}
    for name in ("kernel", "loss", "C"):
        column: Any = np.ma.array(np.empty(len(params), dtype=object), mask=False)
        column[:] = [values[name] for values in params]
        results[f"param_{name}"] = column
    results |= {f"split{k}_test_score": scores[:, k] for k in range(n)}
    return results | {
        "mean_test_score": means,
        "std_test_score": np.where(seen, np.sqrt(squares), np.nan),
        "rank_test_score": ranks.astype(np.int32),
    }


# ---------------------------------------------------------------- checks


def _check_list(name: str, values: Any) -> None:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or not list(values):
        raise InvalidParameterError(
            f"TreeSVCCV: {name} must be a list with at least one value, got {values!r}"
        )


def _check_cv(cv: Any) -> None:
    if hasattr(cv, "split"):
        return
    whole = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    if not whole or cv < 2:
        raise InvalidParameterError(
            f"TreeSVCCV: cv must be at least 2, or a splitter of scikit-learn, got {cv!r}"
        )


def _new_axes() -> Any:
    try:
        figures = import_module("matplotlib.figure")
    except ImportError:
        raise MissingLibraryError("TreeSVCCV.plot", "matplotlib", "bench") from None
    return figures.Figure(layout="constrained").subplots()
