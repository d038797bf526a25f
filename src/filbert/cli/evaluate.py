"""``filbert evaluate``: measure a model on labelled trees."""

import json
from typing import TYPE_CHECKING, Any

import typer

from filbert.cli import console
from filbert.cli.options import AsJson, DataFiles, General, ModelFile, OnError, Reading
from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CLASSES = 10  # in a confusion matrix that fits a terminal


def evaluate(
    model: ModelFile,
    data: DataFiles,
    *,
    as_json: AsJson = False,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:
    """Compare a model's predictions with the labels: accuracy, precision, recall and F1.

    [bold]Examples[/bold]

      filbert evaluate answers.model test.tsv

      filbert evaluate answers.model 'test-*.tsv' --json
    """
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.models import load_predictor
    from filbert.cli.predictor import rows_for_model, vocabulary_of

    learner = load_predictor(model, general.jobs)
    if not hasattr(learner, "classes_"):
        raise InvalidParameterError(
            f"{model} predicts numbers, and evaluate compares classes: use filbert predict, and "
            "measures of filbert.metrics or scikit-learn"
        )
    files = Files(data, reading, on_error, general.jobs, vocabulary_of(learner))
    X, y = files.labelled()
    true, predicted = _comparable(y, learner.predict(rows_for_model(learner, X)))
    unknown = _unknown(true, learner.classes_)
    if unknown:
        console.warn(
            f"{files.name} has labels that the model does not know: {_listed(unknown)}. "
            f"The model knows {_listed(learner.classes_.tolist())}"
        )
    result = {**measure(true, predicted), "unknown": unknown}
    typer.echo(json.dumps(result, indent=1) if as_json else _table(result))


def measure(true: "NDArray[Any]", predicted: "NDArray[Any]") -> dict[str, Any]:
    """Return the metrics as plain data, for the classes that occur, as scikit-learn does."""
    import numpy as np
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    classes = np.union1d(true, predicted)
    columns = precision_recall_fscore_support(true, predicted, labels=classes, zero_division=0)
    names = ("precision", "recall", "f1", "n_examples")
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {
        "n_examples": len(true),
        "accuracy": float((true == predicted).mean()),
        "macro_f1": float(columns[2].mean()),
        "classes": [
            {"class": c, **dict(zip(names, row, strict=True))}
            for c, row in zip(classes.tolist(), rows, strict=True)
        ],
        "confusion": confusion_matrix(true, predicted, labels=classes).tolist(),
    }


def _comparable(
    true: "NDArray[Any]", predicted: "NDArray[Any]"
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return both arrays in one type: numbers if both are numbers, otherwise text.

    A model of an SVM-light-TK file has numbers as classes, and a table has labels as text.
    """
    numeric = all(array.dtype.kind in "iuf" for array in (true, predicted))
    if numeric or true.dtype.kind == predicted.dtype.kind == "b":
        return true, predicted
    return true.astype(str), predicted.astype(str)


def _unknown(true: "NDArray[Any]", classes: "NDArray[Any]") -> list[Any]:
    import numpy as np

    known = classes if true.dtype.kind == classes.dtype.kind else classes.astype(true.dtype)
    unknown: list[Any] = np.setdiff1d(true, known).tolist()
    return unknown


def _listed(labels: list[Any]) -> str:
    more = f" and {len(labels) - 10:,} more" if len(labels) > 10 else ""
    return ", ".join(map(repr, labels[:10])) + more


def _table(result: dict[str, Any]) -> str:
    from filbert.cli.data import label_text

    names = [label_text(row["class"]) for row in result["classes"]]
    width = max(5, *map(len, names))
    lines = [
        f"examples  {result['n_examples']:,}",
        f"accuracy  {result['accuracy']:.2%}",
        f"macro F1  {result['macro_f1']:.2%}",
        "",
        f"{'class':{width}}  precision   recall       F1  examples",
    ]
    for name, row in zip(names, result["classes"], strict=True):
        figures = f"{row['precision']:9.2%}{row['recall']:9.2%}{row['f1']:9.2%}"
        lines.append(f"{name:{width}}  {figures}{row['n_examples']:10,}")
    if len(names) <= _MOST_CLASSES:
        lines += ["", *_confusion(names, width, result["confusion"])]
    return "\n".join(lines)


def _confusion(names: list[str], width: int, counts: list[list[int]]) -> list[str]:
    column = max(width, *(len(f"{n:,}") for row in counts for n in row))
    head = "  ".join(f"{name:>{column}}" for name in names)
    rows = (
        f"{name:{width}}  " + "  ".join(f"{n:{column},}" for n in row)
        for name, row in zip(names, counts, strict=True)
    )
    return ["confusion: one row per true class, one column per predicted class", "",
            f"{'':{width}}  {head}", *rows]  # fmt: skip
