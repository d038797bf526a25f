"""What the subcommands read: options and files that several of them share."""

from pathlib import Path
from typing import Any, cast

import typer
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError
from filbert.examples import Examples, read_examples
from filbert.forest import Forest, OnError
from filbert.gathering import Format
from filbert.read.files import format_suffix, open_binary

FORMAT = typer.Option(None, help="svmlight-tk, tsv or jsonl; known by the file otherwise.")
ANY_FORMAT = typer.Option(
    None, help="brackets, svmlight-tk, tsv or jsonl; known by the file otherwise."
)
LABEL = typer.Option(None, help="The label's column (from 0) or JSON key.")
TREE = typer.Option(None, help="The tree's column (from 0) or JSON key.")
ON_ERROR = typer.Option("raise", help="raise: stop at a bad line; skip: leave it out.")
JOBS = typer.Option(None, help="Threads; all cores otherwise.")

BRACKETS = "brackets"


def read_labelled(
    path: str,
    format: str | None,
    label: str | None,
    tree: str | None,
    on_error: str,
    jobs: int | None,
) -> tuple[Forest, NDArray[Any]]:
    """Read labelled examples that have one tree each."""
    X, y = read_examples(
        path,
        format=cast(Format | None, format),
        label=_column_or_key(label),
        tree=_column_or_key(tree),
        on_error=cast(OnError, on_error),
        n_jobs=jobs,
    )
    if len(y) == 0:
        raise InvalidParameterError(f"{path} has no examples: check the file and --format")
    return _only_forest(X, path), y


def read_trees(
    path: str,
    format: str | None,
    label: str | None,
    tree: str | None,
    on_error: str,
    jobs: int | None,
) -> Forest:
    """Read trees from a file of examples, labelled or not, or of bare trees in brackets."""
    start = _first_line(path)
    if _is_bare(path, start, format):
        return Forest.from_brackets(Path(path), on_error=cast(OnError, on_error))
    if label is None:
        label, tree = _without_labels(start, tree)
    return read_labelled(path, format, label, tree, on_error, jobs)[0]


def read_with_labels_if_any(
    path: str,
    format: str | None,
    label: str | None,
    tree: str | None,
    on_error: str,
    jobs: int | None,
) -> tuple[Forest, NDArray[Any] | None]:
    """Read trees, and their labels where the file has some."""
    start = _first_line(path)
    labelled = label is not None
    if not labelled and not _is_bare(path, start, format):
        is_json = start.startswith(b"{")
        labelled = b'"label"' in start if is_json else _without_labels(start, tree)[0] is None
    if labelled:
        return read_labelled(path, format, label, tree, on_error, jobs)
    return read_trees(path, format, label, tree, on_error, jobs), None


def label_text(label: Any) -> str:
    """Write a label so that it stays on its line and in its column."""
    return str(label).replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def _column_or_key(text: str | None) -> str | int | None:
    is_number = text is not None and text.isascii() and text.removeprefix("-").isdecimal()
    return int(text) if text is not None and is_number else text


def _only_forest(X: Any, path: str) -> Forest:
    if not isinstance(X, Examples):
        return cast(Forest, X)
    forests = {name: part for name, part in X.parts.items() if isinstance(part, Forest)}
    if len(forests) > 1:
        raise InvalidParameterError(
            f"the examples of {path} have several trees, {', '.join(forests)}: "
            "choose one with --tree (JSON Lines), or make a file with one tree an example"
        )
    unused = [name for name in X.parts if name not in forests]
    typer.echo(f"filbert: warning: {', '.join(unused)} of {path} not used: trees only", err=True)
    return next(iter(forests.values()))


def _is_bare(path: str, start: bytes, format: str | None) -> bool:
    """Whether a file holds trees in brackets and nothing else."""
    bare = start.startswith(b"(") and format_suffix(path) not in (".tsv", ".jsonl", ".ndjson")
    return format == BRACKETS or (format is None and bare)


def _without_labels(start: bytes, tree: str | None) -> tuple[str | None, str | None]:
    """Return what to read as label and tree where labels do not matter: the tree as both.

    `start` is the first line. SVM-light-TK lines always have a label, and TSV lines of several
    columns have one in the first.
    """
    if start.startswith(b"{"):
        return (tree or "tree", tree) if tree or b'"tree"' in start else (None, tree)
    alone = b"|BT|" not in start and b"\t" not in start
    return ("0", "0") if alone and start and tree is None else (None, tree)


def _first_line(path: str) -> bytes:
    with open_binary(path) as stream:
        start = next((line for line in stream if line.strip()), b"")
    return start.removeprefix(b"\xef\xbb\xbf").strip()
