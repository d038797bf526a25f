"""What is compared: plain baselines, TreeSVC as it is by default, and TreeSVCCV."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality_sections import baselines
from benchmarks.quality_sections.tasks import Indices, task
from filbert import TreeSVC, TreeSVCCV

Predict = Callable[[str, tuple[Indices, Indices]], NDArray[Any]]  # by task and fold

DEFAULT, SEARCH = "TreeSVC()", "TreeSVCCV()"


def fitted(learner: Any, name: str, fold: tuple[Indices, Indices]) -> NDArray[Any]:
    """Train on a fold of a task, and predict its test part."""
    data = task(name)
    train, test = fold
    predicted: NDArray[Any] = learner.fit(data.X[train], data.y[train]).predict(data.X[test])
    return predicted


def plain() -> dict[str, Predict]:
    """Return the baselines."""
    return {
        title: lambda name, fold, own=own: baselines.predictions(name, own, fold)
        for title, own in baselines.baselines().items()
    }


def ours() -> dict[str, Predict]:
    """Return what users get without a choice of their own."""
    return {
        DEFAULT: partial(fitted, TreeSVC(random_state=0, n_jobs=1)),
        SEARCH: partial(fitted, TreeSVCCV(random_state=0, n_jobs=1)),
    }


def predictions(name: str, predict: Predict) -> NDArray[Any]:
    """Predict all test trees of a task."""
    return np.concatenate([predict(name, fold) for fold in task(name).folds])


def labels(name: str) -> NDArray[Any]:
    """Return the classes of all test trees of a task, in the order of the predictions."""
    data = task(name)
    return np.concatenate([data.y[test] for _, test in data.folds])
