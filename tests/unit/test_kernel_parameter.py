"""The parameters of the default kernel can be set as if it had been given."""

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from filbert import FragmentVectorizer, SymbolSelector, TreePerceptron, TreeSVC
from filbert.kernels import PartialTree, SubsetTree
from filbert.testing.tools import sentences

LEARNERS = [TreeSVC(), TreePerceptron(), SymbolSelector(), FragmentVectorizer()]
X, Y = sentences(40, 3)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_default_kernel_has_parameters(learner: Any) -> None:
    assert learner.get_params()["kernel__decay"] == SubsetTree().decay
    new = clone(learner).set_params(kernel__decay=0.1)
    assert new.kernel == SubsetTree(0.1)
    assert clone(new).kernel == SubsetTree(0.1)
    assert new.set_params(kernel__normalize=False).kernel == SubsetTree(0.1, normalize=False)
    assert learner.kernel is None, "others are not changed"
    assert type(learner)().get_params()["kernel__decay"] == SubsetTree().decay


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_kernel_that_is_given_counts(learner: Any) -> None:
    new = clone(learner).set_params(kernel=PartialTree(), kernel__depth_decay=0.3)
    assert new.kernel == PartialTree(depth_decay=0.3)
    assert new.set_params(**new.get_params()).kernel == PartialTree(depth_decay=0.3)
    assert clone(learner).set_params(**learner.get_params()).kernel in (None, SubsetTree())
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
