"""``filbert demo``: a complete example on data that every Python installation has."""

import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from filbert.drawing.labels import shortened
from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from filbert.cli.naming import Result, Task
    from filbert.explanations import Explanation

_WIDTH = 78
_N_SIMILAR = 5


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="HTML file for the report.")
    ] = Path("filbert-demo.html"),
    like: Annotated[
        str, typer.Option(metavar="NAME", help="Find functions similar to this one.")
    ] = "ftplib.FTP.close",
    seed: Annotated[int, typer.Option(help="Seed of the cross-validation.")] = 0,
) -> None:
    """Learn to name functions: predict get, set, is, read, ... from the function body."""
    start = time.perf_counter()
    if output.is_dir() or not output.parent.is_dir():
        raise InvalidParameterError(
            f"{output} cannot be written: pass --output with a file in an existing folder"
        )
    typer.echo("Filbert demo: which verb does the name of a function begin with?\n")
    with _step("importing libraries and reading the standard library"):
        from filbert.cli.naming import Task
        from filbert.datasets import load_stdlib_functions

        data = load_stdlib_functions()
        task = Task(data, seed)
    chosen = _number_of(like, data.names)
    _describe(task)
    results = _compare(task)
    tree_result = results["SubsetTree"]
    with _step("explaining the model"):
        explanation = _explanation(task, tree_result)
    _show_fragments(explanation)
    _show_similar(task, tree_result, data.names, chosen)
    with _step("writing the report"):
        explanation.to_html(output)
    typer.echo(f"\nReport: {output} ({output.stat().st_size / 1e6:.1f} MB). Open it in a browser.")
    typer.echo(f"The demo took {time.perf_counter() - start:.0f} seconds.")


def _number_of(like: str, names: list[str]) -> int:
    """Return the number of the first function with a name that begins like this."""
    for i, name in enumerate(names):
        if name.startswith(like):
            return i
    raise InvalidParameterError(
        f"no function of the data set is called {like!r}: pass --like with a name such as "
        f"{names[0].partition(':')[0]}"
    )


def _describe(task: "Task") -> None:
    X = task.X
    python = f"Python {platform.python_version()}"
    typer.echo(f"  {len(X):,} functions of the standard library of {python}, names hidden")
    typer.echo(
        f"  {X.n_nodes:,} nodes, stored as {X.n_subtrees:,} distinct subtrees in "
        f"{X.nbytes / 2**20:.1f} MiB"
    )
    typer.echo(f"  verbs: {', '.join(sorted(set(task.y)))}")


def _compare(task: "Task") -> "dict[str, Result]":
    """Cross-validate all contenders, and test the difference of two."""
    from filbert.cli.naming import contenders

    typer.echo("\nAccuracy: 5-fold cross-validation, no module both in training and in test.")
    typer.echo("C and decay are chosen on the training data of each fold.\n")
    typer.echo(f"  {'':32}{'accuracy':>10}{'macro F1':>10}{'seconds':>9}")
    results: dict[str, Result] = {}
    for contender in contenders(task.X):
        with _step(contender.title):
            own = results[contender.title] = task.result(contender)
        typer.echo(
            f"  {contender.title:32}{own.accuracy:10.1%}{own.macro_f1:10.1%}{own.seconds:9.1f}"
        )
    typer.echo("\n  Local patterns: labels, pairs of parent and child, productions.")
    _test_difference(task, results)
    return results


def _test_difference(task: "Task", results: "dict[str, Result]") -> None:
    from filbert.metrics import randomization_test

    tree, baseline = "SubsetTree + words", "local patterns, linear SVM"  # whatever their figures
    a, b = results[tree], results[baseline]
    test = randomization_test(task.y, a.predicted, b.predicted, "accuracy", random_state=0)
    points = 100 * (a.accuracy - b.accuracy)
    typer.echo(f"  {tree} minus {baseline}: {points:+.1f} points (p = {test.p_value:.2f}).")


def _explanation(task: "Task", result: "Result") -> "Explanation":
    """Explain the model of the first fold on its test data."""
    from filbert.explanations import explain

    [(_, test), *_] = task.folds
    title = "Which verb does the name of a function begin with?"
    return explain(result.first, task.X[test], task.y[test], top=20, max_examples=40, title=title)


def _show_fragments(explanation: "Explanation") -> None:
    """Print the heaviest fragment for each verb that is more than a word with its parent."""
    typer.echo(
        "\nFragments: the heaviest for each verb in a SubsetTree model, of 3 nodes or more\n"
    )
    for problem in explanation.problems:
        for fragment in [f for f in problem.for_ if len(f.labels) > 2][:1]:
            typer.echo(_line(f"{problem.positive:8}{fragment.weight:+7.3f}  {fragment.text}"))


def _show_similar(task: "Task", result: "Result", names: list[str], chosen: int) -> None:
    """Print the functions with the largest kernel with the chosen one. All are compared."""
    kernel = result.first.kernel
    similarity = kernel(task.X[chosen : chosen + 1], task.X)[0]
    typer.echo(f"\nSimilar: the functions nearest to {names[chosen]}, by the same kernel\n")
    order = (-similarity).argsort(kind="stable")
    for i in [i for i in order if i != chosen][:_N_SIMILAR]:
        typer.echo(_line(f"{similarity[i]:.3f}  {names[i]}"))


def _line(text: str) -> str:
    """Indent a line, and cut it off after the width of a terminal."""
    return "  " + shortened(text, _WIDTH - 2)


@contextmanager
def _step(title: str) -> Iterator[None]:
    """Show the current step on standard error if that is a terminal, and clear it afterwards."""
    from tqdm.auto import tqdm

    bar: Any = tqdm(desc=f"  {title} ...", bar_format="{desc}", leave=False, disable=None)
    with bar:
        yield
