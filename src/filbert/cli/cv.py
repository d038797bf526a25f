"""``filbert cv``: cross-validate kernels and parameters on labelled trees."""

import json
import time
from itertools import product
from typing import Annotated, Any

import typer

from filbert.cli import console
from filbert.cli.cv_search import check_suits_search, search_for, show
from filbert.cli.kernels import (
    KernelDetails,
    Vectors,
    kernel_of_parts,
    own_kernel,
    short_name,
    tree_kernel,
)
from filbert.cli.learners import Learning, Task, filled_column, learner_for
from filbert.cli.options import (
    KERNEL,
    LEARNING,
    OUTPUT,
    AsJson,
    DataFiles,
    General,
    OnError,
    Reading,
    Verbose,
)
from filbert.cli.train import used_parts
from filbert.errors import InvalidParameterError

VALIDATION = "Validation"


def cv(
    data: DataFiles,
    *,
    folds: Annotated[
        int, typer.Option(min=2, metavar="N", help="Number of folds.", rich_help_panel=VALIDATION)
    ] = 5,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column whose values stay together in one fold, such as a document's name.",
            rich_help_panel=VALIDATION,
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Tree kernels to try: patterns, stk, st, ptk. auto searches over kernels, losses "
            "and C. The defaults are those of filbert train.",
            rich_help_panel=KERNEL,
        ),
    ] = None,
    decay: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Values of the decay to try. By default 0.7 for patterns, 0.4 for the others.",
            rich_help_panel=KERNEL,
        ),
    ] = None,
    details: KernelDetails,
    vectors: Vectors = "ignore",
    cost: Annotated[
        str | None,
        typer.Option(
            "-C",
            metavar="LIST",
            help="Values of C to try. By default 1 and 10, and 1 for --loss logistic.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    learning: Learning,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="MODEL", rich_help_panel=OUTPUT,
            help="Train the best setting on all data, and write this model file.",
        ),
    ] = None,
    as_json: AsJson = False,
    reading: Reading,
    on_error: OnError = "raise",
    verbose: Verbose = False,
    general: General,
) -> None:  # fmt: skip
    """Cross-validate all combinations of kernels, decays and C, and show which is best.

    Lists are separated by commas. All folds and all values of C share one factorisation of each
    kernel, so several values of C cost little.

    [bold]Examples[/bold]

      filbert cv train.tsv

      filbert cv train.tsv --kernel patterns,stk,ptk -C 0.1,1,10 -o best.model

      filbert cv train.tsv --kernel auto -o best.model
    """
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.data import columns_of
    from filbert.cli.output import check_model_output
    from filbert.learners.chosen_cost import AUTO, SMALL, USUAL
    from filbert.persist import save

    shows = console.shows_progress(verbose)
    files = Files(data, reading, on_error, general.jobs)
    if output is not None:
        check_model_output(output, files.paths)
    if kernel is not None and kernel.strip() == "auto":
        check_suits_search(decay, details, vectors, learning)
        chosen = None if cost is None else _numbers("-C", cost)
        search = search_for(chosen, folds, learning, general.jobs, shows=bool(shows))
        _search(search, files, groups, output, as_json=as_json)
        return
    given = None if cost is None else _numbers("-C", cost)
    machines = []
    for name, value in product(
        [None] if kernel is None else _words(kernel) or [kernel],
        [None] if decay is None else _numbers("--decay", decay),
    ):
        svm = learner_for(Task(), None if given is None else given[0], learning, general.jobs)
        if name is None:
            plain = own_kernel(svm, value, details)
        else:
            plain = tree_kernel(name, value, details)
        svm.set_params(kernel=plain, verbose=shows).check_parameters()  # before a long file is read
        machines.append(svm)
    costs = given or ([SMALL, USUAL] if machines[0].C == AUTO else [machines[0].C])
    settings = [(short_name(svm.kernel), svm.kernel.decay) for svm in machines]
    X, y = files.labelled()
    together = None if groups is None else filled_column(columns_of(X), "--groups", groups)
    X = used_parts(X, vectors, files.name)
    splits = _splits(y, together, folds, learning.seed)
    rows: list[dict[str, Any]] = []
    for (name, value), svm in zip(settings, machines, strict=True):
        svm.set_params(kernel=kernel_of_parts(svm.kernel, X, vectors))
        rows += _rows(svm, X, y, splits, costs, {"kernel": name, "decay": value})
    best = max(range(len(rows)), key=lambda i: rows[i]["accuracy"])
    if as_json:
        result = {"n_examples": len(y), "folds": folds, "settings": rows, "best": rows[best]}
        typer.echo(json.dumps(result, indent=1))
    else:
        typer.echo(_table(rows, best))
    if output is not None:
        svm = machines[best // len(costs)].set_params(C=rows[best]["C"]).fit(X, y)
        save(svm.set_params(verbose=0), output)


def _search(
    search: Any, files: Any, groups: str | None, output: str | None, *, as_json: bool
) -> None:
    """Read the examples, search, show what was found and write the model."""
    from filbert.cli.data import columns_of
    from filbert.persist import save

    X, y = files.labelled()
    together = None if groups is None else filled_column(columns_of(X), "--groups", groups)
    _splits(y, together, search.cv, search.random_state)  # warns of small classes
    search.fit(used_parts(X, "ignore", files.name), y, groups=together)
    show(search, len(y), as_json=as_json)
    if output is not None:
        save(search.set_params(verbose=0), output)


def _rows(
    svm: Any, X: Any, y: Any, splits: list[Any], costs: list[float], setting: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the figures of one kernel for all values of C."""
    from sklearn.metrics import f1_score

    from filbert.learners.cross_validation import cross_val_predict_path

    start = time.perf_counter()
    predicted = cross_val_predict_path(svm, X, y, costs, splits)
    seconds = (time.perf_counter() - start) / len(costs)
    rows = []
    for C, own in zip(costs, predicted, strict=True):
        by_fold = [float((own[test] == y[test]).mean()) for _, test in splits]
        mean = sum(by_fold) / len(by_fold)
        spread = (sum((share - mean) ** 2 for share in by_fold) / len(by_fold)) ** 0.5
        figures = {
            "accuracy": mean,
            "deviation": spread,
            "macro_f1": float(f1_score(y, own, average="macro")),
            "seconds": seconds,
        }
        rows.append({**setting, "C": C, **figures})
    return rows


def _splits(y: Any, groups: Any, folds: int, seed: int) -> list[Any]:
    import warnings

    import numpy as np
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < folds:
        console.warn(
            f"class {classes[counts.argmin()]} has only {counts.min()} examples for {folds} folds"
        )
    if groups is not None and len(set(groups)) < folds:
        raise InvalidParameterError(
            f"--groups has {len(set(groups))} values, fewer than {folds} folds: use --folds"
        )
    if len(y) < folds or counts.max() < folds:
        raise InvalidParameterError(f"{len(y)} examples are too few for {folds} folds: use --folds")
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said above
        splitter = kind(folds, shuffle=True, random_state=seed)
        return [split for split in splitter.split(np.zeros(len(y)), y, groups) if len(split[1])]


def _table(rows: list[dict[str, Any]], best: int) -> str:
    lines = [f"{'kernel':8}  {'decay':>6}  {'C':>8}  {'accuracy':>16}  {'macro F1':>8}  seconds"]
    for number, row in enumerate(rows):
        accuracy = f"{row['accuracy']:.2%} ± {row['deviation']:.2%}"
        figures = f"{accuracy:>16}  {row['macro_f1']:>8.2%}  {row['seconds']:7.2f}"
        mark = "  best" if number == best and len(rows) > 1 else ""
        lines.append(f"{row['kernel']:8}  {row['decay']:6g}  {row['C']:8g}  {figures}{mark}")
    return "\n".join(lines)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(option: str, text: str) -> list[float]:
    try:
        numbers = [float(word) for word in _words(text)]
    except ValueError:
        numbers = []
    if not numbers:
        raise InvalidParameterError(f"{option} takes numbers separated by commas, got {text!r}")
    return numbers
