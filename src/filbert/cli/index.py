"""``filbert index``: prepare trees for searching."""

from typing import Annotated

import typer

from filbert.cli import console
from filbert.cli.kernels import Decay, KernelDetails, KernelName, tree_kernel
from filbert.cli.options import OUTPUT, DataFiles, General, OnError, Reading


def index(
    data: DataFiles,
    *,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="INDEX", rich_help_panel=OUTPUT,
            help="The folder to write. An index that is there is replaced.",
        ),
    ],
    kernel: KernelName = "stk",
    decay: Decay = None,
    details: KernelDetails,
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:  # fmt: skip
    """Prepare trees for filbert search.

    Of source code, the trees are functions, unless --set unit says otherwise.

    [bold]Examples[/bold]

      filbert index parses.mrg -o parses.index

      filbert index src --format python --set labels=abstract -o src.index --kernel ptk
    """
    from dataclasses import asdict

    from filbert.atomic import check_folder
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.data import columns_of, only_forest
    from filbert.cli.output import STANDARD_OUTPUT
    from filbert.cli.units import format_of, with_functions
    from filbert.errors import InvalidParameterError
    from filbert.persist import texts
    from filbert.progress import progress_bar
    from filbert.search.files import save_segments
    from filbert.search.segments import Notes, Segments

    chosen = tree_kernel(kernel, decay, details)
    if output == STANDARD_OUTPUT:
        raise InvalidParameterError("-o -: an index is a folder: name it")
    check_folder(output)
    reading = with_functions(data, reading)
    files = Files(data, reading, on_error, general.jobs)
    X = files.trees()
    trees = only_forest(X, files.name)
    columns = {name: list(map(str, values)) for name, values in columns_of(X).items()}
    arrays = {
        f"{number}.{key}": array
        for number, values in enumerate(columns.values())
        for key, array in texts.encode(values).items()
    }
    notes = {
        "reading": asdict(reading),
        "format": format_of(data, reading),
        "columns": list(columns),
    }
    segments = Segments(chosen, notes=Notes(notes, arrays))
    with progress_bar("indexing", show=console.shows_progress(False)) as progress:
        segments.add(trees, general.jobs, progress)
    save_segments(segments, output)
    console.note(f"{len(trees):,} trees in {output}")
