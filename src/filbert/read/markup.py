"""What XML and HTML share: how attributes and text become nodes."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal

from filbert.errors import InvalidParameterError
from filbert.read.escape import Notation

Text = Literal[False, "tokens", "whole"]
Attributes = bool | Collection[str]

SPACE = " \t\r\n\f"  # white space in XML and HTML


def check_options(attributes: Attributes, text: Text) -> None:
    """Raise InvalidParameterError if an option has none of its values."""
    if isinstance(attributes, str) or not isinstance(attributes, bool | Collection):
        raise InvalidParameterError(
            f"attributes must be True, False or a list of names, got {attributes!r}"
        )
    if text is not False and text not in ("tokens", "whole"):
        raise InvalidParameterError(f"text must be False, 'tokens' or 'whole', got {text!r}")


class Openings(dict[Any, str]):
    """Opening brackets with the labels of names, made when they are first needed."""

    def __init__(self, notation: Notation, label: Callable[[Any], str], prefix: str = "") -> None:
        super().__init__()
        self._before = notation.open + prefix
        self._label = label

    def __missing__(self, name: Any) -> str:
        self[name] = opening = self._before + self._label(name)
        return opening


class AttributeOpenings(Openings):
    """Openings of the attributes that are wanted; "" for the others."""

    def __init__(self, notation: Notation, label: Callable[[Any], str], wanted: Attributes) -> None:
        super().__init__(notation, label, "@")
        self._wanted = wanted

    def __missing__(self, name: Any) -> str:
        wanted = self._wanted
        if wanted is True or (wanted and (name in wanted or self._label(name) in wanted)):
            return super().__missing__(name)
        self[name] = ""
        return ""


def attribute_writer(
    notation: Notation, openings: AttributeOpenings, write: Callable[[str], None]
) -> Callable[[Iterable[tuple[str, str | None]]], None]:
    """Return a function that writes the attributes of an element."""
    blank, close = notation.blank, notation.close

    def write_all(attributes: Iterable[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            opening = openings[name]
            if opening:
                write(f"{opening}{blank}{value}{close}" if value else opening + close)

    return write_all


def text_writer(
    notation: Notation, kind: Text, write: Callable[[str], None]
) -> Callable[[str], None]:
    """Return a function that writes a piece of text, unless it is blank."""
    blank, close = notation.blank, notation.close
    opening = f"{notation.open}#text{blank}"

    def write_whole(text: str) -> None:
        text = text.strip(SPACE)
        if text:
            write(f"{opening}{text}{close}")

    def write_tokens(text: str) -> None:
        words = text.split()
        if words:
            write(f"{opening}{blank.join(words)}{close}")

    return write_tokens if kind == "tokens" else write_whole
