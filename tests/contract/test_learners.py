"""Every learner keeps the contract, and the contract catches those that do not."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from filbert import (
    DistributedTreeEmbedding,
    FragmentVectorizer,
    KernelMatrix,
    PatternVectorizer,
    SymbolSelector,
    TreeFeatures,
    TreeLogisticRegression,
    TreePerceptron,
    TreeRanker,
    TreeSVC,
    TreeSVCCV,
    TreeSVR,
)
from filbert.errors import FilbertError
from filbert.kernels import LocalPatterns, PartialTree, SubsetTree, Subtree
from filbert.testing import check_tree_estimator
from filbert.testing.tools import CHECKS, abilities, fresh

Array = np.ndarray[Any, Any]

LEARNERS = [
    TreeSVC(SubsetTree()),  # C="auto" depends on the order of the examples, which decides on folds
    TreeSVC(C=1.0),
    TreeSVC(SubsetTree(), C=1.0),
    TreeSVC(loss="squared_hinge", fit_intercept=False, kernel=Subtree(), C=1.0),
    TreeSVC(PartialTree(), C=1.0),
    TreeSVC(SubsetTree() + 0.5 * Subtree() + 0.1, C=1.0),
    TreeLogisticRegression(),
    TreeRanker(),
    TreeSVR(),
]
# Few settings, so that the checks are quick.
SEARCHES = [TreeSVCCV([SubsetTree(), SubsetTree(include_leaves=True)], Cs=[1.0, 10.0], cv=2)]
# What is heavy wins where examples are seen often enough.
PERCEPTRONS = [
    TreePerceptron(n_epochs=2),
    TreePerceptron(PartialTree(), n_epochs=20, shuffle=True, fit_intercept=True),
    TreePerceptron(Subtree(), engine="online", n_epochs=20, margin=0.5),
    TreePerceptron(vote=True, n_epochs=2),
    TreePerceptron(LocalPatterns(), n_epochs=20),
]
TRANSFORMERS = [
    DistributedTreeEmbedding(64),
    DistributedTreeEmbedding(50, composition="product", dtype="float64"),
    FragmentVectorizer(TreeSVC(SubsetTree(), random_state=0), min_frequency=1),
    FragmentVectorizer(kernel=PartialTree(), criterion="chi2"),
    TreeFeatures(),
    TreeFeatures(SubsetTree() + 0.5 * PartialTree(normalize=False), private=False),
    KernelMatrix(),
    PatternVectorizer(),
    SymbolSelector(n_symbols=2),
    SymbolSelector(PartialTree(), by="production", max_nodes_per_tree=3.0),
]
# No symbol can be chosen where there is no fragment.
NOT_BY_SELECTION = "training_on_single_nodes"
# The checks have fewer examples than the first one's samples, so that it comes to the optimum.
PLANES = [
    TreeSVC(SubsetTree(), C=1.0, strategy="sdag+"),
    TreeSVC(SubsetTree(), C=1.0, strategy="usvm", sample_size=10),
    TreeSVC(PartialTree(), C=1.0, strategy="sdag", sample_size=10, fit_intercept=False),
]
# Planes are found anew in each training, and norms beyond 1e150 are refused.
NOT_BY_PLANES = {"warm_start", "large_trees"}


def all_checks(estimator: Any) -> list[tuple[Any, Callable[[Any], None]]]:
    pairs = check_tree_estimator(estimator, generate_only=True)
    assert pairs is not None
    return list(pairs)


def check_name(value: Any) -> str:
    function = getattr(value, "func", None)
    return function.__name__.removeprefix("check_") if function else repr(value)


def checks_of_planes(estimator: Any) -> list[tuple[Any, Callable[[Any], None]]]:
    """Those that hold: samples depend on the order of examples, and are not the optimum."""
    names = set(NOT_BY_PLANES)
    if estimator.sample_size is not None:
        by_name = {check.run.__name__.removeprefix("check_"): check for check in CHECKS}
        exact = {"optimum", "additive"}
        names |= {name for name, check in by_name.items() if exact & set(check.needs)}
    return [pair for pair in all_checks(estimator) if check_name(pair[1]) not in names]


def contract(
    estimators: list[Any], checks: Callable[[Any], list[tuple[Any, Any]]] = all_checks
) -> pytest.MarkDecorator:
    """Run all checks on each estimator; only the first one of each class is no `product`."""
    parameters, seen = [], set()
    for one in estimators:
        marks = [pytest.mark.product] if type(one) in seen else []
        seen.add(type(one))
        parameters += [pytest.param(*pair, marks=marks) for pair in checks(one)]
    return pytest.mark.parametrize(("estimator", "check"), parameters, ids=check_name)


@pytest.mark.product
@contract(PLANES, checks_of_planes)
def test_the_contract_by_planes(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("name", sorted(NOT_BY_PLANES))
def test_what_planes_refuse_is_told(name: str) -> None:
    [(estimator, check)] = [p for p in all_checks(PLANES[0]) if check_name(p[1]) == name]
    with pytest.raises(FilbertError, match=r"(?i)use strategy='exact'"):
        check(estimator)


@contract(PERCEPTRONS)
def test_the_contract_of_perceptrons(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@contract(LEARNERS)
def test_the_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@contract(SEARCHES)
def test_the_contract_of_searches(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@contract(TRANSFORMERS)
def test_the_contract_of_transformers(estimator: Any, check: Callable[[Any], None]) -> None:
    if isinstance(estimator, SymbolSelector) and check_name(check) == NOT_BY_SELECTION:
        with pytest.raises(FilbertError, match="no node of the trees is the root of a fragment"):
            check(fresh(estimator, kernel=SubsetTree()))
    else:
        check(estimator)


def test_there_are_many_checks() -> None:
    assert len(all_checks(TreeSVC(SubsetTree()))) >= 40
    names = [check.run.__name__ for check in CHECKS]
    assert len(set(names)) == len(names)
    assert all(name.startswith("check_") for name in names)
    assert all(check.run.__doc__ for check in CHECKS)


def test_checks_follow_what_an_estimator_has() -> None:
    class Online(TreeSVC):
        def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
            return self

    names = {check_name(check) for _, check in all_checks(TreeSVC(SubsetTree(), C=1.0))}
    online = {check_name(check) for _, check in all_checks(Online(C=1.0))}
    assert "order_of_training" in names - online
    assert "partial_fit" in online - names
    assert "optimum" not in abilities(Online(C=1.0))
    assert "optimum" not in abilities(TreeSVC(C="auto"))
    assert "state" in abilities(TreeSVC(SubsetTree()))
    assert "state" not in abilities(DistributedTreeEmbedding())
    assert "file" in abilities(TreeSVC(SubsetTree()))
    assert "file" not in abilities(Online())


# ---------------------------------------------------------------- estimators that are broken


class ParameterChanger(TreeSVC):
    """Replaces a parameter in training."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.C = 1.0 if self.C == "auto" else self.C + 1
        return super().fit(X, y, sample_weight)


