"""``filbert fragments``: list the heaviest fragments of a model."""

import json
import os
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from filbert.cli.options import OUTPUT, General, ModelFile, Output
from filbert.errors import InvalidParameterError, ModelFileError


@dataclass(frozen=True)
class Listed:
    """The heaviest fragments or patterns of one decision function."""

    rows: list[tuple[float, int, str]]  # weights, occurrences in the support vectors, texts
    norm_share: float
    what: str


def fragments(
    model: ModelFile,
    *,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of fragments of each class.")
    ] = 20,
    of_class: Annotated[
        str | None,
        typer.Option("--class", metavar="LABEL", help="Only the fragments of this class."),
    ] = None,
    min_frequency: Annotated[
        int,
        typer.Option(
            min=1, metavar="N",
            help="Leave out fragments that occur fewer times in the support vectors.",
        ),
    ] = 3,
    criterion: Annotated[
        Literal["gradient", "chi2"],
        typer.Option(
            help="What makes a fragment relevant: its weight (gradient), or how unevenly the "
            "support vectors of the two sides have it (chi2)."
        ),
    ] = "gradient",
    search: Annotated[
        Literal["greedy", "complete"],
        typer.Option(help="greedy is fast; complete misses no fragment."),
    ] = "greedy",
    style: Annotated[
        Literal["text", "tsv", "json"],
        typer.Option("--to", help="How to write the fragments.", rich_help_panel=OUTPUT),
    ] = "text",
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as --to json.", rich_help_panel=OUTPUT)
    ] = False,
    output: Output = "-",
    general: General,
) -> None:  # fmt: skip
    """List the heaviest fragments of a model with their weights.

    A positive weight speaks for the class. A model of two classes has one list: a positive weight
    speaks for the second class. Models of local patterns, the default of filbert train, have
    patterns in place of fragments.

    [bold]Examples[/bold]

      filbert fragments answers.model

      filbert fragments answers.model --class yes --top 100 --to tsv -o fragments.tsv
    """
    from filbert.cli.models import is_archive, load_learner
    from filbert.cli.output import check_output, open_output

    if os.path.exists(model) and not is_archive(model):
        raise ModelFileError(
            "this is not a model file",
            "to list the fragments that recur in data, use filbert recurring",
            model,
        )
    check_output(output, [model])
    learner = load_learner(model, general.jobs)
    numbers = not hasattr(learner, "classes_")  # what raises a score is shown
    classes = ["lower", "higher"] if numbers else learner.classes_.tolist()
    shown = [1] if len(classes) == 2 else list(range(len(classes)))
    if of_class is not None:
        named = [k for k in shown if str(classes[k]) == of_class]
        if not named:
            listed = ", ".join(str(classes[k]) for k in shown)
            raise InvalidParameterError(f"--class must be one of {listed}, got {of_class!r}")
        shown = named
    patterns = _has_patterns(learner)
    if patterns and (criterion != "gradient" or search != "greedy"):
        raise InvalidParameterError(
            "--criterion and --search are for models with --kernel stk, st or ptk: of local "
            "patterns, all weights are known"
        )
    found = {}
    for k in shown:
        problem = 0 if len(classes) == 2 else k
        if patterns:
            found[classes[k]] = _patterns(learner, problem, top, min_frequency, general.jobs)
        else:
            found[classes[k]] = _mined(
                learner,
                problem=problem,
                n_fragments=top,
                criterion=criterion,
                min_frequency=min_frequency,
                search=search,
                n_jobs=general.jobs,
            )
    write = {"text": _text, "tsv": _tsv, "json": _json}["json" if as_json else style]
    with open_output(output) as put:
        put(write(found) + "\n")


def _has_patterns(learner: Any) -> bool:
    """Return whether a model has one kernel, whose features are all known."""
    from filbert.kernels.capabilities import capabilities_of
    from filbert.unpack import learner_in

    known = capabilities_of(getattr(learner_in(learner).model_, "kernel", None))
    return known.of == "trees" and known.explicit


def _patterns(learner: Any, problem: int, top: int, min_frequency: int, jobs: int | None) -> Listed:
    from filbert.explanations.patterns import WeightedPatterns
    from filbert.explanations.view import view_of

    [(_, scorer)] = view_of(learner).model.pattern_scorers()
    weighted = WeightedPatterns(scorer, problem, min_frequency, jobs)
    rows, share = weighted.listed(top)
    return Listed(rows, share, "patterns")


def _mined(learner: Any, **options: Any) -> Listed:
    from filbert.fragments import mine

    mined = mine(learner, **options)
    texts = mined.fragments.texts()
    rows = list(zip(mined.weight.tolist(), mined.frequency.tolist(), texts, strict=True))
    return Listed(rows, mined.norm_share, "fragments")


def _text(found: dict[Any, Listed]) -> str:
    from filbert.cli.data import label_text

    blocks = []
    for label, own in found.items():
        head = (
            f"{label_text(label)}: {len(own.rows):,} {own.what}, {own.norm_share:.1%} of the norm"
        )
        rows = [f"  {weight:+10.4f}  {n:8,}x  {text}" for weight, n, text in own.rows]
        blocks.append("\n".join([head, *rows]))
    return "\n\n".join(blocks)


def _tsv(found: dict[Any, Listed]) -> str:
    from filbert.cli.data import label_text

    lines = ["class\tweight\tfrequency\tfragment"]
    for label, own in found.items():
        lines += [
            f"{label_text(label)}\t{weight!r}\t{n}\t{label_text(text)}"
            for weight, n, text in own.rows
        ]
    return "\n".join(lines)


def _json(found: dict[Any, Listed]) -> str:
    result = [
        {
            "class": label,
            "norm_share": own.norm_share,
            "fragments": [
                {"weight": weight, "frequency": n, "fragment": text} for weight, n, text in own.rows
            ],
        }
        for label, own in found.items()
    ]
    return json.dumps(result, indent=1, ensure_ascii=False)
