"""Results of tasks as files: dataclasses of numbers, texts, arrays and examples."""

from dataclasses import fields, is_dataclass
from typing import IO, Any, TypeVar, get_type_hints

import numpy as np

from filbert.errors import FilbertError, ModelFileError

_T = TypeVar("_T")


def write_result(result: Any, stream: IO[bytes], owner: str) -> None:
    """Write a dataclass. Its fields are numbers, texts, arrays, examples or such dataclasses.

    `owner` names the work that the result is of.
    """
    from filbert.persist.archive import write_archive  # noqa: PLC0415, loads much

    header: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    _encode(result, "", header, arrays)
    write_archive(stream, {"of": owner, "fields": header}, arrays)


def read_result(kind: type[_T], stream: IO[bytes], owner: str) -> _T:
    """Read a dataclass of a kind; damage, and a result of other work, raise ModelFileError."""
    from filbert.persist.archive import open_archive  # noqa: PLC0415

    with open_archive(stream) as archive:
        if archive.header.get("of") != owner:
            raise ModelFileError("it is the result of another training, or of another step")
        header, arrays = archive.header.get("fields"), archive.arrays()
    try:
        result: _T = _decode(kind, "", header, arrays)
        return result
    except (FilbertError, KeyError, TypeError) as error:
        raise ModelFileError(f"a result is damaged: {error}") from None


def _encode(result: Any, prefix: str, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    from filbert.persist import rows  # noqa: PLC0415

    for field in fields(result):
        name, value = prefix + field.name, getattr(result, field.name)
        if is_dataclass(value):
            _encode(value, f"{name}.", header, arrays)
        elif isinstance(value, np.ndarray) and field.name != "X":
            arrays[name] = value
        elif value is None or isinstance(value, bool | int | float | str):
            header[name] = value
        else:
            header[name], own = rows.encode(value, f"{name}.", keep_types=False)
            arrays |= own


def _decode(kind: Any, prefix: str, header: Any, arrays: dict[str, Any]) -> Any:
    from filbert.persist import rows  # noqa: PLC0415
    from filbert.persist.checked import arrays_of  # noqa: PLC0415

    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):
        name = prefix + field.name
        if is_dataclass(hints[field.name]):
            values[field.name] = _decode(hints[field.name], f"{name}.", header, arrays)
        elif name in arrays:
            values[field.name] = arrays[name]
        elif isinstance(header[name], list):
            values[field.name] = rows.decode(header[name], arrays_of(arrays, f"{name}."))
        else:
            values[field.name] = header[name]
    return kind(**values)
