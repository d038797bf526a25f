"""Metrics of the agreement of predictions and labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    precision_recall_fscore_support,
)

from filbert.arrays import FloatArray
from filbert.explanations.data import ClassFigures, Confusion, Metrics, PrecisionRecall

_MOST_POINTS = 200  # of a curve


def measures(
    true: list[str], predicted: list[str], scores: FloatArray, problems: list[tuple[str, str]]
) -> Metrics:
    """Compare predictions with labels; `scores` has a row per example and a column per problem."""
    labels = sorted({*true, *predicted})
    columns = precision_recall_fscore_support(true, predicted, labels=labels, zero_division=0)
    rows = zip(labels, *(column.tolist() for column in columns), strict=True)
    places = {label: place for place, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for a, b in zip(true, predicted, strict=True):
        counts[places[a], places[b]] += 1
    return Metrics(
        accuracy=float(counts.trace() / len(true)),
        classes=tuple(ClassFigures(*row) for row in rows),
        confusion=Confusion(tuple(labels), tuple(map(tuple, counts.tolist()))),
        curves=tuple(
            curve
            for (positive, _), own in zip(problems, scores.T, strict=True)
            if (curve := _curve(np.array(true) == positive, own, positive)) is not None
        ),
    )


def _curve(is_positive: NDArray[Any], scores: FloatArray, positive: str) -> PrecisionRecall | None:
    """Return a curve with fewer points, or None if no example has the class."""
    if not is_positive.any():
        return None
    precision, recall, _ = precision_recall_curve(is_positive, scores, drop_intermediate=True)
    kept = np.unique(np.linspace(0, len(recall) - 1, _MOST_POINTS).round().astype(int))
    return PrecisionRecall(
        positive,
        tuple(recall[kept].tolist()),
        tuple(precision[kept].tolist()),
        float(average_precision_score(is_positive, scores)),
    )
