"""``filbert evaluate``: measure a model on labelled trees."""

import json
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from filbert.cli import data
from filbert.cli.models import load_learner

_MOST_CLASSES = 10  # in a confusion matrix that fits a terminal


def evaluate(
    model: str = typer.Argument(metavar="MODEL", help="A model file written by filbert train."),
    path: str = typer.Argument(metavar="DATA", help="Labelled trees; - for standard input."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    jobs: int | None = data.JOBS,
    format: str | None = data.FORMAT,
    label: str | None = data.LABEL,
    tree: str | None = data.TREE,
    header: bool | None = data.HEADER,
    bare_words: bool = data.BARE_WORDS,
    on_error: str = data.ON_ERROR,
) -> None:
    """Compare a model's predictions with the labels: accuracy, precision, recall and F1."""
    svm = load_learner(model, jobs)
    file = data.DataFile(path, format, label, tree, header, bare_words, on_error, jobs)
    X, y = file.labelled()
    result = measure(*_comparable(y, svm.predict(X)))
    typer.echo(json.dumps(result, indent=1) if as_json else _table(result))


def measure(true: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Any]:
    """Return the metrics as plain data, for the classes that occur, as scikit-learn does."""
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


def _comparable(true: NDArray[Any], predicted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both arrays in one type: numbers if both are numbers, otherwise text.

    The labels 1, 2 and x of one file are text. If another file has only 1 and 2, they are numbers.
    """
    numeric = all(array.dtype.kind in "iuf" for array in (true, predicted))
    if numeric or true.dtype.kind == predicted.dtype.kind == "b":
        return true, predicted
    return true.astype(str), predicted.astype(str)


def _table(result: dict[str, Any]) -> str:
    names = [data.label_text(row["class"]) for row in result["classes"]]
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
