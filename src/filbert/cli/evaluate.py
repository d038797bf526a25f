"""``filbert evaluate``: measure a model on labelled trees."""

import json
from typing import TYPE_CHECKING, Any

import typer

from filbert.cli import console
from filbert.cli.learners import Group, groups_of
from filbert.cli.measures import as_text
from filbert.cli.options import AsJson, DataFiles, General, ModelFile, OnError, Reading
from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from filbert.cli.data import DataFiles as Files

_MOST_CLASSES = 10  # in a confusion matrix that fits a terminal


def evaluate(
    model: ModelFile,
    data: DataFiles,
    *,
    group: Group = None,
    as_json: AsJson = False,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:
    """Compare a model's predictions with the labels.

    Classes: accuracy, precision, recall and F1. Numbers: R2, Spearman's correlation and the mean
    absolute error. Rankings: the share of pairs in the right order, NDCG and the mean reciprocal
    rank.

    [bold]Examples[/bold]

      filbert evaluate answers.model test.tsv

      filbert evaluate ranker.model parses.csv --group sentence

      filbert evaluate answers.model 'test-*.tsv' --json
    """
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.models import load_predictor
    from filbert.cli.predictor import rows_for_model, vocabulary_of
    from filbert.cli.trained_reading import as_trained

    learner = load_predictor(model, general.jobs)
    files = Files(data, reading, on_error, general.jobs, vocabulary_of(learner))
    files = as_trained(files, model)
    if not hasattr(learner, "classes_"):
        measured = _of_numbers(model, files, group, general.jobs)
        typer.echo(json.dumps(measured, indent=1) if as_json else as_text(measured))
        return
    if group is not None:
        raise InvalidParameterError("--group has no meaning for a model of classes")
    X, y = files.labelled()
    rows = rows_for_model(learner, X)
    true, predicted = _comparable(y, learner.predict(rows))
    _warn_of_other_kind(learner, rows, files.name)
    unknown = _unknown(true, learner.classes_)
    if unknown:
        console.warn(
            f"{files.name} has labels that the model does not know: {_listed(unknown)}. "
            f"The model knows {_listed(learner.classes_.tolist())}"
        )
    result = {**measure(true, predicted), "unknown": unknown}
    typer.echo(json.dumps(result, indent=1) if as_json else _table(result))


def _warn_of_other_kind(learner: Any, rows: Any, name: str) -> None:
    """Warn if all rows are of another kind than the model's. Nearly always, the first decides."""
    from filbert.cli.resemblance import Resemblance

    if not hasattr(learner, "model_"):
        return
    for some in (rows[:1], rows):
        resemblance = Resemblance(learner)
        resemblance.note(some, learner.decision_function(some))
        problem = resemblance.problem()
        if not problem:
            return
    console.warn(f"{name} {problem}")


def _of_numbers(model: str, files: "Files", group: str | None, jobs: int | None) -> dict[str, Any]:
    """Return the measures of a model that predicts numbers."""
    from sklearn.base import is_regressor

    from filbert.cli.measures import of_ranking, of_regression
    from filbert.cli.models import load_learner
    from filbert.cli.predictor import rows_for_model
    from filbert.learners.ranker import TreeRanker
    from filbert.learners.targets import checked_targets
    from filbert.unpack import learner_in

    learner = load_learner(model, jobs)
    ranker = learner_in(learner)
    is_ranker = isinstance(ranker, TreeRanker)
    if not is_ranker and not is_regressor(learner):
        raise InvalidParameterError(
            f"{model} predicts neither classes nor numbers of examples: use filbert predict"
        )
    if group is not None and not is_ranker:
        raise InvalidParameterError("--group has no meaning for a regression")
    X, y = files.labelled()
    true = checked_targets(y, len(X))
    groups = groups_of(X, group) if is_ranker else None
    if is_ranker and groups is None and ranker.has_groups_:
        raise InvalidParameterError(
            f"{model} was trained with groups: name the column of the groups with --group"
        )
    predicted = learner.predict(rows_for_model(learner, X))
    return of_ranking(true, predicted, groups) if is_ranker else of_regression(true, predicted)


def measure(true: "NDArray[Any]", predicted: "NDArray[Any]") -> dict[str, Any]:
    """Return the metrics as plain data, for the classes that occur, as scikit-learn does."""
    import numpy as np
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    classes = np.union1d(true, predicted)
    columns = precision_recall_fscore_support(true, predicted, labels=classes, zero_division=0)
    names = ("precision", "recall", "f1", "n_examples")
    counts = columns[3].astype(int)  # floats if the model never saw a class
    rows = zip(*(column.tolist() for column in (*columns[:3], counts)), strict=True)
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
