"""Labels that users give: none may be missing, and all must be of one kind.

In a list with texts, NumPy makes the text "nan" of a missing label and "1" of a number, which would
then be classes of their own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from filbert import TreeLogisticRegression, TreePerceptron, TreeSVC, TreeSVCCV
from filbert.errors import InvalidParameterError
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
