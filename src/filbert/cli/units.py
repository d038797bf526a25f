"""The units of source code that commands compare."""

from collections.abc import Sequence
from dataclasses import replace

from filbert.cli.options import Reading
from filbert.read.detection import format_by_name
from filbert.read.sources import expand, is_single

CODE = {"python", "java", "javascript", "c", "go", "cpp", "rust", "ruby"}


def with_functions(data: Sequence[str], reading: Reading) -> Reading:
    """Read the functions of source code, unless the user chose another unit."""
    settings = list(reading.settings or ())
    names = {reading.format} if reading.format is not None else formats_of(data)
    if not names or not names <= CODE or any(text.startswith("unit=") for text in settings):
        return reading
    return replace(reading, settings=[*settings, "unit=function"])


def formats_of(data: Sequence[str]) -> set[str]:
    """Return the formats that the names of the files show."""
    files = [
        file
        for name in data
        for file in ([name] if is_single(name) else [one.name for one in expand(name)])
    ]
    return {kind.name for kind in map(format_by_name, files) if kind is not None}


def format_of(data: Sequence[str], reading: Reading) -> str | None:
    """Return the format of all files, or None if they have several or their names show none."""
    formats = {reading.format} if reading.format is not None else formats_of(data)
    return next(iter(formats)) if len(formats) == 1 else None
