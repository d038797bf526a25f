"""Convert frozen dataclasses to JSON and back, and check every value."""

import json
from dataclasses import MISSING, fields, is_dataclass
from math import isfinite
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from filbert.errors import ParseError

_HINT = "use a text that Explanation.to_json wrote"


def to_plain(value: Any) -> Any:
    """Return dictionaries, lists, texts and numbers. Names lose an underscore at their end."""
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, str | int | float | None):
        return value
    return {field.name.rstrip("_"): to_plain(getattr(value, field.name)) for field in fields(value)}


def from_plain(kind: Any, value: Any, where: str) -> Any:
    """Return the value that :func:`to_plain` converted; a mismatch raises ParseError."""
    if is_dataclass(kind):
        return _dataclass(kind, value, where)
    if get_origin(kind) is UnionType:
        if value is None and NoneType in get_args(kind):
            return None
        [kind] = [option for option in get_args(kind) if option is not NoneType]
        return from_plain(kind, value, where)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind), value, where)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (kind is float and not isfinite(value)):
        raise ParseError(f"{where} must be {kind.__name__}, got {str(value)[:40]!r}", hint=_HINT)
    return value


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ParseError(f"{where} must be an object", hint=_HINT)
    hints = get_type_hints(kind)
    given = {}
    for field in fields(kind):
        name = field.name.rstrip("_")
        if name in value:
            given[field.name] = from_plain(hints[field.name], value[name], f"{where}.{name}")
        elif field.default is MISSING:
            raise ParseError(f"{where} has no {name!r}", hint=_HINT)
    return kind(**given)


def _tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ParseError(f"{where} must be a list", hint=_HINT)
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise ParseError(f"{where} must have {len(kinds)} entries", hint=_HINT)
    return tuple(
        from_plain(kind, item, f"{where}[{i}]")
        for i, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def parsed_json(text: str | bytes) -> Any:
    """Read JSON; invalid JSON raises ParseError with the place."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ParseError(
            f"this is not JSON: {error.msg}", hint=_HINT, line=error.lineno, column=error.colno
        ) from None
    except (RecursionError, TypeError, ValueError) as error:  # ValueError: a number is too long
        raise ParseError(f"this is not JSON: {error}", hint=_HINT) from None
