"""``filbert train``: train a model on labelled trees."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from filbert.cli import console
from filbert.cli.cluster import connected
from filbert.cli.kernels import (
    Decay,
    KernelDetails,
    LearningKernel,
    Vectors,
    kernel_of_parts,
    own_kernel,
    tree_kernel,
)
from filbert.cli.learners import Learning, Task, groups_of, learner_for
from filbert.cli.options import (
    LEARNING,
    OUTPUT,
    DataFiles,
    General,
    OnError,
    Reading,
    Verbose,
)
from filbert.cli.parts import (
    PARTS,
    InParts,
    check_not_standard_input,
    corpus_of,
    vectors_of,
    without_examples,
)
from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from filbert.cli.data import DataFiles as Files


def train(
    data: DataFiles,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="MODEL", help="Model file to write.", rich_help_panel=OUTPUT
        ),
    ],
    kernel: LearningKernel = None,
    decay: Decay = None,
    details: KernelDetails,
    vectors: Vectors = "ignore",
    cost: Annotated[
        float | None,
        typer.Option(
            "-C",
            help="Weight of the loss of one example. By default 1 or 10 for classes, as a "
            "cross-validation says, and 1 for --loss logistic and other tasks.",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None,
    task: Task,
    learning: Learning,
    reading: Reading,
    on_error: OnError = "raise",
    in_parts: InParts,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep results of parts in a folder. After an interruption, the same command "
            "continues with them.",
            rich_help_panel=PARTS,
        ),
    ] = None,
    verbose: Verbose = False,
    general: General,
) -> None:
    """Train a model on labelled trees, and write it to a file.

    The defaults are those of the learners in Python. For classes, TreeSVC() uses local patterns,
    the squared hinge loss, and 1 or 10 for C. If the examples have several trees, the kernel is
    the sum over all of them.

    [bold]Examples[/bold]

      filbert train train.tsv -o answers.model

      filbert train train.dat -o answers.model --kernel ptk --decay 0.3 -C 1

      filbert train train.tsv -o answers.model --loss logistic

      filbert train sizes.tsv -o sizes.model --task regress

      filbert train parses.csv -o ranker.model --task rank --group sentence

      filbert train src/ --format python --label folder -o authors.model

      filbert train 'corpus/*.tsv' -o large.model --parts 64 --checkpoint kept/
    """
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.output import check_model_output
    from filbert.cli.trained_reading import shaping
    from filbert.persist import save

    files = Files(data, reading, on_error, general.jobs)
    check_model_output(output, files.paths)
    start = time.perf_counter()
    learner = learner_for(task, cost, learning, general.jobs)
    if kernel is None:
        plain = own_kernel(learner, decay, details)
    else:
        plain = tree_kernel(kernel, decay, details)
    learner.set_params(kernel=plain, verbose=console.shows_progress(verbose))
    learner.check_parameters()  # fails before a long file is read
    if in_parts.wanted or checkpoint is not None:
        size = _fit_in_parts(learner, files, vectors, in_parts, checkpoint)
    else:
        X, y = files.labelled()
        groups = {}
        if task.task == "rank":
            groups["group"] = groups_of(X, task.group)
        X = used_parts(X, vectors, files.name)
        learner.set_params(kernel=kernel_of_parts(plain, X, vectors)).fit(X, y, **groups)
        size = f"{len(X):,} examples"
    learner.set_params(verbose=0)  # it belongs to this run, not to the model
    save(learner, output, reading=shaping(files))
    console.note(_summary(learner, size, time.perf_counter() - start))


def _fit_in_parts(
    learner: Any, files: "Files", vectors: str, in_parts: InParts, checkpoint: str | None
) -> str:
    """Train on a corpus in parts, and return its size in words."""
    from filbert.learners.svm import TreeSVC

    if not isinstance(learner, TreeSVC):
        raise InvalidParameterError(
            "--parts and --checkpoint are for --task classify with the loss hinge or squared_hinge"
        )
    check_not_standard_input(files)
    others: dict[str, Any] = {}
    if vectors == "ignore":
        _warn_of_vectors(vectors_of(files), files.name)
        others["features"] = []
    with connected(in_parts.scheduler):
        corpus = corpus_of(files, in_parts.parts, labels=True, **others)
        shown = used_parts(without_examples(corpus), vectors, files.name)
        learner.set_params(kernel=kernel_of_parts(learner.kernel, shown, vectors))
        learner.fit(corpus, checkpoint=checkpoint)
    n = corpus.n_parts
    return f"{n:,} part{'' if n == 1 else 's'}"


def used_parts(X: Any, vectors: str, name: str) -> Any:
    """Return the parts of the examples that the kernel uses; warn about vectors left out.

    Examples with one tree and no vectors become a forest: the model then predicts plain trees.
    """
    from filbert.examples import Examples
    from filbert.forest import Forest

    if not isinstance(X, Examples):
        return X
    parts = X.parts
    if vectors == "ignore":
        parts = {part: rows for part, rows in parts.items() if isinstance(rows, Forest)}
        left = [part for part in X.parts if part not in parts]
        _warn_of_vectors(left, name)
    [*rows] = parts.values()
    names = {part: own for part, own in X.feature_names.items() if part in parts}
    return rows[0] if len(rows) == 1 else Examples._of(dict(parts), None, names)


def _warn_of_vectors(left: list[str], name: str) -> None:
    if left:
        console.warn(
            f"{', '.join(left)} of {name} ignored: use --vectors linear or poly to add them"
        )


def _summary(learner: Any, size: str, seconds: float) -> str:
    classes = getattr(learner, "classes_", None)
    of_classes = "" if classes is None else f"{len(classes):,} classes, "
    return (
        f"{size}, {of_classes}{len(learner.support_):,} support vectors, "
        f"gap {learner.duality_gap_:.1e}, {seconds:.1f} s for reading and training, "
        f"by {learner.engine_}"
    )
