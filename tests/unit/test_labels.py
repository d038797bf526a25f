"""Labels that users give: none may be missing, and all must be of one kind.

In a list with texts, NumPy makes the text "nan" of a missing label and "1" of a number, which would
then be classes of their own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from filbert import Forest, TreeLogisticRegression, TreePerceptron, TreeSVC, TreeSVCCV
from filbert.errors import InvalidParameterError, OutOfMemoryError
from filbert.learners import targets
from filbert.metrics import randomization_test

TREES = ["(S (NP a) (VP b))", "(Q (V a) (NP b))", "(S (NP b) (VP a))", "(Q (V b) (NP a))"] * 3
LEARNERS = [TreeSVC, TreeSVCCV, TreeLogisticRegression, TreePerceptron]
CONTAINERS = [list, tuple, pd.Series, lambda y: np.array(y, dtype=object)]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT], ids=str)
def test_a_missing_label_is_no_class(
    learner: Any, container: Callable[..., Any], missing: Any
) -> None:
    labels = ["s", "q", missing, "q"] * 3
    with pytest.raises(InvalidParameterError, match="sample 2 has no label"):
        learner().fit(TREES, container(labels))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("pair", [(1, "q"), (True, "q"), (b"s", "q")])
def test_labels_of_two_kinds_are_refused(
    container: Callable[..., Any], pair: tuple[Any, Any]
) -> None:
    with pytest.raises(InvalidParameterError, match="of one kind"):
        TreeSVC().fit(TREES, container(pair * 6))


@pytest.mark.parametrize("labels", [["s", "q"], [0, 1], [True, False], [2.0, 3], [np.int8(4), 5]])
def test_labels_keep_their_type(labels: list[Any]) -> None:
    expected = np.unique(np.array(labels))
    for y in (labels * 6, tuple(labels * 6), np.array(labels * 6), pd.Series(labels * 6)):
        classes = TreeSVC().fit(TREES, y).classes_
        assert classes.tolist() == expected.tolist()
        if not isinstance(y, pd.Series):
            assert classes.dtype == expected.dtype


def test_a_list_with_a_missing_label_is_not_compared() -> None:
    labels = ["s", "q"] * 6
    with pytest.raises(InvalidParameterError, match=r"y\[1\] is nan"):
        randomization_test(["s", float("nan")] * 6, labels, labels)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("learner", LEARNERS)
def test_too_many_classes_are_told_before_memory_is_taken(
    learner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A problem for each of n classes over n examples takes memory of the order of n squared."""
    n = 100_000
    X = Forest(["(S (NP a) (VP b))", "(Q (V a) (NP b))"])[np.arange(n) % 2]
    monkeypatch.setattr(targets, "memory_of_machine", lambda: 64 << 30)
    with pytest.raises(OutOfMemoryError, match=r"100,000 classes .* 298 GiB.*join rare classes"):
        learner().fit(X, np.arange(n))
    with pytest.raises(OutOfMemoryError, match="this machine has 64 GiB"):
        TreePerceptron().partial_fit(X, np.arange(n), classes=np.arange(n))


def test_what_a_perceptron_keeps_of_each_class_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of nodes: large trees take more than small ones."""
    monkeypatch.setattr(targets, "memory_of_machine", lambda: 10_000_000)
    small, large = (Forest([f"(S {'(A ' * n}x{i}{')' * n})" for i in range(10)]) for n in (1, 200))
    y, classes = np.arange(10), np.arange(1000)
    TreePerceptron().partial_fit(small, y, classes=classes)
    TreePerceptron(max_nodes=300).partial_fit(large, y, classes=classes)
    with pytest.raises(OutOfMemoryError, match="1,000 classes"):
        TreePerceptron().partial_fit(large, y, classes=classes)
    monkeypatch.setattr(targets, "memory_of_machine", lambda: 100_000)
    with pytest.raises(OutOfMemoryError, match="10 classes"):
        TreePerceptron(engine="online").fit(large, y)


def test_the_memory_of_this_machine() -> None:
    assert targets.memory_of_machine() > 1 << 27


def test_messages_show_some_classes_only() -> None:
    clf = TreePerceptron().partial_fit(TREES, [0, 1] * 6, classes=np.arange(1000))
    for wrong in (np.arange(2000), np.zeros(2000, dtype=int)):
        with pytest.raises(InvalidParameterError) as caught:
            clf.partial_fit(TREES, [0, 1] * 6, classes=wrong)
        assert len(str(caught.value)) < 300
