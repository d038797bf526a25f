"""Where commands write their results: standard output, or a file that is replaced as a whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from filbert.atomic import replacing


@contextmanager
def open_output(path: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes text: at once to standard output, in the end to a file.

    Characters that UTF-8 cannot encode are written as escapes.
    """
    if path == "-":
        yield lambda text: typer.echo(text.encode(errors="backslashreplace"), nl=False)
        return
    with replacing(path) as stream:

        def write(text: str) -> None:
            stream.write(text.encode(errors="backslashreplace"))

        yield write
