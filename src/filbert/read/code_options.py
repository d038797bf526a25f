"""What the trees of source code show: the options that all programming languages share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from filbert.errors import InvalidParameterError

Unit = Literal["module", "class", "function"]
Labels = Literal["types", "names", "abstract"]
Constants = Literal["kinds", "values"]

Rename = Callable[[str], str]
"""A function from an identifier to the label that is written for it."""


@dataclass(frozen=True)
class CodeOptions:
    """The options of source code.

    Parameters
    ----------
    unit : {"module", "class", "function"}
        What becomes a tree: a whole file, every class, or every function and method.
    nested : bool
        Whether a unit inside another unit is also a tree of its own. If False, only the outermost
        units are.
    labels : {"names", "types", "abstract"}
        "names" keeps identifiers, "types" leaves them out, and "abstract" replaces them by v0, v1,
        ... in the order of their first occurrence in the tree. Equal identifiers of a tree get
        equal numbers.
    constants : {"kinds", "values"}
        Whether a constant shows its kind only, such as ``str``, or its value.
    """

    unit: Unit = "module"
    nested: bool = True
    labels: Labels = "names"
    constants: Constants = "kinds"

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, Unit)
        check_choice("labels", self.labels, Labels)
        check_choice("constants", self.constants, Constants)
        if not isinstance(self.nested, bool):
            raise InvalidParameterError(f"nested must be True or False, not {self.nested!r}")


def check_choice(name: str, value: object, choices: object) -> None:
    """Raise InvalidParameterError if a value is none of the choices of a Literal."""
    known = get_args(choices)
    if value not in known:
        listed = ", ".join(repr(one) for one in known)
        raise InvalidParameterError(f"{name} must be one of {listed}, not {value!r}")


def numbered_names() -> Rename:
    """Return a renaming for one tree: v0, v1, ... by first occurrence.

    >>> rename = numbered_names()
    >>> [rename(name) for name in ["x", "y", "x"]]
    ['v0', 'v1', 'v0']
    """
    numbers: dict[str, str] = {}
    return lambda name: numbers.setdefault(name, f"v{len(numbers)}")
