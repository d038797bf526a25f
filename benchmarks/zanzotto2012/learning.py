"""What the two tasks share: vectors, and a choice of C on training data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from benchmarks.zanzotto2012.section import D, chosen
from filbert import DistributedTreeEmbedding, Forest

Matrix = NDArray[Any]
CS = (1.0, 10.0, 100.0)
_FOLDS = 3


def vectors(forest: Forest, way: str, decay: float, d: int = D) -> Matrix:
    """Normalised vectors, as the kernels are."""
    return DistributedTreeEmbedding(d, decay=decay, **chosen(way)).transform(forest)


def percent(right: Any) -> float:
    """Give the accuracy."""
    return round(100 * float(np.mean(right)), 2)


def predictions(gram: Matrix, y: Matrix, to_train: Matrix, C: float) -> Matrix:
    """Train one binary SVM for each class, and take the class of the largest score."""
    classes = np.unique(y)
    if len(classes) == 2:
        return np.asarray(SVC(kernel="precomputed", C=C).fit(gram, y).predict(to_train))
    scores = [
        SVC(kernel="precomputed", C=C).fit(gram, y == one).decision_function(to_train)
        for one in classes
    ]
    return np.asarray(classes[np.argmax(scores, axis=0)])


def best_c(gram: Matrix, y: Matrix) -> float:
    """Choose C by cross-validation on training data; the smallest of equally good ones."""
    folds = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(gram, y))

    def accuracy(C: float) -> float:
        right = [
            predictions(gram[np.ix_(a, a)], y[a], gram[np.ix_(b, a)], C) == y[b] for a, b in folds
        ]
        return float(np.mean(np.concatenate(right)))

    return max(CS, key=accuracy)
