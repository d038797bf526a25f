"""``filbert recurring``: list the closed fragments that recur in trees."""

from typing import Annotated, Literal

import typer

from filbert.cli import console
from filbert.cli.options import OUTPUT, DataFiles, General, OnError, Output, Reading


def recurring(
    data: DataFiles,
    *,
    kind: Annotated[
        Literal["stk", "st"],
        typer.Option("--kernel", help="Subset trees (stk), or complete subtrees (st)."),
    ] = "stk",
    min_count: Annotated[
        int, typer.Option(min=1, metavar="N", help="Leave out fragments in fewer places.")
    ] = 2,
    max_count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Leave out fragments in more places.")
    ] = None,
    min_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Leave out fragments with fewer nodes.")
    ] = 1,
    max_size: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Leave out fragments with more nodes.")
    ] = None,
    root: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Only fragments with this root.")
    ] = None,
    max_fragments: Annotated[
        int,
        typer.Option(
            min=1, metavar="N",
            help="Largest number of fragments in memory at a time. If there are more, the command "
            "ends with an error.",
        ),
    ] = 1_000_000,
    names: Annotated[
        bool, typer.Option("--names/--no-names", help="Write the names of the columns first.",
                           rich_help_panel=OUTPUT)
    ] = True,
    output: Output = "-",
    reading: Reading,
    on_error: OnError = "raise",
    general: General,
) -> None:  # fmt: skip
    """List all closed fragments that occur in several places: count, size and fragment, as TSV.

    A fragment is closed if no larger fragment occurs at exactly the same nodes.

    [bold]Examples[/bold]

      filbert recurring parses.mrg -o fragments.tsv

      filbert recurring parses.mrg --root NP --min-count 10 --min-size 5
    """
    from filbert.cli.data import DataFiles as Files
    from filbert.cli.data import label_text, only_forest
    from filbert.cli.output import check_output, open_output
    from filbert.fragments import iter_recurring_fragments
    from filbert.kernels import SubsetTree, Subtree
    from filbert.progress import progress_bar

    files = Files(data, reading, on_error, general.jobs)
    check_output(output, files.paths)
    trees = only_forest(files.trees(), files.name)
    show = console.shows_progress(False)
    with progress_bar("searching", show=show) as progress, open_output(output) as put:
        if names:
            put("count\tsize\tfragment\n")
        for found in iter_recurring_fragments(
            trees,
            kernel=SubsetTree() if kind == "stk" else Subtree(),
            min_count=min_count,
            max_count=max_count,
            min_size=min_size,
            max_size=max_size,
            root=root,
            max_fragments=max_fragments,
            n_jobs=general.jobs,
            progress=progress,
        ):
            rows = zip(
                found.count.tolist(), found.size.tolist(), found.fragments.texts(), strict=True
            )
            put("".join(f"{n}\t{size}\t{label_text(text)}\n" for n, size, text in rows))
