"""``filbert predict --parts``: predictions of each part in a file of its own."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from filbert.cli import console
from filbert.errors import InvalidParameterError, MissingFileError, ParseError

if TYPE_CHECKING:
    from filbert.corpus.parts import Parts

_PART = re.compile(r"part-[0-9]+-of-[0-9]+\.(tsv|jsonl)")


class Answers(NamedTuple):
    """The predictions for a part as text, and the errors of input that could not be read."""

    text: str
    errors: tuple[ParseError, ...]


@dataclass(frozen=True)
class AnswerPart:
    """Predicts the classes of a part, as `filbert predict` prints them. It is sent to workers."""

    learner: Any
    scores: bool
    proba: bool
    as_json: bool
    placeholder: str
    id: str | None

    def __call__(self, X: Any) -> Answers:
        """Return the lines for some examples."""
        from filbert.cli.batches import Batch
        from filbert.cli.prediction_lines import Lines
        from filbert.cli.predictor import Predictor, rows_for_model

        predictor = Predictor(
            self.learner, scores=self.scores, proba=self.proba, as_json=self.as_json
        )
        texts = predictor.texts(rows_for_model(self.learner, X)) if len(X) else []
        lines = Lines(self.as_json, self.placeholder, self.id, number=False, line=False)
        batch = Batch(X if len(X) else None, _rows_of(X.skipped, len(X)), "", [])
        return Answers(lines.of(batch, texts), X.skipped)


def predict_in_parts(corpus: "Parts", answer: AnswerPart, folder: str, *, verbose: bool) -> None:
    """Write the predictions of each part to a file in a folder, which is made if need be."""
    from filbert.cli.output import open_output
    from filbert.corpus.parts import apply_to_rows
    from filbert.corpus.tasks import Work

    suffix = "jsonl" if answer.as_json else "tsv"
    width = len(str(corpus.n_parts))
    names = [
        f"part-{i:0{width}}-of-{corpus.n_parts}.{suffix}" for i in range(1, corpus.n_parts + 1)
    ]
    _make(folder)
    _check_no_others(folder, names)
    work = Work("predicting", apply_to_rows, (answer,))  # `map` would report bad input once more
    for name, answers in zip(names, corpus._run(work, verbose=verbose), strict=True):
        for error in answers.errors:
            console.bad_input(str(error))
        with open_output(os.path.join(folder, name)) as write:
            write(answers.text)


def check_options(folder: str, *, number: bool, line: bool, id: str | None) -> None:
    """Raise InvalidParameterError for options that need all examples in one stream."""
    if folder == "-":
        raise InvalidParameterError(
            "predictions in parts are written to one file per part: name a folder with -o"
        )
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InvalidParameterError(f"-o {folder} is a file: name a folder for the parts")
    for option, given in (("--number", number), ("--line", line), ("--id file", id == "file")):
        if given:
            raise InvalidParameterError(
                f"{option} is for data in one piece: use --id with a column of the data, or no "
                "--parts"
            )


def _make(folder: str) -> None:
    try:
        os.mkdir(folder)
    except FileExistsError:
        pass
    except FileNotFoundError:
        raise MissingFileError(
            os.path.dirname(os.path.abspath(folder)), "there is no folder"
        ) from None


def _check_no_others(folder: str, names: Sequence[str]) -> None:
    """Raise InvalidParameterError if a folder has predictions in other parts.

    Who reads all files of the folder would get these predictions too.
    """
    others = sorted(name for name in {*os.listdir(folder)} - {*names} if _PART.fullmatch(name))
    if others:
        more = f" and {len(others) - 1:,} more files" if len(others) > 1 else ""
        raise InvalidParameterError(
            f"-o {folder} has predictions in other parts, {others[0]}{more}, which this command "
            "would not replace: name another folder, or remove these files"
        )


def _rows_of(errors: tuple[ParseError, ...], n: int) -> dict[int, ParseError]:
    """Return errors by the rows of their lines. Those of documents come last."""
    if all(error.sample is not None for error in errors):
        return {error.sample: error for error in errors if error.sample is not None}
    return {n + i: error for i, error in enumerate(errors)}
