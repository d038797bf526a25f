"""What the two tasks share: vectors, a choice of C on training data, and plots."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from benchmarks.growth import saved
from benchmarks.zanzotto2012.section import D, Options, Row, chosen
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


def plot(rows: list[Row], name: str, options: Options) -> str:
    """Accuracy against lambda, a line for each kernel."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes: Any = figure.subplots()
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        points = [row for row in rows if row["kernel"] == kernel]
        x, y = ([row[key] for row in points] for key in ("lambda", "accuracy"))
        axes.plot(x, y, "o-", label=kernel)
    axes.set(xlabel="lambda", ylabel="accuracy")
    axes.grid(alpha=0.3)
    axes.legend()
    return saved(figure, f"paper_zanzotto2012_{name}.svg", options.plots)
