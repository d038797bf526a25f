"""``filbert cv --kernel auto``: a search over kernels, losses and C."""

import json
from dataclasses import fields
from typing import Any

import typer

from filbert.cli import console
from filbert.cli.kernels import KernelDetails
from filbert.cli.learners import Learning
from filbert.errors import InvalidParameterError


def search_for(
    costs: list[float] | None, folds: int, learning: Learning, jobs: int | None, *, shows: bool
) -> Any:
    """Return a TreeSVCCV with the parameters of the command line."""
    from filbert.learners.svm_search import TreeSVCCV

    given: dict[str, Any] = {} if costs is None else {"Cs": costs}
    if learning.loss is not None:
        given["losses"] = [learning.loss]
    search = TreeSVCCV(
        **given,
        cv=folds,
        class_weight=learning.class_weight,
        fit_intercept=learning.intercept,
        tol=learning.tol,
        n_jobs=jobs,
        random_state=learning.seed,
        verbose=int(shows),
    )
    search.check_parameters()
    return search


def check_suits_search(
    decay: str | None, details: KernelDetails, vectors: str, learning: Learning
) -> None:
    """Raise InvalidParameterError for options that a search does not have."""
    default = Learning()
    refused = {
        "--decay": decay is not None,
        "--vectors": vectors != "ignore",
        "--strategy": learning.strategy != default.strategy,
        "--sample-size": learning.sample_size is not None,
        "--engine": learning.engine != default.engine,
        "--max-iter": learning.max_iter is not None,
    }
    refused |= {
        f"--{field.name.replace('_', '-')}": getattr(details, field.name) != field.default
        for field in fields(details)
    }
    for option, is_refused in refused.items():
        if is_refused:
            raise InvalidParameterError(
                f"{option} is for kernels that you name: leave it out with --kernel auto"
            )


def show(search: Any, n: int, *, as_json: bool) -> None:
    """Print the settings, the best first, and what the search did not see."""
    results = search.cv_results_
    order = sorted(range(len(results["params"])), key=lambda i: results["rank_test_score"][i])
    rows = [_row(results, i, search.n_splits_) for i in order]
    left_out = [{**one, "kernel": repr(one["kernel"])} for one in search.left_out_]
    if as_json:
        best = {**search.best_params_, "kernel": repr(search.best_params_["kernel"])}
        result = {
            "n_examples": n,
            "n_searched": search.n_searched_,
            "folds": search.n_splits_,
            "settings": rows,
            "left_out": left_out,
            "best": best,
        }
        typer.echo(json.dumps(result, indent=1))
        return
    typer.echo(f"{'accuracy':>8}  {'folds':>5}  {'loss':13}  {'C':>6}  kernel")
    for row in rows:
        if row["accuracy"] is not None:
            figures = f"{row['accuracy']:>8.2%}  {row['folds']:>5}  {row['loss']:13}"
            typer.echo(f"{figures}  {row['C']:>6g}  {row['kernel']}")
    if search.n_searched_ < n:
        console.warn(f"the search used a sample of {search.n_searched_:,} of {n:,} examples")
    for reason in dict.fromkeys(one["reason"] for one in left_out):
        kernels = dict.fromkeys(one["kernel"] for one in left_out if one["reason"] == reason)
        console.warn(f"not tried on all folds: {', '.join(kernels)}: {reason}")


def _row(results: dict[str, Any], i: int, n_splits: int) -> dict[str, Any]:
    import numpy as np

    scores = np.array([results[f"split{k}_test_score"][i] for k in range(n_splits)])
    seen = int(np.isfinite(scores).sum())
    values = results["params"][i]
    mean = float(results["mean_test_score"][i]) if seen else None
    return {**values, "kernel": repr(values["kernel"]), "accuracy": mean, "folds": seen}
