"""``filbert inspect``: what is in a file, of a model or of data."""

import json
from typing import Annotated, Any

import typer

from filbert.cli.describe import description
from filbert.cli.options import AsJson, General, OnError, Reading


def inspect(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A file of filbert train or filbert.save, or data."),
    ],
    *,
    check: Annotated[
        bool,
        typer.Option("--check", help="Read all files of an index, and compare their checksums."),
    ] = False,
    as_json: AsJson = False,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:
    """Show what is in a model file, without loading it: its kind, parameters and arrays.

    For an index, these are its kernel and the number of its trees. For a data file, the output is
    that of filbert describe.

    [bold]Examples[/bold]

      filbert inspect answers.model

      filbert inspect src.index --check
    """
    from filbert.cli.data import DataFiles
    from filbert.cli.models import is_archive
    from filbert.persist import inspect as inspected
    from filbert.search.files import index_summary, is_index

    if is_index(file):
        summary = index_summary(file, check=check)
        lines = [f"{name:9}{value:,}" if isinstance(value, int) else f"{name:9}{value}"
                 for name, value in summary.items()]  # fmt: skip
        text = json.dumps(summary, indent=1) if as_json else "\n".join(lines)
    elif is_archive(file):
        found: Any = inspected(file)
        text = json.dumps(found.to_dict(), indent=1) if as_json else str(found)
    else:
        files = DataFiles([file], reading, on_error, general.jobs)
        text = description(files, as_json=as_json)
    typer.echo(text.encode(errors="backslashreplace"))
