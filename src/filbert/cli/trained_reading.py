"""The options that shape trees are kept with a model: later commands read as training did.

With other options, such as ``--set attributes=true``, the same documents have other trees, and the
predictions of a model mean nothing. Nothing in the trees shows it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from filbert import persist
from filbert.cli import console
from filbert.cli.data import TABLE_SETTINGS, DataFiles
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.detection import format_by_name
from filbert.read.sources import expand


def shaping(files: DataFiles) -> dict[str, Any] | None:
    """Return the format of the trees and its options, for the model file. None if it is unknown."""
    formats, settings = _tree_formats(files), _shaping(files.reading.settings or ())
    if len(formats) != 1 or not "".join(settings).isprintable():
        return None
    return {"format": formats.pop(), "settings": settings}


def as_trained(files: DataFiles, model: str) -> DataFiles:
    """Return the files with the options that a model was trained with.

    They count for data in the same format, unless the command has options of its own. Those are
    kept, and a warning says that they are others.
    """
    kept = persist.reading_of(model)
    if kept is None or kept["format"] not in _tree_formats(files):
        return files
    settings, given = kept["settings"], _shaping(files.reading.settings or ())
    if given and given != settings:
        with_these = f"with --set {' '.join(settings)}" if settings else "without --set"
        console.warn(
            f"{model} was trained {with_these}, and these data are read with "
            f"--set {' '.join(given)}: their trees may be of another kind"
        )
    if given or not settings:
        return files
    both = [*(files.reading.settings or ()), *settings]
    return replace(files, reading=replace(files.reading, settings=both))


def _shaping(settings: Sequence[str]) -> list[str]:
    last = {text.partition("=")[0]: text for text in settings}  # the last one counts
    return sorted(text for name, text in last.items() if name not in TABLE_SETTINGS)


def _tree_formats(files: DataFiles) -> set[str]:
    """Return the formats of the trees, as far as options and names of files show them."""
    reading = files.reading
    if reading.tree_format is not None:
        return {reading.tree_format}
    if reading.format in TREE_FORMATS:
        return {reading.format}
    if reading.format is not None:
        return set()
    kinds = (format_by_name(one.name) for path in files.paths for one in expand(path))
    return {kind.name for kind in kinds if kind is not None}
