"""Encode Examples, their parts and the texts that travel with them, and decode them."""

from collections.abc import Mapping
from typing import Any

from filbert.errors import FilbertError, InputTypeError, ModelFileError
from filbert.examples import Examples
from filbert.persist import rows, texts
from filbert.persist.archive import Arrays
from filbert.persist.checked import arrays_of

_PARTS = "parts."  # prefix of the names of the parts' arrays
_TEXTS = ("columns", "feature_names")  # what examples have besides parts, by name


def encode(examples: Examples) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays for examples. The errors of skipped input are not kept."""
    entries, arrays = rows.encode(examples, _PARTS, keep_types=True)
    header: dict[str, Any] = {"parts": entries}
    for kind in _TEXTS:
        named: Mapping[str, Any] = getattr(examples, kind, {})
        header[kind] = list(named)
        for number, (name, values) in enumerate(named.items()):
            if not all(isinstance(value, str) for value in values):
                raise InputTypeError(f"column {name!r} has values that are not text: convert them")
            own = texts.encode(values)
            arrays |= {f"{kind}.{number}.{key}": array for key, array in own.items()}
    return header, arrays


def decode(header: dict[str, Any], arrays: Arrays) -> Examples:
    """Return the examples; inconsistent content raises ModelFileError."""
    try:
        parts = rows.decode_parts(header.get("parts"), arrays_of(arrays, _PARTS), keep_types=True)
        if None in parts:
            raise ModelFileError("a part of the examples has no name")
        named = [_decoded(header.get(kind, []), arrays_of(arrays, f"{kind}.")) for kind in _TEXTS]
        return Examples._of(parts, *(named if any(named) else []))
    except ModelFileError:
        raise
    except FilbertError as error:
        raise ModelFileError(str(error)) from None


def _decoded(names: Any, arrays: Arrays) -> dict[str, list[str]]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelFileError("the header does not list the columns of the examples")
    if len(set(names)) < len(names):
        raise ModelFileError("two columns of the examples have the same name")
    return {name: texts.decode(arrays_of(arrays, f"{i}.")) for i, name in enumerate(names)}
