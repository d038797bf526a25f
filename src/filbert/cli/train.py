"""``filbert train``: train a model on a file of labelled trees."""

import sys
import time
from typing import Any, cast

import typer

from filbert._core import loss_names
from filbert.cli import data
from filbert.errors import InvalidParameterError
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.learners.svm import TreeSVC
from filbert.persist import save
from filbert.persist.atomic import check_folder

KERNELS: dict[str, type[TreeKernel]] = {
    "stk": SubsetTree,
    "sst": SubsetTree,
    "st": Subtree,
    "ptk": PartialTree,
}


def train(
    path: str = typer.Argument(
        metavar="DATA", help="Labelled trees, also .gz or .xz; - for standard input."
    ),
    output: str = typer.Option(..., "-o", "--output", metavar="MODEL", help="Model file to write."),
    kernel: str = typer.Option("stk", help=f"The kernel: {', '.join(KERNELS)}."),
    decay: float = typer.Option(0.4, help="The kernel's decay, in (0, 1]."),
    include_leaves: bool | None = typer.Option(
        None, "--include-leaves/--no-include-leaves", help="Count leaves as fragments (stk)."
    ),
    depth_decay: float | None = typer.Option(None, help="Decay per node, in (0, 1] (ptk)."),
    penalty: str | None = typer.Option(None, help="Penalty for gaps: span or gaps (ptk)."),
    max_subsequence: int | None = typer.Option(
        None, help="Longest subsequence of children to count (ptk)."
    ),
    normalize: bool = typer.Option(
        True, "--normalize/--no-normalize", help="Normalise the kernel."
    ),
    strategy: str = typer.Option("exact", help="Training algorithm: exact, usvm, sdag or sdag+."),
    sample_size: int | None = typer.Option(
        None, help="Number of examples per cutting plane (usvm, sdag, sdag+)."
    ),
    engine: str = typer.Option("auto", help="Engine of the kernel: auto, factors or rows."),
    cost: float = typer.Option(1.0, "-C", help="Weight of the loss of one example."),
    loss: str = typer.Option("hinge", help=f"Loss: {' or '.join(loss_names())}."),
    class_weight: str | None = typer.Option(None, help="balanced: give rare classes more weight."),
    intercept: bool = typer.Option(True, "--intercept/--no-intercept", help="Fit an intercept."),
    tol: float = typer.Option(
        1e-3, help="Relative duality gap to reach; epsilon of cutting planes."
    ),
    max_iter: int | None = typer.Option(None, help="Maximum number of sweeps or iterations."),
    jobs: int | None = data.JOBS,
    seed: int = typer.Option(0, help="Seed of the order of examples."),
    format: str | None = data.FORMAT,
    label: str | None = data.LABEL,
    tree: str | None = data.TREE,
    header: bool | None = data.HEADER,
    bare_words: bool = data.BARE_WORDS,
    on_error: str = data.ON_ERROR,
    verbose: bool | None = typer.Option(
        None, "--verbose/--quiet", help="Show progress, or only errors."
    ),
) -> None:
    """Train a support vector machine on labelled trees."""
    if class_weight not in (None, "balanced"):
        raise InvalidParameterError(f"--class-weight must be balanced, got {class_weight!r}")
    check_folder(output)
    start = time.perf_counter()
    extras = {
        "include_leaves": include_leaves,
        "depth_decay": depth_decay,
        "penalty": penalty,
        "max_subsequence": max_subsequence,
    }
    svm = TreeSVC(
        _kernel(kernel, decay, normalize, extras),
        C=cost,
        strategy=cast(Any, strategy),
        sample_size=sample_size,
        engine=cast(Any, engine),
        loss=cast(Any, loss),
        class_weight=cast(Any, class_weight),
        fit_intercept=intercept,
        tol=tol,
        max_iter=max_iter,
        n_jobs=jobs,
        random_state=seed,
        verbose=sys.stderr.isatty() if verbose is None else verbose,
    )
    svm.check_parameters()  # fails before a long file is read
    file = data.DataFile(path, format, label, tree, header, bare_words, on_error, jobs)
    X, y = file.labelled()
    svm.fit(X, y)
    save(svm.set_params(verbose=0), output)  # verbosity belongs to this run, not to the model
    if verbose is not False:
        _summarise(svm, len(X), time.perf_counter() - start)


def _kernel(name: str, decay: float, normalize: bool, extras: dict[str, Any]) -> TreeKernel:
    """Make a kernel and set those of the extra parameters that are not None."""
    if name not in KERNELS:
        raise InvalidParameterError(f"--kernel must be one of {', '.join(KERNELS)}, got {name!r}")
    kernel = KERNELS[name](decay=decay, normalize=normalize)
    for parameter, value in extras.items():
        if value is None:
            continue
        if not hasattr(kernel, parameter):
            owner = "stk" if parameter == "include_leaves" else "ptk"
            option = parameter.replace("_", "-")
            raise InvalidParameterError(f"--{option} is for {owner}, not for {name}")
        kernel.set_params(**{parameter: value})
    return kernel


def _summarise(svm: TreeSVC, n: int, seconds: float) -> None:
    typer.echo(
        f"{n:,} examples, {len(svm.classes_):,} classes, {len(svm.support_):,} support vectors, "
        f"gap {svm.duality_gap_:.1e}, {seconds:.1f} s by {svm.engine_}"
    )
