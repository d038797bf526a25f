"""The command line: one file per subcommand, each a thin layer over the library."""

import sys
import warnings
from typing import Any

import typer

from filbert import __version__
from filbert.cli.demo import demo
from filbert.cli.evaluate import evaluate
from filbert.cli.explain import explain
from filbert.cli.predict import predict
from filbert.cli.train import train
from filbert.errors import FilbertError

app = typer.Typer(
    name="filbert",
    help="Learning from trees with tree kernels.",
    no_args_is_help=True,
    add_completion=False,
)
app.command()(demo)
app.command()(train)
app.command()(predict)
app.command()(evaluate)
app.command()(explain)


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        typer.echo(f"filbert {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line. Errors that users can fix print one line and no traceback."""
    warnings.showwarning = _show_warning
    try:
        app()
    except (FilbertError, OSError) as error:  # such as a full disk, or an unreadable file
        typer.echo(f"filbert: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print the text of a warning without the line of code that raised it."""
    typer.echo(f"filbert: warning: {message}", err=True)
