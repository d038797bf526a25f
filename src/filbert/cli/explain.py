"""``filbert explain``: show what a model has learnt, in the terminal or as an HTML page."""

from pathlib import PurePath
from typing import Any

import typer

from filbert.cli import data
from filbert.cli.models import load_learner
from filbert.errors import InvalidParameterError
from filbert.explanations import Explanation
from filbert.explanations import explain as explained
from filbert.persist.atomic import check_folder, replacing

_ENDINGS = (".html", ".htm", ".json", ".txt")


def explain(
    model: str = typer.Argument(metavar="MODEL", help="A model file written by filbert train."),
    path: str | None = typer.Argument(
        None,
        metavar="[DATA]",
        help="Trees to explain, with or without labels; - for standard input.",
    ),
    output: str | None = typer.Option(
        None,
        "-o",
        "--output",
        metavar="OUT",
        help="Output file, .html, .json or .txt (default: text to standard output).",
    ),
    top: int = typer.Option(50, help="Number of fragments for and against each class."),
    examples: int = typer.Option(100, help="Maximum number of examples to show in detail."),
    min_frequency: int | None = typer.Option(
        None, help="Minimum number of occurrences of a fragment in the support vectors."
    ),
    title: str | None = typer.Option(None, help="Title of the page."),
    jobs: int | None = data.JOBS,
    format: str | None = data.ANY_FORMAT,
    label: str | None = data.LABEL,
    tree: str | None = data.TREE,
    header: bool | None = data.HEADER,
    bare_words: bool = data.BARE_WORDS,
    on_error: str = data.ON_ERROR,
) -> None:
    """Show the most important fragments, and what each node adds to the score of each example."""
    if output is not None:
        _check_output(output)
    learnt = load_learner(model, jobs)
    X: Any = None
    y: Any = None
    if path is not None:
        file = data.DataFile(path, format, label, tree, header, bare_words, on_error, jobs)
        X, y = file.trees_and_labels()
    explanation = explained(
        learnt,
        X,
        y,
        top=top,
        max_examples=examples,
        min_frequency=min_frequency,
        title=title,
        n_jobs=jobs,
    )
    if output is None:
        typer.echo(str(explanation).encode(errors="backslashreplace"))
        return
    with replacing(output) as stream:
        stream.write(_content(explanation, output).encode(errors="backslashreplace"))


def _check_output(output: str) -> None:
    """Check that the output can be written before the long work starts."""
    if PurePath(output).suffix.lower() not in _ENDINGS:
        raise InvalidParameterError(
            f"-o {output}: the file name must end in one of {', '.join(_ENDINGS)}"
        )
    check_folder(output)


def _content(explanation: Explanation, output: str) -> str:
    ending = PurePath(output).suffix.lower()
    if ending == ".json":
        return explanation.to_json() + "\n"
    return f"{explanation}\n" if ending == ".txt" else explanation.to_html()
