"""Where commands write their results: standard output, or a file that is replaced as a whole."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer

from filbert.atomic import check_folder, replacing
from filbert.errors import InvalidParameterError

STANDARD_OUTPUT = "-"


def check_model_output(path: str, inputs: Sequence[str]) -> None:
    """Check before long work that a model can be written, as `check_output` does."""
    if path == STANDARD_OUTPUT:
        raise InvalidParameterError("-o -: a model is a file: name it")
    check_output(path, inputs)


def check_output(path: str, inputs: Sequence[str]) -> None:
    """Check before long work that a file can be written, and is none of the files that are read.

    Raises
    ------
    MissingFileError
        If the folder of the file does not exist.
    InvalidParameterError
        If the path is a folder or one of the inputs.
    """
    if path == STANDARD_OUTPUT:
        return
    check_folder(path)
    if os.path.isdir(path):
        raise InvalidParameterError(f"-o {path} is a folder: name a file in it")
    if not os.path.isfile(path):
        return
    for name in inputs:
        if os.path.exists(name) and os.path.samefile(name, path):
            raise InvalidParameterError(
                f"-o {path} is a file that this command reads, and would be lost: choose another "
                "name"
            )


@contextmanager
def open_output(path: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes text: at once to standard output, in the end to a file.

    Characters that UTF-8 cannot encode are written as escapes.
    """
    if path == STANDARD_OUTPUT:
        yield lambda text: typer.echo(text.encode(errors="backslashreplace"), nl=False)
        return
    with replacing(path) as stream:

        def write(text: str) -> None:
            stream.write(text.encode(errors="backslashreplace"))

        yield write
