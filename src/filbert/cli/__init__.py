"""The command line: one file a subcommand, each a thin shell around the library."""

import sys

import typer

from filbert import __version__
from filbert.cli.demo import demo
from filbert.errors import FilbertError

app = typer.Typer(
    name="filbert",
    help="Learning from trees with tree kernels.",
    no_args_is_help=True,
    add_completion=False,
)
app.command()(demo)


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        typer.echo(f"filbert {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; what users can mend is told in one line, without a traceback."""
    try:
        app()
    except FilbertError as error:
        typer.echo(f"filbert: {error}", err=True)
        sys.exit(2)
