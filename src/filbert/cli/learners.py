"""The learners of the command line, by task and loss."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from filbert.cli.options import LEARNING
from filbert.errors import InvalidParameterError

Loss = Literal[
    "hinge",
    "squared_hinge",
    "logistic",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
]
_LOSSES = {
    "classify": ("hinge", "squared_hinge", "logistic"),
    "regress": ("epsilon_insensitive", "squared_epsilon_insensitive"),
    "rank": ("hinge", "squared_hinge", "logistic"),
}


Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the groups of a ranking, such as questions. By default the qid of the "
        "examples, if they have one; otherwise all trees are one group.",
        rich_help_panel=LEARNING,
    ),
]


@dataclass(frozen=True)
class Learning:
    """The parameters of a learner besides its kernel and C."""

    strategy: Annotated[
        Literal["exact", "usvm", "sdag", "sdag+"],
        typer.Option(
            help="Training algorithm: exact, or one of the cutting planes usvm, sdag and sdag+, "
            "which sample examples.",
            rich_help_panel=LEARNING,
        ),
    ] = "exact"
    sample_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of examples per cutting plane (usvm, sdag, sdag+).",
            rich_help_panel=LEARNING,
        ),
    ] = None
    engine: Annotated[
        Literal["auto", "factors", "rows"],
        typer.Option(
            help="How kernels are computed: by factors of the whole kernel matrix, or by rows of "
            "it. auto takes what is faster. The model is the same within --tol.",
            rich_help_panel=LEARNING,
        ),
    ] = "auto"
    loss: Annotated[
        Loss | None,
        typer.Option(
            metavar="NAME",
            help="Loss of an example. Classes: squared_hinge (the default), hinge (the default of "
            "cutting planes), or logistic, which gives probabilities. Rankings: hinge (the "
            "default), squared_hinge or logistic. Numbers: epsilon_insensitive (the default) or "
            "squared_epsilon_insensitive.",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None
    class_weight: Annotated[
        Literal["balanced"] | None,
        typer.Option(
            help="balanced: rare classes weigh as much as frequent ones.", rich_help_panel=LEARNING
        ),
    ] = None
    intercept: Annotated[
        bool,
        typer.Option(
            "--intercept/--no-intercept", help="Fit an intercept.", rich_help_panel=LEARNING
        ),
    ] = True
    tol: Annotated[
        float,
        typer.Option(
            help="Relative duality gap to reach; epsilon of cutting planes.",
            rich_help_panel=LEARNING,
        ),
    ] = 1e-3
    max_iter: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Largest number of sweeps or iterations.",
            rich_help_panel=LEARNING,
        ),
    ] = None
    seed: Annotated[
        int,
        typer.Option(
            help="Seed of the order of examples and of samples.", rich_help_panel=LEARNING
        ),
    ] = 0


@dataclass(frozen=True)
class Task:
    """What is to be learnt."""

    task: Annotated[
        Literal["classify", "regress", "rank"],
        typer.Option(
            help="classify: labels are classes; regress: labels are numbers; rank: of the trees of "
            "a group, one with a larger label should score higher.",
            rich_help_panel=LEARNING,
        ),
    ] = "classify"
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Errors of a regression that cost nothing, 0.1 by default.",
            rich_help_panel=LEARNING,
        ),
    ] = None
    group: Group = None


def learner_for(task: Task, cost: float | None, learning: Learning, jobs: int | None) -> Any:
    """Return an estimator with the parameters of the command line, and its own where none is given.

    The kernel is still to be set.
    """
    _check(task, learning)
    common: dict[str, Any] = {
        "tol": learning.tol,
        "max_iter": learning.max_iter,
        "n_jobs": jobs,
        "random_state": learning.seed,
    }
    common |= {} if cost is None else {"C": cost}
    common |= {} if learning.loss is None else {"loss": learning.loss}
    if task.task == "rank":
        from filbert.learners.ranker import TreeRanker

        return TreeRanker(**common)
    common |= {"engine": learning.engine, "fit_intercept": learning.intercept}
    if task.task == "regress":
        from filbert.learners.svr import TreeSVR

        return TreeSVR(epsilon=0.1 if task.epsilon is None else task.epsilon, **common)
    if learning.loss == "logistic":
        from filbert.learners.logistic import TreeLogisticRegression

        del common["loss"]
        return TreeLogisticRegression(class_weight=learning.class_weight, **common)
    from filbert.learners.svm import TreeSVC

    return TreeSVC(
        strategy=learning.strategy,
        sample_size=learning.sample_size,
        class_weight=learning.class_weight,
        **common,
    )


def column_of(columns: dict[str, Any], option: str, name: str) -> Any:
    """Return a column of the examples that an option names."""
    if name not in columns:
        listed = ", ".join(columns) or "none"
        raise InvalidParameterError(f"{option} {name}: there is no such column; there are {listed}")
    return columns[name]


def groups_of(X: Any, option: str | None) -> Any:
    """Return the groups of a ranking: the column of --group, or qid if there is one, or None."""
    from filbert.cli.data import columns_of

    columns = columns_of(X)
    name = "qid" if option is None else option
    if option is None and name not in columns:
        return None
    return filled_column(columns, "--group", name)


def filled_column(columns: dict[str, Any], option: str, name: str) -> Any:
    """Return a column that says which examples belong together, and has a value for each."""
    groups = column_of(columns, option, name)
    empty = [i for i, group in enumerate(groups) if isinstance(group, str) and not group]
    if empty:
        raise InvalidParameterError(
            f"example {empty[0] + 1:,} has no group, its {name} is empty: fill it in, or leave the "
            "example out"
        )
    return groups


def _check(task: Task, learning: Learning) -> None:
    """Raise InvalidParameterError for options that the task or the loss does not have."""
    allowed = _LOSSES[task.task]
    if learning.loss is not None and learning.loss not in allowed:
        raise InvalidParameterError(
            f"--loss {learning.loss}: the losses of --task {task.task} are {', '.join(allowed)}"
        )
    refused = {
        "--epsilon": task.epsilon is not None and task.task != "regress",
        "--group": task.group is not None and task.task != "rank",
        "--class-weight": learning.class_weight is not None and task.task != "classify",
        "--no-intercept": not learning.intercept and task.task == "rank",
        "--engine rows": learning.engine == "rows" and task.task == "rank",
    }
    for option, is_refused in refused.items():
        if is_refused:
            raise InvalidParameterError(f"{option} has no meaning for --task {task.task}")
    planes = learning.strategy != "exact" or learning.sample_size is not None
    if planes and (task.task != "classify" or learning.loss == "logistic"):
        raise InvalidParameterError(
            "--strategy and --sample-size are for --task classify with the hinge loss"
        )
