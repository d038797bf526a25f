"""The task of the demo: predict the verb of a function's name, by several learners."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import Bunch

from filbert.examples import Examples
from filbert.forest import Forest
from filbert.kernels import Linear, SubsetTree
from filbert.learners.svm import TreeSVC
from filbert.tree import Tree

StringArray = NDArray[np.str_]

_GRID: dict[str, list[float]] = {"C": [1, 3]}
_DECAYS: list[float] = [0.2, 0.4]


@dataclass(frozen=True)
class Contender:
    """A learner with the features that it sees and the parameters that are searched."""

    title: str
    X: Any
    learner: Any
    grid: dict[str, list[float]]


@dataclass(frozen=True)
class Result:
    """The predictions of a contender, each by a model that did not see the module.

    Attributes
    ----------
    predicted : ndarray of str
    accuracy, macro_f1, seconds : float
    first : estimator
        The model of the first fold.
    """

    predicted: StringArray
    accuracy: float
    macro_f1: float
    seconds: float
    first: Any


class Task:
    """Functions, verbs and folds in which no module is both in training and in test.

    The functions of a module are too similar to each other for a fair test.
    """

    def __init__(self, data: Bunch, seed: int) -> None:
        self.X: Forest = data.data
        self.y: StringArray = data.target
        self.modules = np.array([name.split(".")[0] for name in data.names])
        folds = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
        self.folds = list(folds.split(self.y, self.y, self.modules))

    def result(self, contender: Contender) -> Result:
        """Cross-validate a contender; its parameters are chosen on the training data of a fold."""
        start = time.perf_counter()
        predicted = np.empty_like(self.y)
        models = []
        for train, test in self.folds:
            search = GridSearchCV(contender.learner, contender.grid, cv=StratifiedGroupKFold(2))
            search.fit(contender.X[train], self.y[train], groups=self.modules[train])
            predicted[test] = search.predict(contender.X[test])
            models.append(search.best_estimator_)
        return Result(
            predicted,
            float(accuracy_score(self.y, predicted)),
            float(f1_score(self.y, predicted, average="macro")),
            time.perf_counter() - start,
            models[0],
        )


def contenders(X: Forest) -> list[Contender]:
    """Return simple baselines, then tree kernels."""
    words = _features(X, _labels)
    linear, svm = LinearSVC(random_state=0), TreeSVC(SubsetTree(), random_state=0)
    both = TreeSVC(SubsetTree(part="tree") + Linear(part="words"), random_state=0)
    return [
        Contender("most frequent verb", X, DummyClassifier(), {}),
        Contender("words, linear SVM", words, linear, _GRID),
        Contender("local patterns, linear SVM", _features(X, _patterns), linear, _GRID),
        Contender("SubsetTree", X, svm, {**_GRID, "kernel__decay": _DECAYS}),
        Contender(
            "SubsetTree + words",
            Examples(tree=X, words=words),
            both,
            {**_GRID, "kernel__left__decay": _DECAYS},
        ),
    ]


def _features(X: Forest, analyzer: Any) -> Any:
    """Return binary features of unit length.

    They are made once for all folds. A feature that does not occur in training has weight 0.
    """
    return normalize(CountVectorizer(analyzer=analyzer, binary=True).fit_transform(X).astype(float))


def _labels(tree: Tree) -> list[str]:
    return [node.label for node in tree.nodes()]


def _patterns(tree: Tree) -> list[str]:
    """Return labels, pairs of parent and child, and productions."""
    found = []
    for node in tree.nodes():
        below = [child.label for child in node.children]
        found += [node.label, *(f"{node.label} > {label}" for label in below)]
        if below:
            found.append(f"{node.label} : {' '.join(below)}")
    return found
