"""STK, LIN and OPT, with parameters that are chosen on one training example in ten."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from sklearn.svm import LinearSVC

from benchmarks.pighin2010.data import Data, questions
from filbert import FragmentVectorizer, TreeSVC
from filbert.kernels import SubsetTree

DECAYS = [0.1, 0.2, 0.3, 0.4, 0.5]
THEIR_DECAY = 0.4  # SVM-light-TK has it by default, and the paper does not say another
COSTS = [1.0, 2.0, 4.0, 8.0, 16.0]
FACTORS = [1.0, 2.0, 4.0]  # of the positive class: SVM-light's j
LINEAR_COSTS = [1.0, 2.0, 4.0, 8.0]


@dataclass(frozen=True)
class Choice:
    """Parameters, and what they score on the development set."""

    score: float
    decay: float
    C: float
    factor: float


def score(data: Data, predicted: Any) -> float:
    """Return the F1 of the class that is True, or the accuracy where there are many; per cent."""
    binary = data.y.dtype == bool
    value = f1_score(data.y_test, predicted) if binary else accuracy_score(data.y_test, predicted)
    return 100 * float(value)


def factors_for(data: Data) -> list[float]:
    return FACTORS if data.y.dtype == bool else FACTORS[:1]


def stk(decay: float, C: float = 1.0, factor: float = 1.0) -> TreeSVC:
    weights = None if factor == 1 else {True: factor, False: 1.0}
    return TreeSVC(
        SubsetTree(decay), C=C, class_weight=weights, random_state=0, n_jobs=1, loss="hinge"
    )


def linear(C: float, factor: float = 1.0) -> LinearSVC:
    weights = None if factor == 1 else {True: factor, False: 1.0}
    return LinearSVC(C=C, class_weight=weights, loss="hinge", random_state=0, max_iter=100_000)


def choices(data: Data, decays: Iterable[float] = DECAYS) -> list[Choice]:
    """Score STK on the development set for all values of decay, C and j."""
    dev = data.development()
    scored: list[Choice] = []
    for decay, factor in product(decays, factors_for(data)):
        path = stk(decay, factor=factor).fit_path(dev.X, dev.y, COSTS)
        for C, clf in zip(COSTS, path, strict=True):
            scored.append(Choice(score(dev, clf.predict(dev.X_test)), decay, C, factor))
    return scored


def best(scored: Iterable[Choice]) -> Choice:
    return max(scored, key=lambda choice: choice.score)


@dataclass(frozen=True)
class Trained:
    """STK on all training examples, and the same on nine in ten, to choose what is left."""

    data: Data
    choice: Choice
    stk: TreeSVC
    on_development: TreeSVC

    @property
    def score(self) -> float:
        """What STK scores on the test set."""
        return score(self.data, self.stk.predict(self.data.X_test))


def trained(data: Data, choice: Choice) -> Trained:
    model = partial(stk, choice.decay, choice.C, choice.factor)
    dev = data.development()
    return Trained(data, choice, model().fit(data.X, data.y), model().fit(dev.X, dev.y))


@cache
def question_class(label: str) -> Trained:
    """Train the problem of one class of questions, once a process."""
    data = questions().against_the_rest(label)
    return trained(data, best(choices(data, [THEIR_DECAY])))


@dataclass(frozen=True)
class Linearised:
    """What some fragments make of a model."""

    vectorizer: FragmentVectorizer
    lin: float
    opt: float
    C: float
    factor: float

    @property
    def n_fragments(self) -> int:
        """The dimensions of the space: over all classes."""
        return int(self.vectorizer.coef_.shape[1])


Vectorizer = Callable[[TreeSVC], FragmentVectorizer]


def linearised(
    model: Trained, vectorizer: Vectorizer, costs: Iterable[float] = LINEAR_COSTS
) -> Linearised:
    """Mine with the parameters of `vectorizer`, and score LIN and OPT."""
    data = model.data
    C, factor, _ = chosen_linear(model, vectorizer, costs)
    fitted = vectorizer(model.stk).fit(data.X, data.y)
    X_test = fitted.transform(data.X_test)
    opt = linear(C, factor).fit(fitted.transform(data.X), data.y)
    return Linearised(
        fitted,
        score(data, lin(model.stk, fitted, X_test)),
        score(data, opt.predict(X_test)),
        C,
        factor,
    )


def chosen_linear(
    model: Trained, vectorizer: Vectorizer, costs: Iterable[float] = LINEAR_COSTS
) -> tuple[float, float, float]:
    """Choose C and j for OPT, and return what it scores on the development set too."""
    dev = model.data.development()
    fitted = vectorizer(model.on_development).fit(dev.X, dev.y)
    X, X_test = fitted.transform(dev.X), fitted.transform(dev.X_test)
    choices: list[tuple[float, float, float]] = []
    for C, factor in product(costs, factors_for(dev)):
        predicted = linear(C, factor).fit(X, dev.y).predict(X_test)
        choices.append((C, factor, score(dev, predicted)))
    return max(choices, key=lambda choice: choice[2])


def lin(clf: TreeSVC, fitted: FragmentVectorizer, X_test: Any) -> Any:
    """Predict by the model's own weights of the fragments that were kept."""
    scores = X_test @ fitted.coef_.T + fitted.intercept_
    if scores.shape[1] == 1:
        return clf.classes_[(scores[:, 0] > 0).astype(int)]
    return clf.classes_[np.argmax(scores, axis=1)]