class WeightIgnorer(TreeSVC):
    """Takes weights and forgets them."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        return super().fit(X, y)


class SloppyThreads(TreeSVC):
    """Its last bits depend on the number of threads."""

    def decision_function(self, X: Any) -> Array:
        return super().decision_function(X) * (1 + 1e-15 * (self.n_jobs or 2))


class Rememberer(TreeSVC):
    """Goes on from what it learnt before, as if asked for a warm start."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.warm_start, wanted = True, self.warm_start
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.warm_start = wanted


class Backwards(TreeSVC):
    """Predicts the class of the smallest score."""

    def predict(self, X: Any) -> Array:
        values = self.decision_function(X)
        chosen = (values <= 0).astype(int) if values.ndim == 1 else values.argmin(axis=1)
        return np.asarray(self.classes_[chosen])


class Hasty(TreeSVC):
    """Counts as fitted before it is, and claims to be so when interrupted."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        try:
            return super().fit(X, y, sample_weight)
        except KeyboardInterrupt:
            super().set_params(verbose=0).fit(X, y, sample_weight)
            raise


class Printer(TreeSVC):
    """Prints."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        print("training")
        return super().fit(X, y, sample_weight)


class TableLover(TreeSVC):
    """Tells scikit-learn that X is a table."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class NoKernelByDefault(TreeSVC):
    """Knows the parameters of a kernel only where one is given."""

    def set_params(self, **values: Any) -> Self:
        done: Self = BaseEstimator.set_params(self, **values)
        return done

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        values: dict[str, Any] = BaseEstimator.get_params(self, deep)
        return values


class Secretive(TreeSVC):
    """Sets more than parameters at the start."""

    def __init__(self, kernel: Any = None, C: float = 1.0) -> None:
        super().__init__(kernel, C=C)
        self.cache: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("broken", "caught_by"),
    [
        (ParameterChanger, {"fit_keeps_parameters", "repeated_fit"}),
        (WeightIgnorer, {"weights_are_repetitions", "weights_of_zero", "bad_weights"}),
        (SloppyThreads, {"n_jobs"}),
        (Rememberer, {"repeated_fit"}),
        (Backwards, {"scores_agree_with_predictions", "it_learns", "cross_validation"}),
        (Hasty, {"interrupted_fit"}),
        (Printer, {"nothing_is_printed"}),
        (TableLover, {"tags"}),
        (Secretive, {"init_sets_only_parameters"}),
        (NoKernelByDefault, {"grid_search"}),
    ],
)
def test_broken_estimators_are_caught(broken: type[TreeSVC], caught_by: set[str]) -> None:
    # These checks only: to run all of them for each takes long, and one failure is enough.
    for estimator, check in all_checks(broken(C=1.0)):
        if check_name(check) in caught_by:
            caught_by = caught_by - {check_name(check)}
            with pytest.raises(AssertionError, match=broken.__name__):
                check(estimator)
    assert not caught_by, "no such checks"


def test_the_first_failure_is_raised() -> None:
    with pytest.raises(AssertionError, match=r"Secretive.__init__ should set only parameters"):
        check_tree_estimator(Secretive())
