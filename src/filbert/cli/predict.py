"""``filbert predict``: predict a class for each tree of a file."""

from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from filbert.cli import console
from filbert.cli.cluster import connected
from filbert.cli.options import (
    OUTPUT,
    READING,
    AsJson,
    DataFiles,
    General,
    ModelFile,
    Output,
    Reading,
    Verbose,
)
from filbert.cli.parts import InParts, check_not_standard_input, corpus_of
from filbert.cli.predict_parts import AnswerPart, check_options, predict_in_parts
from filbert.cli.prediction_lines import Lines


def predict(
    model: ModelFile,
    data: DataFiles,
    *,
    output: Output = "-",
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add the decision values.", rich_help_panel=OUTPUT),
    ] = False,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help="Add the probability of each class.", rich_help_panel=OUTPUT
        ),
    ] = False,
    number: Annotated[
        bool,
        typer.Option(
            "--number", help="Begin each line with the number of the example, from 1.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    line: Annotated[
        bool,
        typer.Option(
            "--line", help="Begin each line with the number of the line of the data, from 1.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", rich_help_panel=OUTPUT,
            help="Begin each line with this column of the data; file: the name of the file. A "
            "column with the name id is used in any case.",
        ),
    ] = None,
    as_json: AsJson = False,
    placeholder: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Text in place of the prediction for a line that cannot be read.",
            rich_help_panel=OUTPUT,
        ),
    ] = "?",
    on_error: Annotated[
        Literal["mark", "raise"],
        typer.Option(
            "--on-error", rich_help_panel=READING,
            help="mark: print the placeholder for a line that cannot be read (exit code 1); "
            "raise: stop there.",
        ),
    ] = "mark",
    batch: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", rich_help_panel=OUTPUT,
            help="Number of lines that are read, predicted and printed at a time. Use 1 to answer "
            "a program line by line.",
        ),
    ] = 4096,
    reading: Reading,
    in_parts: InParts,
    verbose: Verbose = False,
    general: General,
) -> None:  # fmt: skip
    """Predict the class of each tree, one per line.

    The data may be a million lines long, or a pipe without an end: predictions are printed batch by
    batch. Labels in the data are ignored. A line that cannot be read gives one line with a
    placeholder, so that the output has as many lines as the data has examples.

    With --parts, the output is a folder with one file for each part. The files are written again if
    the command is repeated. A folder with files of other parts is refused. Bare trees that cannot
    be read have their placeholders at the end of the part.

    [bold]Examples[/bold]

      filbert predict answers.model new.tsv

      cat parses.mrg | filbert predict answers.model - --scores -o out.tsv

      filbert predict answers.model 'parses/*.mrg' --id file --json

      filbert predict answers.model 'corpus/*.tsv' --parts 64 -o predictions/
    """
    from filbert.cli import data as files
    from filbert.cli.batches import Batch, each_batch
    from filbert.cli.models import load_predictor
    from filbert.cli.output import check_output, open_output
    from filbert.cli.predictor import Predictor, rows_for_model, vocabulary_of
    from filbert.cli.trained_reading import as_trained
    from filbert.cli.unread import Unread

    if in_parts.wanted:
        check_options(output, number=number, line=line, id=id)
    learner = load_predictor(model, general.jobs)
    predictor = Predictor(learner, scores=scores, proba=proba, as_json=as_json)
    lines = Lines(as_json, placeholder, id, number=number, line=line)
    known = vocabulary_of(learner)
    given = files.DataFiles(data, reading, jobs=general.jobs, vocabulary=known)
    given = as_trained(given, model)
    if in_parts.wanted:
        check_not_standard_input(given)
        given = replace(given, on_error="raise" if on_error == "raise" else "skip")
        answer_part = AnswerPart(learner, scores, proba, as_json, placeholder, id)
        with connected(in_parts.scheduler):
            corpus = corpus_of(given, in_parts.parts, labels=False, **_of_model(learner))
            shows = console.shows_progress(verbose)
            predict_in_parts(corpus, answer_part, output, verbose=shows)
        return
    check_output(output, [model, *given.paths])
    with open_output(output) as write, Unread() as unread:

        def answer(rows: Batch) -> None:
            for error in rows.errors.values():
                if on_error == "raise":
                    raise error
                unread.add(error)
            unread.n_rows += len(rows)
            texts = [] if rows.X is None else predictor.predict(rows_for_model(learner, rows.X))
            write(lines.of(rows, texts))

        each_batch(given, batch, _n_features(learner), answer)
    if problem := predictor.resemblance.problem():
        console.warn(f"{given.name} {problem}")


def _of_model(model: Any) -> dict[str, Any]:
    """Return how the features of data are read for a model."""
    n = _n_features(model)
    return {"features": []} if n is None else {"n_features": n}


def _n_features(model: Any) -> int | None:
    """Return the number of features of a model that uses vectors."""
    from filbert.cli.predictor import support_of

    parts = getattr(support_of(model), "parts", {})
    widths = [part.shape[1] for part in parts.values() if len(part.shape) == 2]
    return max(widths, default=None)
