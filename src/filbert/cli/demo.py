"""``filbert demo``: a complete example on data that every Python installation has."""

import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from tqdm.auto import tqdm

from filbert.datasets import load_stdlib_functions
from filbert.engine import factorize
from filbert.forest import Forest
from filbert.kernels import PartialTree, SubsetTree, Subtree
from filbert.learners.svm import TreeSVC

StringArray = NDArray[np.str_]

CONTENDERS: dict[str, Any] = {
    "most frequent verb": DummyClassifier(),
    "bag of words, linear SVM": make_pipeline(
        CountVectorizer(
            analyzer=lambda tree: [node.label for node in tree.nodes()], binary=True, min_df=2
        ),
        LinearSVC(C=0.1),
    ),
    "PartialTree, TreeSVC": TreeSVC(PartialTree(), C=10, random_state=0),
    "Subtree, TreeSVC": TreeSVC(Subtree(), C=3, random_state=0),
    "SubsetTree, TreeSVC": TreeSVC(SubsetTree(), C=3, random_state=0),
    "SubsetTree, decay by search": GridSearchCV(
        TreeSVC(SubsetTree(), C=3, random_state=0), {"kernel__decay": [0.1, 0.2, 0.4]}, cv=3
    ),
}


def demo(seed: int = typer.Option(0, help="Seed of the cross-validation.")) -> None:
    """Learn to name functions: predict get, set, is, read, ... from the function body."""
    typer.echo(
        "Filbert learns to predict the names of functions from the syntax trees of the functions"
    )
    typer.echo(
        "in Python's standard library. The class is the verb in the name. The name is hidden."
    )
    with _step("reading the standard library"):
        data = load_stdlib_functions()
    X, y, names = data.data, data.target, np.array(data.names)
    _describe(X, y)

    # A module is never in both sets: its functions are too similar to each other for a fair test.
    modules = [name.split(".")[0] for name in names]
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    typer.echo("  5-fold cross-validation; no module is both in training and in test\n")
    typer.echo(f"  {'':28} {'accuracy':>9} {'macro F1':>9} {'seconds':>8}")
    for title, learner in CONTENDERS.items():
        start = time.perf_counter()
        with _step(title):
            predicted = cross_val_predict(learner, X, y, groups=modules, cv=folds)
        seconds = time.perf_counter() - start
        accuracy = accuracy_score(y, predicted)
        f1 = f1_score(y, predicted, average="macro")
        typer.echo(f"  {title:28} {accuracy:9.1%} {f1:9.1%} {seconds:8.2f}")

    _show_work_saved(X)
    _show_predictions(X, names, y, predicted)
    typer.echo("\nFor your own trees: X, y = read_examples('train.tsv'), then TreeSVC().fit(X, y).")
    typer.echo("To see what a model has learnt: filbert explain MODEL DATA -o report.html")


def _describe(X: Forest, y: StringArray) -> None:
    verbs = ", ".join(sorted(set(y)))
    typer.echo(f"\n  Python {platform.python_version()}: {len(X):,} functions, {X.n_nodes:,} nodes")
    typer.echo(f"  stored as {X.n_subtrees:,} distinct subtrees in {X.nbytes / 2**20:.1f} MiB")
    typer.echo(f"  verbs: {verbs}")


def _show_work_saved(X: Forest) -> None:
    """Print how many comparisons of nodes the factors of the kernel matrix save."""
    entries = factorize(SubsetTree(), X).n_entries
    pairs = X.n_nodes**2 / 2
    typer.echo(f"\n  Comparing all functions directly takes {pairs:.1e} pairs of nodes.")
    typer.echo(f"  TreeSVC trains on the {entries:,} entries of an exact factorisation instead.")


def _show_predictions(
    X: Forest, names: StringArray, y: StringArray, predicted: StringArray
) -> None:
    """Show one small function, and the predictions of the last learner for a few others."""
    right = [i for i in range(len(X)) if y[i] == predicted[i]]
    small = min(right, key=lambda i: (abs(X[i].n_nodes - 25), names[i]))
    typer.echo(f"\n  {names[small]} looks like this, and Filbert names it '{predicted[small]}':\n")
    for line in X[small].draw(max_lines=30).splitlines():
        typer.echo(f"    {line}")
    typer.echo("\n  Some other predictions:\n")
    for i in range(0, len(X), max(1, len(X) // 6)):
        mark = "right" if y[i] == predicted[i] else "wrong"
        typer.echo(f"    {mark}  {predicted[i]:6} for {names[i]}")


@contextmanager
def _step(title: str) -> Iterator[None]:
    """Show the current step on standard error, and clear it afterwards."""
    with tqdm(desc=f"  {title} ...", bar_format="{desc}", leave=False):
        yield
