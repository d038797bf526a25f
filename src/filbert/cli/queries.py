"""Queries that are typed on the command line: trees in brackets, and pieces of code."""

import re
from typing import TYPE_CHECKING, Any

from filbert.cli.data import BRACKETS, settings_of
from filbert.cli.options import Reading
from filbert.cli.units import CODE
from filbert.errors import InvalidParameterError, MissingFileError, ParseError
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.detection import format_by_name

if TYPE_CHECKING:
    from filbert.forest import Forest

_ONE_WORD = re.compile(r"[\w.,~/\\:-]+")

# What is around a piece of code only because the parser wants a whole file.
_WRAPPERS = {"Module", "body", "Expr", "program", "translation_unit", "source_file",
             "expression_statement"}  # fmt: skip


def typed_trees(text: str, format: Any, reading: Reading) -> "Forest":
    """Return the trees of a query, in the format of the data if it has one."""
    from filbert.forest import Forest

    if format in CODE:
        return _code(text, format, settings_of(reading.settings))
    if format_by_name(text) is not None and not text.lstrip().startswith("("):
        raise MissingFileError(text)
    if format in TREE_FORMATS and format != BRACKETS:
        return Forest.from_texts([text], format=format, **settings_of(reading.settings))
    return Forest.from_brackets([text], bare_words=reading.bare_words)


def _code(text: str, format: str, settings: dict[str, Any]) -> "Forest":
    """Return the functions of a piece of code, or its statements, or its expression."""
    from filbert.forest import Forest

    if _ONE_WORD.fullmatch(text):
        raise InvalidParameterError(
            f"there is no file {text!r}, and one word of {format} is too little for a query: "
            "check the path, or pass a function, a statement or an expression"
        )
    found = _units(text, format, settings)
    if found is not None:
        return found
    try:
        whole = Forest.from_texts([text], format=format, **{**settings, "unit": "module"})
    except ParseError as error:
        raise ParseError(
            f"QUERY is not {format}: {error.reason}",
            hint=f"pass a file, or a function, statements or an expression of {format}, with all "
            "brackets and semicolons",
        ) from None
    tree = whole[0]
    while len(tree) == 1 and tree.label in _WRAPPERS:
        tree = tree[0]
    if tree.is_leaf:
        raise InvalidParameterError("QUERY has no code: pass a function, statements or a file")
    return Forest([tree])


def _units(text: str, format: str, settings: dict[str, Any]) -> "Forest | None":
    """Return the trees of functions, or of what `unit` says. None if there are none."""
    from io import BytesIO

    from filbert.cli.data import only_forest
    from filbert.reading_trees import read_trees

    if settings.get("unit", "module") == "module":
        return None
    try:
        X = read_trees(BytesIO(text.encode(errors="replace")), format=format, **settings)
    except (ParseError, InvalidParameterError):
        return None
    return only_forest(X, "QUERY") if len(X) else None
