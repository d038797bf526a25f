"""F1 of plain, averaged and voted predictions of one perceptron."""

from typing import Any

from sklearn.metrics import f1_score

from filbert import TreePerceptron


def f1(model: TreePerceptron, X: Any, y: Any, *, average: bool, vote: bool = False) -> float:
    """Return the F1 of the positive class in per cent."""
    model.set_params(average=average, vote=vote)
    return round(100 * float(f1_score(y, model.predict(X), pos_label=1)), 2)
