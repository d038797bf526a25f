"""Encode the tree transformers of filbert.transform, which are only parameters, and decode them."""

from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from filbert.errors import FilbertError, InputTypeError, ModelFileError
from filbert.persist import plain
from filbert.persist.archive import Arrays

_MODULE = "filbert.transform"

# Files name a transformer. The name is looked up only in this list.
NAMES = frozenset(
    {
        *("Binarise", "CollapseUnary", "CutBelow", "CutDepth", "DropLabels", "DropWords"),
        *("ExpandUnary", "LowerCaseLeaves", "MapLabels", "MapLeaves", "MarkNodes", "MarkPath"),
        *("SortChildren", "StripEmpties", "StripFunctionTags", "Unbinarise"),
    }
)


def is_known(model: Any) -> bool:
    """Return whether a model is exactly one of the transformers in the list."""
    kind = type(model)
    if kind.__name__ not in NAMES or not kind.__module__.startswith(f"{_MODULE}."):
        return False
    return kind is _class(kind.__name__)


def encode(transformer: Any) -> tuple[dict[str, Any], Arrays]:
    """Return the header for a transformer."""
    transformer.check_parameters()
    found = {}
    for name, value in transformer.get_params(deep=False).items():
        try:
            found[name] = plain.to_json(value)
        except InputTypeError as error:
            raise InputTypeError(
                f"{type(transformer).__name__}: {name}: {error}. Use labels or a dict, "
                "not a function"
            ) from None
    return {"parameters": found}, {}


def decode(name: str, header: dict[str, Any], arrays: Arrays) -> Any:
    """Return the transformer; inconsistent content raises ModelFileError."""
    kind, parameters = _class(name), header.get("parameters")
    if not isinstance(parameters, dict):
        raise ModelFileError("the parameters are not a JSON object")
    known = signature(kind).parameters
    if unknown := parameters.keys() - known.keys():
        raise ModelFileError(f"{name} has no parameter {min(unknown)!r:.40} in this version")
    needed = {key for key, p in known.items() if p.default is Parameter.empty}
    if missing := needed - parameters.keys():
        raise ModelFileError(f"{name} lacks {min(missing)!r}")
    try:
        made = kind(**{key: plain.from_json(value) for key, value in parameters.items()})
        made.check_parameters()
    except (FilbertError, TypeError) as error:  # of values that a check cannot compare
        raise ModelFileError(str(error)) from None
    return made


def _class(name: str) -> Any:
    return getattr(import_module(_MODULE), name)
