"""The command line: one file per command, each a thin layer over the library.

The module of a command is imported when the command is named, and imports its work when it runs, so
that help and completion are quick.
"""

import os
import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from filbert.cli import console
from filbert.errors import FilbertError

_LEARN, _LOOK, _FILES, _TRY = (
    "Learn and predict",
    "Look inside",
    "Data and model files",
    "Try it out",
)


class _Entry(NamedTuple):
    """A command in the list of commands. The function has the name of its module."""

    panel: str
    summary: str


_COMMANDS = {
    "train": _Entry(_LEARN, "Train a model on labelled trees."),
    "predict": _Entry(_LEARN, "Predict the class of each tree."),
    "evaluate": _Entry(_LEARN, "Measure a model on labelled trees."),
    "cv": _Entry(_LEARN, "Cross-validate kernels and parameters, and find the best."),
    "explain": _Entry(_LOOK, "Show what a model has learnt, as text or as an HTML page."),
    "fragments": _Entry(_LOOK, "List the heaviest fragments of a model."),
    "recurring": _Entry(_LOOK, "List the fragments that recur in trees, with exact counts."),
    "clones": _Entry(_LOOK, "Find groups of equal and similar trees."),
    "similar": _Entry(_LOOK, "Find the trees that are most similar to a query."),
    "index": _Entry(_LOOK, "Prepare trees for searching."),
    "search": _Entry(_LOOK, "Find the trees of an index that are most similar to a query."),
    "describe": _Entry(_FILES, "Describe the trees of a data file."),
    "convert": _Entry(_FILES, "Convert a data file to another format."),
    "inspect": _Entry(_FILES, "Show what is in a model file."),
    "demo": _Entry(_TRY, "Learn to name functions of Python's standard library."),
    "bench": _Entry(_TRY, "Measure the speed on this machine."),
}


def _without_types(parameters: list[Any]) -> list[Any]:
    """Let help name no type of flags and arguments: ``<bool>`` and ``<list[str]>`` say nothing."""
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = ""
        elif one.param_type_name == "argument":
            one.display_type_rich = lambda ctx: None
    return parameters


class _Command(TyperCommand):
    """A command with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        return _without_types(super().get_params(ctx))


class _Commands(TyperGroup):
    """The list of commands. A command is imported when it is named."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, entry in _COMMANDS.items():
            self.commands[name] = TyperCommand(
                name, help=entry.summary, rich_help_panel=entry.panel, rich_markup_mode="rich"
            )

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return _without_types(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first argument names."""
        if args and args[0] in _COMMANDS:
            self.commands[args[0]] = _imported(args[0])
        return super().resolve_command(ctx, args)


def _imported(name: str) -> Any:
    from filbert.cli.options import command

    own = typer.Typer(add_completion=False, rich_markup_mode="rich")
    settings = {"help_option_names": ["-h", "--help"]}
    function = getattr(import_module(f"filbert.cli.{name}"), name)
    own.command(name, cls=_Command, context_settings=settings)(command(function))
    return typer.main.get_command(own)


app = typer.Typer(
    name="filbert",
    cls=_Commands,
    help="Learn from trees with tree kernels: parse trees, source code, XML, glycans and others.",
    epilog="Begin with: filbert demo. Exit codes: 0 done, 1 done but for input that could not be "
    "read, 2 an error.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from filbert import __version__

        typer.echo(f"filbert {__version__}")
        raise typer.Exit


_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # click's, wherever typer keeps it


def main() -> None:
    """Run the command line. Errors that users can fix print one line and no traceback."""
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(prog_name="filbert", standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as error:
        return _usage(error)
    except BrokenPipeError:  # nobody reads the output any more
        _drop_output()
        return console.PARTLY
    except (FilbertError, OSError) as error:  # such as a full disk, or an unreadable file
        console.error(error)
        return console.FAILED
    except (KeyboardInterrupt, typer.Abort):
        return console.INTERRUPTED
    return code if isinstance(code, int) else console.FINE


def _usage(error: Any) -> int:
    """Print what is wrong with the options, and where to find help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return console.FAILED
    path = error.ctx.command_path if error.ctx is not None else "filbert"
    text = error.format_message().replace("Value error, ", "").rstrip(".")
    if text.startswith("Missing argument 'DATA"):
        text += ": name a file, or - for standard input"
    console.error(f"{text} (see {path} --help)")
    return console.FAILED


def _drop_output() -> None:
    """Let the interpreter flush into nowhere when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
