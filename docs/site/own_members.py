"""The API reference shows Filbert's own members, not those that scikit-learn adds to estimators."""

import inspect
from typing import Any

from sphinx.application import Sphinx


def _is_foreign(member: Any) -> bool:
    if isinstance(member, property):
        member = member.fget
    home = getattr(inspect.unwrap(member), "__module__", None) if callable(member) else None
    return home is not None and not home.startswith("filbert")


def _skip(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    return True if not skip and _is_foreign(member) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Leave out what other libraries define."""
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
