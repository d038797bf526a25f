"""Examples with one forest and columns of text are accepted like that forest."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, cross_val_predict

from filbert import (
    DistributedTreeEmbedding,
    Examples,
    Forest,
    FragmentVectorizer,
    SymbolSelector,
    TreePerceptron,
    TreeSVC,
    explain,
)
from filbert.errors import InvalidParameterError
from filbert.kernels import Linear, PartialTree, Sequence, SubsetTree

FOREST = Forest(f"(S (A a{i % 3}) (B {'b' if i % 2 else '(C c)'}))" for i in range(12))
X = Examples(parse=FOREST).with_columns(id=range(12), group=[i // 2 for i in range(12)])
Y = np.array(["yes", "no"] * 6)


@pytest.mark.parametrize(
    "kernel", [SubsetTree(), PartialTree(), Sequence(), SubsetTree() + PartialTree()], ids=repr
)
def test_kernels(kernel: Any) -> None:
    np.testing.assert_array_equal(kernel(X, X[:3]), kernel(FOREST, FOREST[:3]))
    np.testing.assert_array_equal(kernel.diag(X), kernel.diag(FOREST))


@pytest.mark.parametrize(
    "learner",
    [TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), TreePerceptron(shuffle=False)],
)
def test_learners(learner: Any) -> None:
    expected = learner.fit(FOREST, Y).decision_function(FOREST)
    learner.fit(X, Y)
    np.testing.assert_array_equal(learner.decision_function(X), expected)
    np.testing.assert_array_equal(learner.decision_function(FOREST), expected)
    groups = cross_val_predict(learner, X, Y, groups=X["group"], cv=GroupKFold(3))
    assert groups.tolist() == Y.tolist()


def test_functions_as_kernels() -> None:
    clf = TreeSVC(lambda a, b: 2 * SubsetTree()(a, b), strategy="usvm", random_state=0, C=1.0).fit(
        X, Y
    )
    assert clf.predict(X).tolist() == Y.tolist()


@pytest.mark.parametrize(
    "transformer", [FragmentVectorizer(n_fragments=3), DistributedTreeEmbedding(64)]
)
def test_transformers(transformer: Any) -> None:
    ours = transformer.fit(X, Y).transform(X)
    theirs = transformer.fit(FOREST, Y).transform(FOREST)
    assert abs(ours - theirs).sum() == 0


def test_selection_of_symbols_and_explanations() -> None:
    ours, theirs = (SymbolSelector().fit(trees, Y) for trees in (X, FOREST))
    assert ours.symbols_ == theirs.symbols_
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y)
    assert explain(clf, X, Y).to_json() == explain(clf, FOREST, Y).to_json()


def test_a_matrix_beside_the_forest_has_to_be_named() -> None:
    both = Examples(tree=FOREST, features=np.eye(12))
    with pytest.raises(InvalidParameterError, match=r"choose one .* \.on\('tree'\)"):
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(both, Y)
    clf = TreeSVC(SubsetTree().on("tree") + Linear().on("features"), C=1.0, loss="hinge").fit(
        both, Y
    )
    assert clf.predict(both.with_columns(id=range(12))).tolist() == Y.tolist()
