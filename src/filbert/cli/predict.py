"""``filbert predict``: predict a class for each tree of a file."""

import numpy as np
import typer

from filbert.cli import data
from filbert.cli.models import load_learner
from filbert.learners.svm import classes_by_score
from filbert.persist.atomic import replacing


def predict(
    model: str = typer.Argument(metavar="MODEL", help="A model file written by filbert train."),
    path: str = typer.Argument(
        metavar="DATA", help="Trees; labels are ignored; - for standard input."
    ),
    output: str | None = typer.Option(
        None, "-o", "--output", metavar="OUT", help="Output file (default: standard output)."
    ),
    scores: bool = typer.Option(
        False, "--scores", help="Add the decision values, separated by tabs."
    ),
    jobs: int | None = data.JOBS,
    format: str | None = data.ANY_FORMAT,
    label: str | None = data.LABEL,
    tree: str | None = data.TREE,
    header: bool | None = data.HEADER,
    bare_words: bool = data.BARE_WORDS,
    on_error: str = data.ON_ERROR,
) -> None:
    """Predict the class of each tree, one per line."""
    svm = load_learner(model, jobs)
    file = data.DataFile(path, format, label, tree, header, bare_words, on_error, jobs)
    X = file.trees()
    values = np.asarray(svm.decision_function(X))
    lines = [data.label_text(c) for c in classes_by_score(svm.classes_, values)]
    if scores:
        rows = values.reshape(len(lines), -1).tolist()
        lines = ["\t".join([c, *map(repr, row)]) for c, row in zip(lines, rows, strict=True)]
    text = "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace")
    if output is None:
        typer.echo(text, nl=False)
        return
    with replacing(output) as stream:
        stream.write(text)
