"""``filbert convert``: read any format, write any format."""

import os
from typing import Annotated, Any

import typer

from filbert.cli import console
from filbert.cli.options import OUTPUT, DataFiles, General, OnError, Reading
from filbert.errors import InvalidParameterError


def convert(
    data: DataFiles,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", rich_help_panel=OUTPUT,
            help="File to write; - for standard output. Its extension shows the format.",
        ),
    ] = "-",
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="NAME", rich_help_panel=OUTPUT,
            help="Format to write, such as tsv, jsonl, svmlight-tk, klp, brackets or newick.",
        ),
    ] = None,
    to_settings: Annotated[
        list[str] | None,
        typer.Option(
            "--to-set", metavar="NAME=VALUE", rich_help_panel=OUTPUT,
            help="Set an option of the format to write. --set is for the format to read.",
        ),
    ] = None,
    label_map: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="LABEL=NEW", rich_help_panel=OUTPUT,
            help="Write another label, such as --map yes=1 --map no=-1 for svmlight-tk.",
        ),
    ] = None,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:  # fmt: skip
    """Convert labelled examples or trees from any format to any format that can be written.

    If the output is a table or another format with labels, labels, vectors and columns are kept. A
    tree format such as brackets keeps only the trees.

    [bold]Examples[/bold]

      filbert convert train.klp.gz -o train.tsv

      filbert convert 'parses/*.conllu' --set tree=grct --to brackets

      filbert convert src/ --from python --set unit=function -o functions.jsonl
    """
    if to is None and output == "-":
        raise InvalidParameterError("name the format to write: --to tsv, jsonl, brackets, ...")
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.data import only_forest, settings_of
    from filbert.cli.output import check_output
    from filbert.read.catalogue import TREE_FORMATS
    from filbert.read.detection import format_by_name
    from filbert.writing import write_examples
    from filbert.writing_trees import write_trees

    files = Files(data, reading, on_error, general.jobs)
    if not os.path.isdir(output):  # a folder gets one file per tree
        check_output(output, files.paths)
    X, y = files.trees_and_labels()
    trees_only = to in TREE_FORMATS if to is not None else format_by_name(output) is not None
    if trees_only:
        if y is not None:
            console.warn(f"the labels of {files.name} are left out: {output} has only trees")
        write_trees(only_forest(X, files.name), output, format=to, **settings_of(to_settings))
    else:
        format: Any = to
        labels = dict(map(_label_pair, label_map or ())) or None
        options = {"label_map": labels, **settings_of(to_settings)}
        write_examples(X, y, output, format=format, **options)
    if output != "-":
        console.note(f"{len(X):,} examples written to {output}")


def _label_pair(text: str) -> tuple[str, Any]:
    from filbert.cli.data import value_of

    label, equals, new = text.rpartition("=")
    if not equals:
        raise InvalidParameterError(f"--map takes LABEL=NEW, got {text!r}")
    return label, value_of(new)
