"""What all kinds of objects share: labels, and errors with the number of the sample."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from filbert.errors import InputTypeError, ParseError
from filbert.given import described

_T = TypeVar("_T")


def texts_of(objects: Iterable[_T], text_of: Callable[[_T], str]) -> Iterator[str]:
    """Yield the text of each object; add its number to errors."""
    for sample, one in enumerate(objects):
        try:
            text = text_of(one)
        except ParseError as error:
            raise error.located(sample=sample) from None
        except InputTypeError as error:
            raise InputTypeError(f"sample {sample}: {error}") from None
        yield text


def listed(objects: Any, what: str) -> Iterable[Any]:
    """Return the objects if they can be iterated over."""
    if isinstance(objects, str | bytes) or not isinstance(objects, Iterable):
        raise InputTypeError(f"expected {what}, got {described(objects)}")
    return objects


def label_of(value: Any) -> str:
    """Return a label that is a text or an integer as text."""
    if isinstance(value, str):
        return value
    if is_integer(value):
        return str(value)
    raise InputTypeError(
        f"a label must be a string or an integer, got {described(value)}: use str() for others"
    )


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer, of Python or NumPy, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
