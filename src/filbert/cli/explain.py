"""``filbert explain``: show what a model has learnt, in the terminal or as an HTML page."""

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from filbert.cli.options import OUTPUT, General, ModelFile, OnError, Reading
from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from filbert.explanations import Explanation

_ENDINGS = (".html", ".htm", ".json", ".txt")


def explain(
    model: ModelFile,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA",
            help="Trees to explain, with or without labels. Numbers to predict are not compared.",
        ),
    ] = None,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", rich_help_panel=OUTPUT,
            help="File to write, .html, .json or .txt; - for text on standard output.",
        ),
    ] = "-",
    top: Annotated[
        int, typer.Option(metavar="N", help="Number of fragments for and against each class.")
    ] = 50,
    examples: Annotated[
        int, typer.Option(metavar="N", help="Largest number of examples to show in detail.")
    ] = 100,
    min_frequency: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Leave out fragments that occur fewer times in the support vectors."
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title of the page.", rich_help_panel=OUTPUT)
    ] = None,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:  # fmt: skip
    """Show the most important fragments, and what each node adds to the score of each example.

    [bold]Examples[/bold]

      filbert explain answers.model

      filbert explain answers.model test.tsv -o report.html
    """
    from filbert.cli.data import DataFiles
    from filbert.cli.models import load_learner
    from filbert.cli.output import check_output, open_output
    from filbert.cli.predictor import rows_for_model, vocabulary_of
    from filbert.cli.trained_reading import as_trained
    from filbert.explanations import explain as explained

    _check_ending(output)
    files = DataFiles(data or [], reading, on_error, general.jobs)
    check_output(output, [model, *files.paths])
    learner = load_learner(model, general.jobs)
    X: Any = None
    y: Any = None
    if data:
        files = replace(as_trained(files, model), vocabulary=vocabulary_of(learner))
        X, y = files.trees_and_labels()
        X = rows_for_model(learner, X)
        if not hasattr(learner, "classes_"):
            y = None  # numbers are no classes to compare with: `filbert evaluate` measures them
    explanation = explained(
        learner,
        X,
        y,
        top=top,
        max_examples=examples,
        min_frequency=min_frequency,
        title=title,
        n_jobs=general.jobs,
    )
    with open_output(output) as write:
        write(_content(explanation, output))


def _check_ending(output: str) -> None:
    """Check that the name says what to write, before the long work starts."""
    if output != "-" and PurePath(output).suffix.lower() not in _ENDINGS:
        raise InvalidParameterError(
            f"-o {output}: the file name must end in one of {', '.join(_ENDINGS)}"
        )


def _content(explanation: "Explanation", output: str) -> str:
    ending = PurePath(output).suffix.lower()
    if ending == ".json":
        return explanation.to_json() + "\n"
    return explanation.to_html() if ending in (".html", ".htm") else f"{explanation}\n"
