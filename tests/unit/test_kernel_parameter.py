"""The parameters of the default kernel can be set as if it had been given."""

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from filbert import FragmentVectorizer, SymbolSelector, TreePerceptron, TreeSVC
from filbert.errors import InvalidParameterError
from filbert.kernels import LocalPatterns, PartialTree, SubsetTree
from filbert.testing.tools import sentences

LEARNERS = [TreeSVC(), TreePerceptron(), SymbolSelector(), FragmentVectorizer()]
X, Y = sentences(40, 3)


def default_of(learner: Any) -> Any:
    return LocalPatterns(decay=0.7, leaves=3) if isinstance(learner, TreeSVC) else SubsetTree()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_default_kernel_has_parameters(learner: Any) -> None:
    default = default_of(learner)
    assert learner.get_params()["kernel__decay"] == default.decay
    new = clone(learner).set_params(kernel__decay=0.1)
    assert new.kernel == default.with_params(decay=0.1)
    assert clone(new).kernel == default.with_params(decay=0.1)
    changed = new.set_params(kernel__normalize=False).kernel
    assert changed == default.with_params(decay=0.1, normalize=False)
    assert learner.kernel is None, "others are not changed"
    assert type(learner)().get_params()["kernel__decay"] == default.decay


def test_cutting_planes_have_another_default() -> None:
    """They need a kernel that is a sum over nodes, and the hinge loss."""
    planes = TreeSVC(strategy="sdag", random_state=0).fit(X, Y == 0)
    named = TreeSVC(SubsetTree(), strategy="sdag", loss="hinge", random_state=0).fit(X, Y == 0)
    assert (planes.decision_function(X) == named.decision_function(X)).all()


def test_the_default_is_local_patterns_and_the_squared_hinge() -> None:
    named = TreeSVC(
        LocalPatterns(decay=0.7, leaves=3), C=10.0, loss="squared_hinge", random_state=0
    )
    default = TreeSVC(random_state=0)
    assert (default.fit(X, Y).decision_function(X) == named.fit(X, Y).decision_function(X)).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_kernel_that_is_given_counts(learner: Any) -> None:
    new = clone(learner).set_params(kernel=PartialTree(), kernel__depth_decay=0.3)
    assert new.kernel == PartialTree(depth_decay=0.3)
    assert new.set_params(**new.get_params()).kernel == PartialTree(depth_decay=0.3)
    same = clone(learner).set_params(**learner.get_params()).kernel
    assert same in (None, default_of(learner))
    assert new.set_params(kernel=None).kernel is None


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_wrong_name_is_told(learner: Any) -> None:
    with pytest.raises(ValueError, match="'no_such'"):
        clone(learner).set_params(kernel__no_such=1)


@pytest.mark.parametrize("learner", LEARNERS[:2], ids=repr)
def test_searches_vary_the_default_kernel(learner: Any) -> None:
    search = GridSearchCV(learner, {"kernel__decay": [0.1, 0.9]}, cv=2, error_score="raise")
    search.fit(X, Y)
    assert search.best_estimator_.kernel.decay == search.best_params_["kernel__decay"]
    assert learner.kernel is None


def test_kernels_have_parameters_as_estimators_do() -> None:
    kernel: Any = SubsetTree(decay=0.2).on("tree") + 2 * PartialTree()
    assert kernel.get_params()["right__kernel__depth_decay"] == 0.4
    other = kernel.with_params(left__decay=0.3)
    assert (kernel.left.decay, other.left.decay) == (0.2, 0.3)
    assert other.right == kernel.right
    assert other.right is not kernel.right
    assert repr(SubsetTree(0.2)) in repr(TreeSVC(SubsetTree(0.2)))
    with pytest.raises(InvalidParameterError, match="has no parameter 'width'; it has decay"):
        TreeSVC(SubsetTree()).set_params(kernel__width=3)
