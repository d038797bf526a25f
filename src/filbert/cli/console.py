"""What commands print besides their results: notes, warnings and errors, and the exit code."""

import sys
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import typer

from filbert.cli.wording import in_options

FINE, PARTLY, FAILED, INTERRUPTED = 0, 1, 2, 130
"""The exit codes: all done; done, but for input that could not be read; an error; Ctrl-C."""


@dataclass
class Run:
    """The state of the command that runs: its general options, and whether it left input out."""

    quiet: bool = False
    debug: bool = False
    partly: bool = False


RUN = Run()


def begin(*, quiet: bool, debug: bool) -> None:
    """Start a command: warnings become one line each, and none if the command is quiet."""
    RUN.quiet, RUN.debug, RUN.partly = quiet, debug, False
    warnings.showwarning = _show_warning


def note(text: str) -> None:
    """Print a summary of what the command did to standard output, unless it is quiet."""
    if not RUN.quiet:
        typer.echo(text)


def warn(text: str) -> None:
    """Print a warning, unless the command is quiet."""
    if not RUN.quiet:
        typer.echo(f"filbert: warning: {in_options(text)}", err=True)


def bad_input(text: str) -> None:
    """Print what could not be read, also if the command is quiet. The exit code becomes 1."""
    RUN.partly = True
    typer.echo(f"filbert: {in_options(text)}", err=True)


def error(problem: BaseException | str) -> None:
    """Print an error in one line, after its traceback with --debug."""
    if RUN.debug and isinstance(problem, BaseException):
        traceback.print_exception(problem)
    text = " ".join(str(problem).split("\n")) or type(problem).__name__
    typer.echo(f"filbert: {in_options(text)}", err=True)


def shows_progress(verbose: bool) -> bool:
    """Return whether to show progress: on request, and in terminals unless quiet."""
    return verbose or (sys.stderr.isatty() and not RUN.quiet)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print the text of a warning without the line of code that raised it.

    Warnings about skipped input are errors in part of the input: they are printed in any case.
    """
    if type(message).__name__ == "SkippedInputWarning":
        bad_input(str(message))
    else:
        warn(str(message))
