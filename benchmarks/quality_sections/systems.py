"""What is compared: plain baselines, TreeSVC as it is by default, and TreeSVCCV."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality_sections import baselines
from benchmarks.quality_sections.seeded import task
from benchmarks.quality_sections.tasks import Indices, Task
from filbert import TreeSVC, TreeSVCCV

Predict = Callable[[Task, tuple[Indices, Indices]], NDArray[Any]]  # by task and fold

DEFAULT, SEARCH = "TreeSVC()", "TreeSVCCV()"


def fitted(learner: Any, data: Task, fold: tuple[Indices, Indices]) -> NDArray[Any]:
    """Train on a fold of a task, and predict its test part."""
    train, test = fold
    predicted: NDArray[Any] = learner.fit(data.X[train], data.y[train]).predict(data.X[test])
    return predicted


def plain() -> dict[str, Predict]:
    """Return the baselines."""
    return {
        title: lambda data, fold, own=own: baselines.predictions(data, own, fold)
        for title, own in baselines.baselines().items()
    }


def ours() -> dict[str, Predict]:
    """Return what users get without a choice of their own."""
    return {
        DEFAULT: partial(fitted, TreeSVC(random_state=0, n_jobs=1)),
        SEARCH: partial(fitted, TreeSVCCV(random_state=0, n_jobs=1)),
    }


def right(name: str, seed: int, predict: Predict) -> NDArray[np.bool_]:
    """Return which test trees of a task are predicted right, in the order of the trees."""
    data = task(name, seed)
    tested = np.concatenate([test for _, test in data.folds])
    predicted = np.concatenate([predict(data, fold) for fold in data.folds])
    found: NDArray[np.bool_] = (predicted == data.y[tested])[np.argsort(tested)]
    return found
