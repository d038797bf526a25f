"""``filbert train``: from a file of labelled trees to a model."""

import sys
import time
from typing import Any, cast

import typer

from filbert.cli import data
from filbert.errors import InvalidParameterError
from filbert.kernels import SubsetTree, Subtree, TreeKernel
from filbert.learners.svm import TreeSVC
from filbert.persist import save
from filbert.persist.atomic import check_folder

KERNELS: dict[str, type[TreeKernel]] = {"stk": SubsetTree, "sst": SubsetTree, "st": Subtree}


def train(
    path: str = typer.Argument(metavar="DATA", help="Labelled trees; may be .gz or .xz."),
    output: str = typer.Option(..., "-o", "--output", metavar="MODEL", help="The model's file."),
    kernel: str = typer.Option("stk", help=f"The kernel: {', '.join(KERNELS)}."),
    decay: float = typer.Option(0.4, help="The kernel's decay, in (0, 1]."),
    include_leaves: bool | None = typer.Option(
        None, "--include-leaves/--no-include-leaves", help="Whether leaves are fragments (stk)."
    ),
    normalize: bool = typer.Option(
        True, "--normalize/--no-normalize", help="Whether trees of all sizes weigh the same."
    ),
    strategy: str = typer.Option("exact", help="How the optimum is found: exact."),
    cost: float = typer.Option(1.0, "-C", help="The weight of one example's loss."),
    loss: str = typer.Option("hinge", help="hinge or squared_hinge."),
    class_weight: str | None = typer.Option(None, help="balanced: rare classes weigh more."),
    intercept: bool = typer.Option(True, "--intercept/--no-intercept", help="Whether with one."),
    tol: float = typer.Option(1e-3, help="The relative duality gap to reach."),
    max_iter: int = typer.Option(10_000, help="The most sweeps of training."),
    jobs: int | None = data.JOBS,
    seed: int = typer.Option(0, help="Seed of the order of examples."),
    format: str | None = data.FORMAT,
    label: str | None = data.LABEL,
    tree: str | None = data.TREE,
    on_error: str = data.ON_ERROR,
    verbose: bool | None = typer.Option(
        None, "--verbose/--quiet", help="Progress, or nothing at all but errors."
    ),
) -> None:
    """Train a support vector machine on labelled trees."""
    if class_weight not in (None, "balanced"):
        raise InvalidParameterError(f"--class-weight must be balanced, got {class_weight!r}")
    check_folder(output)
    start = time.perf_counter()
    svm = TreeSVC(
        _kernel(kernel, decay, include_leaves, normalize),
        C=cost,
        strategy=cast(Any, strategy),
        loss=cast(Any, loss),
        class_weight=cast(Any, class_weight),
        fit_intercept=intercept,
        tol=tol,
        max_iter=max_iter,
        n_jobs=jobs,
        random_state=seed,
        verbose=sys.stderr.isatty() if verbose is None else verbose,
    )
    svm._check_parameters()  # tells of bad ones before a long file is read
    X, y = data.read_labelled(path, format, label, tree, on_error, jobs)
    svm.fit(X, y)
    save(svm.set_params(verbose=0), output)  # progress is of this run, not of the model
    if verbose is not False:
        _summarise(svm, len(X), time.perf_counter() - start)


def _kernel(name: str, decay: float, include_leaves: bool | None, normalize: bool) -> TreeKernel:
    if name not in KERNELS:
        raise InvalidParameterError(f"--kernel must be one of {', '.join(KERNELS)}, got {name!r}")
    kernel = KERNELS[name](decay=decay, normalize=normalize)
    if include_leaves is not None:
        if not hasattr(kernel, "include_leaves"):
            raise InvalidParameterError(f"--include-leaves is for stk, not for {name}")
        kernel.set_params(include_leaves=include_leaves)
    kernel._spec()  # tells of a bad decay before a long file is read
    return kernel


def _summarise(svm: TreeSVC, n: int, seconds: float) -> None:
    typer.echo(
        f"{n:,} examples, {len(svm.classes_):,} classes, {len(svm.support_):,} support vectors, "
        f"gap {svm.duality_gap_:.1e}, {seconds:.1f} s"
    )
