"""``filbert bench``: measure the speed of this machine on a small built-in data set."""

import json
import time
from typing import Annotated, Any, Literal

import typer

from filbert.cli.kernels import KernelDetails, tree_kernel
from filbert.cli.options import AsJson, General

_KERNELS = ("stk", "ptk")


def bench(
    name: Annotated[
        Literal["all", "matrix", "train", "predict"],
        typer.Argument(metavar="NAME", help="What to measure: matrix, train, predict or all."),
    ] = "all",
    *,
    as_json: AsJson = False,
    general: General,
) -> None:
    """Measure the speed on this machine, on the functions of Python's standard library.

    matrix: the kernel matrix of all pairs. train: a support vector machine on all functions.
    predict: the classes of all functions by that machine.

    [bold]Examples[/bold]

      filbert bench

      filbert bench train --jobs 1
    """
    from filbert.datasets import load_stdlib_functions
    from filbert.learners.svm import TreeSVC

    data = load_stdlib_functions()
    X, y = data.data, data.target
    rows: list[dict[str, Any]] = []
    for short in _KERNELS:
        kernel = tree_kernel(short, 0.4, KernelDetails())
        if name in ("all", "matrix"):
            seconds = _seconds(lambda kernel=kernel: kernel(X, n_jobs=general.jobs))
            rows.append(_row("matrix", short, seconds, len(X) ** 2 / 2, "pairs"))
        if name in ("all", "train", "predict"):
            svm = TreeSVC(kernel, n_jobs=general.jobs, random_state=0)
            seconds = _seconds(lambda svm=svm: svm.fit(X, y))
            if name != "predict":
                rows.append(_row("train", short, seconds, len(X), "trees"))
        if name in ("all", "predict"):
            seconds = _seconds(lambda svm=svm: svm.predict(X))
            rows.append(_row("predict", short, seconds, len(X), "trees"))
    if as_json:
        result = {"n_trees": len(X), "n_nodes": X.n_nodes, "results": rows}
        typer.echo(json.dumps(result, indent=1))
        return
    typer.echo(f"{len(X):,} functions, {X.n_nodes:,} nodes, {len(set(y)):,} classes")
    for row in rows:
        rate = f"{row['per_second']:12,.0f} {row['unit']}/s"
        typer.echo(f"{row['name']:8} {row['kernel']:4} {row['seconds']:8.3f} s {rate}")


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _row(name: str, kernel: str, seconds: float, amount: float, unit: str) -> dict[str, Any]:
    return {
        "name": name,
        "kernel": kernel,
        "seconds": seconds,
        "per_second": amount / max(seconds, 1e-9),
        "unit": unit,
    }
