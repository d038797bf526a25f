"""The options that several commands share: the same meaning has the same name everywhere.

A command takes a group of options as one parameter, an instance of one of the dataclasses below.
:func:`command` lists the fields of these dataclasses as options of the command line.
"""

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal

import typer

from filbert.cli import console

READING, KERNEL, LEARNING = "Reading data", "Kernel", "Learning"
OUTPUT, GENERAL = "Output", "General"

ModelFile = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="Model file, from filbert train or filbert.save."),
]
DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files, also compressed; patterns such as 'parses/*.mrg'; - for standard input.",
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "-o", "--output", metavar="FILE", help="File to write; - for standard output.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)]
Verbose = Annotated[
    bool,
    typer.Option(
        "-v", "--verbose", help="Report progress, also where there is no terminal.",
        rich_help_panel=GENERAL,
    ),
]  # fmt: skip


def _option(*names: str, panel: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel)


@dataclass(frozen=True)
class Reading:
    """How to read data files."""

    format: Annotated[
        str | None,
        _option(
            "--format", "--from", panel=READING, metavar="NAME",
            help="Format of the data, such as tsv, jsonl, svmlight-tk, klp, brackets, conllu or "
            "python. By default, it is detected from the file.",
        ),
    ] = None  # fmt: skip
    label: Annotated[
        str | None,
        _option(
            "--label", panel=READING, metavar="COLUMN",
            help="Column of the labels: its name, its number from 0, or a JSON key; folder: the "
            "name of the file's folder.",
        ),
    ] = None  # fmt: skip
    tree: Annotated[
        str | None,
        _option(
            "--tree", panel=READING, metavar="COLUMN",
            help="Column of the trees: its name, its number from 0, or a JSON key.",
        ),
    ] = None  # fmt: skip
    tree_format: Annotated[
        str | None,
        _option(
            "--tree-format", panel=READING, metavar="NAME",
            help="Notation of the trees of a table, such as iupac, newick or html. By default, "
            "they are in brackets.",
        ),
    ] = None  # fmt: skip
    header: Annotated[
        bool | None,
        _option(
            "--header/--no-header", panel=READING,
            help="The first line of a table has column names, or not. By default, it is detected.",
        ),
    ] = None  # fmt: skip
    bare_words: Annotated[
        bool,
        _option(
            "--bare-words", panel=READING,
            help="Read a word without brackets as a tree of one node.",
        ),
    ] = False  # fmt: skip
    settings: Annotated[
        list[str] | None,
        _option(
            "--set", panel=READING, metavar="NAME=VALUE",
            help="Set an option of the format, such as --set unit=function for python. May be "
            "repeated. A wrong name is answered with the names that the format has.",
        ),
    ] = None  # fmt: skip


OnError = Annotated[
    Literal["raise", "skip"],
    _option(
        "--on-error", panel=READING,
        help="Stop at input that cannot be read, or skip it (exit code 1).",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class General:
    """Options of every command."""

    jobs: Annotated[
        int | None,
        _option(
            "--jobs", "-j", panel=GENERAL, metavar="N",
            help="Number of threads, by default one per core.",
        ),
    ] = None  # fmt: skip
    quiet: Annotated[
        bool,
        _option("--quiet", "-q", panel=GENERAL, help="Print results and errors, nothing else."),
    ] = False
    debug: Annotated[
        bool, _option("--debug", panel=GENERAL, help="Show the traceback of an error.")
    ] = False


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command: expand its groups of options, and apply the general ones.

    The command ends with exit code 1 if some input could not be read. Its help is the docstring,
    with a line for each paragraph.
    """
    hints = typing.get_type_hints(function, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name]) for p in inspect.signature(function).parameters.values()
    ]
    groups: dict[str, Any] = {p.name: p.annotation for p in own if is_dataclass(p.annotation)}
    listed: list[inspect.Parameter] = []
    for parameter in own:
        group = groups.get(parameter.name)
        listed += [parameter] if group is None else _parameters(group)

    @functools.wraps(function)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        general = values.get("general", General())
        console.begin(quiet=general.quiet, debug=general.debug)
        function(**values)
        if console.RUN.partly:
            raise typer.Exit(console.PARTLY)

    listed = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in listed]
    run.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    run.__doc__ = "\n\n".join(
        text if text.startswith(" ") else " ".join(text.split("\n")) for text in paragraphs
    )
    run.__annotations__ = {p.name: p.annotation for p in listed}
    return run


def _parameters(group: Any) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
