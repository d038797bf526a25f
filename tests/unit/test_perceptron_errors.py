"""Bad input to the perceptron: a typed error that says what and where, and the model intact."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from filbert import Examples, Forest, TreePerceptron
from filbert.errors import (
    FilbertError,
    InvalidParameterError,
    KernelOverflowError,
    TooExpensiveError,
)
from filbert.kernels import RBF, Linear, PartialTree, Polynomial, Scaled, SubsetTree
from filbert.testing.tools import sentences

KERNEL = SubsetTree().on("tree") + Polynomial(2).on("features")


def examples(n: int = 20) -> tuple[Examples, Any]:
    X, y = sentences(n)
    rng = np.random.default_rng(0)
    features = sp.csr_array(rng.integers(0, 2, (n, 5)).astype(float))
    return Examples(tree=X, features=features), y


def learnt() -> TreePerceptron:
    X, y = examples()
    return TreePerceptron(KERNEL, shuffle=False).partial_fit(X, y, classes=[0, 1])


def bad_features(change: Callable[[Any], None]) -> Examples:
    X, _ = examples()
    features = X["features"].toarray()
    change(features)
    return Examples(tree=X["tree"], features=sp.csr_array(features))


def with_nan(features: Any) -> None:
    features[7, 3] = np.nan


def with_infinity(features: Any) -> None:
    features[7, 3] = np.inf


BAD_X: dict[str, tuple[Any, str]] = {
    "a part is missing": (lambda: Examples(tree=examples()[0]["tree"]), "needs a part 'features'"),
    "no parts at all": (lambda: examples()[0]["tree"], "needs Examples"),
    "features are NaN": (
        lambda: bad_features(with_nan),
        "column 3 of sample 7 of part 'features' is nan",
    ),
    "features are infinite": (
        lambda: bad_features(with_infinity),
        "column 3 of sample 7 of part 'features' is inf",
    ),
    "trees for vectors": (
        lambda: Examples(tree=examples()[0]["tree"], features=examples()[0]["tree"]),
        "needs vectors",
    ),
    "vectors of another width": (
        lambda: Examples(tree=examples()[0]["tree"], features=np.ones((20, 3))),
        "3 features, but 5 so far",
    ),
}


@pytest.mark.parametrize("case", BAD_X)
def test_a_bad_batch_leaves_the_model_intact(case: str) -> None:
    make, message = BAD_X[case]
    clf = learnt()
    X, y = examples()
    if case == "vectors of another width":
        X = Examples(tree=X["tree"], features=X["features"].toarray())
        clf = TreePerceptron(KERNEL, shuffle=False).partial_fit(X, y, classes=[0, 1])
    before = pickle.dumps(clf), clf.decision_function(X).tobytes()
    for call in (lambda: clf.partial_fit(make(), y), lambda: clf.decision_function(make())):
        with pytest.raises(FilbertError, match=message):
            call()
    assert (pickle.dumps(clf), clf.decision_function(X).tobytes()) == before
    if case == "vectors of another width":
        return  # which is no matter where learning begins anew
    with pytest.raises(FilbertError, match=message):
        clf.fit(make(), y)
    assert (pickle.dumps(clf), clf.decision_function(X).tobytes()) == before


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        ([0] * 19 + [2], None, "sample 19 has the label 2, which is none of the classes 0, 1"),
        (["0"] * 20, None, "none of the classes"),
        ([0] * 19, None, "20 examples, but y has 19"),
        ([0.5] * 20, None, r"numbers that are no classes, such as 0\.5"),
        ([0, 1] * 10, [1.0] * 19 + [np.nan], "for sample 19 it is nan"),
        ([0, 1] * 10, [1.0] * 19, "shape"),
        ([0, 1] * 10, [-1.0] * 20, "not negative"),
    ],
)
def test_bad_labels_and_weights(y: Any, weights: Any, message: str) -> None:
    clf = learnt()
    before = pickle.dumps(clf)
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(examples()[0], y, sample_weight=weights)
    assert pickle.dumps(clf) == before


def test_sparse_batches_may_have_more_features() -> None:
    clf = learnt()
    X, y = examples()
    wide = sp.csr_array(([1.0, 2.0], ([0, 3], [10**5, 4])), shape=(20, 10**5 + 1))
    clf.partial_fit(Examples(tree=X["tree"], features=wide), y)
    assert np.isfinite(clf.decision_function(X)).all()


def test_trees_out_of_range_are_told_before_learning() -> None:
    X, y = sentences(10)
    for kernel in (SubsetTree(), SubsetTree(normalize=False)):
        clf = TreePerceptron(kernel, shuffle=False).partial_fit(X, y, classes=[0, 1])
        before = pickle.dumps(clf)
        huge = [*map(str, X[:3]), "(S " + "(A (b c)) " * 3000 + ")"]
        with pytest.raises(KernelOverflowError, match=r"norm of tree 3 .*engine='factors'"):
            clf.partial_fit(huge, [0, 1, 0, 1])
        assert pickle.dumps(clf) == before


def test_wide_nodes_are_told_before_learning() -> None:
    clf = TreePerceptron(PartialTree(max_steps=100), shuffle=False)
    clf.partial_fit(["(a b c)", "(a b)"], [0, 1], classes=[0, 1])
    with pytest.raises(TooExpensiveError, match=r"labelled 'a' with 11 and 11 children"):
        clf.partial_fit(["(a b)", "(a" + " b" * 11 + ")"], [0, 1])
    assert clf.n_seen_ == 2


def test_classes_cannot_change() -> None:
    clf = learnt()
    X, y = examples()
    clf.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InvalidParameterError, match="they cannot change"):
        clf.partial_fit(X, y, classes=[0, 1, 2])
    for bad in ([0], [0, 0], [[0, 1]], 7):
        with pytest.raises(InvalidParameterError, match="classes must"):
            TreePerceptron(KERNEL, shuffle=False).partial_fit(X, y, classes=bad)


def test_the_kernel_cannot_change_in_between() -> None:
    X, y = sentences(10)
    clf = TreePerceptron(SubsetTree(), shuffle=False).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InvalidParameterError, match="use fit to start again"):
        clf.set_params(kernel__decay=0.5).partial_fit(X, y)
    with pytest.raises(InvalidParameterError, match="use fit to start again"):
        clf.set_params(kernel__decay=0.4, fit_intercept=True).partial_fit(X, y)
    assert clf.set_params(fit_intercept=False).partial_fit(X, y).n_seen_ == 20


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": SubsetTree}, "a kernel of filbert.kernels"),
        ({"kernel": "stk"}, "a kernel of filbert.kernels"),
        ({"kernel": SubsetTree() * Linear()}, "normalised; .* is not one. Use TreeSVC"),
        ({"kernel": SubsetTree() ** 2}, "normalised; .* is not one. Use TreeSVC"),
        ({"kernel": SubsetTree(decay=2)}, "decay must be in"),
        ({"kernel": Scaled(-1, SubsetTree())}, "factor must be"),
        ({"kernel": RBF(-1)}, "gamma must be"),
        ({"n_epochs": 0}, "n_epochs must be a positive integer"),
        ({"n_epochs": None}, "n_epochs must be a positive integer"),
        ({"margin": -0.1}, "margin must be"),
        ({"margin": np.nan}, "margin must be"),
        ({"average": "yes"}, "average must be True or False"),
        ({"vote": 1}, "vote must be True or False"),
        ({"forget": "all"}, "forget must be 'oldest' or 'lightest'"),
        ({"engine": "rows"}, "engine must be 'auto', 'online' or 'factors'"),
        ({"max_nodes": 0}, "max_nodes must be a positive integer"),
        ({"max_nodes": 5, "kernel": Linear()}, "max_nodes is a number of tree nodes"),
        ({"max_nodes": 5, "engine": "factors"}, "max_nodes"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = sentences(10)
    with pytest.raises(InvalidParameterError, match=message):
        TreePerceptron(**parameters).fit(X, y)
    with pytest.raises(InvalidParameterError, match=message):
        TreePerceptron(**parameters).partial_fit(X, y, classes=[0, 1])


def test_balanced_classes_need_all_examples() -> None:
    X, y = sentences(10)
    with pytest.raises(InvalidParameterError, match="Use fit"):
        TreePerceptron(class_weight="balanced", shuffle=False).partial_fit(X, y, classes=[0, 1])


def test_nothing_is_no_batch() -> None:
    with pytest.raises(InvalidParameterError, match="no examples"):
        TreePerceptron(shuffle=False).partial_fit(Forest(), [], classes=[0, 1])
